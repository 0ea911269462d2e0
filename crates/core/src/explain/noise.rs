//! The noise of a benchmark, its level (within or between instances), and what it is associated with.

use lapwing_stats::{Interval, Modes, Seed};

use super::costs::{RunCosts, burn_in, run_costs};
use super::effort::{EffortEstimate, effort};
use super::groups::{Association, associations};
use super::samples::{BySetting, MetricOfSample, NoiseMetrics, by_setting};
use crate::clean::CleaningRules;
use crate::judge::{Variability, metric};
use crate::model::{Metric, MetricName};
use crate::sample::{BenchmarkData, Setting, SettingChoice};

/// The noise of one metric of a benchmark in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
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
    /// The standard deviation between instances, as a share; `None` if unknown.
    pub between: Option<NoisePart>,
    /// The standard deviation within instances, as a share; `None` if unknown.
    pub within: Option<NoisePart>,
    /// The properties associated with the groups, if the instances fall into two.
    pub associations: Vec<Association>,
    /// Whether to measure more instances or more iterations.
    pub effort: Option<EffortEstimate>,
    /// The costs of running it; `None` if no time is known.
    pub costs: Option<RunCosts>,
}

/// A relative standard deviation: 0.03 for 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisePart {
    /// The estimate.
    pub value: f64,
    /// Its 95 % interval; `None` if nothing varies.
    pub interval: Option<Interval>,
}

impl NoisePart {
    fn of(variance: f64, interval: Option<Interval>) -> Self {
        Self {
            value: variance.sqrt(),
            interval: interval.map(|it| Interval {
                lower: it.lower.sqrt(),
                upper: it.upper.sqrt(),
            }),
        }
    }
}

impl Noise {
    /// Returns whether the instances fall into two groups.
    pub fn has_two_groups(&self) -> bool {
        matches!(self.variability.modes, Modes::Two { .. })
    }
}

/// Returns the noise of a benchmark, per setting.
pub fn noise(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    seed: Seed,
) -> BySetting<Noise> {
    by_setting(data, rules, which, metrics, |of_metric, variability| {
        row(of_metric, variability, seed)
    })
}

fn row(of_metric: &MetricOfSample<'_>, variability: Variability, seed: Seed) -> Noise {
    let MetricOfSample {
        sample,
        name,
        cleaned,
        ..
    } = *of_metric;
    let components = variability.components;
    let associations = match variability.modes {
        Modes::Two { split, .. } => {
            let upper = cleaned.instances.iter().map(|it| it.mean() >= split.gap.1);
            let upper: Vec<bool> = upper.collect();
            let instances: Vec<_> = cleaned
                .instances
                .iter()
                .filter_map(|it| sample.instances.get(it.position).copied())
                .collect();
            let seed = seed
                .split(sample.suite)
                .split(&sample.benchmark.id)
                .split(name);
            associations(&instances, &upper, seed)
        }
        Modes::TooFew | Modes::One { .. } => Vec::new(),
    };
    Noise {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: sample.setting.clone(),
        metric: metric(sample, name),
        name: name.clone(),
        between: components.map(|it| NoisePart::of(it.between, it.between_interval)),
        within: components.map(|it| NoisePart::of(it.within, it.within_interval)),
        associations,
        effort: effort(&variability, &sample.instances, cleaned),
        costs: run_costs(of_metric, burn_in(of_metric)),
        variability,
    }
}
