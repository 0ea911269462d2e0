//! What a run would have taken under other conditions, by replaying its graph.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::durations::covered_time;
use crate::graph::{TaskGraph, outputs_of};
use crate::names::Name;
use crate::trace::{MISSING, Task, TaskEvent, Trace, Transfer, TransferMode};

/// What is different from the measured run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scenario {
    /// The number of workers; `None` for those measured, with the tasks that they had.
    pub workers: Option<usize>,
    /// Transfers take no time.
    pub free_transfers: bool,
    /// Redundant transfers do not happen.
    pub no_redundant_transfers: bool,
    /// The controller plans a task as soon as its inputs are there, and the time until it knows of a completion is
    /// zero.
    pub instant_controller: bool,
    /// Classes of tasks that take their time on the worker divided by a number.
    pub faster: BTreeMap<String, f64>,
}

/// What a replay predicts, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// The makespan as measured; `None` if the trace has no times of day.
    pub measured: Option<i64>,
    /// The makespan of the measured setting by the replay: how far it is from the measured one is the error of the
    /// model.
    pub replayed: i64,
    /// The makespan of the scenario.
    pub predicted: i64,
    /// Number of workers in the scenario.
    pub workers: usize,
}

impl Prediction {
    /// Returns the relative error of the replay of what was measured.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn error(&self) -> Option<f64> {
        let measured = self.measured.filter(|measured| *measured > 0)?;
        Some(self.replayed as f64 / measured as f64 - 1.0)
    }
}

/// Returns what the scenario would take. The replay keeps what was measured of each task: its time on the worker, how
/// long it took to get there once its inputs were there and its worker was free, and how long until the controller
/// knew. With another number of workers, tasks go to the worker that is free first, in the order in which they were
/// started.
pub fn what_if(trace: &Trace, graph: &TaskGraph, scenario: &Scenario) -> Prediction {
    let replay = Replay::of(trace, graph);
    let predicted = replay.run(scenario);
    Prediction {
        measured: trace.range().map(|(start, end)| end - start),
        replayed: replay.run(&Scenario::default()).makespan,
        predicted: predicted.makespan,
        workers: predicted.workers,
    }
}

/// A task as it is replayed, in ns.
#[derive(Debug, Clone, Default)]
struct ReplayedTask {
    /// From when its inputs were there, and its worker was free if it waited for that, until it was on the worker.
    dispatch: i64,
    /// Of that, the controller's part.
    planning: i64,
    /// Of that, the time in which its inputs were copied to it.
    copying: i64,
    /// Of the copying, that of redundant copies.
    redundant: i64,
    /// On the worker before it started.
    start_up: i64,
    /// On the worker.
    work: i64,
    /// Of that, the time in which inputs were loaded.
    loading: i64,
    /// Until the controller knew.
    notice: i64,
    /// Whether it was sent to the worker while that was busy.
    is_queued: bool,
    /// The place in the order of starts.
    place: usize,
}

struct Replay<'t> {
    trace: &'t Trace,
    graph: &'t TaskGraph,
    tasks: Vec<ReplayedTask>,
    /// The lane of each task: a worker has as many as it ever had tasks at once.
    lanes: Vec<usize>,
    lane_count: usize,
}

/// A replayed run.
struct Replayed {
    makespan: i64,
    workers: usize,
}

impl<'t> Replay<'t> {
    fn of(trace: &'t Trace, graph: &'t TaskGraph) -> Self {
        let begin = trace.range().map_or(0, |(start, _)| start);
        let mut order: Vec<usize> = (0..trace.tasks.len()).collect();
        let started = |task: &usize| {
            let task = &trace.tasks[*task];
            task.at(TaskEvent::Started).or_else(|| task.begin())
        };
        let mut rank = vec![0; trace.tasks.len()];
        for (at, task) in graph.order.iter().enumerate() {
            rank[*task] = at;
        }
        order.sort_by_key(|task| (started(task).unwrap_or(i64::MAX), rank[*task]));
        let (lanes, lane_count) = lanes_of(trace, &order);
        let transfers = Transfers::of(trace);
        let mut tasks = vec![ReplayedTask::default(); trace.tasks.len()];
        let mut before: Vec<Option<usize>> = vec![None; lane_count];
        let mut known: Vec<i64> = trace.tasks.iter().filter_map(Task::end).collect();
        known.sort_unstable();
        for (place, index) in order.iter().enumerate() {
            let task = &trace.tasks[*index];
            let previous = before[lanes[*index]].replace(*index);
            let ends = graph.inputs[*index].iter();
            let ready = ends.filter_map(|input| trace.tasks[*input].end()).max();
            let previous = previous.map(|it| &trace.tasks[it]);
            let planned = task.at(TaskEvent::Planned).unwrap_or(i64::MIN);
            let heard = known[..known.partition_point(|end| *end <= planned)].last();
            let heard = heard.copied().unwrap_or(begin);
            let mut replayed = measured(task, ready.unwrap_or(begin), heard, previous);
            replayed.place = place;
            if let Some(ready) = ready {
                (replayed.copying, replayed.redundant) = transfers.of_inputs(task, ready);
            }
            replayed.copying = replayed.copying.min(replayed.dispatch);
            replayed.redundant = replayed.redundant.min(replayed.copying);
            replayed.planning = replayed.planning.min(replayed.dispatch - replayed.copying);
            tasks[*index] = replayed;
        }
        Self {
            trace,
            graph,
            tasks,
            lanes,
            lane_count,
        }
    }

    /// Returns the times of a task in a scenario: until it is on the worker, on the worker, and until the controller
    /// knows.
    fn times(&self, index: usize, scenario: &Scenario) -> [i64; 3] {
        let task = &self.tasks[index];
        let (mut dispatch, mut work) = (task.dispatch, task.work);
        if scenario.free_transfers {
            dispatch -= task.copying;
            work -= task.loading;
        } else if scenario.no_redundant_transfers {
            dispatch -= task.redundant;
        }
        if scenario.instant_controller {
            dispatch -= task.planning;
        }
        let class = self.trace.text(self.trace.tasks[index].class);
        if let Some(factor) = scenario.faster.get(class) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "durations are far below 2⁵³ ns"
            )]
            let faster = (work as f64 / factor) as i64;
            work = faster;
        }
        let notice = if scenario.instant_controller {
            0
        } else {
            task.notice
        };
        [dispatch, task.start_up + work, notice]
    }

    fn run(&self, scenario: &Scenario) -> Replayed {
        match scenario.workers {
            None => self.as_placed(scenario),
            Some(workers) => self.on_free_workers(scenario, workers.max(1)),
        }
    }

    /// Replays every task on the worker that it had, in the order that the worker had.
    fn as_placed(&self, scenario: &Scenario) -> Replayed {
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by_key(|task| self.tasks[*task].place);
        // Both orders are kept: a worker's, and that of the graph.
        let mut queues: Vec<Vec<usize>> = vec![Vec::new(); self.lane_count];
        for task in order.iter().rev() {
            queues[self.lanes[*task]].push(*task);
        }
        let count = self.tasks.len();
        let mut waiting: Vec<usize> = self.graph.inputs.iter().map(Vec::len).collect();
        let outputs = outputs_of(&self.graph.inputs);
        let mut ready = vec![0_i64; count];
        // When each lane is free: its task has left it, and the controller knows.
        let mut free = vec![[0_i64; 2]; self.lane_count];
        let mut makespan = 0;
        let mut lanes: Vec<usize> = (0..self.lane_count).collect();
        while let Some(lane) = lanes.pop() {
            while let Some(task) = queues[lane].last().copied() {
                if waiting[task] > 0 {
                    break;
                }
                queues[lane].pop();
                let [dispatch, work, notice] = self.times(task, scenario);
                let [released, known] = free[lane];
                let begin = if self.tasks[task].is_queued {
                    (ready[task] + dispatch).max(released)
                } else if scenario.instant_controller {
                    ready[task].max(released) + dispatch
                } else {
                    ready[task].max(known) + dispatch
                };
                let end = begin + work;
                free[lane] = [end, end + notice];
                makespan = makespan.max(end + notice);
                for output in &outputs[task] {
                    ready[*output] = ready[*output].max(end + notice);
                    waiting[*output] -= 1;
                    if waiting[*output] == 0 {
                        lanes.push(self.lanes[*output]);
                    }
                }
            }
        }
        Replayed {
            makespan,
            workers: self.lane_count,
        }
    }

    /// Replays the tasks in the order of their starts, as soon as they are ready, on the worker that is free first.
    fn on_free_workers(&self, scenario: &Scenario, workers: usize) -> Replayed {
        let outputs = outputs_of(&self.graph.inputs);
        let mut waiting: Vec<usize> = self.graph.inputs.iter().map(Vec::len).collect();
        // What is ready, by its place; what becomes ready, and when workers become free, by time.
        let mut now_ready = BinaryHeap::new();
        let mut later: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut busy: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
        let mut idle = workers;
        let mut ready = vec![0_i64; self.tasks.len()];
        let initial = (0..self.tasks.len()).filter(|task| waiting[*task] == 0);
        later.extend(initial.map(|task| Reverse((0, task))));
        let (mut now, mut makespan) = (0, 0);
        loop {
            while busy.peek().is_some_and(|Reverse(until)| *until <= now) {
                busy.pop();
                idle += 1;
            }
            while let Some(Reverse((at, task))) = later.peek().copied()
                && at <= now
            {
                later.pop();
                now_ready.push(Reverse((self.tasks[task].place, task)));
            }
            if idle > 0
                && let Some(Reverse((_, task))) = now_ready.pop()
            {
                let [dispatch, work, notice] = self.times(task, scenario);
                let end = now + dispatch + work;
                let known = end + notice;
                makespan = makespan.max(known);
                idle -= 1;
                busy.push(Reverse(if self.tasks[task].is_queued {
                    end
                } else {
                    known
                }));
                for output in &outputs[task] {
                    ready[*output] = ready[*output].max(known);
                    waiting[*output] -= 1;
                    if waiting[*output] == 0 {
                        later.push(Reverse((ready[*output], *output)));
                    }
                }
                continue;
            }
            // Nothing can begin before a task is ready or, if one is, a worker is free.
            let next_ready = later.peek().map(|Reverse((at, _))| *at);
            let next_free = busy.peek().map(|Reverse(until)| *until);
            let next = if now_ready.is_empty() {
                next_ready
            } else {
                next_free
            };
            let Some(next) = next else {
                return Replayed { makespan, workers };
            };
            now = next.max(now);
        }
    }
}

/// Returns what was measured of a task that became ready at a moment, after another one on the same lane. What the
/// controller `heard` last before it planned the task is the last completion.
fn measured(task: &Task, ready: i64, heard: i64, previous: Option<&Task>) -> ReplayedTask {
    let work = task.work().unwrap_or(0);
    let between = |from: Option<i64>, to: TaskEvent| {
        let interval = from.zip(task.at(to));
        interval.map_or(0, |(from, to)| (to - from).max(0))
    };
    let mut replayed = ReplayedTask {
        work,
        loading: between(task.at(TaskEvent::Started), TaskEvent::Loaded).min(work),
        notice: between(task.released(), TaskEvent::Completed),
        ..ReplayedTask::default()
    };
    let Some(started) = task.at(TaskEvent::Started) else {
        return replayed;
    };
    let arrived = task.at(TaskEvent::Enqueued).unwrap_or(started);
    let arrived = arrived.min(started);
    let previously = previous.and_then(Task::released);
    replayed.is_queued = previously.is_some_and(|released| arrived < released);
    let base = match previous {
        Some(previous) if !replayed.is_queued => {
            let planned = task.at(TaskEvent::Planned).unwrap_or(arrived);
            let known = previous.end().filter(|end| *end <= planned);
            ready.max(known.or(previous.released()).unwrap_or(ready))
        }
        // It waited with the controller, which keeps queues short, for another one to leave.
        Some(_) => ready.max(heard),
        None => ready,
    };
    replayed.dispatch = (arrived - base).max(0);
    // On the way from the controller is not the controller's own time.
    let planned = task.at(TaskEvent::Planned).unwrap_or(arrived);
    replayed.planning = (planned - base).clamp(0, replayed.dispatch);
    // What it waited for the one before it on its lane is no work.
    let overlap = previously.map_or(0, |released| (released - started).max(0));
    replayed.work = (replayed.work - overlap).max(0);
    replayed.loading = replayed.loading.min(replayed.work);
    let begin = previously.map_or(arrived, |released| arrived.max(released));
    replayed.start_up = (started - begin).max(0);
    replayed
}

/// Assigns the tasks of each worker to lanes, one more whenever all are busy.
fn lanes_of(trace: &Trace, order: &[usize]) -> (Vec<usize>, usize) {
    let mut lanes = vec![0; trace.tasks.len()];
    let mut of_worker: HashMap<Name, Vec<(i64, usize)>> = HashMap::new();
    let mut count = 0;
    for index in order {
        let task = &trace.tasks[*index];
        let known = of_worker.entry(task.worker).or_default();
        // Until it computes, a task can be started and wait for the thread of the one before.
        let computing = task.computing().map(|(from, _)| from);
        let started = computing.or(task.at(TaskEvent::Started));
        let started = started.unwrap_or(MISSING);
        let released = task.released().unwrap_or(started);
        let free = known.iter_mut().filter(|(until, _)| *until <= started);
        match free.max_by_key(|(until, _)| *until) {
            Some((until, lane)) => {
                *until = released;
                lanes[*index] = *lane;
            }
            None => {
                known.push((released, count));
                lanes[*index] = count;
                count += 1;
            }
        }
    }
    (lanes, count)
}

/// The transfers of a trace, by what they copy.
pub(crate) struct Transfers<'t> {
    trace: &'t Trace,
    of_dataset: HashMap<Name, Vec<&'t Transfer>>,
    /// Of the inputs of a task, by the task's name.
    of_task: HashMap<&'t str, Vec<&'t Transfer>>,
}

impl<'t> Transfers<'t> {
    pub(crate) fn of(trace: &'t Trace) -> Self {
        let mut all = Self {
            trace,
            of_dataset: HashMap::new(),
            of_task: HashMap::new(),
        };
        let copied = trace.transfers.iter();
        for transfer in copied.filter(|it| it.mode != TransferMode::Local) {
            match trace.text(transfer.dataset).strip_prefix("inputs of ") {
                Some(task) => all.of_task.entry(task).or_default().push(transfer),
                None => (all.of_dataset.entry(transfer.dataset).or_default()).push(transfer),
            }
        }
        all
    }

    /// Returns the time after a moment, until the task started, in which its inputs were copied to its worker or
    /// host, and the part of redundant copies, in ns.
    pub(crate) fn of_inputs(&self, task: &Task, after: i64) -> (i64, i64) {
        let Some(until) = task.at(TaskEvent::Started) else {
            return (0, 0);
        };
        let to_it = |transfer: &&&Transfer| [task.worker, task.host].contains(&transfer.target);
        let of_inputs = task.inputs.iter().filter_map(|it| self.of_dataset.get(it));
        let of_task = self.of_task.get(self.trace.text(task.name));
        let all = of_inputs.chain(of_task).flatten().filter(to_it);
        let mut intervals: Vec<(i64, i64)> = Vec::new();
        let mut redundant = 0;
        for transfer in all {
            let known = transfer.events.iter().filter(|at| **at != MISSING);
            let (Some(from), Some(to)) = (known.clone().min(), known.max()) else {
                continue;
            };
            let (from, to) = ((*from).max(after), (*to).min(until));
            if from < to {
                intervals.push((from, to));
                if transfer.mode == TransferMode::Redundant {
                    redundant += to - from;
                }
            }
        }
        (covered_time(intervals), redundant)
    }
}
