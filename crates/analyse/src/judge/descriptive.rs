//! The ratio of two sides with too few instances for a verdict.

use lapwing_stats::{Confidence, Interval, Replicates};

use super::family::{of_ratio, own_test, point};
use super::{SideSample, estimate};

/// The ratio of two sides that have too few instances for a verdict. Its interval rests on iterations, which share
/// their process, so it says nothing about other runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DescriptiveRatio {
    /// Candidate / baseline.
    pub value: f64,
    /// Its t interval over the logarithms of iterations; `None` below two iterations per side.
    pub interval: Option<Interval>,
    /// The logarithms of iterations, where each side is one process; `None` below two per side.
    pub(super) iterations: Option<Replicates>,
}

impl DescriptiveRatio {
    /// Returns the ratio; `None` if a side has no values, or one that is not above zero.
    pub(super) fn of(sides: [&SideSample; 2], confidence: Confidence) -> Option<Self> {
        let logs = sides.map(|side| -> Vec<f64> {
            let instances = side.cleaned.instances.iter();
            let values = instances.flat_map(|it| it.values.iter());
            values.map(|value| value.ln()).collect()
        });
        if logs
            .iter()
            .any(|side| side.is_empty() || !side.iter().all(|it| it.is_finite()))
        {
            return None;
        }
        if logs.iter().any(|side| side.len() < 2) {
            let centres = sides.map(|side| estimate(&side.cleaned).map(|it| it.value));
            return Some(Self {
                value: centres[1]? / centres[0]?,
                interval: None,
                iterations: None,
            });
        }
        let centres = [
            lapwing_stats::mean(&logs[0])?,
            lapwing_stats::mean(&logs[1])?,
        ];
        let value = (centres[1] - centres[0]).exp();
        let iterations = Replicates::Sides(logs);
        let test = own_test(&iterations, confidence);
        let interval = test.map_or(point(value), |(_, interval, _)| of_ratio(interval));
        let is_one = |side: &SideSample| side.cleaned.instances.len() == 1;
        Some(Self {
            value,
            interval: Some(interval),
            iterations: sides.into_iter().all(is_one).then_some(iterations),
        })
    }
}
