//! The metrics of a benchmark that are compared.

use std::collections::BTreeSet;

use crate::sample::Sample;
use lapwing_model::{COUNTED, comes_of_wall_time};
use lapwing_model::{Metric, MetricName};

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
            Self::Directed => {
                let mut names: Vec<MetricName> = names(sample)
                    .into_iter()
                    .filter(|name| is_asked_for(sample, name))
                    .collect();
                names.sort_by_key(|name| name != FIRST);
                names
            }
        }
    }
}

fn is_asked_for(sample: &Sample<'_>, name: &str) -> bool {
    let declared = sample.instances.last().map(|it| &it.run.metrics);
    let is_news = declared.is_none_or(|declared| !comes_of_wall_time(name, declared));
    let has_direction = || name == FIRST || metric(sample, name).better.is_some();
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
    let instances = sample.instances.iter().rev();
    let stated = instances.filter_map(|it| it.run.metrics.get(name)).next();
    match stated {
        Some(metric) => metric.clone(),
        None if name == FIRST => Metric::lower("s"),
        None => Metric::default(),
    }
}
