//! Findings of a trace with the numbers of their sentences.

use lapwing_trace::{
    Contention, ContentionCause, OffCpu, Resource, Trace, TraceFinding, TraceFindings, WaitsFor,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::trace::{finding_text, share};

/// An explanation of time, with times in nanoseconds.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TraceFindingRow<'t> {
    /// `task_time`, `queue`, `off_cpu`, `contention`, `redundant`, `hot_dataset`, `imbalance` or `controller`.
    kind: &'static str,
    /// The time of tasks or workers that it explains.
    pub explains: i64,
    pub text: String,
    /// The class of tasks, the part of their time, the dataset or the worker that it is about.
    subject: Option<&'t str>,
    /// The host on which tasks compute at once.
    host: Option<&'t str>,
    /// The time in this state.
    sum: Option<i64>,
    /// The time that `sum` is a part of.
    of: Option<i64>,
    /// `sum` as a share of `of`.
    share: Option<f64>,
    /// Number of tasks, transfers or targets.
    count: Option<usize>,
    /// By which share each further task at once makes a task slower.
    slowdown: Option<f64>,
    slowdown_lower: Option<f64>,
    slowdown_upper: Option<f64>,
    /// Mean number of tasks that compute at once.
    concurrency: Option<f64>,
    /// The mean busy time of all workers.
    mean: Option<i64>,
    /// Busy time as a multiple of the mean.
    times_mean: Option<f64>,
    /// What tasks wait for or share: `on_cpu`, `cpu`, `io`, `memory` or `process`.
    cause: Option<&'static str>,
}

impl<'t> TraceFindingRow<'t> {
    /// Returns the row of a finding.
    pub fn new(trace: &'t Trace, found: &TraceFindings, finding: &TraceFinding) -> Self {
        let row = Self {
            explains: finding.explains(),
            text: finding_text(trace, found, finding),
            ..Self::default()
        };
        match finding {
            TraceFinding::TaskTime { part, sum, total } => Self {
                kind: "task_time",
                subject: Some(part.name()),
                ..row.part(*sum, *total)
            },
            TraceFinding::Queue { sum, all } => Self {
                kind: "queue",
                ..row.part(*sum, *all)
            },
            TraceFinding::OffCpu(it) => row.off_cpu(trace, it),
            TraceFinding::Contention(it) => row.contention(trace, it),
            TraceFinding::Redundant { count, sum } => Self {
                kind: "redundant",
                sum: Some(*sum),
                count: Some(*count),
                ..row
            },
            TraceFinding::HotDataset {
                dataset,
                count,
                sum,
            } => Self {
                kind: "hot_dataset",
                subject: Some(trace.text(*dataset)),
                sum: Some(*sum),
                count: Some(*count),
                ..row
            },
            TraceFinding::Imbalance {
                worker, busy, mean, ..
            } => Self {
                kind: "imbalance",
                subject: Some(trace.text(*worker)),
                sum: Some(*busy),
                mean: Some(*mean),
                times_mean: Some(share(*busy, *mean)),
                ..row
            },
            TraceFinding::Controller { busy, duty } => Self {
                kind: "controller",
                sum: Some(*busy),
                share: Some(*duty),
                ..row
            },
        }
    }

    fn part(self, sum: i64, of: i64) -> Self {
        Self {
            sum: Some(sum),
            of: Some(of),
            share: Some(share(sum, of)),
            ..self
        }
    }

    fn off_cpu(self, trace: &'t Trace, it: &OffCpu) -> Self {
        Self {
            kind: "off_cpu",
            subject: Some(trace.text(it.class)),
            count: Some(it.tasks),
            cause: waits_for(it.waits_for),
            ..self.part(it.sum, it.computing)
        }
    }

    fn contention(self, trace: &'t Trace, it: &Contention) -> Self {
        let [lower, upper] = it.slope_interval.map(|slope| slope / it.alone);
        Self {
            kind: "contention",
            subject: Some(trace.text(it.class)),
            host: Some(trace.text(it.host)),
            count: Some(it.tasks),
            sum: Some(self.explains),
            slowdown: Some(it.slope / it.alone),
            slowdown_lower: Some(lower),
            slowdown_upper: Some(upper),
            concurrency: Some(it.concurrency),
            cause: match it.cause {
                None => None,
                Some(ContentionCause::OnCpu) => Some("on_cpu"),
                Some(ContentionCause::OffCpu(waits)) => waits_for(waits),
            },
            ..self
        }
    }
}

fn waits_for(waits_for: WaitsFor) -> Option<&'static str> {
    match waits_for {
        WaitsFor::Resource(Resource::Cpu) => Some("cpu"),
        WaitsFor::Resource(Resource::Io) => Some("io"),
        WaitsFor::Resource(Resource::Memory) => Some("memory"),
        WaitsFor::Process => Some("process"),
        WaitsFor::Unknown => None,
    }
}
