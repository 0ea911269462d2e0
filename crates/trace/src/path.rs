//! What the last task waited for.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::copies::InputCopies;
use crate::durations::TaskDuration;
use crate::graph::TaskGraph;
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};

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

impl PathPart {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Task(part) => part.name(),
            Self::Transfer => "transfer",
            Self::Controller => "controller",
        }
    }

    /// Returns what the time is spent on.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Task(part) => part.meaning(),
            Self::Transfer => "copying inputs",
            Self::Controller => "between a completion and the next task",
        }
    }
}

/// The chain of tasks that the last one waited for.
///
/// With a graph, a task waited for the last of its inputs, or for the task before it on its worker if that left later.
///
/// Without one, the path is *observed*: a task that stood in the queue while its worker was busy waited for the task
/// before it on that worker. Any other task waited to be planned, and the controller plans when it learns of
/// completions: so it waited for the last completion before that.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPath {
    /// Whether the trace has no graph.
    pub is_observed: bool,
    /// The indices of its tasks, from the first to the last.
    pub tasks: Vec<usize>,
    /// The time of each part in ns, by class of task; they add up to the time from the first event of the path to its
    /// end.
    pub by_class: PathParts,
}

/// Times in ns of parts of a path, with the class of task; what is between tasks has none.
pub type PathParts = BTreeMap<(PathPart, Name), i64>;

impl RunPath {
    /// Returns its duration in ns.
    pub fn duration(&self) -> i64 {
        self.by_class.values().sum()
    }

    fn between(&mut self, part: PathPart) -> &mut i64 {
        self.by_class.entry((part, Name::EMPTY)).or_default()
    }

    /// Returns the time of each part in ns, of all classes together.
    pub fn parts(&self) -> BTreeMap<PathPart, i64> {
        let mut parts = BTreeMap::new();
        for ((part, _), time) in &self.by_class {
            *parts.entry(*part).or_default() += time;
        }
        parts
    }
}

/// Returns the path that leads to the last end of a task; `None` if no task has a beginning and an end.
pub fn run_path(trace: &Trace) -> Option<RunPath> {
    let graph = TaskGraph::of(trace);
    let copies = graph.as_ref().map(|graph| InputCopies::of(trace, graph));
    let ends = |index: &usize| trace.tasks[*index].end();
    let whole = |task: &Task| task.begin().is_some() && task.end().is_some();
    let mut by_end: Vec<usize> = (0..trace.tasks.len())
        .filter(|index| whole(&trace.tasks[*index]))
        .collect();
    by_end.sort_by_key(|index| (ends(index), *index));
    let by_worker = ReleasedTasks::of(trace);
    let mut path = RunPath {
        is_observed: graph.is_none(),
        tasks: Vec::new(),
        by_class: BTreeMap::new(),
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
            let worker = by_worker.previous(task);
            let before = inputs
                .chain(worker)
                .filter(|it| !known.contains(&it.1))
                .max();
            let begin = task.begin()?;
            let Some((end, index)) = before else {
                add_parts(task, begin, until, &mut path.by_class);
                path.tasks.reverse();
                return Some(path);
            };
            let end = end.min(until);
            add_parts(task, begin.max(end), until, &mut path.by_class);
            let gap = (begin.min(until) - end).max(0);
            let started = task.at(TaskEvent::Started).unwrap_or(begin);
            let copying = copies
                .as_ref()
                .map_or(0, |it| it.within(current, end, started));
            let copying = copying.min(gap);
            *path.between(PathPart::Transfer) += copying;
            *path.between(PathPart::Controller) += gap - copying;
            (current, until) = (index, end);
            continue;
        }
        let before = by_worker.queued_behind(trace, current);
        let from = before.map_or(task.begin()?, |(released, _)| released);
        add_parts(task, from, until, &mut path.by_class);
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
        *path.between(PathPart::Controller) += from - end;
        (current, until) = (*next, end);
    }
}

/// The tasks of each worker, by when they left it.
pub(crate) struct ReleasedTasks(HashMap<Name, Vec<(i64, usize)>>);

impl ReleasedTasks {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut by_worker: HashMap<Name, Vec<(i64, usize)>> = HashMap::new();
        for (index, task) in trace.tasks.iter().enumerate() {
            if let Some(released) = task.released() {
                let of_worker = by_worker.entry(task.worker).or_default();
                of_worker.push((released, index));
            }
        }
        for of_worker in by_worker.values_mut() {
            of_worker.sort_unstable();
        }
        Self(by_worker)
    }

    /// Returns the task that left the same worker last before this one started, and when.
    pub(crate) fn previous(&self, task: &Task) -> Option<(i64, usize)> {
        let started = task.at(TaskEvent::Started)?;
        let of_worker = self.0.get(&task.worker)?;
        let place = of_worker.partition_point(|(released, _)| *released <= started);
        of_worker[..place].last().copied()
    }

    /// Returns the task that left the same worker last before this one started, and after this one was enqueued.
    pub(crate) fn queued_behind(&self, trace: &Trace, index: usize) -> Option<(i64, usize)> {
        let task = &trace.tasks[index];
        let enqueued = task.at(TaskEvent::Enqueued)?;
        let before = self.previous(task)?;
        (before.0 > enqueued && before.1 != index).then_some(before)
    }
}

/// Adds the parts of a task between two moments. What it computes is divided as the CPU had all of it, if that is
/// known.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "durations are far below 2⁵³ ns"
)]
pub(crate) fn add_parts(task: &Task, from: i64, until: i64, parts: &mut PathParts) {
    let mut at = from;
    let mut add = |part: TaskDuration, event: Option<i64>| {
        let end = event.map_or(at, |event| event.min(until));
        let time = (end - at).max(0);
        let on_cpu = task.cpu_share().filter(|_| part == TaskDuration::Compute);
        let on_cpu = on_cpu.map(|share| (share * time as f64) as i64);
        let divided = match on_cpu {
            None => [(part, time), (part, 0)],
            Some(on) => [(TaskDuration::OnCpu, on), (TaskDuration::OffCpu, time - on)],
        };
        for (part, time) in divided.into_iter().filter(|(_, time)| *time > 0) {
            *parts.entry((PathPart::Task(part), task.class)).or_default() += time;
        }
        at += time;
    };
    add(TaskDuration::ToWorker, task.at(TaskEvent::Enqueued));
    add(TaskDuration::Queue, task.at(TaskEvent::Started));
    add(TaskDuration::Load, task.at(TaskEvent::Loaded));
    add(TaskDuration::Compute, task.computing().map(|(_, end)| end));
    add(TaskDuration::Publish, task.at(TaskEvent::Published));
    add(TaskDuration::ToController, Some(until));
}
