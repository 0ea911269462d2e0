//! Rows of the lists of a store, for JSON and CSV.

use lapwing_record::{BenchmarkRow, MetricRow, RunRow, SessionRow};
use schemars::JsonSchema;
use serde::Serialize;

/// A benchmark.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ListedBenchmarkFields<'a> {
    suite: &'a str,
    benchmark: &'a str,
    tags: &'a [String],
    instances: u64,
    /// Number of iterations, burn-in included.
    iterations: u64,
    failures: u64,
    /// Number of summaries of sources that kept no samples.
    summaries: u64,
    metrics: &'a [String],
    last_measured: String,
}

impl<'a> ListedBenchmarkFields<'a> {
    /// Returns the fields of a benchmark.
    pub fn new(row: &'a BenchmarkRow) -> Self {
        Self {
            suite: &row.suite,
            benchmark: &row.benchmark,
            tags: &row.tags,
            instances: row.instances,
            iterations: row.iterations,
            failures: row.failures,
            summaries: row.summaries,
            metrics: &row.metrics,
            last_measured: row.last_measured.to_string(),
        }
    }
}

/// A session.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SessionRowFields<'a> {
    id: &'a str,
    name: Option<&'a str>,
    suite: &'a str,
    started: String,
    /// The program that measured.
    tool: &'a str,
    runs: u64,
    instances: u64,
    iterations: u64,
    /// Number of summaries of sources that kept no samples.
    summaries: u64,
    /// Number of instances that are in progress or were interrupted.
    unfinished: u64,
}

impl<'a> SessionRowFields<'a> {
    /// Returns the fields of a session.
    pub fn new(row: &'a SessionRow) -> Self {
        Self {
            id: &row.id,
            name: row.name.as_deref(),
            suite: &row.suite,
            started: row.started.to_string(),
            tool: &row.tool,
            runs: row.runs,
            instances: row.instances,
            iterations: row.iterations,
            summaries: row.summaries,
            unfinished: row.unfinished,
        }
    }
}

/// A run.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RunFields<'a> {
    id: String,
    session: String,
    session_name: Option<&'a str>,
    suite: &'a str,
    /// Start of its session.
    started: String,
    variant: &'a str,
    version: Option<&'a str>,
    commit: Option<&'a str>,
    instances: u64,
    iterations: u64,
    /// Number of summaries of sources that kept no samples.
    summaries: u64,
}

impl<'a> RunFields<'a> {
    /// Returns the fields of a run.
    pub fn new(row: &'a RunRow) -> Self {
        let head = &row.head;
        Self {
            id: head.id.to_string(),
            session: head.session.to_string(),
            session_name: head.session_name.as_deref(),
            suite: &head.suite,
            started: head.started.to_string(),
            variant: &head.variant,
            version: head.version.as_deref(),
            commit: head.commit.as_deref(),
            instances: row.instances,
            iterations: row.iterations,
            summaries: row.summaries,
        }
    }
}

/// A metric.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct MetricRowFields<'a> {
    metric: &'a str,
    /// Its units; more than one if runs disagree.
    units: &'a [String],
    /// `lower` or `higher`; both if runs disagree.
    better: &'a [String],
    benchmarks: u64,
    /// Number of summaries of sources that kept no samples.
    summaries: u64,
}

impl<'a> MetricRowFields<'a> {
    /// Returns the fields of a metric.
    pub fn new(row: &'a MetricRow) -> Self {
        Self {
            metric: &row.metric,
            units: &row.units,
            better: &row.better,
            benchmarks: row.benchmarks,
            summaries: row.summaries,
        }
    }
}
