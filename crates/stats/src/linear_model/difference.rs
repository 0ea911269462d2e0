//! The difference of an effect between two independent studies.

use super::fit::Coefficient;
use crate::interval::t_p_value;
use crate::{Confidence, Interval};

/// By how much an effect differs between two independent fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoefficientDifference {
    /// The second estimate minus the first.
    pub estimate: f64,
    /// Its standard error √(s₁² + s₂²).
    pub standard_error: f64,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub freedom: f64,
    /// The confidence interval.
    pub interval: Interval,
    /// The two-sided p-value of "both are equal".
    pub p_value: f64,
}

impl CoefficientDifference {
    /// Returns the difference of two coefficients with their residual degrees of freedom; `None` without degrees of
    /// freedom or without any standard error.
    ///
    /// d = b₂ − b₁, s = √(s₁² + s₂²), ν = s⁴ / (s₁⁴ / ν₁ + s₂⁴ / ν₂), t = d / s. The noise of the two studies may
    /// differ, as that of two machines does; their runs have to be independent.
    ///
    /// Source: Welch, *Biometrika* 1947; Satterthwaite, *Biometrics Bulletin* 1946.
    pub fn new([first, second]: [(Coefficient, f64); 2], confidence: Confidence) -> Option<Self> {
        let variance = |(own, _): (Coefficient, f64)| own.standard_error.powi(2);
        let [one, other] = [first, second].map(variance);
        let spread = one.powi(2) / first.1 + other.powi(2) / second.1;
        let freedom = (one + other).powi(2) / spread;
        let standard_error = (one + other).sqrt();
        let estimate = second.0.estimate - first.0.estimate;
        let reach = confidence.t_quantile(freedom)? * standard_error;
        Some(Self {
            estimate,
            standard_error,
            freedom,
            interval: Interval::around(estimate, reach),
            p_value: t_p_value(estimate / standard_error, freedom)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficient(estimate: f64, standard_error: f64) -> Coefficient {
        Coefficient {
            estimate,
            standard_error,
            t: estimate / standard_error,
            p_value: None,
        }
    }

    /// R 4.2.2: `a <- c(0.31, -0.22, 0.05, 0.47, 0.12); b <- c(1.9, 0.4, 1.1, 2.7, -0.3, 1.4, 0.8)`; a coefficient is
    /// a mean with the standard error `sd(x) / sqrt(length(x))`, so that the difference is `t.test(b, a)`.
    #[test]
    fn of_two_means_it_is_the_test_of_welch() {
        let side = |values: &[f64]| {
            let count = crate::as_f64(values.len());
            let mean = crate::mean(values).expect("values");
            let error = crate::standard_deviation(values).expect("several") / count.sqrt();
            (coefficient(mean, error), count - 1.0)
        };
        let sides = [
            side(&[0.31, -0.22, 0.05, 0.47, 0.12]),
            side(&[1.9, 0.4, 1.1, 2.7, -0.3, 1.4, 0.8]),
        ];
        let found = CoefficientDifference::new(sides, Confidence::P95).expect("spread");
        let expected = [
            0.996_857_142_857_142_8,
            7.147_648_455_556_127,
            0.037_202_136_893_290_1,
            0.077_929_814_171_869_7,
            1.915_784_471_542_416,
        ];
        let own = [
            found.estimate,
            found.freedom,
            found.p_value,
            found.interval.lower,
            found.interval.upper,
        ];
        for (own, expected) in own.iter().zip(expected) {
            assert!((own - expected).abs() < 1e-9, "{own} is not {expected}");
        }
    }

    #[test]
    fn without_freedom_or_spread_there_is_no_test() {
        let exact = (coefficient(1.0, 0.0), 4.0);
        assert_eq!(
            CoefficientDifference::new([exact, exact], Confidence::P95),
            None
        );
        let single = (coefficient(1.0, f64::NAN), 0.0);
        assert_eq!(
            CoefficientDifference::new([exact, single], Confidence::P95),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn exchanging_the_sides_turns_the_sign_alone(
            one in -5.0..5.0_f64, other in -5.0..5.0_f64, first in 0.01..3.0_f64, second in 0.01..3.0_f64, freedom in 2.0..40.0_f64
        ) {
            let sides = [(coefficient(one, first), freedom), (coefficient(other, second), 7.0)];
            let there = CoefficientDifference::new(sides, Confidence::P95).expect("spread");
            let back = CoefficientDifference::new([sides[1], sides[0]], Confidence::P95).expect("spread");
            proptest::prop_assert!((there.estimate + back.estimate).abs() < 1e-12);
            proptest::prop_assert!((there.p_value - back.p_value).abs() < 1e-12);
            proptest::prop_assert!((there.interval.lower + back.interval.upper).abs() < 1e-9);
            // Never fewer than the side with the fewest, never more than both together.
            proptest::prop_assert!(there.freedom > freedom.min(7.0) - 1e-9 && there.freedom < freedom + 7.0 + 1e-9);
        }
    }
}
