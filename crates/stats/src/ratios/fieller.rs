//! Fieller's interval: the ratio of arithmetic means.

use crate::interval::t_p_value;
use crate::number::as_f64;
use crate::{Confidence, Interval, mean, standard_deviation};

/// The ratio of two arithmetic means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOfArithmeticMeans {
    /// Candidate / baseline.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: FiellerInterval,
    /// Two-sided p-value of "the means are equal" (Welch's test, for which the ratio is 1).
    pub p_value: f64,
}

/// Fieller's set of the ratios that the data do not contradict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FiellerInterval {
    /// It is an interval.
    Bounded(Interval),
    /// The baseline's mean cannot be told from zero: ratios of any size are possible.
    Unbounded,
}

/// Returns the ratio of arithmetic means, candidate / baseline, with Fieller's interval.
///
/// With v = s² / n the interval is what lies between the roots of
/// (x̄_b² − t² v_b) ρ² − 2 x̄_b x̄_c ρ + (x̄_c² − t² v_c) = 0, as long as x̄_b² > t² v_b. The degrees
/// of freedom of t are those of Satterthwaite for v_c + ρ̂² v_b.
///
/// Both slices hold finite values in the same unit. `None` if a side has fewer than two, or when
/// the baseline's mean is zero.
///
/// Source: Fieller, *Journal of the Royal Statistical Society B* 1954.
///
/// ```
/// use lapwing_stats::{Confidence, FiellerInterval, ratio_of_arithmetic_means};
/// let ratio = ratio_of_arithmetic_means(&[1.0, -1.1, 0.9], &[2.0, 2.2, 1.8], Confidence::P95);
/// assert_eq!(ratio.expect("three a side").interval, FiellerInterval::Unbounded);
/// ```
pub fn ratio_of_arithmetic_means(
    baseline: &[f64],
    candidate: &[f64],
    confidence: Confidence,
) -> Option<RatioOfArithmeticMeans> {
    let finite = |side: &[f64]| side.iter().all(|value| value.is_finite());
    if !finite(baseline) || !finite(candidate) {
        return None;
    }
    let moments = |side: &[f64]| {
        let variance = standard_deviation(side)?.powi(2) / as_f64(side.len());
        Some((mean(side)?, variance))
    };
    let (before, before_variance) = moments(baseline)?;
    let (after, after_variance) = moments(candidate)?;
    if before == 0.0 {
        return None;
    }
    let ratio = after / before;
    let scaled = ratio.powi(2) * before_variance;
    let freedom = satterthwaite((scaled, baseline.len()), (after_variance, candidate.len()));
    let variance = before_variance + after_variance;
    if variance == 0.0 {
        return Some(RatioOfArithmeticMeans {
            ratio,
            interval: FiellerInterval::Bounded(Interval::around(ratio, 0.0)),
            p_value: f64::from(u8::from(after - before == 0.0)),
        });
    }
    let sides = [
        (before_variance, baseline.len()),
        (after_variance, candidate.len()),
    ];
    let welch = satterthwaite(sides[0], sides[1]);
    let t = confidence.t_quantile(freedom)?;
    Some(RatioOfArithmeticMeans {
        ratio,
        interval: roots((before, before_variance), (after, after_variance), t),
        p_value: t_p_value((after - before) / variance.sqrt(), welch)?,
    })
}

/// Returns the degrees of freedom of a sum of two variances of means.
fn satterthwaite(one: (f64, usize), other: (f64, usize)) -> f64 {
    (one.0 + other.0).powi(2)
        / (one.0.powi(2) / as_f64(one.1 - 1) + other.0.powi(2) / as_f64(other.1 - 1))
}

fn roots(before: (f64, f64), after: (f64, f64), t: f64) -> FiellerInterval {
    let square = before.0.powi(2) - t.powi(2) * before.1;
    if square <= 0.0 {
        return FiellerInterval::Unbounded;
    }
    let middle = before.0 * after.0;
    let constant = after.0.powi(2) - t.powi(2) * after.1;
    // Not negative where the leading term is positive, but for rounding.
    let root = (middle.powi(2) - square * constant).max(0.0).sqrt();
    FiellerInterval::Bounded(Interval::around(middle, root).map(|end| end / square))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::{FIELLER, GOLDEN_SIDES, assert_relative};

    #[test]
    fn ends_are_where_scipy_finds_the_t_statistic_to_cross_its_quantile() {
        for ((name, baseline, candidate), expected) in GOLDEN_SIDES.iter().zip(FIELLER) {
            let actual = ratio_of_arithmetic_means(baseline, candidate, Confidence::P95)
                .expect("two a side");
            let FiellerInterval::Bounded(interval) = actual.interval else {
                unreachable!("{name} is far from zero")
            };
            let numbers = [actual.ratio, interval.lower, interval.upper, actual.p_value];
            for (actual, expected) in numbers.into_iter().zip(expected) {
                assert_relative(name, actual, expected, 1e-8);
            }
        }
    }

    #[test]
    fn a_baseline_around_zero_bounds_nothing() {
        let ratio = ratio_of_arithmetic_means(&[1.0, -0.9, 0.1], &[1.0, 2.0], Confidence::P95);
        assert_eq!(
            ratio.expect("two a side").interval,
            FiellerInterval::Unbounded
        );
        assert_eq!(
            ratio_of_arithmetic_means(&[1.0, -1.0], &[1.0, 2.0], Confidence::P95),
            None
        );
        assert_eq!(
            ratio_of_arithmetic_means(&[1.0], &[1.0, 2.0], Confidence::P95),
            None
        );
    }

    #[test]
    fn sides_that_do_not_vary_give_their_exact_ratio() {
        let ratio = ratio_of_arithmetic_means(&[2.0; 3], &[3.0; 3], Confidence::P95);
        let ratio = ratio.expect("three a side");
        let point = Interval {
            lower: 1.5,
            upper: 1.5,
        };
        assert_eq!(
            (ratio.interval, ratio.p_value),
            (FiellerInterval::Bounded(point), 0.0)
        );
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(
            one in prop::collection::vec(0.9..1.1_f64, 3..12),
            other in prop::collection::vec(0.9..1.1_f64, 3..12),
            scale in 1e-6..1e6_f64,
        ) {
            let scaled = |side: &[f64]| side.iter().map(|value| value * scale).collect::<Vec<_>>();
            let plain = ratio_of_arithmetic_means(&one, &other, Confidence::P95).expect("enough");
            let large = ratio_of_arithmetic_means(&scaled(&one), &scaled(&other), Confidence::P95);
            let large = large.expect("enough");
            prop_assert!((plain.ratio / large.ratio - 1.0).abs() < 1e-9);
            prop_assert!((plain.p_value - large.p_value).abs() < 1e-6);
            if let (FiellerInterval::Bounded(plain), FiellerInterval::Bounded(large)) =
                (plain.interval, large.interval)
            {
                prop_assert!((plain.lower / large.lower - 1.0).abs() < 1e-6);
                prop_assert!((plain.upper / large.upper - 1.0).abs() < 1e-6);
            }
        }
    }
}
