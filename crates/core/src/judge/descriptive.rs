//! The ratio of two sides with too few instances for a verdict.

use lapwing_stats::{Confidence, FiellerInterval, Interval, ratio_of_arithmetic_means};

use super::{SideSample, estimate};

/// The ratio of two sides that have too few instances for a verdict. Its interval rests on iterations, which share their
/// process, so it says nothing about other runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DescriptiveRatio {
    /// Candidate / baseline.
    pub value: f64,
    /// Fieller's interval of the ratio of the means of iterations; `None` below two iterations, or if unbounded.
    pub interval: Option<Interval>,
}

impl DescriptiveRatio {
    /// Returns the ratio; `None` if a side has no values, or one that is not above zero.
    pub(super) fn of(sides: [&SideSample; 2], confidence: Confidence) -> Option<Self> {
        let [baseline, candidate] = sides.map(|side| -> Vec<f64> {
            let instances = side.cleaned.instances.iter();
            instances.flat_map(|it| it.values.iter().copied()).collect()
        });
        let is_positive = |values: &[f64]| !values.is_empty() && values.iter().all(|it| *it > 0.0);
        if !is_positive(&baseline) || !is_positive(&candidate) {
            return None;
        }
        let centres = sides.map(|side| estimate(&side.cleaned).map(|it| it.value));
        let ratio = ratio_of_arithmetic_means(&baseline, &candidate, confidence);
        Some(Self {
            value: centres[1]? / centres[0]?,
            interval: ratio.and_then(|it| match it.interval {
                FiellerInterval::Bounded(interval) => Some(interval),
                FiellerInterval::Unbounded => None,
            }),
        })
    }
}
