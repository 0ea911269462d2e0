//! What readers say of sessions, runs and instances, before these have ids.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Benchmark, Id, InstanceOutcome, Level, Metric, MetricName, Object, Version};
use crate::record::IterationColumns;

/// A session before it has an id.
#[derive(Debug, Default)]
pub(super) struct SessionDraft {
    /// What tells it from the other sessions of its source; empty where it is the only one.
    pub(super) key: String,
    /// What its ids come from, where that is not the source's own digest.
    pub(super) identity: Option<[u8; 32]>,
    /// The suite that its benchmarks belong to, where the source says so.
    pub(super) suite: Option<String>,
    /// When it began; the file's own time where the source does not say.
    pub(super) started: Option<Timestamp>,
    /// The program that measured, with its version.
    pub(super) tool: String,
    /// A name for people; the file's where there is none.
    pub(super) name: Option<String>,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
    /// The options that change what is made of the same content: name and value.
    pub(super) read_with: Vec<(&'static str, &'static str)>,
}

/// A run before it has an id.
#[derive(Debug, Default)]
pub(super) struct RunDraft {
    /// What tells it from the other runs of its session; empty where it is the only one.
    pub(super) key: String,
    /// The named setting; `None` where nothing was varied.
    pub(super) variant: Option<String>,
    /// What was deliberately varied.
    pub(super) factors: BTreeMap<String, Level>,
    /// The state of the software under test.
    pub(super) version: Version,
    /// What was observed and not chosen.
    pub(super) environment: Object,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
}

/// An instance, with everything measured in it, before it has an id.
#[derive(Debug, Default)]
pub(super) struct InstanceDraft {
    /// Its id where that is not to come from its place in the source.
    pub(super) id: Option<Id>,
    /// What was measured.
    pub(super) benchmark: Benchmark,
    /// The block that it belongs to.
    pub(super) block: u32,
    /// Its place in the order of the session, where that is not its place in the source.
    pub(super) position: Option<u32>,
    /// The machine that it ran on.
    pub(super) host: Option<String>,
    /// When it began.
    pub(super) started: Option<Timestamp>,
    /// When it ended.
    pub(super) ended: Option<Timestamp>,
    /// What was observed and not chosen.
    pub(super) environment: Object,
    /// The scheduler's names for it.
    pub(super) job: Object,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
    /// Files that belong to it: name to path or URL.
    pub(super) artifacts: Object,
    /// The units and directions of its iterations' and summaries' metrics.
    pub(super) metrics: BTreeMap<MetricName, Metric>,
    /// Its iterations.
    pub(super) iterations: IterationColumns,
    /// What the source says of metrics whose samples it did not keep.
    pub(super) summaries: Vec<SummaryDraft>,
    /// How it ended.
    pub(super) outcome: InstanceOutcome,
    /// Why, where it did not end well.
    pub(super) message: Option<String>,
    /// The machine's state around it.
    pub(super) observed: Object,
}

/// A summary before it has an instance.
#[derive(Debug, Default, Clone)]
pub(super) struct SummaryDraft {
    /// The metric that it speaks of.
    pub(super) metric: MetricName,
    /// How many samples it was made from, where the source says so.
    pub(super) n: Option<u64>,
    /// The centre.
    pub(super) centre: f64,
    /// The spread, where the source says so.
    pub(super) spread: Option<f64>,
    /// Which centre and spread, such as `median/iqr`.
    pub(super) statistic: String,
    /// Further figures of the same metric, in its unit.
    pub(super) extra: Object,
}
