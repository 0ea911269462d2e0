//! The graph of a trace: what each task waits for, and what that costs at least.

use std::collections::HashMap;

use crate::names::Name;
use crate::path::ReleasedTasks;
use crate::trace::{InputsSource, TaskEvent, Trace};

/// What each task of a trace needs, by the indices of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskGraph {
    /// For each task the tasks whose results it needs.
    pub inputs: Vec<Vec<usize>>,
    /// All tasks, each after its inputs.
    pub order: Vec<usize>,
    /// Number of inputs that were left out, because they lead back to the task itself.
    pub circular: usize,
    /// Number of tasks that wait for one that is not among their inputs, because the program that submitted them
    /// waited for it.
    pub implied: usize,
}

/// What a run takes if nothing but the graph and the workers limits it.
#[derive(Debug, Clone, PartialEq)]
pub struct IdealTime {
    /// The tasks of the critical path: the longest chain of inputs, by the time on workers.
    pub path: Vec<usize>,
    /// The duration of the critical path in ns: the makespan with as many workers as there are tasks.
    pub critical: i64,
    /// The time on workers of all tasks in ns.
    pub work: i64,
    /// How much longer each task could take without making the critical path longer, in ns.
    pub slack: Vec<i64>,
    /// Number of tasks that wait for what is not among their inputs, as in [`TaskGraph`].
    pub implied: usize,
}

impl IdealTime {
    /// Returns a time that no schedule on so many workers undercuts, in ns.
    pub fn bound(&self, workers: usize) -> i64 {
        let workers = i64::try_from(workers.max(1)).unwrap_or(i64::MAX);
        self.critical.max(self.work.div_euclid(workers))
    }
}

impl TaskGraph {
    /// Returns the graph of a trace; `None` also if no task says how long it occupied a worker.
    pub fn with_work(trace: &Trace) -> Option<Self> {
        let has_work = trace.tasks.iter().any(|task| task.work().is_some());
        Self::of(trace).filter(|_| has_work)
    }

    /// Returns the graph of a trace; `None` if it is not known.
    ///
    /// Of several attempts at a task, others wait for the last.
    pub fn of(trace: &Trace) -> Option<Self> {
        let mut last: HashMap<Name, usize> = HashMap::new();
        for (index, task) in trace.tasks.iter().enumerate() {
            let known = last.entry(task.name).or_insert(index);
            if trace.tasks[*known].end() <= task.end() {
                *known = index;
            }
        }
        let inputs = trace.tasks.iter().map(|task| {
            let names = task.inputs.iter();
            names.filter_map(|name| last.get(name).copied()).collect()
        });
        let mut inputs: Vec<Vec<usize>> = inputs.collect();
        if !trace.has_graph() {
            return None;
        }
        // A graph that the user gave says it all.
        let implied = if trace.inputs_from == InputsSource::User {
            Vec::new()
        } else {
            implied_inputs(trace, &inputs)
        };
        for (task, input) in &implied {
            inputs[*task].push(*input);
        }
        Some(Self {
            implied: implied.len(),
            ..Self::ordered(inputs)
        })
    }

    /// Returns the graph of tasks that wait for none.
    pub(crate) fn independent(tasks: usize) -> Self {
        Self::ordered(vec![Vec::new(); tasks])
    }

    /// Returns a graph as far as the order of events tells it, for a trace without one: a task whose worker was idle
    /// before waited for the last completion before it was planned, or started where that is unknown. All others
    /// waited for their worker.
    pub(crate) fn observed(trace: &Trace) -> Self {
        let by_worker = ReleasedTasks::of(trace);
        let mut ends: Vec<(i64, usize)> = (trace.tasks.iter().enumerate())
            .filter_map(|(index, task)| Some((task.end()?, index)))
            .collect();
        ends.sort_unstable();
        let begin = trace.range().map_or(0, |(begin, _)| begin);
        let inputs = trace.tasks.iter().enumerate().map(|(index, task)| {
            let from = task.begin()?;
            if from <= begin || by_worker.queued_behind(trace, index).is_some() {
                return None;
            }
            let before = ends.partition_point(|(end, _)| *end <= from);
            let (last, input) = *ends[..before].iter().rfind(|(_, it)| *it != index)?;
            // A worker that had a task until then waited for nothing else.
            let own = by_worker.previous(task);
            let own_end = own.and_then(|(released, it)| trace.tasks[it].end().or(Some(released)));
            (own_end < Some(last)).then_some(input)
        });
        let inputs = inputs.map(|input| input.into_iter().collect());
        Self::ordered(inputs.collect())
    }

    /// Orders tasks by their inputs (Kahn's algorithm). What is left over depends on itself: its inputs among
    /// themselves are left out.
    pub(crate) fn ordered(mut inputs: Vec<Vec<usize>>) -> Self {
        let mut outputs = outputs_of(&inputs);
        let mut waiting: Vec<usize> = inputs.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = Vec::with_capacity(inputs.len());
        order.extend((0..inputs.len()).filter(|task| waiting[*task] == 0));
        let mut next = 0;
        let mut circular = 0;
        loop {
            while let Some(task) = order.get(next).copied() {
                next += 1;
                for output in &outputs[task] {
                    waiting[*output] -= 1;
                    if waiting[*output] == 0 {
                        order.push(*output);
                    }
                }
            }
            let Some(stuck) = (0..inputs.len()).find(|task| waiting[*task] > 0) else {
                break;
            };
            circular += waiting[stuck];
            let mut is_done = vec![false; inputs.len()];
            order.iter().for_each(|task| is_done[*task] = true);
            inputs[stuck].retain(|input| is_done[*input]);
            // Its inputs that come later no longer count for it.
            for list in &mut outputs {
                list.retain(|output| *output != stuck);
            }
            waiting[stuck] = 0;
            order.push(stuck);
        }
        Self {
            inputs,
            order,
            circular,
            implied: 0,
        }
    }

    /// Returns what the graph alone allows, by the time that each task took on its worker.
    pub fn ideal(&self, trace: &Trace) -> IdealTime {
        let work = trace.tasks.iter().map(|task| task.work().unwrap_or(0));
        let work: Vec<i64> = work.collect();
        self.ideal_of(&work)
    }

    /// Returns what the graph alone allows, with such times on workers.
    pub(crate) fn ideal_of(&self, work: &[i64]) -> IdealTime {
        let mut finished = vec![0_i64; work.len()];
        let mut longest: Vec<Option<usize>> = vec![None; work.len()];
        for task in &self.order {
            let inputs = self.inputs[*task].iter().copied();
            longest[*task] = inputs.max_by_key(|input| finished[*input]);
            let begin = longest[*task].map_or(0, |input| finished[input]);
            finished[*task] = begin + work[*task];
        }
        // The longest chain after each task.
        let mut after = vec![0_i64; work.len()];
        for task in self.order.iter().rev() {
            for input in &self.inputs[*task] {
                after[*input] = after[*input].max(after[*task] + work[*task]);
            }
        }
        let critical = finished.iter().copied().max().unwrap_or(0);
        let slack = finished.iter().zip(&after);
        let slack = slack.map(|(finished, after)| critical - finished - after);
        let last = (0..work.len()).max_by_key(|task| finished[*task]);
        let mut path: Vec<usize> = std::iter::successors(last, |task| longest[*task]).collect();
        path.reverse();
        IdealTime {
            path,
            critical,
            work: work.iter().sum(),
            slack: slack.collect(),
            implied: self.implied,
        }
    }
}

/// Returns for each task those that need its result.
pub(crate) fn outputs_of(inputs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut outputs: Vec<Vec<usize>> = vec![Vec::new(); inputs.len()];
    for (task, inputs) in inputs.iter().enumerate() {
        for input in inputs {
            outputs[*input].push(task);
        }
    }
    outputs
}

/// Returns tasks without inputs, and for each the task that the program waited for before it submitted them.
///
/// A program that submits one graph after the other waits for a result in between. The tasks of the second graph are
/// planned when no other task is under way, and at once, whether or not a worker is free: at least one of them is
/// queued behind another. A controller that plans a task whenever a worker is free queues none.
fn implied_inputs(trace: &Trace, inputs: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let planned = |task: usize| trace.tasks[task].at(TaskEvent::Planned);
    let mut begins: Vec<(i64, usize)> = (0..inputs.len())
        .filter_map(|task| Some((planned(task)?, task)))
        .collect();
    begins.sort_unstable();
    let mut ends: Vec<(i64, usize)> = (trace.tasks.iter().enumerate())
        .filter_map(|(index, task)| Some((task.end()?, index)))
        .collect();
    ends.sort_unstable();
    let mut by_worker = None;
    let mut found = Vec::new();
    let mut waited_for = None;
    let mut first = 0;
    while let Some((at, _)) = begins.get(first).copied() {
        // What is planned before the next completion is planned at once.
        let ended = ends.partition_point(|(end, _)| *end <= at);
        let next_end = ends.get(ended).map_or(i64::MAX, |(end, _)| *end);
        let many = begins[first..].partition_point(|(planned, _)| *planned < next_end);
        let batch = &begins[first..first + many.max(1)];
        let tasks = batch.iter().map(|(_, task)| *task);
        let roots: Vec<usize> = tasks.filter(|task| inputs[*task].is_empty()).collect();
        if ended == first && ended > 0 {
            let by_worker = by_worker.get_or_insert_with(|| ReleasedTasks::of(trace));
            if (roots.iter()).any(|task| by_worker.queued_behind(trace, *task).is_some()) {
                waited_for = Some(ends[ended - 1].1);
            }
        }
        // What the controller held back was submitted with the others.
        if let Some(before) = waited_for {
            found.extend(roots.iter().map(|task| (*task, before)));
        }
        first += batch.len();
    }
    found
}
