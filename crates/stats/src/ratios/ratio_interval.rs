//! The ratio of two sides by the method that is asked for.

use crate::bootstrap::{RESAMPLES, Statistic, bca_ratio, studentised_ratio};
use crate::{Confidence, Ratio, Seed, ratio_of_means};

/// How the interval of a ratio is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioMethod {
    /// Welch's t on logarithms ([`ratio_of_means`]).
    WelchLog,
    /// The studentised bootstrap on logarithms ([`studentised_ratio`]).
    StudentisedBootstrap,
    /// BCa of the ratio of arithmetic means ([`bca_ratio`]).
    Bca,
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
) -> Option<Ratio> {
    match method {
        RatioMethod::WelchLog => ratio_of_means(baseline, candidate, confidence),
        RatioMethod::StudentisedBootstrap => {
            studentised_ratio(baseline, candidate, confidence, RESAMPLES, seed)
        }
        RatioMethod::Bca => {
            let mean = Statistic::Mean;
            bca_ratio(baseline, candidate, mean, confidence, RESAMPLES, seed)
        }
    }
}

#[cfg(test)]
mod tests {
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
        for method in [RatioMethod::StudentisedBootstrap, RatioMethod::Bca] {
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
}
