//! The ratio of two sides by the method that fits, and how many instances would settle it.

use crate::bootstrap::{RESAMPLES, ResampledRatio, Statistic, bca_ratio, studentised_ratio};
use crate::number::as_f64;
use crate::ratio::log_side;
use crate::{
    Confidence, FiellerInterval, Interval, Seed, ratio_of_arithmetic_means, ratio_of_means,
};

/// The most instances per side to consider: more are impractical.
const MOST_INSTANCES: usize = 1_000_000;

/// How the interval of a ratio is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioMethod {
    /// Welch's t on logarithms ([`ratio_of_means`]).
    WelchLog,
    /// The studentised bootstrap on logarithms ([`studentised_ratio`]).
    StudentisedBootstrap,
    /// BCa of the ratio of arithmetic means ([`bca_ratio`]).
    Bca,
    /// Fieller's interval of the ratio of arithmetic means ([`ratio_of_arithmetic_means`]).
    Fieller,
}

/// How much larger the candidate is than the baseline, and how that was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// Candidate / baseline: of the geometric means, or of the arithmetic ones with
    /// [`RatioMethod::Bca`] and [`RatioMethod::Fieller`].
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: Interval,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
    /// The method that was used.
    pub method: RatioMethod,
}

/// Returns the ratio of candidate to baseline from one mean per instance and side.
///
/// Bootstraps draw 2,999 resamples by the seed; the other methods use no random numbers.
///
/// Both slices hold positive values in the same unit. `None` if a side has fewer than two or one that
/// is not positive, and where the method itself has no bounded interval. Fewer than three a
/// side are no ground for a verdict.
///
/// ```
/// use lapwing_stats::{Confidence, RatioMethod, Seed, ratio_interval};
/// let (baseline, candidate) = ([1.0, 1.1, 0.9], [2.0, 2.2, 1.8]);
/// let ratio = ratio_interval(&baseline, &candidate, RatioMethod::WelchLog, Confidence::P95, Seed(7));
/// assert!((ratio.expect("three per side").ratio - 2.0).abs() < 1e-12);
/// ```
pub fn ratio_interval(
    baseline: &[f64],
    candidate: &[f64],
    method: RatioMethod,
    confidence: Confidence,
    seed: Seed,
) -> Option<RatioEstimate> {
    let resampled = |ratio: ResampledRatio| RatioEstimate {
        ratio: ratio.ratio,
        interval: ratio.interval,
        p_value: ratio.p_value,
        method,
    };
    match method {
        RatioMethod::WelchLog => {
            let ratio = ratio_of_means(baseline, candidate, confidence)?;
            Some(RatioEstimate {
                ratio: ratio.ratio,
                interval: ratio.interval,
                p_value: ratio.p_value,
                method,
            })
        }
        RatioMethod::StudentisedBootstrap => {
            studentised_ratio(baseline, candidate, confidence, RESAMPLES, seed).map(resampled)
        }
        RatioMethod::Bca => {
            let mean = Statistic::Mean;
            bca_ratio(baseline, candidate, mean, confidence, RESAMPLES, seed).map(resampled)
        }
        RatioMethod::Fieller => {
            let positive = |side: &[f64]| side.iter().all(|value| *value > 0.0);
            if !positive(baseline) || !positive(candidate) {
                return None;
            }
            let ratio = ratio_of_arithmetic_means(baseline, candidate, confidence)?;
            match ratio.interval {
                FiellerInterval::Unbounded => None,
                FiellerInterval::Bounded(interval) => Some(RatioEstimate {
                    ratio: ratio.ratio,
                    interval,
                    p_value: ratio.p_value,
                    method,
                }),
            }
        }
    }
}

/// Returns how many instances per side would make the interval of the ratio narrow enough.
///
/// The smallest n for which t(ν) √((s_b² + s_c²) / n) ≤ ln(1 + `half_width`), with s the standard
/// deviations of the log instance means seen so far and Welch's ν = (n − 1)(s_b² + s_c²)² / (s_b⁴ + s_c⁴): then the
/// interval reaches from its ratio up by a factor of at most 1 + `half_width` (0.05 for 5 %), and any
/// ratio further than that from 1 is shown to differ. At least 3.
///
/// It takes the spread seen for the true one; with few instances that is a rough guess. `None` when
/// a side has fewer than two values or one that is not positive, when `half_width` is not positive,
/// or when a million instances do not suffice.
///
/// ```
/// use lapwing_stats::{Confidence, instances_to_settle};
/// let (baseline, candidate) = ([1.0, 1.1, 0.9], [1.1, 1.2, 1.0]);
/// let needed = instances_to_settle(&baseline, &candidate, 0.05, Confidence::P95);
/// assert_eq!(needed, Some(31));
/// ```
pub fn instances_to_settle(
    baseline: &[f64],
    candidate: &[f64],
    half_width: f64,
    confidence: Confidence,
) -> Option<usize> {
    let (baseline, candidate) = (log_side(baseline)?, log_side(candidate)?);
    if half_width.is_nan() || half_width <= 0.0 {
        return None;
    }
    // The variance of one instance mean.
    let before = baseline.variance * as_f64(baseline.centred.len());
    let after = candidate.variance * as_f64(candidate.centred.len());
    let wanted = half_width.ln_1p();
    let suffices = |n: usize| {
        let sum = before + after;
        let freedom = as_f64(n - 1) * sum.powi(2) / (before.powi(2) + after.powi(2));
        sum <= 0.0
            || confidence
                .t_quantile(freedom)
                .is_some_and(|t| t * (sum / as_f64(n)).sqrt() <= wanted)
    };
    // The half-width falls as n grows, so the smallest is found by halving.
    let (mut few, mut enough) = (2, 3);
    while !suffices(enough) {
        few = enough;
        enough *= 2;
        if enough > MOST_INSTANCES {
            return None;
        }
    }
    while enough - few > 1 {
        let middle = few + (enough - few) / 2;
        if suffices(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::means;

    #[test]
    fn the_methods_agree_where_noise_is_small() {
        let (baseline, candidate) = (means(30, 1.0), means(30, 1.1));
        let of = |method| {
            ratio_interval(&baseline, &candidate, method, Confidence::P95, Seed(7))
                .expect("positive")
        };
        let welch = of(RatioMethod::WelchLog);
        let width = welch.interval.upper - welch.interval.lower;
        for method in [
            RatioMethod::StudentisedBootstrap,
            RatioMethod::Bca,
            RatioMethod::Fieller,
        ] {
            let other = of(method);
            assert!((other.ratio - 1.1).abs() < 1e-9, "{other:?}");
            assert!(
                (other.interval.lower - welch.interval.lower).abs() < 0.15 * width,
                "{other:?}"
            );
            assert!(
                (other.interval.upper - welch.interval.upper).abs() < 0.15 * width,
                "{other:?}"
            );
        }
    }

    #[test]
    fn an_unbounded_interval_is_none() {
        let estimate = ratio_interval(
            &[1.0, 9.0],
            &[1.0, 2.0],
            RatioMethod::Fieller,
            Confidence::P95,
            Seed(7),
        );
        assert_eq!(estimate, None);
    }

    #[test]
    fn what_does_not_vary_is_settled_by_three() {
        let settle = |half| instances_to_settle(&[1.0; 3], &[1.0; 3], half, Confidence::P95);
        assert_eq!(settle(0.01), Some(3));
        assert_eq!(settle(0.0), None);
        assert_eq!(settle(f64::NAN), None);
    }

    #[test]
    fn a_width_that_nobody_could_measure_is_none() {
        let needed = instances_to_settle(&[1.0, 2.0], &[1.0, 3.0], 1e-9, Confidence::P95);
        assert_eq!(needed, None);
    }

    proptest! {
        #[test]
        fn that_many_suffice_and_one_fewer_does_not(
            one in prop::collection::vec(0.8..1.2_f64, 2..9),
            other in prop::collection::vec(0.8..1.2_f64, 2..9),
            half in 0.01..0.2_f64,
        ) {
            let needed = instances_to_settle(&one, &other, half, Confidence::P95);
            let needed = needed.expect("possible");
            // The half-width of samples of n that have the spread of these.
            let width = |n: usize| {
                let spread = |side: &[f64]| {
                    let logs: Vec<f64> = side.iter().map(|value| value.ln()).collect();
                    crate::standard_deviation(&logs).expect("two").powi(2) / as_f64(n)
                };
                let (before, after) = (spread(&one), spread(&other));
                let freedom = as_f64(n - 1) * (before + after).powi(2)
                    / (before.powi(2) + after.powi(2));
                let t = Confidence::P95.t_quantile(freedom).expect("positive");
                (t * (before + after).sqrt()).exp() - 1.0
            };
            prop_assert!(width(needed) <= half * (1.0 + 1e-9));
            prop_assert!(needed == 3 || width(needed - 1) > half * (1.0 - 1e-9));
        }
    }
}
