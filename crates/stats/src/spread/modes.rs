//! Whether a sample has two modes, such as machines of two kinds.

use crate::describe::squares_around;
use crate::number::as_f64;
use crate::spread::dip::sorted;
use crate::{Dip, dip};

/// With fewer values there is no telling.
const LEAST_VALUES: usize = 5;

/// Two modes are claimed below this p-value of the dip …
const LEVEL: f64 = 0.05;

/// … when each has this many values or more …
const LEAST_IN_A_MODE: usize = 2;

/// … and the smallest gap between them, in standard deviations within them.
const LEAST_GAP: f64 = 2.0;

/// The modes of a sample.
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
    let total = squares_around(&sorted, all);
    // Around the mean of all, the sums of the two groups are opposite.
    let mut below = 0.0;
    let mut best = None;
    let n = as_f64(sorted.len());
    for (at, pair) in sorted.windows(2).enumerate() {
        below += pair[0] - all;
        let lower = as_f64(at + 1);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    }
}
