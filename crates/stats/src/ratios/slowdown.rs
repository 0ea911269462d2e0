//! Slower or not, as an answer that ends a sequence of looks.

use crate::LookedDifference;

/// Whether a candidate is slower than its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowdownAnswer {
    /// It is slower.
    Slower,
    /// It is not slower by the smallest effect that matters.
    NotSlower,
    /// More measurements are needed.
    Undecided,
}

impl SlowdownAnswer {
    /// Returns the answer at a look at logarithms: *not slower* if the interval is below `smallest_effect` (a
    /// logarithm), else *slower* if the interval is above 0 and the p-value at most the level of the look.
    ///
    /// With the interval of confidence 1 − level, and with levels that spend 2α over all looks, *slower* is said of
    /// a candidate that is not slower, and *not slower* of one that is slower by the smallest effect or more, with
    /// probability α each. One of both holds as soon as the interval is narrower than the smallest effect, so enough
    /// measurements always decide.
    ///
    /// ```
    /// use lapwing_stats::{LookedDifference, SlowdownAnswer, comparison_looks};
    /// let look = comparison_looks(5, None, 0.1)[0];
    /// let (before, after) = ([0.0, 0.01, 0.02, 0.01, 0.0], [0.11, 0.12, 0.1, 0.11, 0.1]);
    /// let looked = LookedDifference::by_ranks(look, &before, &after).expect("five per side");
    /// assert_eq!(SlowdownAnswer::at(&looked, 0.05), SlowdownAnswer::Slower);
    /// assert_eq!(SlowdownAnswer::at(&looked, 0.2), SlowdownAnswer::NotSlower);
    /// ```
    #[must_use]
    pub fn at(looked: &LookedDifference, smallest_effect: f64) -> Self {
        if looked.interval.upper < smallest_effect {
            Self::NotSlower
        } else if looked.interval.lower > 0.0 && looked.p_value <= looked.level {
            Self::Slower
        } else {
            Self::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Interval;

    proptest! {
        #[test]
        fn a_narrow_interval_decides_and_a_wide_one_around_both_borders_does_not(
            value in -1.0..1.0_f64,
            half in 0.0..0.5_f64,
            smallest_effect in 0.01..0.5_f64,
        ) {
            let looked = LookedDifference {
                instances: [5, 5],
                value,
                interval: Interval { lower: value - half, upper: value + half },
                p_value: 0.0,
                level: 0.05,
            };
            let answer = SlowdownAnswer::at(&looked, smallest_effect);
            let is_wide = value - half <= 0.0 && value + half >= smallest_effect;
            prop_assert_eq!(answer == SlowdownAnswer::Undecided, is_wide);
            prop_assert!(half >= smallest_effect / 2.0 || !is_wide);
        }
    }
}
