//! The metrics of a benchmark that are compared.

use std::collections::BTreeSet;

use crate::sample::Sample;
use lapwing_model::{COUNTED, comes_of_wall_time, local_metrics};
use lapwing_model::{Metric, MetricName, Run};

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
            Self::Directed | Self::Reported => self.among(names(sample), latest_first(sample)),
        }
    }

    /// Returns the metrics of a sample that are not compared.
    pub fn others(&self, sample: &Sample<'_>) -> BTreeSet<MetricName> {
        match self {
            // The user named those that matter.
            Self::Named(_) => BTreeSet::new(),
            Self::Directed | Self::Reported => {
                let used = self.of(sample);
                let mut all = names(sample);
                all.retain(|name| !used.contains(name));
                all
            }
        }
    }

    /// Returns those to compare of the metrics that runs have, the wall time first.
    pub(crate) fn among<'r>(
        &self,
        names: BTreeSet<MetricName>,
        latest_first: impl Iterator<Item = &'r Run> + Clone,
    ) -> Vec<MetricName> {
        let has_direction = |name: &str| {
            name == FIRST || stated_metric(latest_first.clone(), name).better.is_some()
        };
        let is_wanted = |name: &MetricName| match self {
            Self::Named(named) => named.contains(name),
            Self::Directed => answers(latest_first.clone(), name) && has_direction(name),
            Self::Reported => answers(latest_first.clone(), name),
        };
        let mut names: Vec<MetricName> = names.into_iter().filter(is_wanted).collect();
        names.sort_by_key(|name| name != FIRST);
        names
    }
}

fn latest_first<'s>(sample: &'s Sample<'_>) -> impl Iterator<Item = &'s Run> + Clone {
    sample.instances.iter().rev().map(|it| &*it.run)
}

/// Returns whether a metric is neither counted by the operating system nor the wall time in another way.
fn answers<'r>(latest_first: impl Iterator<Item = &'r Run> + Clone, name: &str) -> bool {
    let declared = latest_first.clone().next().map(|run| &run.metrics);
    let is_news = declared.is_none_or(|declared| !comes_of_wall_time(name, declared));
    // `cycles` in a unit of its own are the benchmark's.
    let is_counted = || {
        let unit = stated_metric(latest_first, name).unit;
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
    stated_metric(latest_first(sample), name)
}

/// Returns unit and direction of a metric, from the first of these runs that states them.
pub(crate) fn stated_metric<'r>(
    mut latest_first: impl Iterator<Item = &'r Run>,
    name: &str,
) -> Metric {
    match latest_first.find_map(|run| run.metrics.get(name)) {
        Some(metric) => metric.clone(),
        None if name == FIRST => Metric::lower("s"),
        None => Metric::default(),
    }
}
