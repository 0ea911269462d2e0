//! The cleaned samples of a benchmark, per setting and metric.

use std::collections::BTreeSet;

use lapwing_stats::Seed;
use lapwing_stats::steady::BurnInOptions;

use crate::clean::{
    BenchmarkAudit, BurnInSource, Cleaned, CleaningRules, SteadyFrom, burn_in_metric, clean,
    find_steady,
};
use crate::judge::{MetricChoice, Variability, usable_variability};
use crate::sample::{BenchmarkData, GroupBy, Sample, SettingChoice, samples};
use lapwing_model::MetricName;

/// The metrics of a benchmark to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NoiseMetrics {
    /// The wall time; without it, every metric with a direction, or else every metric.
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
        let columns = sample.instances.iter().flat_map(|it| &it.iterations.values);
        let all: BTreeSet<&MetricName> = columns
            .filter(|(_, values)| values.iter().any(|value| value.is_finite()))
            .map(|(name, _)| name)
            .collect();
        let mut with_values: Vec<MetricName> = names
            .iter()
            .filter(|name| all.contains(name))
            .cloned()
            .collect();
        if *self == Self::Usual {
            if with_values.first().is_some_and(|name| name == FIRST) {
                with_values.truncate(1);
            }
            if with_values.is_empty() {
                with_values = all.iter().copied().cloned().collect();
            }
        }
        if all.is_empty() {
            // No metric has a value: the first represents all in the audit.
            let first = names.into_iter().next();
            with_values.push(first.unwrap_or_else(|| FIRST.to_owned()));
        }
        with_values
    }
}

/// The cleaned sample of one metric of a benchmark in one setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetricOfSample<'a> {
    /// The instances of that setting.
    pub sample: &'a Sample<'a>,
    /// The metric's name.
    pub name: &'a MetricName,
    /// The values after cleaning.
    pub cleaned: &'a Cleaned,
    /// The index and source of the start of its steady state.
    pub steady: SteadyFrom,
}

impl MetricOfSample<'_> {
    /// Returns a seed of its own.
    pub fn seed(&self, seed: Seed) -> Seed {
        let setting = self.sample.setting.text().unwrap_or_default();
        let of_benchmark = seed
            .split(self.sample.suite)
            .split(&self.sample.benchmark.id);
        of_benchmark.split(&setting).split(self.name)
    }
}

/// The cleaned samples of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BySetting<R> {
    /// Each setting and metric with values.
    pub rows: Vec<R>,
    /// The exclusions from each.
    pub audits: Vec<BenchmarkAudit>,
    /// Number of excluded older versions.
    pub older: usize,
    /// Number of excluded instances of earlier epochs.
    pub earlier: usize,
}

impl<R> Default for BySetting<R> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            audits: Vec::new(),
            older: 0,
            earlier: 0,
        }
    }
}

/// Returns whether a setting of a benchmark never reaches a steady state although it is analysed, because its burn-in
/// is not detected from the values: all that is said of it depends on how long it was measured.
pub fn is_analysed_unsteady(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
) -> bool {
    samples(data, GroupBy::Setting(which)).iter().any(|sample| {
        let (_, source) = rules.policy(sample);
        let is_detected = matches!(source, BurnInSource::Found { .. });
        let Some(metric) = burn_in_metric(sample).filter(|_| !is_detected) else {
            return false;
        };
        let steady = find_steady(sample, &metric, &BurnInOptions::default());
        steady.steady_from() == SteadyFrom::Never
    })
}

/// Cleans each setting and metric, and returns its variability.
pub(super) fn by_setting<R>(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    mut row: impl FnMut(&MetricOfSample<'_>, Variability) -> R,
) -> BySetting<R> {
    let mut found = BySetting::default();
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
