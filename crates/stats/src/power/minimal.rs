//! The smallest slowdown, and the fewest instances, with which power is enough.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Configuration, Detection, DetectionMethod, Noise, Strategy};
use crate::Confidence;
use crate::number::fewest;

/// No larger slowdown is looked for.
const LARGEST_SLOWDOWN: f64 = 1e6;

/// No more instances are asked for.
const MOST_INSTANCES: usize = 100_000;

/// With fewer instances nothing is judged.
const FEWEST_INSTANCES: usize = 3;

impl Detection {
    /// Returns the smallest slowdown, at least 1, that is detected with this power.
    ///
    /// Infinite when it would be above a million; `None` unless `power` lies strictly between 0 and 1.
    pub fn minimal_detectable_slowdown(&self, power: f64) -> Option<f64> {
        if !(power > 0.0 && power < 1.0) {
            return None;
        }
        if self.power_at(0.0) >= power {
            return Some(1.0);
        }
        let last = LARGEST_SLOWDOWN.ln();
        if self.power_at(last) < power {
            return Some(f64::INFINITY);
        }
        // Without noise everything above 1 is detected.
        if self.guess(0.0) == 0.0 {
            return Some(1.0);
        }
        Some(self.solve(power, last).exp())
    }

    /// The logarithm at which the power is reached, below `last`. The normal quantile of the power is nearly a
    /// straight line in it, so that secants are quick; they are kept between what is too low and what is enough.
    fn solve(&self, power: f64, last: f64) -> f64 {
        let wanted = probit(power);
        let miss = |shift: f64| probit(self.power_at(shift)) - wanted;
        let (mut low, mut high) = (0.0, last);
        let mut shift = self.guess(wanted).clamp(1e-3 * self.guess(0.0), last);
        let (mut before, mut missed_before) = (None, 0.0);
        for _ in 0..100 {
            let missed = miss(shift);
            if missed < 0.0 {
                low = shift;
            } else {
                high = shift;
            }
            // The first step goes by the slope of the guess.
            let slope = match before {
                Some(before) => (missed - missed_before) / (shift - before),
                None => 1.0 / (self.guess(1.0) - self.guess(0.0)),
            };
            let next = shift - missed / slope;
            if (next - shift).abs() <= 1e-11 * shift || high - low <= 1e-13 * high {
                return next.clamp(low, high);
            }
            (before, missed_before) = (Some(shift), missed);
            shift = if next > low && next < high {
                next
            } else {
                0.5 * (low + high)
            };
        }
        high
    }
}

/// Φ⁻¹, finite also at 0 and 1.
fn probit(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability.clamp(1e-15, 1.0 - 1e-15))
}

/// Returns the fewest instances per side, at least three, with which a slowdown is detected with this power.
///
/// By [`Detection`], assuming that more instances detect more. `None` when not even 100,000 are enough, when `power`
/// does not lie strictly between 0 and 1, and for noise, iterations or a slowdown that cannot be.
///
/// ```
/// use lapwing_stats::{Confidence, DetectionMethod, Noise, Strategy, instances_needed};
/// let noise = Noise { between: 0.02_f64.powi(2), within: 0.03_f64.powi(2) };
/// let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
/// let instances = instances_needed(noise, 10, strategy, method, 1.03, 0.8, Confidence::P95);
/// assert_eq!(instances, Some(11));
/// ```
pub fn instances_needed(
    noise: Noise,
    iterations: usize,
    strategy: Strategy,
    method: DetectionMethod,
    slowdown: f64,
    power: f64,
    confidence: Confidence,
) -> Option<usize> {
    if !(power > 0.0 && power < 1.0) {
        return None;
    }
    let power_of = |instances| {
        let configuration = Configuration {
            instances,
            iterations,
        };
        Detection::new(noise, configuration, strategy, method, confidence)?.power(slowdown)
    };
    power_of(FEWEST_INSTANCES)?;
    fewest(FEWEST_INSTANCES, MOST_INSTANCES, |instances| {
        power_of(instances) >= Some(power)
    })
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, proptest};

    use super::*;

    fn noise(between: f64, within: f64) -> Noise {
        Noise {
            between: between.powi(2),
            within: within.powi(2),
        }
    }

    fn pairs(noise: Noise, instances: usize, iterations: usize) -> Detection {
        let configuration = Configuration {
            instances,
            iterations,
        };
        let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
        Detection::new(noise, configuration, strategy, method, Confidence::P95).expect("possible")
    }

    #[test]
    fn known_noise_has_known_minimal_detectable_slowdowns() {
        // scipy 1.17.1: the e with stats.nct.sf(t(0.975, I − 1), I − 1, e / sqrt(2 (σ_B² + σ_W²/J) / I)) = 0.8,
        // exp(e) − 1.
        for (noise, instances, iterations, expected) in [
            (noise(0.02, 0.03), 10, 10, 0.031_671),
            (noise(0.02, 0.03), 25, 25, 0.017_396),
            (noise(0.15, 0.028), 10, 50, 0.235_354),
        ] {
            let slowdown = pairs(noise, instances, iterations).minimal_detectable_slowdown(0.8);
            let slowdown = slowdown.expect("a power") - 1.0;
            assert!(
                (slowdown / expected - 1.0).abs() < 1e-4,
                "{slowdown} {expected}"
            );
        }
    }

    #[test]
    fn what_is_always_or_never_detected_has_the_ends_as_answers() {
        let detection = pairs(noise(0.02, 0.03), 10, 10);
        assert_eq!(detection.minimal_detectable_slowdown(0.04), Some(1.0));
        let wild = pairs(noise(50.0, 1.0), 3, 3);
        assert_eq!(wild.minimal_detectable_slowdown(0.8), Some(f64::INFINITY));
        let wildest = noise(1e9, 1e9);
        let five = Configuration {
            instances: 5,
            iterations: 5,
        };
        for method in DetectionMethod::ALL {
            for strategy in Strategy::ALL {
                let detection = Detection::new(wildest, five, strategy, method, Confidence::P95);
                let slowdown = detection
                    .expect("possible")
                    .minimal_detectable_slowdown(0.8);
                assert_eq!(slowdown, Some(f64::INFINITY), "{method:?} {strategy:?}");
            }
        }
        for bad in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(detection.minimal_detectable_slowdown(bad), None);
        }
    }

    #[test]
    fn too_many_instances_are_not_asked_for() {
        let needed = |slowdown, power, iterations| {
            let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Schultz);
            let noise = noise(0.1, 0.05);
            instances_needed(
                noise,
                iterations,
                strategy,
                method,
                slowdown,
                power,
                Confidence::P95,
            )
        };
        assert_eq!(needed(1.0, 0.8, 10), None);
        assert_eq!(needed(1.000_01, 0.8, 10), None);
        assert_eq!(needed(f64::NAN, 0.8, 10), None);
        assert_eq!(needed(1.05, 1.0, 10), None);
        assert_eq!(needed(1.05, 0.8, 0), None);
        assert_eq!(needed(10.0, 0.8, 10), Some(3));
        assert!(needed(1.002, 0.8, 10).is_some_and(|instances| instances > 10_000));
    }

    proptest! {
        #[test]
        fn the_minimal_slowdown_has_the_wanted_power(
            between in 0.0..0.3_f64, within in 0.001..0.3_f64,
            instances in 2_usize..60, iterations in 1_usize..60, wanted in 0.3..0.999_f64,
        ) {
            let noise = noise(between, within);
            let configuration = Configuration { instances, iterations };
            for method in DetectionMethod::ALL {
                for strategy in Strategy::ALL {
                    let detection = Detection::new(noise, configuration, strategy, method, Confidence::P95);
                    let detection = detection.expect("possible");
                    let slowdown = detection.minimal_detectable_slowdown(wanted).expect("a power");
                    prop_assert!(slowdown >= 1.0);
                    if slowdown.is_finite() && slowdown > 1.0 {
                        let reached = detection.power(slowdown).expect("finite");
                        prop_assert!((reached - wanted).abs() < 1e-8, "{} {}", reached, wanted);
                    }
                }
            }
        }

        #[test]
        fn one_instance_less_than_needed_is_too_few(
            between in 0.005..0.1_f64, within in 0.005..0.1_f64, iterations in 1_usize..40, slowdown in 1.03..1.3_f64,
        ) {
            let noise = noise(between, within);
            for method in DetectionMethod::ALL {
                for strategy in Strategy::ALL {
                    let needed = instances_needed(noise, iterations, strategy, method, slowdown, 0.9, Confidence::P95);
                    let needed = needed.expect("enough");
                    let power = |instances| {
                        let configuration = Configuration { instances, iterations };
                        Detection::new(noise, configuration, strategy, method, Confidence::P95).and_then(|it| it.power(slowdown))
                    };
                    prop_assert!(power(needed) >= Some(0.9));
                    prop_assert!(needed == 3 || power(needed - 1) < Some(0.9));
                }
            }
        }
    }
}
