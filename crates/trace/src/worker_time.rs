//! What workers do all the time.

use std::collections::BTreeMap;

use crate::durations::TaskDuration;
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};

/// What the workers did with the time of a run, in ns of all workers together.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerTime {
    /// Number of workers.
    pub workers: usize,
    /// From the first event of a task to the last.
    pub makespan: i64,
    /// The time in each part of a task, of that in which a worker did several things at once the latest part: computing before
    /// publishing, loading, queueing, arriving, waiting for the controller.
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

/// Of several things at once the first of these counts.
const ORDER: [TaskDuration; 6] = [
    TaskDuration::Compute,
    TaskDuration::Publish,
    TaskDuration::Load,
    TaskDuration::Queue,
    TaskDuration::ToWorker,
    TaskDuration::ToController,
];

/// Returns what the workers did; `None` without tasks.
pub fn worker_time(trace: &Trace) -> Option<WorkerTime> {
    let (start, end) = trace.range()?;
    let mut by_worker: BTreeMap<Name, Vec<&Task>> = BTreeMap::new();
    for task in &trace.tasks {
        by_worker.entry(task.worker).or_default().push(task);
    }
    let mut parts: BTreeMap<TaskDuration, i64> = BTreeMap::new();
    let (mut idle, mut busy) = (0, BTreeMap::new());
    for (worker, tasks) in &by_worker {
        let mut edges: Vec<(i64, usize, i32)> = Vec::new();
        for task in tasks {
            for (part, duration) in ORDER.iter().enumerate() {
                if let Some((from, to)) = interval(task, *duration)
                    && from < to
                {
                    edges.extend([(from, part, 1), (to, part, -1)]);
                }
            }
        }
        edges.sort_unstable();
        let (mut active, mut before) = ([0_i32; ORDER.len()], start);
        for (at, part, step) in edges {
            let time = at - before;
            match active.iter().position(|count| *count > 0) {
                Some(first) => *parts.entry(ORDER[first]).or_default() += time,
                None => idle += time,
            }
            before = at;
            active[part] += step;
        }
        idle += end - before;
        busy.insert(*worker, union(tasks));
    }
    Some(WorkerTime {
        workers: by_worker.len(),
        makespan: end - start,
        parts,
        idle,
        busy,
    })
}

/// Returns from when to when a task is in this part.
fn interval(task: &Task, part: TaskDuration) -> Option<(i64, i64)> {
    let at = |event| task.at(event);
    match part {
        TaskDuration::ToWorker => at(TaskEvent::Planned).zip(at(TaskEvent::Enqueued)),
        TaskDuration::Queue => at(TaskEvent::Enqueued).zip(at(TaskEvent::Started)),
        TaskDuration::Load => at(TaskEvent::Started).zip(at(TaskEvent::Loaded)),
        TaskDuration::Compute => task.computing(),
        TaskDuration::Publish => at(TaskEvent::Computed).zip(at(TaskEvent::Published)),
        TaskDuration::ToController => at(TaskEvent::Published).zip(at(TaskEvent::Completed)),
        TaskDuration::Total | TaskDuration::OnWorker => None,
    }
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
