//! What could be detected of each benchmark.

use lapwing_stats::Noise as Variances;

use super::noise::Noise;
use super::samples::{BySetting, MetricOfSample, NoiseMetrics, by_setting};
use crate::clean::CleaningRules;
use crate::judge::{
    DetectionCell, DetectionOptions, Variability, detection, detection_by_formula, metric,
};
use crate::model::{Metric, MetricName};
use crate::sample::{BenchmarkData, Setting, SettingChoice};

/// What could be detected of one metric of a benchmark in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Detectability {
    /// The suite of the benchmark.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// The variant and version.
    pub setting: Setting,
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction.
    pub metric: Metric,
    /// How its values vary.
    pub variability: Variability,
    /// What each configuration detects.
    pub cells: Vec<DetectionCell>,
}

/// Why nothing is known of what could be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLittle {
    /// So few instances were measured, and it takes [`TooLittle::INSTANCES`].
    Instances(usize),
    /// No instance has a second iteration.
    SingleIterations,
    /// Not all values are above zero, and nothing else can be told by simulation.
    NotPositive,
    /// More was measured, but not enough for any configuration of the grid.
    ForTheGrid,
}

impl TooLittle {
    /// The formula takes so many instances.
    pub const INSTANCES: usize = FEWEST_INSTANCES;
}

impl Detectability {
    /// Returns why nothing is known of it, where nothing is.
    pub fn too_little(&self) -> TooLittle {
        let size = self.variability.size;
        match (size.instances, size.most_iterations) {
            (instances, _) if instances < FEWEST_INSTANCES => TooLittle::Instances(instances),
            (_, 0 | 1) => TooLittle::SingleIterations,
            _ if self.variability.components.is_none() => TooLittle::NotPositive,
            _ => TooLittle::ForTheGrid,
        }
    }

    /// Returns what could be detected by formula where this is the noise.
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

/// Returns what could be detected of a benchmark, setting by setting.
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

/// How two instances differ says nothing of how others will, and with fewer nothing is compared either.
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
    let seed = options.seed.split(sample.suite).split(&sample.benchmark.id);
    let options = DetectionOptions {
        seed: seed
            .split(&sample.setting.text().unwrap_or_default())
            .split(name),
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

/// Returns what is known of the noise: nothing from fewer than three instances.
pub(super) fn variances(variability: &Variability) -> Option<Variances> {
    let is_enough = variability.size.instances >= FEWEST_INSTANCES;
    let components = variability.components.filter(|_| is_enough);
    components.map(|it| Variances {
        between: it.between,
        within: it.within,
    })
}
