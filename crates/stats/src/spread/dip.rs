//! Hartigan's dip: how far a sample is from having a single mode.

use crate::number::as_f64;
use crate::spread::dip_table::dip_p_value;

/// Hartigan's dip, and how unusual it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dip {
    /// The largest distance between the empirical distribution function and the nearest one with
    /// a single mode.
    pub statistic: f64,
    /// The p-value against a uniform distribution, of all with a single mode the one that
    /// looks most like two; not below 0.0005.
    pub p_value: f64,
}

/// Returns Hartigan's dip with its p-value; `None` below four values.
///
/// Half of the largest distance between the greatest convex minorant and the least concave majorant of the
/// empirical distribution function, over the shrinking modal interval; at least 1 / (2n). The p-value is interpolated
/// in a table of simulated quantiles of √n · D.
///
/// Source: Hartigan & Hartigan, *Annals of Statistics* 1985; P. M. Hartigan, *Applied Statistics* AS 217.
///
/// ```
/// let dip = lapwing_stats::dip(&[1.0, 1.0, 2.0, 2.0]).expect("four values");
/// assert_eq!(dip.statistic, 0.25);
/// ```
pub fn dip(values: &[f64]) -> Option<Dip> {
    if values.len() < 4 {
        return None;
    }
    let statistic = dip_statistic(&sorted(values));
    Some(Dip {
        statistic,
        p_value: dip_p_value(statistic, values.len()),
    })
}

/// Returns the dip of sorted values.
fn dip_statistic(x: &[f64]) -> f64 {
    let n = x.len();
    let scale = 2.0 * as_f64(n);
    if n < 2 || x[0] >= x[n - 1] {
        return 1.0 / scale;
    }
    let (minorant, majorant) = (minorant(x), majorant(x));
    let (mut low, mut high, mut dip) = (0, n - 1, 1.0_f64);
    loop {
        // The knots of both curves between low and high: downwards, and upwards.
        let convex = path(high, low, &minorant);
        let concave = path(low, high, &majorant);
        let (distance, from, to) = widest(x, &convex, &concave);
        if distance < dip {
            break;
        }
        let below = convex[from..]
            .windows(2)
            .map(|knots| above_line(x, knots[1], knots[0]));
        let above = concave[to..]
            .windows(2)
            .map(|knots| below_line(x, knots[0], knots[1]));
        dip = below.chain(above).fold(dip, f64::max);
        if (low, high) == (convex[from], concave[to]) {
            break;
        }
        (low, high) = (convex[from], concave[to]);
    }
    dip / scale
}

fn path(from: usize, to: usize, next: &[usize]) -> Vec<usize> {
    let mut path = vec![from];
    let mut at = from;
    while at != to {
        at = next[at];
        path.push(at);
    }
    path
}

/// Returns, for each point, the knot before it of the greatest convex minorant of the points up to it.
fn minorant(x: &[f64]) -> Vec<usize> {
    let mut before = vec![0; x.len()];
    for j in 1..x.len() {
        before[j] = j - 1;
        loop {
            let one = before[j];
            let two = before[one];
            let steeper = (x[j] - x[one]) * as_f64(one - two) < (x[one] - x[two]) * as_f64(j - one);
            if one == 0 || steeper {
                break;
            }
            before[j] = two;
        }
    }
    before
}

/// Returns, for each point, the knot after it of the least concave majorant of the points from it.
fn majorant(x: &[f64]) -> Vec<usize> {
    let last = x.len() - 1;
    let mut after = vec![last; x.len()];
    for k in (0..last).rev() {
        after[k] = k + 1;
        loop {
            let one = after[k];
            let two = after[one];
            let flatter = (x[one] - x[k]) * as_f64(two - one) < (x[two] - x[one]) * as_f64(one - k);
            if one == last || flatter {
                break;
            }
            after[k] = two;
        }
    }
    after
}

/// Returns the largest distance between the two curves, and the knots of either where it is.
///
/// Walks up both at once. `convex` runs downwards, so its position falls.
fn widest(x: &[f64], convex: &[usize], concave: &[usize]) -> (f64, usize, usize) {
    let (mut from, mut to) = (convex.len() - 1, concave.len() - 1);
    if convex.len() == 2 && concave.len() == 2 {
        return (1.0, from, to);
    }
    let (mut g, mut l, mut widest) = (convex.len() - 2, 1, 0.0_f64);
    loop {
        let (on_convex, on_concave) = (convex[g], concave[l]);
        if on_convex > on_concave {
            // The concave curve has the next knot: compare it with the convex segment above.
            let start = convex[g + 1];
            let slope = as_f64(on_convex - start) / (x[on_convex] - x[start]);
            let distance =
                as_f64(on_concave + 1) - as_f64(start) - (x[on_concave] - x[start]) * slope;
            l += 1;
            if distance >= widest {
                (widest, from, to) = (distance, g + 1, l - 1);
            }
        } else {
            let start = concave[l - 1];
            let slope = as_f64(on_concave - start) / (x[on_concave] - x[start]);
            let distance =
                (x[on_convex] - x[start]) * slope - (as_f64(on_convex) - as_f64(start + 1));
            if distance >= widest {
                (widest, from, to) = (distance, g, l);
            }
            // Below the lowest knot there is nothing more to walk to.
            g = g.saturating_sub(1);
        }
        l = l.min(concave.len() - 1);
        if convex[g] == concave[l] {
            return (widest, from, to);
        }
    }
}

/// Returns how far points rise above the line from one knot to another, at least 1.
fn above_line(x: &[f64], start: usize, end: usize) -> f64 {
    excess(x, start, end, |steps, line| steps + 1.0 - line)
}

/// Returns how far points fall below the line, at least 1.
fn below_line(x: &[f64], start: usize, end: usize) -> f64 {
    excess(x, start, end, |steps, line| line - (steps - 1.0))
}

fn excess(x: &[f64], start: usize, end: usize, of: impl Fn(f64, f64) -> f64) -> f64 {
    if end - start <= 1 || x[start] >= x[end] {
        return 1.0;
    }
    let slope = as_f64(end - start) / (x[end] - x[start]);
    (start..=end)
        .map(|at| of(as_f64(at - start), (x[at] - x[start]) * slope))
        .fold(1.0, f64::max)
}

/// Returns the values in order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // diptest 0.12.0: diptest.diptest(x), which interpolates in the table of the R package diptest
    const DIPS: [(&[f64], f64, f64); 9] = [
        (
            &[0.001, 0.299, 4.726, 4.109, 4.545],
            0.18549172346640702,
            0.05469776400108528,
        ),
        (
            &[-0.992, 0.06, 1.34, -0.492, -0.62, 0.49, 0.357, 0.105],
            0.10147058823529412,
            0.6703477760457145,
        ),
        (
            &[
                -0.93, -0.029, 0.695, -1.344, -0.458, 3.099, 3.71, 3.158, 4.765, 3.733,
            ],
            0.13526896241278416,
            0.0737310974330011,
        ),
        (
            &[
                0.044, 0.036, 0.515, 0.466, 0.917, 0.629, 0.514, 0.497, 0.248, 0.012, 0.192, 0.692,
            ],
            0.11031571218795888,
            0.19411892315667745,
        ),
        (
            &[
                1.061, -0.808, -0.033, 0.884, -0.584, -0.112, 0.11, 0.064, -1.225, 0.076, 1.359,
                -1.547, 0.859, 0.119, -0.641, 2.0, 0.762, -1.199, 0.075, 0.577,
            ],
            0.06077494692144374,
            0.8236633602320238,
        ),
        (
            &[
                -0.2, 0.7, -0.1, 0.7, 1.4, -0.7, 0.2, -0.5, 0.1, -1.2, -0.6, -0.2, 0.9, 1.1, -1.3,
                -0.8, 0.6, -2.0, -0.5, -0.1,
            ],
            0.0625,
            0.7878455581839751,
        ),
        (
            &[
                1.257, 0.689, -0.327, -0.369, -0.25, 1.524, -0.428, -0.304, 0.353, -0.121, -0.197,
                -1.114, -0.012, -0.444, 1.166, 5.653, 4.976, 5.668, 4.66, 6.052, 4.995, 5.583,
                3.709, 5.347, 3.312, 2.965, 4.696, 4.1, 5.164, 7.245,
            ],
            0.09729729729729727,
            0.017711487646262403,
        ),
        (
            &[
                0.344, 0.59, 0.684, 0.355, 0.519, 0.765, 0.909, 0.151, 0.933, 0.005, 0.753, 0.811,
                0.137, 0.419, 0.815, 0.014, 0.628, 0.793, 0.513, 0.726, 0.226, 0.199, 0.363, 0.179,
                0.346, 0.948, 0.573, 0.34, 0.272, 0.952, 0.444, 0.98, 0.516, 0.521, 0.897, 0.743,
                0.581, 0.427, 0.878, 0.412, 0.923, 0.069, 0.43, 0.52, 0.951, 0.251, 0.806, 0.676,
                0.717, 0.63,
            ],
            0.039884393063583816,
            0.8354759118970514,
        ),
        (
            &[
                1.5, -0.4, -0.3, -1.4, -0.8, 1.7, -0.7, -1.1, 0.3, 1.4, -1.5, -0.2, -0.6, -1.8,
                0.7, -0.0, 0.1, -0.8, 0.5, -0.5, -0.1, -1.1, -1.2, 1.3, -0.5, 0.3, -0.0, -0.4,
                -0.5, 0.6, -0.3, -0.2, 0.0, 1.2, 0.7, 0.4, -0.6, -1.4, 0.9, 1.0, -0.1, 0.5, 0.8,
                0.8, 0.9, -0.5, 1.5, -1.2, 0.9, 0.5, 0.9, 1.9, 1.5, -1.1, -1.7, 0.8, -1.0, -0.0,
                0.8, -1.6,
            ],
            0.05,
            0.3104479369297587,
        ),
    ];

    #[test]
    fn dips_are_those_of_diptest() {
        for (values, statistic, p_value) in DIPS {
            let actual = dip(values).expect("four values");
            assert!(
                (actual.statistic - statistic).abs() < 1e-12,
                "{actual:?} {statistic}"
            );
            // Two simulated tables, with other columns: near, but not the same.
            assert!(
                (actual.p_value - p_value).abs() < 0.02,
                "{actual:?} {p_value}"
            );
        }
    }

    #[test]
    fn equal_values_have_the_least_dip() {
        let dip = dip(&[1.0; 6]).expect("four values");
        assert_eq!((dip.statistic, dip.p_value), (1.0 / 12.0, 1.0));
    }

    proptest! {
        #[test]
        fn the_dip_has_no_unit_and_no_direction(
            values in prop::collection::vec(-10.0..10.0_f64, 4..60),
        ) {
            let mirrored: Vec<f64> = values.iter().map(|value| 3.0 - 8.0 * value).collect();
            let (one, other) = (dip(&values).expect("four"), dip(&mirrored).expect("four"));
            prop_assert!((one.statistic - other.statistic).abs() < 1e-9);
            prop_assert!(one.statistic <= 0.25 + 1e-12);
        }
    }
}
