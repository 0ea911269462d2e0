//! The ratio of two sides with too few instances for a verdict.

use lapwing_stats::{Confidence, Interval, Replicates, VariancePrior, known_noise_test};

use super::family::{of_ratio, own_test, point};
use super::replication::unit::log_means;
use super::{SideSample, estimate};

/// The ratio of two sides that have too few instances for a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct DescriptiveRatio {
    /// Candidate / baseline.
    pub value: f64,
    /// Its t interval on logarithms; `None` if a side has one value and the other fewer than three.
    pub interval: Option<Interval>,
    /// The values that it rests on.
    pub basis: DescribedValues,
    /// The logarithms of iterations, where each side is one process; `None` below two per side.
    pub(super) iterations: Option<Replicates>,
}

/// The values that a descriptive ratio and its interval rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescribedValues {
    /// Iterations, which share their process: they say nothing about other runs.
    Iterations,
    /// One value per run, of a source that kept only summaries.
    Summaries,
    /// Instances, which are too few on one side only.
    Instances,
}

/// With so many instances on a side, they show their noise.
const SHOW_NOISE: usize = 3;

impl DescriptiveRatio {
    /// Returns the ratio; `None` if a side has no values, or one that is not above zero.
    pub(super) fn of(sides: [&SideSample; 2], confidence: Confidence) -> Option<Self> {
        let count = |side: &SideSample| side.cleaned.instances.len();
        let basis = if sides.iter().any(|side| !side.summarised.is_empty()) {
            DescribedValues::Summaries
        } else if sides.iter().any(|side| count(side) >= SHOW_NOISE) {
            DescribedValues::Instances
        } else {
            DescribedValues::Iterations
        };
        let logs = match basis {
            DescribedValues::Iterations => sides.map(logs_of_iterations),
            DescribedValues::Summaries | DescribedValues::Instances => log_means(sides)?,
        };
        let is_usable = |side: &Vec<f64>| !side.is_empty() && side.iter().all(|it| it.is_finite());
        if !logs.iter().all(is_usable) {
            return None;
        }
        let least = match basis {
            DescribedValues::Iterations => 2,
            DescribedValues::Summaries | DescribedValues::Instances => 1,
        };
        let enough = |side: &Vec<f64>| side.len() >= least;
        let [one, other] = logs.each_ref().map(Vec::len);
        if !logs.iter().all(enough) || one + other < 4 {
            let centres = sides.map(|side| estimate(&side.cleaned).map(|it| it.value));
            return Some(Self {
                value: centres[1]? / centres[0]?,
                interval: None,
                basis,
                iterations: None,
            });
        }
        let centres = [
            lapwing_stats::mean(&logs[0])?,
            lapwing_stats::mean(&logs[1])?,
        ];
        let value = (centres[1] - centres[0]).exp();
        let alone = interval_of_one(&logs, confidence);
        let replicates = Replicates::Sides(logs);
        let interval = match own_test(&replicates, confidence) {
            Some((_, interval, _)) => Some(of_ratio(interval)),
            None if replicates.is_constant() => Some(point(value)),
            None => alone.map(of_ratio),
        };
        let is_one = basis == DescribedValues::Iterations && sides.iter().all(|it| count(it) == 1);
        Some(Self {
            value,
            interval,
            basis,
            iterations: is_one.then_some(replicates),
        })
    }
}

/// Returns the t interval of the difference of one value and several, with the variance of the several.
fn interval_of_one(logs: &[Vec<f64>; 2], confidence: Confidence) -> Option<Interval> {
    let test = known_noise_test(logs.each_ref().map(Vec::as_slice), &VariancePrior::NONE)?;
    Some(test.interval(confidence)?.0)
}

fn logs_of_iterations(side: &SideSample) -> Vec<f64> {
    let instances = side.cleaned.instances.iter();
    let values = instances.flat_map(|it| it.values.iter());
    values.map(|value| value.ln()).collect()
}
