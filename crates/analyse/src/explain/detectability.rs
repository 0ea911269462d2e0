//! The detectable slowdowns of each benchmark.

use lapwing_stats::Noise as Variances;

use super::noise::Noise;
use super::samples::{BySetting, MetricOfSample, NoiseMetrics, by_setting};
use crate::clean::CleaningRules;
use crate::judge::{
    DetectionCell, DetectionOptions, Variability, detection, detection_by_formula, metric,
};
use crate::sample::{BenchmarkData, Setting, SettingChoice};
use lapwing_model::{Metric, MetricName};

/// The detectable slowdowns of one metric of a benchmark in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Detectability {
    /// The benchmark's suite.
    pub suite: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The variant and version.
    pub setting: Setting,
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction.
    pub metric: Metric,
    /// The variability of its values.
    pub variability: Variability,
    /// The detection rates of each configuration.
    pub cells: Vec<DetectionCell>,
}

/// Reasons for unknown detection rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLittle {
    /// Number of measured instances, fewer than [`TooLittle::INSTANCES`].
    Instances(usize),
    /// No instance has a second iteration.
    SingleIterations,
    /// Not all values are positive, which the formula needs, and there is too little data to simulate.
    NotPositive,
    /// There is more data, but not enough for any configuration of the grid.
    ForTheGrid,
}

impl TooLittle {
    /// The fewest instances for the formula.
    pub const INSTANCES: usize = FEWEST_INSTANCES;
}

impl Detectability {
    /// Returns why the detection rates are unknown; `None` if they are known.
    pub fn too_little(&self) -> TooLittle {
        let size = self.variability.size;
        match (size.instances, size.most_iterations) {
            (instances, _) if instances < FEWEST_INSTANCES => TooLittle::Instances(instances),
            (_, 0 | 1) => TooLittle::SingleIterations,
            _ if self.variability.components.is_none() => TooLittle::NotPositive,
            _ => TooLittle::ForTheGrid,
        }
    }

    /// Returns the detection rates by formula for this noise.
    pub fn by_formula(noise: &Noise, options: &DetectionOptions) -> Self {
        let cells = variances(&noise.variability).map(|it| detection_by_formula(it, options));
        Self {
            suite: noise.suite.clone(),
            benchmark: noise.benchmark.clone(),
            setting: noise.setting.clone(),
            name: noise.name.clone(),
            metric: noise.metric.clone(),
            variability: noise.variability.clone(),
            cells: cells.unwrap_or_default(),
        }
    }
}

/// Returns the detectable slowdowns of a benchmark, per setting.
pub fn detectability(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    options: &DetectionOptions,
) -> BySetting<Detectability> {
    by_setting(data, rules, which, metrics, |of_metric, variability| {
        row(of_metric, variability, options)
    })
}

/// The difference of two instances does not estimate their variance well, and a comparison needs three as well.
const FEWEST_INSTANCES: usize = 3;

fn row(
    of_metric: &MetricOfSample<'_>,
    variability: Variability,
    options: &DetectionOptions,
) -> Detectability {
    let MetricOfSample {
        sample,
        name,
        cleaned,
        ..
    } = *of_metric;
    let options = DetectionOptions {
        seed: of_metric.seed(options.seed),
        ..options.clone()
    };
    Detectability {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: sample.setting.clone(),
        metric: metric(sample, name),
        name: name.clone(),
        cells: detection(cleaned, variances(&variability), &options),
        variability,
    }
}

/// Returns the most probable noise; unknown below three instances.
pub(super) fn variances(variability: &Variability) -> Option<Variances> {
    variability.pilot.map(|it| it.estimate())
}
