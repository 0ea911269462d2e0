//! Power: detectable slowdowns, and the sample sizes that they need.

mod closed_form;
mod configuration;
#[cfg(test)]
mod golden;
mod minimal;
mod noise;
mod noncentral_t;
mod pilot;
mod quadrature;
mod sides;

pub use closed_form::Detection;
pub use configuration::Configuration;
pub use minimal::instances_needed;
pub use noise::{DetectionMethod, Noise, Strategy};
pub use noncentral_t::NoncentralT;
pub use pilot::{Pilot, PilotNoise};

use crate::Confidence;

/// Returns the probability that `method` distinguishes a candidate slower by this factor from the baseline.
///
/// Two-sided: finding it faster counts too, so that at slowdown 1 it is the false-positive rate. [`Detection`] has the formulas, and
/// serves several slowdowns of one configuration at less cost. For pairs it is exact if logarithms are normal; for the
/// bootstraps an approximation, whose error `docs/calibration.md` shows. `None` when noise, configuration or slowdown
/// cannot be.
///
/// ```
/// use lapwing_stats::{Configuration, Confidence, DetectionMethod, Noise, Strategy, power};
/// let noise = Noise { between: 0.02_f64.powi(2), within: 0.03_f64.powi(2) };
/// let ten = Configuration { instances: 10, iterations: 10 };
/// let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
/// let detected = power(noise, ten, strategy, method, 1.03, Confidence::P95).expect("possible");
/// assert!(0.755 < detected && detected < 0.76);
/// ```
pub fn power(
    noise: Noise,
    configuration: Configuration,
    strategy: Strategy,
    method: DetectionMethod,
    slowdown: f64,
    confidence: Confidence,
) -> Option<f64> {
    Detection::new(noise, configuration, strategy, method, confidence)?.power(slowdown)
}

/// Returns the minimal detectable slowdown: the smallest one whose [`power`] reaches the wanted one.
///
/// 1.05 is 5 %. Infinite when it would be above a million; `None` if noise or configuration cannot be, or the power does not lie
/// strictly between 0 and 1.
///
/// ```
/// use lapwing_stats::{Configuration, Confidence, DetectionMethod, Noise, Strategy};
/// use lapwing_stats::minimal_detectable_slowdown;
/// let noise = Noise { between: 0.02_f64.powi(2), within: 0.03_f64.powi(2) };
/// let ten = Configuration { instances: 10, iterations: 10 };
/// let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
/// let slowdown = minimal_detectable_slowdown(noise, ten, strategy, method, 0.8, Confidence::P95);
/// assert!((slowdown.expect("possible") - 1.031_671).abs() < 1e-6);
/// ```
pub fn minimal_detectable_slowdown(
    noise: Noise,
    configuration: Configuration,
    strategy: Strategy,
    method: DetectionMethod,
    power: f64,
    confidence: Confidence,
) -> Option<f64> {
    Detection::new(noise, configuration, strategy, method, confidence)?
        .minimal_detectable_slowdown(power)
}
