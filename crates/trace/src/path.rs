//! What the last task waited for.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::durations::TaskDuration;
use crate::graph::TaskGraph;
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};
use crate::what_if::Transfers;

/// A part of an observed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPart {
    /// A part of a task.
    Task(TaskDuration),
    /// Copying inputs, between two tasks.
    Transfer,
    /// From the completion of one task, which the controller knew, to the planning of the next.
    Controller,
}

/// The chain of tasks that the last one waited for.
///
/// With a graph, a task waited for the last of its inputs, or for the task before it on its worker if that left later.
///
/// Without one, the path is *observed*: a task that stood in the queue while its worker was busy waited for the task before
/// it on that worker. Any other task waited to be planned, and the controller plans when it learns of completions: so it
/// waited for the last completion before that.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPath {
    /// Whether the trace has no graph.
    pub is_observed: bool,
    /// The indices of its tasks, from the first to the last.
    pub tasks: Vec<usize>,
    /// The time of each part in ns; they add up to the time from the first event of the path to its end.
    pub parts: BTreeMap<PathPart, i64>,
}

impl RunPath {
    /// Returns its duration in ns.
    pub fn duration(&self) -> i64 {
        self.parts.values().sum()
    }
}

/// Returns the path that leads to the last end of a task; `None` if no task has a beginning and an end.
pub fn run_path(trace: &Trace) -> Option<RunPath> {
    let graph = TaskGraph::of(trace);
    let transfers = Transfers::of(trace);
    let ends = |index: &usize| trace.tasks[*index].end();
    let whole = |task: &Task| task.begin().is_some() && task.end().is_some();
    let mut by_end: Vec<usize> = (0..trace.tasks.len())
        .filter(|index| whole(&trace.tasks[*index]))
        .collect();
    by_end.sort_by_key(|index| (ends(index), *index));
    let mut by_worker: HashMap<Name, Vec<(i64, usize)>> = HashMap::new();
    for index in &by_end {
        let task = &trace.tasks[*index];
        if let Some(released) = task.released() {
            let of_worker = by_worker.entry(task.worker).or_default();
            of_worker.push((released, *index));
        }
    }
    for of_worker in by_worker.values_mut() {
        of_worker.sort_unstable();
    }
    let mut path = RunPath {
        is_observed: graph.is_none(),
        tasks: Vec::new(),
        parts: BTreeMap::new(),
    };
    let mut current = *by_end.last()?;
    let mut until = trace.tasks[current].end()?;
    let mut known = HashSet::new();
    loop {
        let task = &trace.tasks[current];
        path.tasks.push(current);
        known.insert(current);
        if let Some(graph) = &graph {
            let inputs = graph.inputs[current].iter().copied();
            let inputs = inputs.filter_map(|input| Some((trace.tasks[input].end()?, input)));
            let worker = previous_on_worker(task, &by_worker);
            let before = inputs
                .chain(worker)
                .filter(|it| !known.contains(&it.1))
                .max();
            let begin = task.begin()?;
            let Some((end, index)) = before else {
                add_parts(task, begin, until, &mut path.parts);
                path.tasks.reverse();
                return Some(path);
            };
            let end = end.min(until);
            add_parts(task, begin.max(end), until, &mut path.parts);
            let gap = (begin.min(until) - end).max(0);
            let copying = transfers.of_inputs(task, end).0.min(gap);
            *path.parts.entry(PathPart::Transfer).or_default() += copying;
            *path.parts.entry(PathPart::Controller).or_default() += gap - copying;
            (current, until) = (index, end);
            continue;
        }
        let before = queued_behind(task, current, &by_worker);
        let from = before.map_or(task.begin()?, |(released, _)| released);
        add_parts(task, from, until, &mut path.parts);
        if let Some((released, index)) = before {
            (current, until) = (index, released);
            continue;
        }
        let place = by_end.partition_point(|index| ends(index) <= Some(from));
        let earlier = by_end[..place].iter().rev();
        let mut earlier = earlier.filter(|index| **index != current && !known.contains(*index));
        let Some(next) = earlier.next() else {
            path.tasks.reverse();
            return Some(path);
        };
        let end = trace.tasks[*next].end()?;
        *path.parts.entry(PathPart::Controller).or_default() += from - end;
        (current, until) = (*next, end);
    }
}

/// Returns the task that left the same worker last before this one started.
fn previous_on_worker(
    task: &Task,
    by_worker: &HashMap<Name, Vec<(i64, usize)>>,
) -> Option<(i64, usize)> {
    let started = task.at(TaskEvent::Started)?;
    let of_worker = by_worker.get(&task.worker)?;
    let place = of_worker.partition_point(|(released, _)| *released <= started);
    of_worker[..place].last().copied()
}

/// Returns the task that left the same worker last before this one started, and after this one was enqueued.
fn queued_behind(
    task: &Task,
    index: usize,
    by_worker: &HashMap<Name, Vec<(i64, usize)>>,
) -> Option<(i64, usize)> {
    let enqueued = task.at(TaskEvent::Enqueued)?;
    let before = previous_on_worker(task, by_worker)?;
    (before.0 > enqueued && before.1 != index).then_some(before)
}

/// Adds the parts of a task between two moments.
fn add_parts(task: &Task, from: i64, until: i64, parts: &mut BTreeMap<PathPart, i64>) {
    let mut at = from;
    let mut add = |part: TaskDuration, event: Option<i64>| {
        if let Some(event) = event {
            let end = event.min(until);
            if end > at {
                *parts.entry(PathPart::Task(part)).or_default() += end - at;
                at = end;
            }
        }
    };
    add(TaskDuration::ToWorker, task.at(TaskEvent::Enqueued));
    add(TaskDuration::Queue, task.at(TaskEvent::Started));
    add(TaskDuration::Load, task.at(TaskEvent::Loaded));
    add(TaskDuration::Compute, task.computing().map(|(_, end)| end));
    add(TaskDuration::Publish, task.at(TaskEvent::Published));
    add(TaskDuration::ToController, Some(until));
}
