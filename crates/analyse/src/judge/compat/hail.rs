//! The comparison of Hail's `analyze_benchmarks`.

use lapwing_stats::{
    Confidence, HierarchicalReplicates, Interval, Seed, Statistic, percentile_interval,
};

use crate::clean::Cleaned;

/// The result of Hail's `analyze_benchmarks` for a benchmark.
///
/// Its ratio is **control over test**: below 1 the test, our candidate, is slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HailComparison {
    /// Whether the intervals of the two means do not overlap.
    pub changed: bool,
    /// The interval of the control's mean.
    pub control: Interval,
    /// The interval of the test's mean.
    pub test: Interval,
    /// The interval of control / test.
    pub relative_change: Interval,
    /// Half the width of that interval relative to its middle.
    pub radius: f64,
}

/// The number of resamples in Hail's documentation.
pub const HAIL_REPLICATES: usize = 10_000;

/// Returns the result of Hail's `analyze_benchmarks` for control and test; `None` if a side is empty.
///
/// Each of `count` replicates draws instances and then iterations of each on both sides; the ends of
/// the intervals are Hail's order statistics. An interval with a NaN end overlaps nothing.
///
/// Source: `analyze_benchmarks` of Hail's `benchmark` package; Laaber et al. 2019.
pub fn analyze_as_hail(
    control: &Cleaned,
    test: &Cleaned,
    count: usize,
    confidence: Confidence,
    seed: Seed,
) -> Option<HailComparison> {
    let rows = |side: &Cleaned| -> Vec<Vec<f64>> {
        let instances = side.instances.iter();
        instances.map(|it| it.values_and_gaps().collect()).collect()
    };
    let (control, test) = (rows(control), rows(test));
    let control: Vec<&[f64]> = control.iter().map(Vec::as_slice).collect();
    let test: Vec<&[f64]> = test.iter().map(Vec::as_slice).collect();
    let replicates = HierarchicalReplicates::draw(&control, &test, Statistic::Mean, count, seed);
    let relative_change = replicates.inverse_ratio(confidence)?;
    let control = percentile_interval(replicates.baseline, confidence)?;
    let test = percentile_interval(replicates.candidate, confidence)?;
    let middle = f64::midpoint(relative_change.lower, relative_change.upper);
    let overlap = control.lower <= test.upper && test.lower <= control.upper;
    Some(HailComparison {
        changed: !overlap,
        control,
        test,
        relative_change,
        radius: (relative_change.upper - middle) / middle,
    })
}
