//! How large the dip of a sample with a single mode gets.

use crate::number::as_f64;

/// The shares of uniform samples whose dip is larger than the columns of the table.
const P_VALUES: [f64; 14] = [
    0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002, 0.0005,
];

/// The sizes of samples in the rows of the table.
const SIZES: [usize; 16] = [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 50, 75, 100, 200];

/// √n times the dip, for each size of sample: 200,000 uniform samples each, by `table_of_the_dip` in
/// `tests/integration/calibration/dip.rs`.
const TABLE: [[f64; 14]; 16] = [
    [
        0.25000, 0.25000, 0.25000, 0.25000, 0.25000, 0.25000, 0.25000, 0.31485, 0.37548, 0.41483,
        0.44750, 0.46372, 0.48441, 0.49262,
    ],
    [
        0.22361, 0.22361, 0.22361, 0.22361, 0.22890, 0.27212, 0.31469, 0.36023, 0.39572, 0.41682,
        0.43307, 0.43954, 0.44563, 0.44686,
    ],
    [
        0.20412, 0.20412, 0.20412, 0.22571, 0.26658, 0.30108, 0.33321, 0.36557, 0.38940, 0.40326,
        0.43794, 0.46886, 0.52177, 0.54874,
    ],
    [
        0.18898, 0.19216, 0.21646, 0.24899, 0.28404, 0.31175, 0.33708, 0.36175, 0.38238, 0.42385,
        0.46434, 0.48740, 0.52372, 0.54210,
    ],
    [
        0.17678, 0.20850, 0.23160, 0.26081, 0.29093, 0.31411, 0.33439, 0.35504, 0.40062, 0.43476,
        0.46885, 0.48903, 0.52600, 0.56579,
    ],
    [
        0.18436, 0.21996, 0.24096, 0.26708, 0.29286, 0.31262, 0.32981, 0.36888, 0.40934, 0.44041,
        0.47131, 0.49248, 0.54476, 0.57789,
    ],
    [
        0.19351, 0.22744, 0.24678, 0.26987, 0.29241, 0.30914, 0.33513, 0.37559, 0.41247, 0.44141,
        0.47744, 0.50482, 0.55405, 0.58741,
    ],
    [
        0.20419, 0.23470, 0.25083, 0.26964, 0.28729, 0.31567, 0.34591, 0.38140, 0.41606, 0.45063,
        0.48952, 0.51474, 0.56674, 0.60463,
    ],
    [
        0.21136, 0.23610, 0.24874, 0.26794, 0.29735, 0.32364, 0.35043, 0.38553, 0.42583, 0.45976,
        0.49817, 0.52452, 0.57729, 0.61657,
    ],
    [
        0.21199, 0.23578, 0.25397, 0.27730, 0.30315, 0.32790, 0.35743, 0.39502, 0.43428, 0.46964,
        0.51052, 0.53855, 0.59564, 0.63368,
    ],
    [
        0.21315, 0.24140, 0.25795, 0.27987, 0.30691, 0.33329, 0.36224, 0.40038, 0.44113, 0.47733,
        0.52000, 0.54849, 0.60815, 0.65807,
    ],
    [
        0.21724, 0.24373, 0.25986, 0.28283, 0.31080, 0.33689, 0.36613, 0.40504, 0.44621, 0.48294,
        0.52712, 0.55688, 0.61601, 0.66502,
    ],
    [
        0.22214, 0.24931, 0.26627, 0.29016, 0.31850, 0.34537, 0.37548, 0.41590, 0.45876, 0.49696,
        0.54302, 0.57485, 0.63904, 0.69021,
    ],
    [
        0.22657, 0.25403, 0.27122, 0.29527, 0.32391, 0.35109, 0.38176, 0.42216, 0.46649, 0.50583,
        0.55162, 0.58345, 0.64878, 0.69772,
    ],
    [
        0.22830, 0.25666, 0.27415, 0.29808, 0.32683, 0.35472, 0.38571, 0.42737, 0.47145, 0.51084,
        0.55662, 0.58943, 0.65465, 0.70417,
    ],
    [
        0.23377, 0.26200, 0.27986, 0.30410, 0.33335, 0.36135, 0.39312, 0.43546, 0.48055, 0.52005,
        0.56896, 0.60293, 0.67160, 0.72440,
    ],
];

/// Returns the p-value of a dip, interpolated in the table: linearly in n and in the p-values. Above 200
/// values √n · D hardly changes with n, so that the last row serves.
pub(crate) fn dip_p_value(statistic: f64, size: usize) -> f64 {
    let row = row(size);
    let scaled = statistic * as_f64(size).sqrt();
    let Some(above) = row.iter().position(|quantile| *quantile > scaled + 1e-9) else {
        return P_VALUES[P_VALUES.len() - 1];
    };
    // A dip has a least value, which many samples have: none is smaller.
    if above == 0 || scaled <= row[0] + 1e-5 {
        return 1.0;
    }
    let share = (scaled - row[above - 1]) / (row[above] - row[above - 1]);
    P_VALUES[above - 1] + share * (P_VALUES[above] - P_VALUES[above - 1])
}

fn row(size: usize) -> [f64; 14] {
    // The first row larger than the size, or the second for sizes below all.
    let above = SIZES.partition_point(|known| *known <= size).max(1);
    let Some(high) = TABLE.get(above) else {
        return TABLE[above - 1];
    };
    let low = TABLE[above - 1];
    let gap = as_f64(SIZES[above] - SIZES[above - 1]);
    let share = as_f64(size.saturating_sub(SIZES[above - 1])) / gap;
    std::array::from_fn(|column| low[column] + share * (high[column] - low[column]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_fall_as_the_dip_grows() {
        for size in [4, 5, 11, 20, 60, 200, 1_000] {
            let p: Vec<f64> = (0..200)
                .map(|k| dip_p_value(f64::from(k) / 800.0, size))
                .collect();
            assert!(p.windows(2).all(|pair| pair[0] >= pair[1]), "{size}");
            assert_eq!(
                (p[0], p[199]),
                (1.0, if size == 4 { p[199] } else { 0.0005 })
            );
        }
    }

    #[test]
    fn columns_give_their_own_p_values() {
        for (size, quantiles) in SIZES.into_iter().zip(TABLE).skip(3) {
            for (quantile, p) in quantiles.iter().zip(P_VALUES).skip(1) {
                let actual = dip_p_value(quantile / as_f64(size).sqrt(), size);
                assert!((actual - p).abs() < 1e-3, "{size}: {actual} {p}");
            }
        }
    }
}
