//! The noncentral t distribution: that of a t statistic if there is a difference.

use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

use super::quadrature::{LONG, SHORT};

/// A standard normal lies within so much of 0 but for 1e-16.
pub(super) const NORMAL_REACH: f64 = 8.3;

/// Above so many degrees of freedom the distribution is the normal one, to 1e-10.
const MOST_FREEDOM: f64 = 1e11;

/// Points with less probability are not worth their time.
const NEGLIGIBLE: f64 = 1e-14;

/// Below so many degrees of freedom a fractional power at 0 matters.
const FEW_FREEDOM: f64 = 7.0;

/// The distribution of (Z + δ) / U, where Z is standard normal and U² is independent of it, a χ² divided by its ν
/// degrees of freedom.
///
/// The upper tail at t ≥ 0 is ∫ f(u) Φ(δ − t u) du over the density f of U, by Gauss–Legendre quadrature where
/// neither factor is constant; good to 1e-10 for 1 ≤ ν, whole or not, and any δ. Series (AS 243) lose their digits
/// for large δ, where e^(−δ²/2) vanishes.
///
/// Source: Johnson, Kotz & Balakrishnan, *Continuous Univariate Distributions* 2, 1995, ch. 31.
///
/// ```
/// let distribution = lapwing_stats::NoncentralT::new(18.0, 3.0).expect("positive degrees of freedom");
/// // The power of a t test at 5 % with 10 values per side, 3 standard errors apart.
/// let power = distribution.sf(2.100922) + distribution.cdf(-2.100922);
/// assert!((power - 0.809_707).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoncentralT {
    chi: ChiDistribution,
    noncentrality: f64,
}

impl NoncentralT {
    /// Returns the distribution with ν = `freedom` and δ = `noncentrality`.
    ///
    /// Infinite degrees of freedom give the normal distribution around δ. `None` unless ν is positive and δ finite.
    pub fn new(freedom: f64, noncentrality: f64) -> Option<Self> {
        (freedom > 0.0 && noncentrality.is_finite()).then(|| Self {
            chi: ChiDistribution::new(freedom),
            noncentrality,
        })
    }

    /// Returns the probability of at most `t`.
    pub fn cdf(&self, t: f64) -> f64 {
        if t.is_infinite() {
            return if t > 0.0 { 1.0 } else { 0.0 };
        }
        if t < 0.0 {
            self.chi.above(-t, -self.noncentrality)
        } else {
            self.chi.below(t, self.noncentrality)
        }
    }

    /// Returns the probability of more than `t`.
    pub fn sf(&self, t: f64) -> f64 {
        if t.is_infinite() {
            return if t > 0.0 { 0.0 } else { 1.0 };
        }
        if t < 0.0 {
            self.chi.below(-t, -self.noncentrality)
        } else {
            self.chi.above(t, self.noncentrality)
        }
    }
}

/// Φ.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The distribution of U = √(χ² / ν).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChiDistribution {
    pub(super) freedom: f64,
    ln_constant: f64,
    /// Outside of these U hardly ever lies.
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl ChiDistribution {
    pub(super) fn new(freedom: f64) -> Self {
        // Wilson and Hilferty: the cube root of χ² / ν is nearly normal.
        let spread = 2.0 / (9.0 * freedom);
        let end = |z: f64| (1.0 - spread + z * spread.sqrt()).max(0.0).powf(1.5);
        Self {
            freedom,
            ln_constant: ln_constant(freedom / 2.0),
            lower: end(-7.6),
            upper: end(7.6),
        }
    }

    /// The density at u > 0: 2 (ν/2)^(ν/2) / Γ(ν/2) u^(ν−1) e^(−ν u²/2), written so that large ν cancel nothing.
    fn density(&self, u: f64) -> f64 {
        let off = u - 1.0;
        let exponent = off.ln_1p() - off - 0.5 * off * off;
        (self.ln_constant + self.freedom * exponent).exp() / u
    }

    /// ∫ f(u) g(u) du over a part of what U may be.
    fn expect(&self, from: f64, to: f64, factor: impl Fn(f64) -> f64) -> f64 {
        let (from, to) = (from.max(self.lower), to.min(self.upper));
        if from >= to {
            return 0.0;
        }
        let term = |(u, weight)| weight * self.density(u) * factor(u);
        if self.freedom < FEW_FREEDOM {
            LONG.points_from_zero(from, to).map(term).sum()
        } else {
            SHORT.points(from, to).map(term).sum()
        }
    }

    /// Returns values that stand for all that U may be, with their probabilities: for the expectation of Φ(… ± t U).
    /// `None` where t is so large that Φ rises too steeply for them.
    pub(super) fn points(&self, t: f64) -> Option<Vec<(f64, f64)>> {
        if self.is_one() || t * (self.upper - self.lower) > 2.0 * NORMAL_REACH {
            return None;
        }
        let weighted = |(u, weight)| (u, weight * self.density(u));
        let mut points: Vec<(f64, f64)> = if self.freedom < FEW_FREEDOM {
            let points = LONG.points_from_zero(self.lower, self.upper);
            points.map(weighted).collect()
        } else {
            let points = SHORT.points(self.lower, self.upper);
            points.map(weighted).collect()
        };
        points.retain(|(_, probability)| *probability > NEGLIGIBLE);
        Some(points)
    }

    /// P(U ≤ u).
    pub(super) fn cdf(&self, u: f64) -> f64 {
        if self.is_one() {
            return if u >= 1.0 { 1.0 } else { 0.0 };
        }
        self.expect(0.0, u, |_| 1.0).min(1.0)
    }

    /// P(Z + δ > t U) for t ≥ 0.
    pub(super) fn above(&self, t: f64, noncentrality: f64) -> f64 {
        if t == 0.0 || self.is_one() {
            return normal_cdf(noncentrality - t);
        }
        // Below the first bound Z + δ is surely more than t U, above the second surely less.
        let bound = |reach: f64| (noncentrality + reach) / t;
        let (sure, never) = (bound(-NORMAL_REACH), bound(NORMAL_REACH));
        if sure >= self.upper {
            return 1.0;
        }
        let surely = self.expect(0.0, sure, |_| 1.0);
        let perhaps = self.expect(sure.max(0.0), never, |u| normal_cdf(noncentrality - t * u));
        (surely + perhaps).clamp(0.0, 1.0)
    }

    /// P(Z + δ ≤ t U) for t ≥ 0.
    pub(super) fn below(&self, t: f64, noncentrality: f64) -> f64 {
        if t == 0.0 || self.is_one() {
            return normal_cdf(t - noncentrality);
        }
        let bound = |reach: f64| (noncentrality + reach) / t;
        let (never, sure) = (bound(-NORMAL_REACH), bound(NORMAL_REACH));
        if sure <= self.lower {
            return 1.0;
        }
        let surely = self.expect(sure.max(0.0), f64::INFINITY, |_| 1.0);
        let perhaps = self.expect(never.max(0.0), sure, |u| normal_cdf(t * u - noncentrality));
        (surely + perhaps).clamp(0.0, 1.0)
    }

    fn is_one(&self) -> bool {
        self.freedom > MOST_FREEDOM
    }
}

/// ln(2 a^a e^(−a) / Γ(a)), by Stirling's series where Γ is large.
fn ln_constant(a: f64) -> f64 {
    let two = std::f64::consts::LN_2;
    if a < 20.0 {
        return two + a * a.ln() - a - ln_gamma(a);
    }
    let square = a * a;
    let remainder = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / a;
    two + 0.5 * (a / (2.0 * std::f64::consts::PI)).ln() - remainder
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::golden::TAILS;
    use super::*;

    fn distribution(freedom: f64, noncentrality: f64) -> NoncentralT {
        NoncentralT::new(freedom, noncentrality).expect("possible")
    }

    #[test]
    fn tails_are_those_of_thirty_digits() {
        for (freedom, noncentrality, t, expected) in TAILS {
            let tail = distribution(freedom, noncentrality).sf(t);
            let mirrored = distribution(freedom, -noncentrality).cdf(-t);
            for actual in [tail, mirrored] {
                let error = (actual - expected).abs();
                assert!(error < 1e-10, "{freedom} {noncentrality} {t}: {error:e}");
            }
        }
    }

    #[test]
    fn at_zero_it_is_the_normal_distribution() {
        // scipy 1.17.1: stats.norm.cdf([1.5, -8])
        for (noncentrality, expected) in [(1.5, 0.9331927987311419), (-8.0, 6.22096057427174e-16)] {
            let tail = distribution(3.0, noncentrality).sf(0.0);
            assert!((tail - expected).abs() < 1e-11, "{tail}");
        }
    }

    #[test]
    fn infinite_freedom_is_the_normal_distribution() {
        let many = distribution(1e9, 2.0);
        let all = distribution(f64::INFINITY, 2.0);
        for t in [-1.0, 0.0, 1.0, 2.0, 5.0] {
            assert!((all.sf(t) - normal_cdf(2.0 - t)).abs() < 1e-15);
            assert!((all.sf(t) - many.sf(t)).abs() < 1e-8);
        }
    }

    #[test]
    fn extremes_have_sensible_limits() {
        for freedom in [0.5, 1.0, 18.0, 1e6, 1e15, f64::INFINITY] {
            for noncentrality in [-1e300, -500.0, 0.0, 500.0, 1e300] {
                let distribution = distribution(freedom, noncentrality);
                assert_eq!(
                    (
                        distribution.sf(f64::INFINITY),
                        distribution.cdf(f64::INFINITY)
                    ),
                    (0.0, 1.0)
                );
                assert_eq!(
                    (
                        distribution.sf(f64::NEG_INFINITY),
                        distribution.cdf(f64::NEG_INFINITY)
                    ),
                    (1.0, 0.0)
                );
                for t in [-1e300, -1e-300, 0.0, 1e-300, 3.0, 1e300] {
                    let (below, above) = (distribution.cdf(t), distribution.sf(t));
                    assert!((0.0..=1.0).contains(&below) && (0.0..=1.0).contains(&above));
                    assert!(
                        (below + above - 1.0).abs() < 1e-3,
                        "{freedom} {noncentrality} {t}: {below} {above}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (freedom, noncentrality) in [
            (0.0, 1.0),
            (-1.0, 1.0),
            (f64::NAN, 1.0),
            (3.0, f64::NAN),
            (3.0, f64::INFINITY),
        ] {
            assert_eq!(NoncentralT::new(freedom, noncentrality), None);
        }
    }

    #[test]
    fn the_square_root_of_chi_squared_is_that_of_scipy() {
        // scipy 1.17.1: stats.chi2.cdf(nu * u**2, nu)
        for (freedom, u, expected) in CHI {
            let actual = ChiDistribution::new(freedom).cdf(u);
            assert!((actual - expected).abs() < 1e-12, "{freedom} {u}: {actual}");
        }
    }

    const CHI: [(f64, f64, f64); 6] = [
        (1.0, 0.3, 0.23582284437790532),
        (1.5, 2.0, 0.9710451670450936),
        (4.0, 0.7, 0.2568840242742289),
        (8.5, 1.2, 0.830895841377562),
        (48.0, 1.0, 0.527150279452256),
        (100000.0, 1.003, 0.9102767603590821),
    ];

    proptest! {
        #[test]
        fn both_tails_make_one(freedom in 1.0..1e6_f64, noncentrality in -40.0..40.0_f64, t in -60.0..60.0_f64) {
            let distribution = distribution(freedom, noncentrality);
            prop_assert!((distribution.cdf(t) + distribution.sf(t) - 1.0).abs() < 1e-10);
        }

        #[test]
        fn the_upper_tail_falls_with_t_and_rises_with_the_difference(
            freedom in 1.0..200.0_f64, noncentrality in -9.0..9.0_f64, t in -20.0..20.0_f64, step in 0.0..3.0_f64,
        ) {
            let tail = distribution(freedom, noncentrality).sf(t);
            prop_assert!(distribution(freedom, noncentrality).sf(t + step) <= tail + 1e-10);
            prop_assert!(distribution(freedom, noncentrality + step).sf(t) >= tail - 1e-10);
        }
    }
}
