//! What is said about judging, of all benchmarks, single ones and their metrics: the `[judge]` table of a suite.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{Better, MetricName, matches_pattern};

/// What a suite says about judging; what it leaves open is up to the judging command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JudgeSettings {
    /// Where the steady state begins.
    pub burn_in: Option<JudgedFrom>,
    /// The file with the first steady iteration of each benchmark.
    pub burn_in_file: Option<PathBuf>,
    /// How many times its instance's median a value is that is left out.
    pub outlier_factor: Option<f64>,
    /// The fewest iterations that an instance must have left to count.
    pub min_iterations: Option<u32>,
    /// The fewest instances that a benchmark must have left to count.
    pub min_instances: Option<u32>,
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
    /// The level of intervals, strictly between 0 and 1.
    pub confidence: Option<f64>,
    /// The share of false ones that is accepted among the changes that are reported.
    pub false_discovery_rate: Option<f64>,
    /// The authors whose annotations count although they came from other stores.
    pub triage_by: Vec<String>,
    /// The repository under test, or the folder of the suite within it; `None` if the version is not that of a
    /// repository.
    pub repository: Option<PathBuf>,
    /// The limits of single metrics.
    pub metrics: BTreeMap<MetricName, JudgeLimits>,
    /// The limits of single benchmarks, in the order of the file.
    pub benchmarks: Vec<BenchmarkLimits>,
}

impl JudgeSettings {
    /// Returns the limits of a metric of a benchmark: those of the last table that is about it, then those of the
    /// metric, then those of the suite.
    pub fn limits_of(&self, benchmark: &str, metric: &str) -> JudgeLimits {
        let of_suite = JudgeLimits {
            smallest_effect: self.smallest_effect,
            ..JudgeLimits::default()
        };
        let of_metric = self.metrics.get(metric).cloned().unwrap_or_default();
        let about = self.benchmarks.iter().filter(|it| it.is_about(benchmark));
        about.fold(of_metric.or(of_suite), |limits, it| {
            it.limits.of(metric).or(limits)
        })
    }
}

/// From which iteration on a benchmark is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedFrom {
    /// After what was planned as burn-in.
    Recorded,
    /// From where its values get steady.
    Auto,
    /// From this iteration.
    Index(u32),
}

/// What a suite says about judging a benchmark or metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JudgeLimits {
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
    /// Whether more of it is better, whatever its measurements say.
    pub better: Option<Better>,
    /// Whether it is not judged at all.
    pub mute: Option<bool>,
    /// The conditions by which it fails a gate, in place of those of the gate.
    pub fail_on: Option<Vec<GateCondition>>,
}

/// A condition that fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateCondition {
    /// Something is worse; in a comparison also if the candidate lacks a benchmark.
    Regression,
    /// Something is better.
    Improvement,
    /// Something is worse, better, or differs in a metric without a direction.
    Change,
    /// The sides of a comparison do not differ.
    Equivalent,
    /// It is undecided whether the sides of a comparison differ.
    Inconclusive,
    /// A side of a comparison has no value, or a benchmark is not measured any more.
    NotMeasured,
    /// A benchmark fails more often than in the baseline.
    Failures,
    /// A benchmark is worse in the compared runs of one process per side.
    WorseInRuns,
    /// The newest runs of a history may be worse.
    Suspected,
    /// A history gets worse slowly.
    Drift,
}

/// A condition of a gate, of all metrics or of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRule {
    /// The condition.
    pub condition: GateCondition,
    /// The metric; `None` for all.
    pub metric: Option<MetricName>,
}

impl GateRule {
    /// Returns the conditions of these rules that hold for a metric, or if there are any rules those of its own.
    pub fn conditions_of(
        rules: &[Self],
        metric: &str,
        own: Option<&[GateCondition]>,
    ) -> Vec<GateCondition> {
        if let Some(own) = own.filter(|_| !rules.is_empty()) {
            return own.to_vec();
        }
        let is_meant = |rule: &&Self| rule.metric.as_ref().is_none_or(|it| it == metric);
        rules
            .iter()
            .filter(is_meant)
            .map(|it| it.condition)
            .collect()
    }
}

/// What a suite says about judging all metrics of something, and single ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricLimits {
    /// Those of all metrics.
    pub all: JudgeLimits,
    /// Those of single metrics, which come before the others.
    pub metrics: BTreeMap<MetricName, JudgeLimits>,
}

/// The `judge` table of the benchmarks of a table of the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkLimits {
    /// The name of the table: an id, an id without its parameters, or a pattern with `*` and `?`.
    pub name: String,
    /// The paths of a table of pytest's tests.
    pub paths: Vec<String>,
    /// What it says.
    pub limits: MetricLimits,
}

impl JudgeLimits {
    /// Returns these limits with the gaps filled from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            smallest_effect: self.smallest_effect.or(other.smallest_effect),
            better: self.better.or(other.better),
            mute: self.mute.or(other.mute),
            fail_on: self.fail_on.or(other.fail_on),
        }
    }
}

impl MetricLimits {
    /// Returns the limits of a metric.
    pub fn of(&self, metric: &str) -> JudgeLimits {
        let own = self.metrics.get(metric).cloned().unwrap_or_default();
        own.or(self.all.clone())
    }
}

impl BenchmarkLimits {
    /// Returns whether a benchmark is meant.
    pub fn is_about(&self, id: &str) -> bool {
        let starts_with = |start: &str, ends: &[&str]| {
            let rest = id.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || ends.iter().any(|end| rest.starts_with(end)))
        };
        let of_path = |path: &String| match path.trim_start_matches("./").trim_end_matches('/') {
            "" | "." => id.contains("::"),
            path => starts_with(path, &["/", "::", "["]),
        };
        if self.paths.is_empty() {
            starts_with(&self.name, &["["]) || matches_pattern(&self.name, id)
        } else {
            self.paths.iter().any(of_path)
        }
    }
}
