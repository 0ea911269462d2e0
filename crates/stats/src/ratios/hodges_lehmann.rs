//! The ratio of Hodges and Lehmann: robust against outlying instances.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::describe::logarithms;
use crate::number::as_f64;
use crate::ranks::rank::{PAIRS_COUNTED_OUT, RankSums};
use crate::{Confidence, Interval, median};

/// A ratio that a few outlying instances cannot move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HodgesLehmann {
    /// Candidate / baseline: the median of the ratios of all pairs (on logarithms).
    pub ratio: f64,
    /// The interval of the ratio; `None` if there are so few values that even the whole
    /// range of the pairs' ratios does not reach the confidence (at 95 %: three per side).
    pub interval: Option<Interval>,
}

/// Returns the Hodges–Lehmann ratio of candidate to baseline.
///
/// With D the sorted differences ln c − ln b of all n_b · n_c pairs, the ratio is exp(median D), and the
/// interval runs from exp(D₍k₎) to exp(D₍n_b n_c + 1 − k₎), k being the largest for which P(U < k) ≤ α / 2. U
/// is distributed as in the test of Mann and Whitney: counted out up to 900 pairs (the interval
/// then covers at least as often as stated), else by k = ½ + n_b n_c / 2 − z √(n_b n_c (N + 1) / 12), rounded down.
///
/// Both slices hold positive values in the same unit; `None` if a side is empty or has a value
/// that is not positive. Assumes that the sides differ by a factor only.
///
/// Source: Hodges & Lehmann, *Annals of Mathematical Statistics* 1963; the interval: Moses 1965, in
/// Hollander & Wolfe, *Nonparametric Statistical Methods*.
///
/// ```
/// use lapwing_stats::{Confidence, hodges_lehmann};
/// let ratio = hodges_lehmann(&[1.0, 1.1, 0.9], &[2.0, 2.2, 9.0], Confidence::P95);
/// assert!((ratio.expect("positive").ratio - 2.0 / 0.9).abs() < 1e-12);
/// ```
pub fn hodges_lehmann(
    baseline: &[f64],
    candidate: &[f64],
    confidence: Confidence,
) -> Option<HodgesLehmann> {
    let (before, after) = (logarithms(baseline)?, logarithms(candidate)?);
    let (shift, interval) = shift_of_ranks(&before, &after, confidence)?;
    Some(HodgesLehmann {
        ratio: shift.exp(),
        interval: interval.map(|interval| Interval {
            lower: interval.lower.exp(),
            upper: interval.upper.exp(),
        }),
    })
}

/// Returns the difference of Hodges and Lehmann, candidate − baseline, and its interval, as [`hodges_lehmann`] does of
/// logarithms.
pub(crate) fn shift_of_ranks(
    before: &[f64],
    after: &[f64],
    confidence: Confidence,
) -> Option<(f64, Option<Interval>)> {
    let mut differences: Vec<f64> = after
        .iter()
        .flat_map(|c| before.iter().map(move |b| c - b))
        .collect();
    differences.sort_by(f64::total_cmp);
    let interval = cut(before.len(), after.len(), confidence).map(|cut| Interval {
        lower: differences[cut - 1],
        upper: differences[differences.len() - cut],
    });
    Some((median(&differences)?, interval))
}

/// Returns which of the sorted differences, counted from either end, is the end of the interval.
fn cut(before: usize, after: usize, confidence: Confidence) -> Option<usize> {
    let tail = confidence.tail();
    let pairs = as_f64(before * after);
    if before * after <= PAIRS_COUNTED_OUT {
        let smaller = before.min(after);
        let ranks: Vec<f64> = (1..=before + after).map(as_f64).collect();
        let sums = RankSums::count(&ranks, smaller);
        // P(U < k) is that of the k smallest values of U; rounding of the level must not cost one.
        let cut = sums.within(tail * (1.0 + 1e-12));
        return (cut > 0).then_some(cut);
    }
    let deviation = (pairs * as_f64(before + after + 1) / 12.0).sqrt();
    let z = Normal::standard().inverse_cdf(1.0 - tail);
    let cut = (0.5 + pairs / 2.0 - z * deviation).floor();
    (1..=before * after).rfind(|k| as_f64(*k) <= cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::{GOLDEN_SIDES, HODGES_LEHMANN, assert_relative};

    #[test]
    fn values_are_those_of_r() {
        for ((name, baseline, candidate), expected) in GOLDEN_SIDES.iter().zip(HODGES_LEHMANN) {
            let (ratio, interval) = expected;
            let actual = hodges_lehmann(baseline, candidate, Confidence::P95).expect("positive");
            assert_relative(name, actual.ratio, ratio, 1e-10);
            assert_eq!(actual.interval.is_some(), interval.is_some(), "{name}");
            if let (Some(actual), Some((lower, upper))) = (actual.interval, interval) {
                assert_relative(name, actual.lower, lower, 1e-10);
                assert_relative(name, actual.upper, upper, 1e-10);
            }
        }
    }

    #[test]
    fn three_a_side_have_no_interval_at_95_percent_and_one_at_90() {
        let sides = ([1.0, 1.1, 1.2], [2.0, 2.1, 2.2]);
        let at = |level| {
            let confidence = Confidence::new(level).expect("a level");
            hodges_lehmann(&sides.0, &sides.1, confidence)
                .expect("positive")
                .interval
        };
        assert_eq!(at(0.95), None);
        // P(U = 0) is 1/20: the whole range covers with 90 %.
        let whole = at(0.9).expect("an interval");
        assert!((whole.lower - 2.0 / 1.2).abs() < 1e-12 && (whole.upper - 2.2).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_scales_and_mirrors(
            one in prop::collection::vec(0.5..2.0_f64, 4..12),
            other in prop::collection::vec(0.5..2.0_f64, 4..12),
            scale in 1e-6..1e6_f64,
        ) {
            let ahead = hodges_lehmann(&one, &other, Confidence::P95).expect("positive");
            let back = hodges_lehmann(&other, &one, Confidence::P95).expect("positive");
            prop_assert!((ahead.ratio * back.ratio - 1.0).abs() < 1e-9);
            let (there, again) = (ahead.interval.expect("four"), back.interval.expect("four"));
            prop_assert!((there.lower * again.upper - 1.0).abs() < 1e-9);
            prop_assert!(there.contains(ahead.ratio));
            let scaled: Vec<f64> = other.iter().map(|value| value * scale).collect();
            let scaled = hodges_lehmann(&one, &scaled, Confidence::P95).expect("positive");
            prop_assert!((scaled.ratio / ahead.ratio / scale - 1.0).abs() < 1e-9);
        }
    }
}
