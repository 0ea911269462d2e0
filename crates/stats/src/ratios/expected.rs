//! Answers to the question whether a candidate is slower or faster than its baseline, or the same.

use crate::LookedDifference;

/// What is expected of a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExpectedChange {
    /// That it is not slower.
    #[default]
    NotSlower,
    /// That it is faster.
    Faster,
    /// That it is the same, apart from less than the smallest effect.
    Same,
    /// That it is slower.
    Slower,
}

/// Whether a candidate is slower or faster than its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeAnswer {
    /// It is slower.
    Slower,
    /// It is faster.
    Faster,
    /// It is not slower by the smallest effect that matters.
    NotSlower,
    /// It is not faster by the smallest effect that matters.
    NotFaster,
    /// It is neither by the smallest effect that matters.
    Same,
    /// More measurements are needed.
    Undecided,
}

impl ExpectedChange {
    /// Returns the share of α that is spent on all looks, for a rate of wrong answers of `alpha`: both sides of an interval
    /// may have all of it where only one of them can be wrong, and have half of it each where both can.
    #[must_use]
    pub fn two_sided_level(self, alpha: f64) -> f64 {
        match self {
            Self::NotSlower | Self::Faster | Self::Slower => 2.0 * alpha,
            Self::Same => alpha,
        }
    }

    /// Returns the answer at a look at logarithms.
    ///
    /// *Not slower* is said if the interval is below `smallest_effect` (a logarithm), *not faster* if it is above its
    /// negative, *the same* if both hold; else *slower* or *faster* if the interval is beyond 0 and the p-value at most the
    /// level of the look. What is surely faster is said to be that instead of *not slower*, and vice versa.
    ///
    /// With the interval of confidence 1 − level, and with levels that spend [`ExpectedChange::two_sided_level`] over all
    /// looks, *slower* is said of a candidate that is not slower, *not slower* of one that is slower by the smallest effect
    /// or more, and so on, with probability α each. One answer holds as soon as the interval is narrower than the smallest
    /// effect, so enough measurements always decide.
    ///
    /// ```
    /// use lapwing_stats::{ChangeAnswer, ExpectedChange, LookedDifference, comparison_looks};
    /// let look = comparison_looks(5, None, 0.1)[0];
    /// let (before, after) = ([0.0, 0.01, 0.02, 0.01, 0.0], [0.11, 0.12, 0.1, 0.11, 0.1]);
    /// let looked = LookedDifference::by_ranks(look, &before, &after).expect("five per side");
    /// assert_eq!(ExpectedChange::NotSlower.answer(&looked, 0.05), ChangeAnswer::Slower);
    /// assert_eq!(ExpectedChange::NotSlower.answer(&looked, 0.2), ChangeAnswer::NotSlower);
    /// assert_eq!(ExpectedChange::Faster.answer(&looked.reversed(), 0.05), ChangeAnswer::Faster);
    /// assert_eq!(ExpectedChange::Same.answer(&looked, 0.2), ChangeAnswer::Same);
    /// ```
    #[must_use]
    pub fn answer(self, looked: &LookedDifference, smallest_effect: f64) -> ChangeAnswer {
        let is_sure = looked.p_value <= looked.level;
        let is_slower = looked.interval.lower > 0.0 && is_sure;
        let is_faster = looked.interval.upper < 0.0 && is_sure;
        let is_not_slower = looked.interval.upper < smallest_effect;
        let is_not_faster = looked.interval.lower > -smallest_effect;
        match self {
            Self::NotSlower | Self::Slower if is_not_slower => match is_faster {
                true => ChangeAnswer::Faster,
                false => ChangeAnswer::NotSlower,
            },
            Self::Faster if is_not_faster => match is_slower {
                true => ChangeAnswer::Slower,
                false => ChangeAnswer::NotFaster,
            },
            Self::Same if is_not_slower && is_not_faster => ChangeAnswer::Same,
            _ if is_slower => ChangeAnswer::Slower,
            _ if is_faster => ChangeAnswer::Faster,
            _ => ChangeAnswer::Undecided,
        }
    }

    /// Returns whether an answer is the expected one; `None` if it is undecided.
    #[must_use]
    pub fn is_met(self, answer: ChangeAnswer) -> Option<bool> {
        let is_expected = match self {
            Self::NotSlower => answer != ChangeAnswer::Slower,
            Self::Faster => answer == ChangeAnswer::Faster,
            Self::Same => answer == ChangeAnswer::Same,
            Self::Slower => answer == ChangeAnswer::Slower,
        };
        (answer != ChangeAnswer::Undecided).then_some(is_expected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Interval;

    fn looked(value: f64, half: f64) -> LookedDifference {
        LookedDifference {
            instances: [5, 5],
            value,
            interval: Interval {
                lower: value - half,
                upper: value + half,
            },
            p_value: 0.0,
            level: 0.05,
        }
    }

    proptest! {
        #[test]
        fn a_narrow_interval_decides_and_a_wide_one_around_both_borders_does_not(
            value in -1.0..1.0_f64,
            half in 0.0..0.5_f64,
            smallest_effect in 0.01..0.5_f64,
        ) {
            let looked = looked(value, half);
            let answer = ExpectedChange::NotSlower.answer(&looked, smallest_effect);
            let is_wide = value - half <= 0.0 && value + half >= smallest_effect;
            prop_assert_eq!(answer == ChangeAnswer::Undecided, is_wide);
            prop_assert!(half >= smallest_effect / 2.0 || !is_wide);
            // It is the same question in a mirror.
            let mirrored = match ExpectedChange::Faster.answer(&looked.reversed(), smallest_effect) {
                ChangeAnswer::Slower => ChangeAnswer::Faster,
                ChangeAnswer::Faster => ChangeAnswer::Slower,
                ChangeAnswer::NotFaster => ChangeAnswer::NotSlower,
                other => other,
            };
            prop_assert_eq!(mirrored, answer);
            prop_assert_eq!(ExpectedChange::Slower.answer(&looked, smallest_effect), answer);
        }

        #[test]
        fn what_is_the_same_is_neither_slower_nor_faster(
            value in -1.0..1.0_f64,
            half in 0.0..0.5_f64,
            smallest_effect in 0.01..0.5_f64,
        ) {
            let looked = looked(value, half);
            let answer = ExpectedChange::Same.answer(&looked, smallest_effect);
            let is_within = value.abs() + half < smallest_effect;
            prop_assert_eq!(answer == ChangeAnswer::Same, is_within);
            prop_assert!(half >= smallest_effect / 2.0 || answer != ChangeAnswer::Undecided);
        }
    }
}
