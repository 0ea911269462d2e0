//! Variances that borrow strength from each other: the empirical Bayes prior of a family of variances.

use statrs::function::gamma::digamma;

use crate::describe::squares_around;
use crate::number::as_f64;
use crate::{mean, median};

/// The distribution of the true variances of a family: a scaled inverse χ².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariancePrior {
    /// The typical variance, s₀².
    pub variance: f64,
    /// How much it counts, in degrees of freedom, d₀; infinite when all true variances seem equal.
    pub freedom: f64,
}

/// Variances below this share of the median count as this share of it: a logarithm needs a positive number.
const LEAST_SHARE: f64 = 1e-5;

impl VariancePrior {
    /// Returns the variance of a sum of squares with so many degrees of freedom; 0 without any.
    pub fn of_squares(squares: f64, freedom: f64) -> Self {
        Self {
            variance: if freedom > 0.0 {
                squares / freedom
            } else {
                0.0
            },
            freedom,
        }
    }

    /// The prior that counts nothing.
    pub const NONE: Self = Self {
        variance: 0.0,
        freedom: 0.0,
    };

    /// Fits the prior to variances, each with its degrees of freedom, by the moments of their logarithms.
    ///
    /// With z = ln s², e = z − ψ(d/2) + ln(d/2), the prior's freedom solves
    /// ψ′(d₀/2) = var(e) − mean ψ′(d/2), and s₀² = exp(ē + ψ(d₀/2) − ln(d₀/2)). Where the right side is not
    /// positive, d₀ is infinite and s₀² the mean variance.
    ///
    /// `None` below two variances, or when half of them are 0.
    ///
    /// Source: Smyth, *Statistical Applications in Genetics and Molecular Biology* 3(1), 2004, §6.2; R's limma
    /// is the reference.
    pub fn fit(variances: &[(f64, f64)]) -> Option<Self> {
        let values: Vec<f64> = variances.iter().map(|(variance, _)| *variance).collect();
        let least = LEAST_SHARE * median(&values)?;
        if values.len() < 2 || least <= 0.0 || !least.is_finite() {
            return None;
        }
        let values: Vec<f64> = values.iter().map(|value| value.max(least)).collect();
        let halves = || variances.iter().map(|(_, freedom)| freedom / 2.0);
        let errors: Vec<f64> = values
            .iter()
            .zip(halves())
            .map(|(value, half)| value.ln() - digamma(half) + half.ln())
            .collect();
        let centre = mean(&errors)?;
        let expected = mean(&halves().map(trigamma).collect::<Vec<_>>())?;
        let excess = squares_around(&errors, centre) / (as_f64(errors.len()) - 1.0) - expected;
        if excess <= 0.0 {
            return Some(Self {
                variance: mean(&values)?,
                freedom: f64::INFINITY,
            });
        }
        let half = inverse_trigamma(excess);
        Some(Self {
            variance: (centre + digamma(half) - half.ln()).exp(),
            freedom: 2.0 * half,
        })
    }

    /// Returns the same prior with at most these degrees of freedom. Few variances can look equal by chance, so one
    /// of K members gets K − 1 at most.
    #[must_use]
    pub fn at_most(self, freedom: f64) -> Self {
        Self {
            freedom: self.freedom.min(freedom),
            ..self
        }
    }

    /// Returns the posterior variance of a variance with its degrees of freedom:
    /// (d₀ s₀² + d s²) / (d₀ + d).
    pub fn moderate(&self, variance: f64, freedom: f64) -> f64 {
        if self.freedom.is_infinite() {
            return self.variance;
        }
        (self.freedom * self.variance + freedom * variance) / (self.freedom + freedom)
    }

    /// Returns the degrees of freedom of a moderated variance: d₀ + d.
    pub fn moderated_freedom(&self, freedom: f64) -> f64 {
        self.freedom + freedom
    }
}

/// From here on the asymptotic series have 15 digits.
const ASYMPTOTIC_FROM: f64 = 15.0;

/// Returns ψ′(x) for x > 0, by recurrence and its asymptotic series (Abramowitz & Stegun 6.4.12).
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < ASYMPTOTIC_FROM {
        sum += x.powi(-2);
        x += 1.0;
    }
    let square = x.powi(-2);
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    sum + 1.0 / x + square / 2.0 + square / x * series
}

/// Returns ψ″(x) for x > 0 (Abramowitz & Stegun 6.4.13).
fn tetragamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < ASYMPTOTIC_FROM {
        sum -= 2.0 * x.powi(-3);
        x += 1.0;
    }
    let square = x.powi(-2);
    let series = 0.5 - square * (1.0 / 6.0 - square * (1.0 / 6.0 - square * 0.3));
    sum - square - square / x - square * square * series
}

/// Returns the x with ψ′(x) = `value` > 0, by Newton's method on 1/ψ′, which is nearly linear.
fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let now = trigamma(x);
        let step = now * (1.0 - now / value) / tetragamma(x);
        x += step;
        if step.abs() < 1e-12 * x {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_relative;

    #[test]
    fn the_functions_are_those_of_scipy() {
        // scipy 1.17.1: special.polygamma(1, x), special.polygamma(2, x)
        for (x, first, second) in POLYGAMMA {
            assert_relative("trigamma", trigamma(x), first, 1e-13);
            assert_relative("tetragamma", tetragamma(x), second, 1e-12);
            assert_relative("inverse", inverse_trigamma(first), x, 1e-10);
        }
    }

    #[test]
    fn the_prior_is_that_of_limma() {
        for (variances, freedoms, scale, freedom) in LIMMA {
            let pairs: Vec<(f64, f64)> = variances
                .iter()
                .copied()
                .zip(freedoms.iter().copied())
                .collect();
            let prior = VariancePrior::fit(&pairs).expect("positive");
            assert_relative("scale", prior.variance, *scale, 1e-8);
            if freedom.is_infinite() {
                assert!(prior.freedom.is_infinite());
            } else {
                assert_relative("freedom", prior.freedom, *freedom, 1e-7);
            }
        }
    }

    #[test]
    fn a_family_without_spread_has_no_prior() {
        assert_eq!(
            VariancePrior::fit(&[(0.0, 4.0), (0.0, 4.0), (1.0, 4.0)]),
            None
        );
        assert_eq!(VariancePrior::fit(&[(1.0, 4.0)]), None);
        assert_eq!(VariancePrior::fit(&[]), None);
    }

    const POLYGAMMA: [(f64, f64, f64); 7] = [
        (0.05, 401.532_357_342_115_06, -16_002.108_158_021_943),
        (0.5, 4.934_802_200_544_68, -16.828_796_644_234_316),
        (1.0, 1.644_934_066_848_226_6, -2.404_113_806_319_188),
        (2.5, 0.490_357_756_100_234_9, -0.236_204_051_641_727_36),
        (7.0, 0.153_545_177_959_337_56, -0.023_530_472_985_855_234),
        (
            30.0,
            0.033_895_060_357_739_946,
            -0.001_148_765_203_728_599_7,
        ),
        (400.0, 0.002_503_127_604_163_412, -6.265_644_531_209_31e-6),
    ];

    // R 4.2.2, limma 3.54.1: fitFDist(variances, freedoms)
    const LIMMA: &[(&[f64], &[f64], f64, f64)] = &[
        (
            &[
                0.186_776,
                0.003_131_32,
                0.005_444_36,
                0.017_486_8,
                0.006_851_2,
                0.034_333_7,
                0.015_749_4,
                0.047_843_5,
            ],
            &[4.0; 8],
            0.015_222_720_159_329_05,
            2.641_219_904_292_086_5,
        ),
        (
            &[
                0.017_629_3,
                0.001_408_46,
                0.022_909_9,
                0.011_495_6,
                0.009_628_68,
                0.005_842_28,
            ],
            &[4.0; 6],
            0.009_459_802_648_738_849,
            6.595_195_435_833_332_5,
        ),
        (
            &[0.02, 0.021, 0.020_5, 0.020_1, 0.019_9],
            &[4.0; 5],
            0.020_3,
            f64::INFINITY,
        ),
        (
            &[
                0.0,
                8.232_98e-4,
                7.178_64e-4,
                0.005_005_5,
                0.003_418_52,
                0.001_547_2,
                1.372_54e-4,
                0.002_047_44,
            ],
            &[6.0, 4.0, 4.0, 6.0, 8.0, 2.0, 6.0, 4.0],
            2.115_575_470_655_293e-5,
            0.494_359_373_914_700_9,
        ),
    ];
}
