//! What differs between traces.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::durations::{DurationGroup, TaskDuration, durations as group_durations};
use crate::path::{PathPart, run_path};
use crate::trace::Trace;
use crate::worker_time::{WorkerTime, worker_time};

/// Traces side by side; each list has a value for each trace, in their order, and the first is the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceComparison {
    /// What each trace has on the whole.
    pub wholes: Vec<TraceWhole>,
    /// The paths to the last end. The times of a trace add up to its makespan, so differences add up to that of
    /// makespans.
    pub path: Vec<PathTimes>,
    /// Every duration of all tasks and of each class.
    pub durations: Vec<DurationSums>,
    /// The tasks of the baseline, in its order.
    pub tasks: Vec<TaskTimes>,
}

/// A trace on the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceWhole {
    /// From the first event to the last, in ns.
    pub makespan: i64,
    /// Number of tasks.
    pub tasks: usize,
    /// Number of workers.
    pub workers: usize,
    /// The share of the time in which workers had a task; `None` if the trace does not say.
    pub utilisation: Option<f64>,
    /// The mean number of tasks that computed at once; `None` if the trace does not say.
    pub parallelism: Option<f64>,
}

/// What paths spend on a part of the tasks of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct PathTimes {
    /// The class; empty for what is between tasks.
    pub class: String,
    /// The part; `None` for the time before the first task of the path.
    pub part: Option<PathPart>,
    /// The time in each trace, in ns.
    pub times: Vec<i64>,
}

/// A duration of a class of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationSums {
    /// The class; empty for all tasks.
    pub class: String,
    /// The duration.
    pub duration: TaskDuration,
    /// Number of tasks with it in each trace.
    pub counts: Vec<usize>,
    /// Its sum in each, in ns.
    pub sums: Vec<i64>,
}

/// A task of the baseline and its like in the others: of the same name, tried as often before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTimes {
    /// Its name.
    pub name: String,
    /// Its duration in each trace, in ns.
    pub durations: Vec<Option<i64>>,
    /// Its worker in each.
    pub workers: Vec<Option<String>>,
}

impl TraceComparison {
    /// Compares traces, the first of which is the baseline, their tasks by a duration.
    pub fn of(traces: &[&Trace], duration: TaskDuration) -> Self {
        Self {
            wholes: traces.iter().map(|trace| TraceWhole::of(trace)).collect(),
            path: path(traces),
            durations: durations(traces),
            tasks: tasks(traces, duration),
        }
    }

    /// Returns how many tasks a trace has in common with the baseline, and how many of those ran on the same worker;
    /// `None` if no worker of one has the name of one of the other.
    pub fn same_workers(&self, other: usize) -> Option<(usize, usize)> {
        let workers = |side: usize| -> BTreeSet<&String> {
            let workers = self.tasks.iter();
            workers.filter_map(|it| it.workers[side].as_ref()).collect()
        };
        if workers(0).is_disjoint(&workers(other)) {
            return None;
        }
        let common = self
            .tasks
            .iter()
            .filter(|task| task.workers[other].is_some());
        let same = common
            .clone()
            .filter(|task| task.workers[0] == task.workers[other]);
        Some((common.count(), same.count()))
    }
}

impl TraceWhole {
    fn of(trace: &Trace) -> Self {
        let workers = worker_time(trace);
        Self {
            makespan: trace.makespan(),
            tasks: trace.tasks.len(),
            workers: workers.as_ref().map_or(0, |it| it.workers),
            utilisation: workers.as_ref().and_then(WorkerTime::utilisation),
            parallelism: workers.as_ref().and_then(WorkerTime::parallelism),
        }
    }
}

fn path(traces: &[&Trace]) -> Vec<PathTimes> {
    let mut all: BTreeMap<(String, Option<PathPart>), Vec<i64>> = BTreeMap::new();
    for (side, trace) in traces.iter().enumerate() {
        let mut add = |class: &str, part, time| {
            let entry = all.entry((class.to_owned(), part));
            entry.or_insert_with(|| vec![0; traces.len()])[side] += time;
        };
        let mut before = trace.makespan();
        for ((part, class), time) in run_path(trace).into_iter().flat_map(|it| it.by_class) {
            add(trace.text(class), Some(part), time);
            before -= time;
        }
        if before != 0 {
            add("", None, before);
        }
    }
    let all = all.into_iter();
    all.map(|((class, part), times)| PathTimes { class, part, times })
        .filter(|it| it.times.iter().any(|time| *time != 0))
        .collect()
}

fn durations(traces: &[&Trace]) -> Vec<DurationSums> {
    let mut all: BTreeMap<(String, TaskDuration), (Vec<usize>, Vec<i64>)> = BTreeMap::new();
    for (side, trace) in traces.iter().enumerate() {
        for group in [DurationGroup::All, DurationGroup::Class] {
            for (class, durations) in group_durations(trace, group) {
                for (duration, statistics) in durations {
                    let zeros = || (vec![0; traces.len()], vec![0; traces.len()]);
                    let entry = all.entry((class.clone(), duration));
                    let (counts, sums) = entry.or_insert_with(zeros);
                    (counts[side], sums[side]) = (statistics.count, statistics.sum);
                }
            }
        }
    }
    let all = all.into_iter();
    all.map(|((class, duration), (counts, sums))| DurationSums {
        class,
        duration,
        counts,
        sums,
    })
    .collect()
}

fn tasks(traces: &[&Trace], duration: TaskDuration) -> Vec<TaskTimes> {
    let indices: Vec<HashMap<(&str, u32), usize>> = traces.iter().map(|it| by_name(it)).collect();
    let Some(baseline) = traces.first() else {
        return Vec::new();
    };
    let each = baseline.tasks.iter().map(|task| {
        let name = baseline.text(task.name);
        let like = traces.iter().zip(&indices).map(|(trace, index)| {
            let like = &trace.tasks[*index.get(&(name, task.attempt))?];
            Some((duration.of(like), trace.text(like.worker).to_owned()))
        });
        let like: Vec<_> = like.collect();
        TaskTimes {
            name: name.to_owned(),
            durations: like.iter().map(|it| it.as_ref()?.0).collect(),
            workers: like.into_iter().map(|it| Some(it?.1)).collect(),
        }
    });
    each.collect()
}

/// Returns the indices of tasks by name and number of the attempt.
fn by_name(trace: &Trace) -> HashMap<(&str, u32), usize> {
    let tasks = trace.tasks.iter().enumerate();
    tasks
        .map(|(at, task)| ((trace.text(task.name), task.attempt), at))
        .collect()
}
