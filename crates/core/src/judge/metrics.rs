//! Which metrics of a benchmark are judged.

use std::collections::BTreeSet;

use crate::measure::{COUNTED, comes_of_wall_time};
use crate::model::{Metric, MetricName};
use crate::sample::Sample;

/// Which metrics are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MetricChoice {
    /// The wall time, the peak memory, and what the benchmark itself reports that has a
    /// direction: not what the operating system counts besides, and not rates that come of
    /// the wall time, which would only add to the number of comparisons.
    #[default]
    Directed,
    /// These.
    Named(Vec<MetricName>),
}

/// The metric that stands first.
pub(super) const FIRST: &str = "wall_time";

impl MetricChoice {
    /// Returns the metrics of a sample that are judged, the wall time first.
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

/// The metrics that have values or summaries; where nothing has, because all failed, the first
/// stands for them.
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

/// Returns unit and direction of a metric as the latest run that states them does.
pub fn metric(sample: &Sample<'_>, name: &str) -> Metric {
    let instances = sample.instances.iter().rev();
    let stated = instances.filter_map(|it| it.run.metrics.get(name)).next();
    match stated {
        Some(metric) => metric.clone(),
        None if name == FIRST => Metric::lower("s"),
        None => Metric::default(),
    }
}
