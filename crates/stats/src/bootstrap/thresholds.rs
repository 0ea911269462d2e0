//! How many resamples change by more than each of some thresholds: the heat map of Coiled's A/B tests.

use super::kernel::{draw_sum, fill};
use crate::Seed;
use crate::describe::are_positive;
use crate::number::as_f64;

/// The share of resamples whose change is beyond a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdShare {
    /// The threshold, as a share: −0.1 for 10 % less.
    pub threshold: f64,
    /// Whether larger changes count; else smaller ones. The threshold 0 comes with both.
    pub is_above: bool,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// A threshold every five hundredths, up to this many.
const STEPS: usize = 16;
const STEP: f64 = 0.05;

/// Returns, for each threshold x of −80 %, −75 % … 0, the share of resamples with a change below x, and then for
/// each of 0 … 80 % the share with a change above it.
///
/// A resample draws as many values from each side as it has, with replacement; its change is the mean of the
/// candidate's divided by the mean of the baseline's, minus 1. Coiled draws 10,000. The shares are not p-values: few
/// values make them overconfident (with five, by as much as the percentile bootstrap), and there is no correction for
/// the number of comparisons.
///
/// `None` if a side has no values or one that is not positive.
///
/// Source: `dashboard.py` of coiled/benchmarks (2022-09-22), `make_ab_confidence_intervals`.
///
/// ```
/// use lapwing_stats::{Seed, threshold_shares};
/// let shares = threshold_shares(&[1.0, 1.01], &[1.2, 1.21], 1_000, Seed(7)).unwrap();
/// let slower = shares.iter().filter(|it| it.is_above && it.share == 1.0);
/// // All of them are more than 0, 5, 10 and 15 % slower; only some by more than 20 %.
/// assert_eq!(slower.count(), 4);
/// ```
pub fn threshold_shares(
    baseline: &[f64],
    candidate: &[f64],
    resamples: usize,
    seed: Seed,
) -> Option<Vec<ThresholdShare>> {
    let is_usable = |side: &[f64]| !side.is_empty() && are_positive(side);
    if !is_usable(baseline) || !is_usable(candidate) || resamples == 0 {
        return None;
    }
    let mut changes = vec![0.0; resamples];
    fill(&mut changes, seed, |random| {
        let mut mean = |side: &[f64]| draw_sum(side, random) / as_f64(side.len());
        let of_baseline = mean(baseline);
        mean(candidate) / of_baseline - 1.0
    });
    let share = |is_beyond: &dyn Fn(f64) -> bool| {
        let count = changes.iter().filter(|change| is_beyond(**change)).count();
        as_f64(count) / as_f64(resamples)
    };
    let shares = |threshold: f64, is_above: bool| ThresholdShare {
        threshold,
        is_above,
        share: if is_above {
            share(&|change| change > threshold)
        } else {
            share(&|change| change < threshold)
        },
    };
    let below = (0..=STEPS)
        .rev()
        .map(|step| shares(-STEP * as_f64(step), false));
    let above = (0..=STEPS).map(|step| shares(STEP * as_f64(step), true));
    Some(below.chain(above).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Within four standard errors of the shares over all 3³ · 4⁴ pairs of resamples, which Python 3 counted in exact
    /// fractions: `itertools.product(baseline, repeat=3)` with `itertools.product(candidate, repeat=4)`.
    #[test]
    fn shares_are_those_of_all_resamples() {
        let baseline = [1.013, 1.107, 1.291];
        let candidate = [1.057, 1.253, 1.399, 1.201];
        let shares = threshold_shares(&baseline, &candidate, 200_000, Seed(7)).expect("positive");
        assert_eq!(shares.len(), 34);
        for (threshold, is_above, expected) in GOLDEN {
            let found = shares
                .iter()
                .find(|it| it.is_above == is_above && (it.threshold - threshold).abs() < 1e-9);
            let found = found.expect("a threshold").share;
            assert!((found - expected).abs() < 0.004, "{threshold}: {found}");
        }
    }

    /// Threshold, whether above, share. None of the changes is a threshold.
    const GOLDEN: [(f64, bool, f64); 6] = [
        (-0.1, false, 0.009693),
        (0.0, false, 0.168403),
        (0.0, true, 0.831597),
        (0.05, true, 0.640914),
        (0.1, true, 0.405382),
        (0.2, true, 0.081887),
    ];

    proptest! {
        #[test]
        fn shares_fall_with_the_threshold_and_scale_changes_nothing(
            baseline in prop::collection::vec(0.1..10.0_f64, 1..8),
            candidate in prop::collection::vec(0.1..10.0_f64, 1..8),
        ) {
            let of = |scale: f64| {
                let scaled = |side: &[f64]| side.iter().map(|it| it * scale).collect::<Vec<_>>();
                threshold_shares(&scaled(&baseline), &scaled(&candidate), 500, Seed(1)).expect("positive")
            };
            let shares = of(1.0);
            let (below, above) = shares.split_at(STEPS + 1);
            prop_assert!(below.windows(2).all(|pair| pair[0].share <= pair[1].share));
            prop_assert!(above.windows(2).all(|pair| pair[0].share >= pair[1].share));
            prop_assert!(below[STEPS].share + above[0].share <= 1.0);
            // A power of two, so that nothing is rounded.
            prop_assert_eq!(of(4.0), shares);
        }
    }

    #[test]
    fn sides_without_positive_values_have_no_shares() {
        assert_eq!(threshold_shares(&[], &[1.0], 10, Seed(1)), None);
        assert_eq!(threshold_shares(&[1.0], &[0.0], 10, Seed(1)), None);
    }
}
