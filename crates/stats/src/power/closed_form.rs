//! How often a slowdown is detected, without simulating.

use super::noncentral_t::{ChiDistribution, NORMAL_REACH, normal_cdf};
use super::sides::SidePair;
use super::{Configuration, DetectionMethod, Noise, Strategy};
use crate::Confidence;

/// A way to look for a slowdown, in a benchmark with known noise: ready to say how often it finds one.
///
/// Every method comes down to this: with d the observed difference of the sides beyond the true one, in logarithms,
/// something is detected when |d + ln slowdown| > k U. Here d is normal with mean 0, U² is an independent χ² divided
/// by its ν degrees of freedom, because the width of the interval is estimated as well, and k is the half width to be
/// expected. So the probability is two tails of a noncentral t distribution.
///
/// With m² = σ_B² + σ_W²/J the variance of an instance's mean and w = σ_W²/J, d has the variance 2m²/I, or with the
/// same instances on both sides 2w/I; and
///
/// | | k | ν |
/// |---|---|---|
/// | paired | t(I − 1) sd(d) | I − 1 |
/// | Schultz | z √E(V) | 2 E(V)² / Var(V) |
/// | Laaber | z √E((√V_c + √V_t)²) | 4 E(V_c)² / Var(V_c) / (1 + r) |
///
/// V is the variance of the bootstrap, which is not that of d: resampling I values has only I − 1 parts in I of their
/// variance, and resampling iterations counts σ_W² a second time. For one side V_c = ((I−1)/I S_m² + (J−1)/J S_w²/J)
/// / I, where S_m² is the variance of the observed instance means and S_w² that of iterations. V is V_c + V_t, or
/// with the same instances ((I−1)/I S_r² + 2 (J−1)/J S_w²/J) / I with the variance S_r² of log ratios, 2w to be
/// expected. Their degrees of freedom are Satterthwaite's. r is the correlation of V_c and V_t: 0, or with the same
/// instances what they have in common by σ_B². The quantile z is made a little smaller (Cornish & Fisher), because
/// few values have a flatter bootstrap than the normal.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The standard deviation of d.
    spread: f64,
    /// k.
    half_width: f64,
    /// The distribution of U.
    width: ChiDistribution,
    /// Values of U with their probabilities, computed once for every slowdown; none where they would not do.
    points: Vec<(f64, f64)>,
}

impl Detection {
    /// Returns how `method` detects in this `configuration`, at this level of confidence.
    ///
    /// `None` when a variance of the noise is negative or no number, without instances or iterations, and for pairs
    /// with fewer than two instances, which have no variance.
    pub fn new(
        noise: Noise,
        configuration: Configuration,
        strategy: Strategy,
        method: DetectionMethod,
        confidence: Confidence,
    ) -> Option<Self> {
        if !noise.is_possible() || configuration.instances == 0 || configuration.iterations == 0 {
            return None;
        }
        let sides = SidePair::new(noise, configuration);
        let variance = sides.variance_of_difference(strategy);
        let (half_width, freedom) = match method {
            DetectionMethod::Paired => {
                let freedom = crate::as_f64(configuration.instances) - 1.0;
                (confidence.t_quantile(freedom)? * variance.sqrt(), freedom)
            }
            DetectionMethod::Schultz => sides.ratio(strategy).half_width(confidence),
            DetectionMethod::Laaber => sides.two_intervals(strategy).half_width(confidence),
        };
        let width = ChiDistribution::new(freedom);
        Some(Self::of(variance.sqrt(), half_width, width))
    }

    fn of(spread: f64, half_width: f64, width: ChiDistribution) -> Self {
        Self {
            spread,
            half_width,
            width,
            points: width.points(half_width / spread).unwrap_or_default(),
        }
    }

    /// Returns how probable it is that a candidate slower by this factor is told from the baseline, on whichever side.
    ///
    /// At 1 it is the false-positive rate. `None` unless `slowdown` is positive and finite.
    pub fn power(&self, slowdown: f64) -> Option<f64> {
        let shift = slowdown.ln();
        shift.is_finite().then(|| self.power_at(shift))
    }

    /// The same for the logarithm of a slowdown.
    pub(super) fn power_at(&self, shift: f64) -> f64 {
        let shift = shift.abs();
        if self.spread == 0.0 {
            return self.power_without_spread(shift);
        }
        let (critical, distance) = (self.half_width / self.spread, shift / self.spread);
        let beyond = |distance: f64| {
            if self.points.is_empty() {
                return self.width.above(critical, distance);
            }
            let term =
                |(u, probability): &(f64, f64)| probability * normal_cdf(distance - critical * u);
            self.points.iter().map(term).sum()
        };
        if distance - critical * self.width.upper > NORMAL_REACH {
            return 1.0;
        }
        // The wrong side is soon out of reach.
        let wrong = if distance + critical * self.width.lower > NORMAL_REACH {
            0.0
        } else {
            beyond(-distance)
        };
        (beyond(distance) + wrong).min(1.0)
    }

    /// The difference is always the true one; only the interval may vary, when it is Laaber's.
    fn power_without_spread(&self, shift: f64) -> f64 {
        if shift == 0.0 {
            0.0
        } else if self.half_width == 0.0 {
            1.0
        } else {
            self.width.cdf(shift / self.half_width)
        }
    }

    /// About where the power becomes that of the quantile `z`, to start a search from.
    pub(super) fn guess(&self, z: f64) -> f64 {
        let of_width = self.half_width.powi(2) / (2.0 * self.width.freedom);
        self.half_width + z * (self.spread.powi(2) + of_width).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, prop_assert_eq, proptest};

    use super::super::NoncentralT;
    use super::super::golden::{PAIRED, PAIRED_EFFECTS, UNPAIRED, UNPAIRED_EFFECTS};
    use super::*;
    use crate::number::as_f64;

    const NOISE: Noise = Noise {
        between: 0.0004,
        within: 0.0009,
    };

    fn of(instances: usize, iterations: usize) -> Configuration {
        Configuration {
            instances,
            iterations,
        }
    }

    fn at(level: f64) -> Confidence {
        Confidence::new(level).expect("a level")
    }

    /// Student's t test of two sides with n values each that vary by 1, as others have it.
    fn pooled(n: usize, confidence: Confidence) -> Detection {
        let freedom = 2.0 * as_f64(n) - 2.0;
        let spread = (2.0 / as_f64(n)).sqrt();
        let critical = confidence.t_quantile(freedom).expect("positive");
        Detection::of(spread, critical * spread, ChiDistribution::new(freedom))
    }

    /// The paired t test, with log ratios that vary by 1.
    fn paired(n: usize, confidence: Confidence) -> Detection {
        let noise = Noise {
            between: 9.0,
            within: 5.0,
        };
        let (strategy, method) = (Strategy::SameInstances, DetectionMethod::Paired);
        Detection::new(noise, of(n, 10), strategy, method, confidence).expect("possible")
    }

    #[test]
    fn the_power_of_t_tests_is_that_of_statsmodels() {
        for (test, rows) in [
            (pooled as fn(_, _) -> _, UNPAIRED.as_slice()),
            (paired, &PAIRED),
        ] {
            for (n, effect, alpha, expected) in rows {
                let actual = test(*n, at(1.0 - alpha)).power_at(*effect);
                assert!((actual - expected).abs() < 1e-9, "{n} {effect}: {actual}");
            }
        }
    }

    #[test]
    fn the_effect_for_a_power_is_that_of_statsmodels() {
        for (test, rows) in [
            (pooled as fn(_, _) -> _, UNPAIRED_EFFECTS.as_slice()),
            (paired, &PAIRED_EFFECTS),
        ] {
            for (n, alpha, power, expected) in rows {
                let slowdown = test(*n, at(1.0 - alpha)).minimal_detectable_slowdown(*power);
                let actual = slowdown.expect("possible").ln();
                assert!(
                    (actual / expected - 1.0).abs() < 1e-8,
                    "{n} {power}: {actual}"
                );
            }
        }
    }

    #[test]
    fn without_a_slowdown_pairs_keep_their_level() {
        for instances in [2, 3, 5, 10, 50] {
            for strategy in Strategy::ALL {
                let method = DetectionMethod::Paired;
                let found =
                    Detection::new(NOISE, of(instances, 10), strategy, method, Confidence::P95);
                let found = found.expect("possible").power_at(0.0);
                assert!((found - 0.05).abs() < 1e-9, "{instances}: {found}");
            }
        }
    }

    #[test]
    fn without_noise_everything_above_one_is_detected() {
        let none = Noise {
            between: 0.0,
            within: 0.0,
        };
        for method in DetectionMethod::ALL {
            for strategy in Strategy::ALL {
                let detection = Detection::new(none, of(5, 5), strategy, method, Confidence::P95);
                let detection = detection.expect("possible");
                assert_eq!(detection.power(1.0), Some(0.0));
                assert_eq!(detection.power(1.0001), Some(1.0));
                assert_eq!(detection.minimal_detectable_slowdown(0.8), Some(1.0));
            }
        }
    }

    #[test]
    fn only_laabers_intervals_lose_by_instances_that_differ_when_they_are_the_same() {
        let calm = Noise {
            between: 0.0025,
            within: 0.0,
        };
        let slowdown = |method| {
            Detection::new(
                calm,
                of(10, 10),
                Strategy::SameInstances,
                method,
                Confidence::P95,
            )
            .expect("possible")
            .minimal_detectable_slowdown(0.8)
            .expect("a power")
        };
        assert_eq!(slowdown(DetectionMethod::Paired), 1.0);
        assert_eq!(slowdown(DetectionMethod::Schultz), 1.0);
        assert!(slowdown(DetectionMethod::Laaber) > 1.05);
    }

    #[test]
    fn what_cannot_be_has_no_power() {
        let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
        let of_noise = |noise| Detection::new(noise, of(5, 5), strategy, method, Confidence::P95);
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                of_noise(Noise {
                    between: bad,
                    ..NOISE
                }),
                None
            );
            assert_eq!(
                of_noise(Noise {
                    within: bad,
                    ..NOISE
                }),
                None
            );
        }
        let with = |configuration, method| {
            Detection::new(NOISE, configuration, strategy, method, Confidence::P95)
        };
        assert_eq!(with(of(1, 5), DetectionMethod::Paired), None);
        for method in DetectionMethod::ALL {
            assert_eq!(with(of(0, 5), method), None);
            assert_eq!(with(of(5, 0), method), None);
        }
        let some = of_noise(NOISE).expect("possible");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(some.power(bad), None);
        }
    }

    proptest! {
        #[test]
        fn points_computed_once_give_the_noncentral_t(
            freedom in 1.0..300.0_f64, critical in 0.5..4.0_f64, distance in 0.0..12.0_f64,
        ) {
            let actual = Detection::of(1.0, critical, ChiDistribution::new(freedom)).power_at(distance);
            let t = NoncentralT::new(freedom, distance).expect("possible");
            let expected = t.sf(critical) + t.cdf(-critical);
            prop_assert!((actual - expected).abs() < 1e-9, "{} {}", actual, expected);
        }

        #[test]
        fn power_is_a_probability_that_grows_with_the_slowdown(
            between in 0.0..0.3_f64, within in 0.0..0.3_f64,
            instances in 1_usize..60, iterations in 1_usize..60,
            shift in 0.0..1.0_f64, step in 0.0..0.5_f64,
        ) {
            let noise = Noise { between: between.powi(2), within: within.powi(2) };
            for method in DetectionMethod::ALL {
                for strategy in Strategy::ALL {
                    let detection = Detection::new(noise, of(instances, iterations), strategy, method, Confidence::P95);
                    let Some(detection) = detection else {
                        prop_assert!(instances == 1 && method == DetectionMethod::Paired);
                        continue;
                    };
                    let (less, more) = (detection.power_at(shift), detection.power_at(shift + step));
                    prop_assert!((0.0..=1.0).contains(&less) && less <= more + 1e-9, "{} {}", less, more);
                    prop_assert_eq!(detection.power_at(-shift), less);
                }
            }
        }
    }
}
