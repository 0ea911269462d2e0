//! What workers do all the time.

use std::collections::BTreeMap;

use crate::durations::TaskDuration;
use crate::lanes::{LanePart, worker_lanes};
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};

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
}

impl WorkerTime {
    /// Returns the time of all workers.
    pub fn all(&self) -> i64 {
        self.makespan * i64::try_from(self.workers).unwrap_or(i64::MAX)
    }

    /// Returns the share of the time in which a worker had a task started and not published.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn utilisation(&self) -> f64 {
        self.busy.values().sum::<i64>() as f64 / self.all().max(1) as f64
    }

    /// Returns the mean number of tasks that compute at once.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn parallelism(&self) -> f64 {
        let computing = self.parts.get(&TaskDuration::Compute).copied();
        computing.unwrap_or(0) as f64 / self.makespan.max(1) as f64
    }
}

/// Returns what the workers did; `None` without tasks.
pub fn worker_time(trace: &Trace) -> Option<WorkerTime> {
    let (start, end) = trace.range()?;
    let mut by_worker: BTreeMap<Name, Vec<&Task>> = BTreeMap::new();
    for task in &trace.tasks {
        by_worker.entry(task.worker).or_default().push(task);
    }
    let mut parts: BTreeMap<TaskDuration, i64> = BTreeMap::new();
    let all = worker_lanes(trace);
    let pieces = all.iter().flat_map(|lane| &lane.pieces);
    for piece in pieces {
        if let LanePart::Task(part) = piece.part {
            *parts.entry(part).or_default() += piece.end - piece.start;
        }
    }
    let makespan = end - start;
    let of_all = makespan * i64::try_from(by_worker.len()).unwrap_or(i64::MAX);
    let idle = of_all - parts.values().sum::<i64>();
    let busy = by_worker
        .iter()
        .map(|(worker, tasks)| (*worker, union(tasks)));
    let busy = busy.collect();
    Some(WorkerTime {
        workers: by_worker.len(),
        makespan,
        parts,
        idle,
        busy,
    })
}

/// Returns the time in which at least one of the tasks was started and not released.
fn union(tasks: &[&Task]) -> i64 {
    let intervals = tasks.iter().filter_map(|task| {
        let interval = task.at(TaskEvent::Started).zip(task.released());
        interval.filter(|(from, to)| from < to)
    });
    let mut intervals: Vec<(i64, i64)> = intervals.collect();
    intervals.sort_unstable();
    let (mut sum, mut reached) = (0, i64::MIN);
    for (from, to) in intervals {
        if to > reached {
            sum += to - from.max(reached);
            reached = to;
        }
    }
    sum
}
