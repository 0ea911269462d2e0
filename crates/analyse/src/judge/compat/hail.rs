//! The comparison of Hail's `analyze_benchmarks`.

use lapwing_stats::{
    Confidence, HierarchicalReplicates, Interval, Seed, Statistic, percentile_interval,
};
use rayon::prelude::*;

use super::super::compare::obstacle;
use super::super::sides::SideSamples;
use super::super::verdict::{Verdict, VerdictReason};
use crate::clean::Cleaned;
use crate::sample::Subject;
use lapwing_model::{Better, Metric};

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

/// One comparison as Hail's `analyze_benchmarks` makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonAsHail {
    /// The subject of the comparison.
    pub subject: Subject,
    /// The metric's unit and direction.
    pub metric: Metric,
    /// The name of the baseline, which Hail calls control.
    pub baseline: String,
    /// The name of the candidate, which Hail calls test.
    pub candidate: String,
    /// Number of analysed instances per side.
    pub instances: [usize; 2],
    /// The means of all values pooled, in the metric's unit.
    pub means: [f64; 2],
    /// Hail's result.
    pub result: HailComparison,
}

impl ComparisonAsHail {
    /// Returns the nearest verdict of Lapwing; Hail only reports changes.
    pub fn verdict(&self) -> Verdict {
        let [baseline, candidate] = self.means;
        let is_more = candidate > baseline;
        match (self.result.changed, self.metric.better) {
            (false, _) | (true, None) => Verdict::Inconclusive,
            (true, Some(Better::Lower)) if is_more => Verdict::Regression,
            (true, Some(Better::Higher)) if !is_more => Verdict::Regression,
            (true, Some(Better::Lower | Better::Higher)) => Verdict::Improvement,
        }
    }
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
    let (control, test) = (control.rows_with_gaps(), test.rows_with_gaps());
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

impl SideSamples {
    /// Returns the comparisons as Hail's `analyze_benchmarks` makes them; those with an empty side are dropped, as
    /// Hail cannot make them.
    pub fn compare_as_hail(
        &self,
        names: &[String],
        count: usize,
        confidence: Confidence,
        seed: Seed,
    ) -> Vec<ComparisonAsHail> {
        let pairs = self.pairs(names);
        let compared = pairs.into_par_iter().map(|pair| {
            if obstacle(pair.sides) == Some(VerdictReason::OtherUnit) {
                return None;
            }
            let [control, test] = pair.sides.map(|side| &side.cleaned);
            let seed = seed
                .split(&pair.subject.suite)
                .split(&pair.subject.benchmark);
            let result = analyze_as_hail(control, test, count, confidence, seed)?;
            Some(ComparisonAsHail {
                subject: pair.subject.clone(),
                metric: pair.metric.clone(),
                baseline: pair.names[0].to_owned(),
                candidate: pair.names[1].to_owned(),
                instances: [control.instances.len(), test.instances.len()],
                means: [pooled_mean(control), pooled_mean(test)],
                result,
            })
        });
        compared.flatten().collect()
    }
}

fn pooled_mean(cleaned: &Cleaned) -> f64 {
    let values = cleaned.instances.iter().flat_map(|it| &it.values);
    lapwing_stats::mean(&values.copied().collect::<Vec<f64>>()).unwrap_or(f64::NAN)
}
