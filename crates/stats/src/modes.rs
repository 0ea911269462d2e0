//! Whether a sample has two modes, such as machines of two kinds.

use crate::dip_table::dip_p_value;
use crate::number::real;

/// With fewer values there is no telling.
const LEAST_VALUES: usize = 5;

/// Two modes are claimed below this p-value of the dip …
const LEVEL: f64 = 0.05;

/// … when each has this many values or more …
const LEAST_IN_A_MODE: usize = 2;

/// … and the gap between them is so many standard deviations within them.
const LEAST_GAP: f64 = 2.0;

/// What a sample says of its modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Modes {
    /// Fewer than five values.
    TooFew,
    /// Nothing speaks against a single mode.
    One {
        /// The test of a single mode.
        dip: Dip,
    },
    /// There are two groups with a gap between them.
    Two {
        /// The test of a single mode.
        dip: Dip,
        /// The two groups.
        split: Split,
    },
}

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

/// A sample cut in two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// How many values are in the lower group.
    pub lower_count: usize,
    /// The mean of the lower group.
    pub lower_mean: f64,
    /// The mean of the upper group.
    pub upper_mean: f64,
    /// The largest value of the lower group and the smallest of the upper one.
    pub gap: (f64, f64),
    /// The pooled standard deviation within the groups (divisor n − 2; 0 for two values).
    pub deviation: f64,
}

/// Returns whether finite values, one for each instance, fall into two groups.
///
/// Two are claimed when the dip's p-value is below 0.05, the best split leaves two values or more on each
/// side, and the gap between the groups is at least twice the standard deviation within them. That is
/// conservative: of five to nine instances only groups that are far apart are noticed, and a mode of
/// a single instance never is.
///
/// ```
/// use lapwing_stats::{Modes, modes};
/// let means = [1.00, 1.01, 1.02, 1.01, 1.30, 1.31, 1.32, 1.31, 1.0, 1.3];
/// assert!(matches!(modes(&means), Modes::Two { split, .. } if split.lower_count == 5));
/// assert!(matches!(modes(&means[..4]), Modes::TooFew));
/// ```
pub fn modes(values: &[f64]) -> Modes {
    let Some(dip) = dip(values).filter(|_| values.len() >= LEAST_VALUES) else {
        return Modes::TooFew;
    };
    let apart = |split: &Split| {
        let smaller = split.lower_count.min(values.len() - split.lower_count);
        let wide = split.gap.1 - split.gap.0 >= LEAST_GAP * split.deviation;
        smaller >= LEAST_IN_A_MODE && wide
    };
    match split(values).filter(apart) {
        Some(split) if dip.p_value < LEVEL => Modes::Two { dip, split },
        Some(_) | None => Modes::One { dip },
    }
}

/// Returns the split of the values in two groups with the least sum of squares within them: for values on a
/// line one cut, so that trying all finds the best. `None` below two values or when all are equal.
///
/// Source: Fisher, *JASA* 1958.
///
/// ```
/// let split = lapwing_stats::split(&[3.0, 1.0, 3.2, 1.2]).expect("they differ");
/// assert_eq!((split.lower_count, split.gap), (2, (1.2, 3.0)));
/// ```
pub fn split(values: &[f64]) -> Option<Split> {
    let sorted = sorted(values);
    let all = crate::mean(&sorted)?;
    let total: f64 = sorted.iter().map(|value| (value - all).powi(2)).sum();
    // Around the mean of all, the sums of the two groups are opposite.
    let mut below = 0.0;
    let mut best = None;
    let n = real(sorted.len());
    for (at, pair) in sorted.windows(2).enumerate() {
        below += pair[0] - all;
        let lower = real(at + 1);
        let explained = below * below * n / (lower * (n - lower));
        if pair[0] < pair[1] && best.is_none_or(|(_, most)| explained > most) {
            best = Some((at + 1, explained));
        }
    }
    let (lower_count, explained) = best?;
    let (lower, upper) = sorted.split_at(lower_count);
    let within = (total - explained).max(0.0);
    Some(Split {
        lower_count,
        lower_mean: crate::mean(lower)?,
        upper_mean: crate::mean(upper)?,
        gap: (*lower.last()?, *upper.first()?),
        deviation: if n > 2.0 {
            (within / (n - 2.0)).sqrt()
        } else {
            0.0
        },
    })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
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
pub(crate) fn dip_statistic(x: &[f64]) -> f64 {
    let n = x.len();
    let scale = 2.0 * real(n);
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
            let steeper = (x[j] - x[one]) * real(one - two) < (x[one] - x[two]) * real(j - one);
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
            let flatter = (x[one] - x[k]) * real(two - one) < (x[two] - x[one]) * real(one - k);
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
            let slope = real(on_convex - start) / (x[on_convex] - x[start]);
            let distance = real(on_concave + 1) - real(start) - (x[on_concave] - x[start]) * slope;
            l += 1;
            if distance >= widest {
                (widest, from, to) = (distance, g + 1, l - 1);
            }
        } else {
            let start = concave[l - 1];
            let slope = real(on_concave - start) / (x[on_concave] - x[start]);
            let distance = (x[on_convex] - x[start]) * slope - (real(on_convex) - real(start + 1));
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
    let slope = real(end - start) / (x[end] - x[start]);
    (start..=end)
        .map(|at| of(real(at - start), (x[at] - x[start]) * slope))
        .fold(1.0, f64::max)
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
    fn a_mode_of_one_instance_is_none() {
        let means = [1.0, 1.01, 1.02, 1.005, 1.015, 1.012, 1.008, 2.0];
        assert!(matches!(modes(&means), Modes::One { .. }));
    }

    #[test]
    fn two_kinds_of_machines_are_seen_from_five_on() {
        let Modes::Two { split, .. } = modes(&[1.0, 1.31, 1.3, 1.01, 1.3]) else {
            unreachable!("far apart")
        };
        assert_eq!((split.lower_count, split.gap), (2, (1.01, 1.3)));
        assert!(matches!(modes(&[1.0, 1.31, 1.3, 1.01]), Modes::TooFew));
    }

    #[test]
    fn equal_values_have_no_second_mode() {
        assert_eq!(split(&[1.0; 6]), None);
        assert!(matches!(modes(&[1.0; 6]), Modes::One { .. }));
        assert_eq!(dip(&[1.0; 6]).map(|dip| dip.p_value), Some(1.0));
    }

    proptest! {
        #[test]
        fn the_best_split_is_that_of_trying_all(
            values in prop::collection::vec(0..40_u8, 2..20),
        ) {
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            values.sort_by(f64::total_cmp);
            let squares = |part: &[f64]| -> f64 {
                let centre = crate::mean(part).expect("values");
                part.iter().map(|value| (value - centre).powi(2)).sum()
            };
            let within = |at: usize| squares(&values[..at]) + squares(&values[at..]);
            let least = (1..values.len()).map(within).fold(f64::INFINITY, f64::min);
            match split(&values) {
                None => prop_assert!(values[0] == values[values.len() - 1]),
                Some(split) => prop_assert!((within(split.lower_count) - least).abs() < 1e-9),
            }
        }

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
