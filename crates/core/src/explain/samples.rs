//! What counts of a benchmark, setting by setting and metric by metric.

use std::collections::BTreeSet;

use crate::clean::{BenchmarkAudit, Cleaned, CleaningRules, SteadyFrom, clean};
use crate::judge::{MetricChoice, Variability, usable_variability};
use crate::model::MetricName;
use crate::sample::{BenchmarkData, GroupBy, Sample, SettingChoice, samples};

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
    fn of(&self, sample: &Sample<'_>) -> Vec<MetricName> {
        const FIRST: &str = "wall_time";
        let names = match self {
            Self::Named(names) => names.clone(),
            Self::Usual => MetricChoice::Directed.of(sample),
        };
        let has_values = |name: &MetricName| {
            let columns = sample.instances.iter();
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
                let all = sample
                    .instances
                    .iter()
                    .flat_map(|it| it.iterations.values.keys());
                let all: BTreeSet<&MetricName> = all.collect();
                with_values = all
                    .into_iter()
                    .filter(|it| has_values(it))
                    .cloned()
                    .collect();
            }
        }
        let has_any = || {
            let columns = sample
                .instances
                .iter()
                .flat_map(|it| it.iterations.values.values());
            columns.flatten().any(|value| value.is_finite())
        };
        if with_values.is_empty() && !has_any() {
            // Nothing has a value: the first stands for all in the audit.
            let first = names.into_iter().next();
            with_values.push(first.unwrap_or_else(|| FIRST.to_owned()));
        }
        with_values
    }
}

/// What counts of one metric of a benchmark in one setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetricOfSample<'a> {
    /// The instances of that setting.
    pub sample: &'a Sample<'a>,
    /// The metric's name.
    pub name: &'a MetricName,
    /// What counts.
    pub cleaned: &'a Cleaned,
    /// Where it was taken to get steady.
    pub steady: SteadyFrom,
}

/// What was found of a benchmark, setting by setting.
#[derive(Debug, Clone, PartialEq)]
pub struct BySetting<R> {
    /// Each setting and metric of which something counts.
    pub rows: Vec<R>,
    /// What was left out of each.
    pub audits: Vec<BenchmarkAudit>,
    /// How many older versions were left out.
    pub older: usize,
    /// How many instances of earlier epochs were left out.
    pub earlier: usize,
}

/// Looks at what counts of each setting and metric, and how it varies.
pub(super) fn by_setting<R>(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    mut row: impl FnMut(&MetricOfSample<'_>, Variability) -> R,
) -> BySetting<R> {
    let mut found = BySetting {
        rows: Vec::new(),
        audits: Vec::new(),
        older: 0,
        earlier: 0,
    };
    for sample in samples(data, GroupBy::Setting(which)) {
        found.older += sample.older_versions;
        found.earlier += sample.earlier_epoch;
        let (policy, source) = rules.policy(&sample);
        for name in metrics.of(&sample) {
            let cleaned = clean(sample.instances.iter().copied(), &name, policy);
            let varies = usable_variability(&cleaned);
            let audit = BenchmarkAudit::of(&sample, &name, policy, source);
            let audit = audit.as_unusable(varies.as_ref().err().copied());
            found.audits.push(audit);
            let of_metric = MetricOfSample {
                sample: &sample,
                name: &name,
                cleaned: &cleaned,
                steady: policy.burn_in,
            };
            found
                .rows
                .extend(varies.ok().map(|varies| row(&of_metric, varies)));
        }
    }
    found
}
