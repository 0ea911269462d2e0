//! What workers do all the time.

use std::collections::BTreeMap;

use crate::durations::{TaskDuration, covered_time};
use crate::lanes::{LanePart, worker_lanes};
use crate::names::Name;
use crate::trace::{TaskEvent, Trace};

/// What the workers did with the time of a run, in ns of all workers together.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerTime {
    /// Number of workers.
    pub workers: usize,
    /// From the first event of a task to the last.
    pub makespan: i64,
    /// The time in each part of a task, of that in which a worker did several things at once the latest part:
    /// computing before publishing, loading, queueing, arriving, waiting for the controller.
    pub parts: BTreeMap<TaskDuration, i64>,
    /// The time without any task.
    pub idle: i64,
    /// The time between the start of a task and its publication, by worker.
    pub busy: BTreeMap<Name, i64>,
    /// Whether some task says when it was started and published, or computed.
    pub is_known: bool,
}

impl WorkerTime {
    /// Returns the time of all workers.
    pub fn all(&self) -> i64 {
        self.makespan * i64::try_from(self.workers).unwrap_or(i64::MAX)
    }

    /// Returns the share of the time in which a worker had a task started and not published; `None` if no task says
    /// when it was.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn utilisation(&self) -> Option<f64> {
        let busy = self.busy.values().sum::<i64>() as f64;
        self.is_known.then(|| busy / self.all().max(1) as f64)
    }

    /// Returns the mean number of tasks that compute at once; `None` if no task says when it did.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn parallelism(&self) -> Option<f64> {
        let computing = self.parts.get(&TaskDuration::Compute).copied();
        self.is_known
            .then(|| computing.unwrap_or(0) as f64 / self.makespan.max(1) as f64)
    }
}

/// Returns what the workers did; `None` without tasks.
pub fn worker_time(trace: &Trace) -> Option<WorkerTime> {
    let (start, end) = trace.range()?;
    // When a task was started and not released.
    let mut by_worker: BTreeMap<Name, Vec<(i64, i64)>> = BTreeMap::new();
    let mut is_known = false;
    for task in &trace.tasks {
        let busy = by_worker.entry(task.worker).or_default();
        let interval = task.at(TaskEvent::Started).zip(task.released());
        is_known |= interval.is_some();
        busy.extend(interval.filter(|(from, to)| from < to));
    }
    let mut parts: BTreeMap<TaskDuration, i64> = BTreeMap::new();
    for piece in worker_lanes(trace).iter().flat_map(|lane| &lane.pieces) {
        if let LanePart::Task(part) = piece.part {
            *parts.entry(part).or_default() += piece.end - piece.start;
        }
    }
    let workers = by_worker.into_iter();
    let mut time = WorkerTime {
        workers: workers.len(),
        makespan: end - start,
        parts,
        is_known,
        idle: 0,
        busy: workers
            .map(|(worker, busy)| (worker, covered_time(busy)))
            .collect(),
    };
    time.idle = time.all() - time.parts.values().sum::<i64>();
    Some(time)
}
