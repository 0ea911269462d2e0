//! What the store gives back for judging and showing: whole instances, in columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    Benchmark, Instance, InstanceEnd, MetricName, Object, Outcome, Run, Session, Summary,
};

/// Which part of the store is asked for. Empty lists and `None` let everything pass;
/// several entries of one list are alternatives, the lists all have to agree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Suite names.
    pub suites: Vec<String>,
    /// Benchmark ids: the whole id, a pattern with `*` and `?`, or a part of the id.
    pub benchmarks: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Metric names.
    pub metrics: Vec<MetricName>,
    /// Version names or the beginnings of commit hashes.
    pub versions: Vec<String>,
    /// Variant names.
    pub variants: Vec<String>,
    /// Session names, ids or the beginnings of ids.
    pub sessions: Vec<String>,
    /// Run ids or the beginnings of ids.
    pub runs: Vec<String>,
    /// Only sessions that started at this time or later.
    pub since: Option<jiff::Timestamp>,
    /// Only sessions that started before this time.
    pub until: Option<jiff::Timestamp>,
    /// What is to become of measurements that were retired.
    pub retired: Retired,
}

impl Filter {
    /// Returns the filter that lets the same pass, and what was retired as well.
    #[must_use]
    pub fn with_retired(&self) -> Self {
        Self {
            retired: Retired::Show,
            ..self.clone()
        }
    }
}

/// What is to become of measurements that were retired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retired {
    /// They do not count.
    #[default]
    LeaveOut,
    /// They are there as if nobody had said anything.
    Show,
}

/// One benchmark with everything measured of it that passes a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkData {
    /// The suite that it belongs to.
    pub suite: String,
    /// Its description as the instance at the last place of its history gave it.
    pub benchmark: Benchmark,
    /// Its instances by start of session, then position, then attempt.
    pub instances: Vec<InstanceData>,
}

/// One instance with its iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceData {
    /// The session that it belongs to.
    pub session: Arc<Session>,
    /// The run that it belongs to.
    pub run: Arc<Run>,
    /// The instance, under the id that it was recorded with; the fingerprint is that of its epoch
    /// (`docs/history.md`).
    pub instance: Instance,
    /// The fingerprint that it was recorded with.
    pub recorded_fingerprint: Option<String>,
    /// How it ended; `None` when nobody wrote that down.
    pub end: Option<InstanceEnd>,
    /// Its iterations by index.
    pub iterations: Iterations,
    /// What a source without samples says.
    pub summaries: Vec<Summary>,
}

/// Iterations in columns: entry *k* of every column belongs to the same iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Iterations {
    /// The number within the instance, increasing.
    pub index: Vec<u32>,
    /// Seconds from the start of the instance; NaN where unknown.
    pub offset: Vec<f64>,
    /// Whether the runner planned it as burn-in.
    pub burn_in: Vec<bool>,
    /// How many executions its values are the means of.
    pub loops: Vec<u64>,
    /// How it ended.
    pub outcome: Vec<Outcome>,
    /// Messages of those that did not end well: position in the columns, text.
    pub messages: Vec<(usize, String)>,
    /// What those that did not end well printed last: position in the columns, text.
    pub printed: Vec<(usize, String)>,
    /// The artifacts of those that have any: position in the columns, name and place of each.
    pub artifacts: Vec<(usize, Object)>,
    /// The values of each metric; NaN where an iteration has none.
    pub values: BTreeMap<MetricName, Vec<f64>>,
}

impl Iterations {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}
