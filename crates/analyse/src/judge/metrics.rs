//! The metrics of a benchmark that are compared.

use std::collections::BTreeSet;

use crate::sample::Sample;
use lapwing_model::{COUNTED, comes_of_wall_time};
use lapwing_model::{Metric, MetricName, Run};

/// The choice of metrics to compare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MetricChoice {
    /// The wall time, the peak memory, and every metric with a direction that the benchmark itself reports. Other
    /// metrics of the operating system, and rates derived from the wall time, would only add to the number of
    /// comparisons.
    #[default]
    Directed,
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
            Self::Directed => self.among(names(sample), latest_first(sample)),
        }
    }

    /// Returns those to compare of the metrics that runs have, the wall time first.
    pub(crate) fn among<'r>(
        &self,
        names: BTreeSet<MetricName>,
        latest_first: impl Iterator<Item = &'r Run> + Clone,
    ) -> Vec<MetricName> {
        match self {
            Self::Named(names) => names.clone(),
            Self::Directed => {
                let mut names: Vec<MetricName> = names
                    .into_iter()
                    .filter(|name| is_asked_for(latest_first.clone(), name))
                    .collect();
                names.sort_by_key(|name| name != FIRST);
                names
            }
        }
    }
}

fn latest_first<'s>(sample: &'s Sample<'_>) -> impl Iterator<Item = &'s Run> + Clone {
    sample.instances.iter().rev().map(|it| &*it.run)
}

fn is_asked_for<'r>(latest_first: impl Iterator<Item = &'r Run> + Clone, name: &str) -> bool {
    let declared = latest_first.clone().next().map(|run| &run.metrics);
    let is_news = declared.is_none_or(|declared| !comes_of_wall_time(name, declared));
    let has_direction = || name == FIRST || stated_metric(latest_first, name).better.is_some();
    !COUNTED.contains(&name) && is_news && has_direction()
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
