//! The metrics of a benchmark that are compared.

use std::collections::BTreeSet;

use crate::sample::Sample;
use lapwing_model::{COUNTED, comes_of_wall_time, local_metrics};
use lapwing_model::{Metric, MetricName};

/// The choice of metrics to compare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MetricChoice {
    /// The wall time, the peak memory, and every metric with a direction that the benchmark itself reports. Other
    /// metrics of the operating system, and rates derived from the wall time, would only add to the number of
    /// comparisons.
    #[default]
    Directed,
    /// The same, and those that the benchmark reports without a direction.
    Reported,
    /// These.
    Named(Vec<MetricName>),
}

/// The metric that comes first.
pub(super) const FIRST: &str = "wall_time";

impl MetricChoice {
    /// Returns the metrics of a sample to compare, the wall time first.
    pub fn of(&self, sample: &Sample<'_>) -> Vec<MetricName> {
        match self {
            Self::Named(names) => names.clone(),
            Self::Directed => {
                let has_direction =
                    |name: &str| name == FIRST || metric(sample, name).better.is_some();
                usual(sample, has_direction)
            }
            Self::Reported => usual(sample, |_any| true),
        }
    }

    /// Returns the metrics of a sample that are not compared.
    pub fn others(&self, sample: &Sample<'_>) -> BTreeSet<MetricName> {
        match self {
            // Whoever names metrics wants no others.
            Self::Named(_) => BTreeSet::new(),
            Self::Directed | Self::Reported => {
                let used = self.of(sample);
                let mut all = names(sample);
                all.retain(|name| !used.contains(name));
                all
            }
        }
    }
}

/// Returns the wall time, if it is there, and the other metrics that answer "how fast is it" and are wanted.
fn usual(sample: &Sample<'_>, is_wanted: impl Fn(&str) -> bool) -> Vec<MetricName> {
    let is_usual = |name: &MetricName| answers(sample, name) && is_wanted(name);
    let mut names: Vec<MetricName> = names(sample).into_iter().filter(is_usual).collect();
    names.sort_by_key(|name| name != FIRST);
    names
}

/// Returns whether a metric is neither counted by the operating system nor the wall time in another way.
fn answers(sample: &Sample<'_>, name: &str) -> bool {
    let declared = sample.instances.last().map(|it| &it.run.metrics);
    let is_news = declared.is_none_or(|declared| !comes_of_wall_time(name, declared));
    // `cycles` in a unit of its own are the benchmark's.
    let is_counted = || {
        let unit = metric(sample, name).unit;
        let local = local_metrics();
        unit.is_empty() || local.get(name).is_none_or(|it| it.unit == unit)
    };
    is_news && !(COUNTED.contains(&name) && is_counted())
}

/// The metrics that have values or summaries; if none has, because all failed, the first represents them.
fn names(sample: &Sample<'_>) -> BTreeSet<MetricName> {
    let mut names: BTreeSet<MetricName> = BTreeSet::new();
    for instance in &sample.instances {
        let summarised = instance.summaries.iter().map(|it| &it.metric);
        for name in instance.iterations.values.keys().chain(summarised) {
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
    }
    if names.is_empty() {
        names.insert(FIRST.to_owned());
    }
    names
}

/// Returns unit and direction of a metric, from the latest run that states them.
pub fn metric(sample: &Sample<'_>, name: &str) -> Metric {
    let instances = sample.instances.iter().rev();
    let stated = instances.filter_map(|it| it.run.metrics.get(name)).next();
    match stated {
        Some(metric) => metric.clone(),
        None if name == FIRST => Metric::lower("s"),
        None => Metric::default(),
    }
}
