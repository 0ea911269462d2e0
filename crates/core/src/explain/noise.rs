//! How noisy a benchmark is, where its noise lies and what goes with it.

use lapwing_stats::{Interval, Modes, Seed};

use super::effort::{Effort, effort};
use super::groups::{Association, associations};
use super::setting::{Setting, Settings, settings};
use crate::clean::{BenchmarkAudit, Cleaned, Rules, clean};
use crate::judge::{MetricChoice, Variability, metric, variability};
use crate::model::{Metric, MetricName};
use crate::record::BenchmarkData;

/// The noise of one metric of a benchmark in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
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
    /// The standard deviation between instances, as a share; `None` where it cannot be told.
    pub between: Option<Part>,
    /// The standard deviation within instances, as a share; `None` where it cannot be told.
    pub within: Option<Part>,
    /// What goes with the groups, where the instances fall into two.
    pub associations: Vec<Association>,
    /// What to measure more of.
    pub effort: Option<Effort>,
}

/// A relative standard deviation: 0.03 for 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The estimate.
    pub value: f64,
    /// Its 95 % interval; `None` where nothing varies.
    pub interval: Option<Interval>,
}

impl Part {
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

/// What was found of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Noises {
    /// The noise of each setting and metric of which something counts.
    pub rows: Vec<Noise>,
    /// What was left out of each.
    pub audits: Vec<BenchmarkAudit>,
    /// How many older versions were left out.
    pub older: usize,
}

/// Which metrics of a benchmark are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NoiseMetrics {
    /// The wall time; where there is none, every metric with a direction, or else every metric.
    #[default]
    Usual,
    /// These.
    Named(Vec<MetricName>),
}

impl NoiseMetrics {
    fn of(&self, data: &BenchmarkData) -> Vec<MetricName> {
        const FIRST: &str = "wall_time";
        let names = match self {
            Self::Named(names) => names.clone(),
            Self::Usual => MetricChoice::Directed.of(data),
        };
        let has_values = |name: &MetricName| {
            let columns = data.instances.iter();
            let mut columns = columns.filter_map(|it| it.iterations.values.get(name));
            columns.any(|column| column.iter().any(|value| value.is_finite()))
        };
        let mut with_values: Vec<MetricName> =
            names.iter().filter(|it| has_values(it)).cloned().collect();
        if *self == Self::Usual {
            if with_values.first().is_some_and(|it| it == FIRST) {
                with_values.truncate(1);
            }
            if with_values.is_empty() {
                let all = data
                    .instances
                    .iter()
                    .flat_map(|it| it.iterations.values.keys());
                let all: std::collections::BTreeSet<&MetricName> = all.collect();
                with_values = all
                    .into_iter()
                    .filter(|it| has_values(it))
                    .cloned()
                    .collect();
            }
        }
        let has_any = || {
            let columns = data
                .instances
                .iter()
                .flat_map(|it| it.iterations.values.values());
            columns.flatten().any(|value| value.is_finite())
        };
        if with_values.is_empty() && !has_any() {
            // Nothing has a value: the first stands for all in the audit.
            with_values.extend(names.into_iter().take(1));
        }
        with_values
    }
}

/// Returns the noise of a benchmark, setting by setting.
pub fn noise(
    data: BenchmarkData,
    rules: &Rules,
    which: Settings,
    metrics: &NoiseMetrics,
    seed: Seed,
) -> Noises {
    let mut found = Noises::default();
    for it in settings(data, which) {
        found.older += it.older;
        let (policy, source) = rules.policy(&it.data);
        for name in metrics.of(&it.data) {
            let audit = BenchmarkAudit::of(&it.data, &name, policy, source);
            found.audits.push(audit.in_setting(it.setting.text()));
            let cleaned = clean(&it.data.instances, &name, policy);
            if let Some(variability) = variability(&cleaned) {
                let row = row(
                    &it.data,
                    it.setting.clone(),
                    name,
                    variability,
                    &cleaned,
                    seed,
                );
                found.rows.push(row);
            }
        }
    }
    found
}

fn row(
    data: &BenchmarkData,
    setting: Setting,
    name: MetricName,
    variability: Variability,
    cleaned: &Cleaned,
    seed: Seed,
) -> Noise {
    let components = variability.components;
    let associations = match variability.modes {
        Modes::Two { split, .. } => {
            let upper = cleaned.instances.iter().map(|it| it.mean() >= split.gap.1);
            let upper: Vec<bool> = upper.collect();
            let instances: Vec<_> = cleaned
                .instances
                .iter()
                .filter_map(|it| data.instances.get(it.position))
                .collect();
            let seed = seed
                .split(&data.suite)
                .split(&data.benchmark.id)
                .split(&name);
            associations(&instances, &upper, seed)
        }
        Modes::TooFew | Modes::One { .. } => Vec::new(),
    };
    Noise {
        suite: data.suite.clone(),
        benchmark: data.benchmark.id.clone(),
        setting,
        metric: metric(data, &name),
        name,
        between: components.map(|it| Part::of(it.between, it.between_interval)),
        within: components.map(|it| Part::of(it.within, it.within_interval)),
        associations,
        effort: effort(&variability, &data.instances, cleaned),
        variability,
    }
}
