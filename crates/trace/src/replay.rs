//! Replays a run: its tasks with the measured times, under other conditions.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use crate::copies::{InputCopies, InputCopy};
use crate::durations::float;
use crate::graph::{TaskGraph, outputs_of};
use crate::names::Name;
use crate::sequences::Sequences;
use crate::trace::{MISSING, Task, TaskEvent, Trace, TransferMode};
use crate::waits::{TaskWait, WaitReason};

/// What is different from the measured run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// The copies of inputs that take no time.
    pub copies: Option<WithoutCopies>,
    /// Phases of all tasks that take no time.
    pub without: Overheads,
    /// Other times on the worker of some tasks, in ns; the shortest counts.
    pub work: Vec<(usize, i64)>,
    /// Workers and hosts that are as fast as the others.
    pub usual_speed: Vec<Name>,
    /// Workers are there from the beginning.
    pub all_present: bool,
    /// No attempt at a task is lost.
    pub no_retries: bool,
    /// Nothing stops all workers.
    pub no_stalls: bool,
    /// What tasks wait for instead of the inputs that they have.
    pub inputs: Option<Vec<Vec<usize>>>,
}

impl Changes {
    /// Returns these changes and others.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.copies = match (self.copies, other.copies) {
            (None, copies) | (copies, None) => copies,
            (Some(one), Some(other)) if one == other => Some(one),
            (Some(_), Some(_)) => Some(WithoutCopies::All),
        };
        self.without = self.without.and(other.without);
        self.work.extend(&other.work);
        self.usual_speed.extend(&other.usual_speed);
        self.all_present |= other.all_present;
        self.no_retries |= other.no_retries;
        self.no_stalls |= other.no_stalls;
        if other.inputs.is_some() {
            self.inputs.clone_from(&other.inputs);
        }
        self
    }

    /// Returns how slow a lane is with these changes.
    fn slowness(&self, lane: &ReplayedLane) -> f64 {
        let is_usual = |name: &Name| [lane.worker, lane.host].contains(name);
        if self.usual_speed.iter().any(is_usual) {
            1.0
        } else {
            lane.slowness
        }
    }
}

/// Copies that take no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutCopies {
    /// All.
    All,
    /// Those of data that were not there.
    Needed,
    /// Those of data that were there already.
    Redundant,
}

/// Phases of tasks other than their function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Overheads {
    pub notice: bool,
    pub planning: bool,
    pub transport: bool,
    pub start_up: bool,
    pub load: bool,
    pub publish: bool,
}

impl Overheads {
    fn and(self, other: Self) -> Self {
        Self {
            notice: self.notice || other.notice,
            planning: self.planning || other.planning,
            transport: self.transport || other.transport,
            start_up: self.start_up || other.start_up,
            load: self.load || other.load,
            publish: self.publish || other.publish,
        }
    }

    /// All of them.
    pub(crate) const ALL: Self = Self {
        notice: true,
        planning: true,
        transport: true,
        start_up: true,
        load: true,
        publish: true,
    };
}

/// How tasks get to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Every task is on the worker that it had, in the order that the worker had.
    AsMeasured,
    /// In the order of their starts, tasks that are ready go to the worker that is free first.
    FirstFree,
    /// So, to another number of workers.
    Workers(usize),
}

/// What a task waits for on its worker's side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum After {
    /// That the controller knows that the task before it is done.
    #[default]
    Known,
    /// That the task before it has left.
    Left,
    /// It was sent while the worker was busy, and waited there.
    Queued,
}

/// When the copies of inputs hold up a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CopiesBefore {
    /// Before it is planned.
    #[default]
    Planning,
    /// Before it is on the worker.
    Arrival,
    /// Before it starts.
    Start,
}

/// A task as it is replayed, in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReplayedTask {
    /// From when its inputs were known, and its worker was free if it waited for that, until it was planned.
    pub planning: i64,
    /// Of that, since an attempt at it began that was lost.
    pub retrying: i64,
    /// From planned to on the worker.
    pub transport: i64,
    /// On the idle worker, with all inputs there, before it started.
    pub start_up: i64,
    /// From its start until it left the worker.
    pub work: i64,
    /// Of that, the time in which inputs were loaded.
    pub load: i64,
    /// Of that, the time in which results were published.
    pub publish: i64,
    /// Until the controller knew.
    pub notice: i64,
    /// The last event before it was planned that it waited for, on the trace's clock.
    cause: i64,
    /// The task that left the same lane last before it was sent into the queue: controllers keep queues short.
    behind: Option<u32>,
    after: After,
    copies: CopiesBefore,
    /// Whether it is an attempt that was lost.
    pub is_lost: bool,
}

/// A worker's thread, which has one task at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplayedLane {
    pub worker: Name,
    pub host: Name,
    /// Since when it exists, from the beginning of the run, in ns.
    pub from: i64,
    /// Until when, if it died.
    pub until: Option<i64>,
    /// The time that it takes as a multiple of what others take.
    pub slowness: f64,
}

/// A time in which nothing begins on any worker, in ns from the beginning of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate {
    pub from: i64,
    pub until: i64,
}

/// A run that can be replayed.
#[derive(Debug)]
pub(crate) struct Replay<'t> {
    pub trace: &'t Trace,
    /// The graph with what tasks wait for because of those that were sent with them.
    pub graph: Cow<'t, TaskGraph>,
    /// The graph without that.
    pub own: &'t TaskGraph,
    /// Number of tasks that were sent together and waited for each other's inputs.
    pub in_sequences: usize,
    pub tasks: Vec<ReplayedTask>,
    /// The wait of each task.
    pub waits: Vec<TaskWait>,
    /// The lane of each task: a worker has as many as it ever had tasks at once.
    pub lane_of: Vec<u32>,
    pub lanes: Vec<ReplayedLane>,
    /// The tasks in the order of their starts.
    pub order: Vec<usize>,
    /// The place of each task in that order.
    places: Vec<u32>,
    /// The tasks that wait for each by the graph.
    outputs: Vec<Vec<usize>>,
    /// When each task was planned; [`i64::MAX`] if that is unknown.
    planned: Vec<i64>,
    /// When each task ended; [`i64::MIN`] if it did not.
    ends: Vec<i64>,
    pub gates: Vec<Gate>,
    copies: InputCopies,
    /// For each transfer the task that it was made for: that of them which was planned first.
    copied_for: Vec<usize>,
    /// When the run begins on the trace's clock.
    pub begin: i64,
    /// Whether workers wait for the controller between two tasks, as most tasks do.
    waits_for_controller: bool,
    /// Whether tasks have times, so that each has a lane and a place in its order.
    has_times: bool,
}

impl<'t> Replay<'t> {
    pub(crate) fn of(trace: &'t Trace, graph: &'t TaskGraph) -> Self {
        let range = trace.range();
        let begin = range.map_or(0, |(start, _)| start);
        let order = order_of_starts(trace, graph);
        let (lane_of, lanes) = lanes_of(trace, &order);
        let own = graph;
        let (graph, in_sequences) = match Sequences::find(trace, own) {
            Some(found) => (Cow::Owned(found.graph), found.tasks),
            None => (Cow::Borrowed(own), 0),
        };
        let mut places = vec![0_u32; order.len()];
        for (at, index) in (0..).zip(&order) {
            places[*index] = at;
        }
        let tasks = trace.tasks.iter();
        let planned = tasks.clone().map(|it| planned(it).unwrap_or(i64::MAX));
        let ends = tasks.map(|it| it.end().unwrap_or(i64::MIN));
        let copies = InputCopies::of(trace, &graph);
        let mut replay = Self {
            tasks: Vec::new(),
            waits: Vec::new(),
            copied_for: copied_for(trace, &copies),
            copies,
            gates: Vec::new(),
            waits_for_controller: true,
            has_times: range.is_some(),
            places,
            outputs: outputs_of(&graph.inputs),
            planned: planned.collect(),
            ends: ends.collect(),
            trace,
            graph,
            own,
            in_sequences,
            lane_of,
            lanes,
            order,
            begin,
        };
        replay.measure();
        replay
    }

    /// Measures what every task waited for, with the lanes and gates that are known.
    pub(crate) fn measure(&mut self) {
        let trace = self.trace;
        let count = trace.tasks.len();
        (self.tasks, self.waits) = (
            vec![ReplayedTask::default(); count],
            vec![TaskWait::default(); count],
        );
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.lanes.len()];
        let retried = first_attempts(trace);
        // When the next task of its lane started.
        let mut next: Vec<Option<i64>> = vec![None; count];
        let mut later: Vec<Option<i64>> = vec![None; self.lanes.len()];
        for index in self.order.iter().rev() {
            let lane = &mut later[self.lane_of[*index] as usize];
            next[*index] = *lane;
            *lane = trace.tasks[*index].at(TaskEvent::Started).or(*lane);
        }
        let mut waiting_for_controller = 0_usize;
        let mut with_previous = 0_usize;
        for at in 0..self.order.len() {
            let index = self.order[at];
            let lane = self.lane_of[index] as usize;
            let previous = before[lane].last().copied();
            let first_attempt = retried.get(&trace.tasks[index].name).copied();
            let (task, wait) = self.measured(index, &before[lane], next[index], first_attempt);
            before[lane].push(index);
            if previous.is_some() {
                with_previous += 1;
                waiting_for_controller += usize::from(task.after == After::Known);
            }
            (self.tasks[index], self.waits[index]) = (task, wait);
        }
        self.waits_for_controller = 2 * waiting_for_controller >= with_previous;
    }

    /// Returns what was measured of a task, after others on the same lane.
    fn measured(
        &self,
        index: usize,
        of_lane: &[usize],
        next: Option<i64>,
        first_attempt: Option<FirstAttempt>,
    ) -> (ReplayedTask, TaskWait) {
        let trace = self.trace;
        let task = &trace.tasks[index];
        let work = task.work().unwrap_or(0);
        let between = |from: Option<i64>, to: Option<i64>| {
            from.zip(to).map_or(0, |(from, to)| (to - from).max(0))
        };
        let mut replayed = ReplayedTask {
            work,
            load: between(task.at(TaskEvent::Started), task.at(TaskEvent::Loaded)).min(work),
            publish: between(task.at(TaskEvent::Computed), task.at(TaskEvent::Published)).min(work),
            notice: between(task.released(), task.at(TaskEvent::Completed)),
            ..ReplayedTask::default()
        };
        let mut wait = TaskWait::default();
        let lost = first_attempt.filter(|it| it.last != index && is_lost(task));
        replayed.is_lost = lost.is_some();
        let Some(started) = task.at(TaskEvent::Started) else {
            return (replayed, wait);
        };
        if let Some(attempt) = lost.filter(|_| task.released().is_none()) {
            // At the latest when its worker began the next, or when it was tried again.
            let again = trace.tasks[attempt.last].begin().unwrap_or(started);
            replayed.work = (again.min(next.unwrap_or(again)) - started).max(0);
        }
        let inputs = self.graph.inputs[index].iter().map(|it| &trace.tasks[*it]);
        let arrived = task.at(TaskEvent::Enqueued).unwrap_or(started).min(started);
        let planned = planned(task).unwrap_or(arrived);
        // What is planned before an input is known waits on the worker for that input.
        let (early, late): (Vec<&Task>, Vec<&Task>) =
            inputs.partition(|input| input.end().is_none_or(|end| end <= planned));
        let ends = early.iter().filter_map(|input| input.end());
        let held = late.iter().filter_map(|input| input.released()).max();
        let held = held.map(|held| held.min(started));
        let own = self.own.inputs[index].iter().map(|it| &trace.tasks[*it]);
        let done = own.filter_map(Task::released).max();
        let done = done.unwrap_or(self.begin).min(started);
        let known = ends.max().unwrap_or(done);
        let previous = of_lane.last().copied();
        let previous_task = previous.map(|it| &trace.tasks[it]);
        let left = previous.and_then(|previous| {
            let task = &trace.tasks[previous];
            let replayed = &self.tasks[previous];
            // An attempt that was lost left when the next began.
            let lost = || Some(task.at(TaskEvent::Started)? + replayed.work);
            task.released()
                .or_else(|| lost().filter(|_| replayed.is_lost))
        });
        let absent_until = match previous {
            None => self.begin + self.lanes[self.lane_of[index] as usize].from,
            Some(_) => i64::MIN,
        };
        let mut base = known.max(absent_until.min(planned));
        if let Some((previous, left)) = previous_task.zip(left) {
            let noticed = previous.end().filter(|end| *end <= planned);
            // What is tried again is planned when that is noticed, and not when a worker is free.
            let is_again = first_attempt.is_some_and(|it| it.last == index);
            (replayed.after, base) = match noticed {
                _ if arrived < left || is_again => (After::Queued, base),
                Some(noticed) => (After::Known, base.max(noticed)),
                None => (After::Left, base.max(left)),
            };
        }
        if left.is_some_and(|left| arrived < left) {
            let known = |it: &usize| trace.tasks[*it].end().filter(|end| *end <= planned);
            let mut earlier = of_lane.iter().rev();
            let behind = earlier.find_map(|it| Some((*it, known(it)?)));
            replayed.behind = behind.and_then(|(it, _)| u32::try_from(it).ok());
            base = base.max(behind.map_or(base, |(_, end)| end));
        }
        replayed.cause = base;
        let copied = self.copies.of_task(index).iter();
        let copied = copied.map(|copy| copy.end).filter(|end| *end <= started);
        let copied = copied.max().unwrap_or(i64::MIN);
        let mut at = base;
        if copied <= planned {
            at = at.max(copied);
        }
        let gated = |from: i64, until: i64| self.gated(from, until);
        replayed.planning = (planned - at - gated(at, planned)).max(0);
        if let Some(attempt) = first_attempt
            && attempt.last == index
        {
            let since = (planned - attempt.begin.max(at)).max(0);
            replayed.retrying = since.min(replayed.planning);
        }
        // It was planned ahead, and was there before the last of its inputs: no wait for the controller.
        if held.is_some_and(|held| arrived <= held) {
            replayed.planning = replayed.retrying;
        }
        at = at.max(planned);
        if (planned + 1..=arrived).contains(&copied) {
            at = at.max(copied);
            replayed.copies = CopiesBefore::Arrival;
        }
        replayed.transport = (arrived - at - gated(at, arrived)).max(0);
        at = at
            .max(arrived)
            .max(left.unwrap_or(i64::MIN))
            .max(held.unwrap_or(i64::MIN));
        if copied > arrived {
            at = at.max(copied);
            replayed.copies = CopiesBefore::Start;
        }
        replayed.start_up = (started - at - gated(at, started)).max(0);
        // What it waited for the one before it on its lane is no work.
        let overlap = left.map_or(0, |left| (left - started).max(0));
        replayed.work = (replayed.work - overlap).max(0);
        replayed.load = replayed.load.min(replayed.work);
        replayed.publish = replayed.publish.min(replayed.work - replayed.load);

        wait.behind = previous.filter(|_| left.is_some_and(|left| left > done));
        let mut at = done;
        let mut add = |reason: WaitReason, until: i64| {
            let until = until.clamp(at, started);
            let copying = match reason {
                WaitReason::Planning | WaitReason::Transport | WaitReason::Unknown => {
                    self.copies.within(index, at, until)
                }
                _ => 0,
            };
            wait.add(WaitReason::Copy, copying);
            wait.add(reason, until - at - copying);
            at = until;
        };
        add(WaitReason::Notice, known.min(planned));
        add(WaitReason::Absent, absent_until);
        add(WaitReason::Worker, base);
        add(WaitReason::Planning, planned - replayed.retrying);
        add(WaitReason::Retry, planned);
        add(WaitReason::Transport, arrived);
        add(WaitReason::Worker, left.unwrap_or(i64::MIN));
        add(WaitReason::Sequence, held.unwrap_or(i64::MIN));
        add(WaitReason::Unknown, started);
        (replayed, wait)
    }

    /// Returns the time in which lanes are idle between tasks, as a share of all time from their first to their last.
    pub(crate) fn pauses(&self) -> f64 {
        let mut ranges = vec![(i64::MAX, 0); self.lanes.len()];
        let mut busy = 0;
        for (index, lane) in self.lane_of.iter().enumerate() {
            let task = &self.trace.tasks[index];
            if let Some((start, end)) = task.at(TaskEvent::Started).zip(task.released()) {
                let (from, until) = &mut ranges[*lane as usize];
                (*from, *until) = (start.min(*from), end.max(*until));
                busy += end - start;
            }
        }
        // A lane that begins late waited for a task, unless the run begins with it.
        let all = ranges.iter().map(|(_, until)| (until - self.begin).max(0));
        1.0 - float(busy) / float(all.sum::<i64>().max(1))
    }

    /// Returns how much of an interval on the trace's clock lies within gates.
    fn gated(&self, from: i64, until: i64) -> i64 {
        let gates = self.gates.iter();
        let parts = gates.map(|gate| {
            let begin = (self.begin + gate.from).max(from);
            ((self.begin + gate.until).min(until) - begin).max(0)
        });
        parts.sum()
    }

    /// Returns the time from the start of a task until it leaves the worker.
    fn work(&self, index: usize, work: i64, changes: &Changes) -> i64 {
        let task = &self.tasks[index];
        if changes.no_retries && task.is_lost {
            return 0;
        }
        let mut without = 0;
        if changes.without.load {
            without += task.load;
        }
        if changes.without.publish {
            without += task.publish;
        }
        (work - without).max(0)
    }

    /// Returns when the copies of the inputs of a task are there.
    fn copied(
        &self,
        index: usize,
        ready: i64,
        [left, starts]: [&[i64]; 2],
        changes: &Changes,
    ) -> Copied {
        let mut copied = Copied::default();
        if self.copies.of_task(index).is_empty() {
            return copied;
        }
        for copy in self.copies.of_task(index) {
            let is_gone = match changes.copies {
                None => false,
                Some(WithoutCopies::All) => true,
                Some(WithoutCopies::Needed) => copy.mode != TransferMode::Redundant,
                Some(WithoutCopies::Redundant) => copy.mode == TransferMode::Redundant,
            };
            let task = &self.trace.tasks[index];
            if is_gone || Some(copy.end) > task.at(TaskEvent::Started) {
                continue;
            }
            let measured = self.copied_from(index, copy);
            if let Some(planned) = self.plan_of_copy(index, copy) {
                copied.after_planning = copied.after_planning.max(copy.end - planned);
                continue;
            }
            let base = copy.input.map_or(ready, |input| left[input]);
            let of_input = base + copy.end - measured;
            // What was copied for another task is there as soon as that one has it.
            let first = self.copied_for[copy.transfer];
            let is_of_first = first != index
                && starts[first] != MISSING
                && self.plan_of_copy(first, copy).is_some();
            let started = self.trace.tasks[first].at(TaskEvent::Started);
            let of_first = started.filter(|_| is_of_first);
            let of_first = of_first.map(|started| starts[first] + copy.end - started);
            copied.at = copied
                .at
                .max(of_first.map_or(of_input, |it| it.min(of_input)));
        }
        copied
    }

    /// Returns when the data of a copy were made, as measured.
    fn copied_from(&self, index: usize, copy: &InputCopy) -> i64 {
        let released = copy.input.and_then(|it| self.trace.tasks[it].released());
        released.unwrap_or_else(|| self.inputs_known(index))
    }

    /// Returns when a task was planned, if a copy was made when it was, or when the event came that let it be planned.
    fn plan_of_copy(&self, index: usize, copy: &InputCopy) -> Option<i64> {
        let cause = self.tasks[index].cause;
        let is_of_plan = |planned: &i64| {
            copy.begin >= *planned || copy.begin >= cause && cause > self.copied_from(index, copy)
        };
        planned(&self.trace.tasks[index]).filter(is_of_plan)
    }

    /// Returns the copies of inputs.
    pub(crate) fn copy_sums(&self) -> CopySums {
        let mut seen = HashSet::new();
        let mut sums = CopySums::default();
        for index in 0..self.tasks.len() {
            let is_avoidable = self.is_avoidable(index);
            for copy in self.copies.of_task(index) {
                if seen.insert(copy.transfer) {
                    let time = copy.end - copy.begin;
                    if copy.mode == TransferMode::Redundant {
                        sums.redundant = (sums.redundant.0 + 1, sums.redundant.1 + time);
                    } else {
                        sums.needed = (sums.needed.0 + 1, sums.needed.1 + time);
                        sums.avoidable += usize::from(is_avoidable);
                    }
                }
            }
        }
        sums
    }

    /// Returns whether all inputs of a task were made on one other host.
    fn is_avoidable(&self, index: usize) -> bool {
        let task = &self.trace.tasks[index];
        let mut hosts = self.own.inputs[index]
            .iter()
            .map(|input| self.trace.tasks[*input].host);
        let first = hosts.next();
        first.is_some_and(|first| first != task.host && hosts.all(|host| host == first))
    }

    /// Returns when the controller knew of the inputs of a task.
    pub(crate) fn inputs_known(&self, index: usize) -> i64 {
        let inputs = self.own.inputs[index].iter();
        let ends = inputs.filter_map(|input| self.trace.tasks[*input].end());
        ends.max().unwrap_or(self.begin)
    }

    /// Returns whether a task was planned when an input was not known to be done, so that it waited on its worker.
    fn waits_on_worker(&self, index: usize, input: usize) -> bool {
        self.planned[index] < self.ends[input]
    }

    /// Returns when the inputs of a task are known to the controller, and until when others hold it up on its worker.
    fn ready(&self, index: usize, inputs: &[usize], left: &[i64], known: &[i64]) -> Inputs {
        let mut all = Inputs::default();
        let mut is_early = false;
        let mut own_held = 0;
        for (place, input) in inputs.iter().enumerate() {
            if self.waits_on_worker(index, *input) {
                all.held = all.held.max(left[*input]);
                // Those of others in its sequence stand behind.
                if place < self.own.inputs[index].len() {
                    own_held = all.held;
                }
            } else {
                all.known = all.known.max(known[*input]);
                is_early = true;
            }
        }
        if !is_early {
            all.known = own_held;
        }
        all
    }

    /// Returns when a task starts, on a lane with what it knows of the task before it.
    fn start(
        &self,
        index: usize,
        inputs: Inputs,
        [left, known]: [i64; 2],
        copied: Copied,
        changes: &Changes,
    ) -> i64 {
        let ready = inputs.known;
        let task = &self.tasks[index];
        let without = changes.without;
        let ready = ready.max(inputs.behind);
        let part = |time: i64, is_gone: bool| if is_gone { 0 } else { time };
        let mut at = match task.after {
            After::Queued => ready,
            After::Left => ready.max(left),
            After::Known if without.notice => ready.max(left),
            After::Known => ready.max(known),
        };
        if task.copies == CopiesBefore::Planning {
            at = at.max(copied.at);
        }
        let retrying = part(task.retrying, changes.no_retries);
        at += part(task.planning - task.retrying, without.planning) + retrying;
        let copied = copied.at.max(at + copied.after_planning);
        let join = |at: &mut i64, before| {
            if task.copies == before {
                *at = (*at).max(copied);
            }
        };
        join(&mut at, CopiesBefore::Arrival);
        at += part(task.transport, without.transport);
        at = at.max(left).max(inputs.held);
        join(&mut at, CopiesBefore::Start);
        at += part(task.start_up, without.start_up);
        if changes.no_stalls {
            return at;
        }
        let mut gates = self.gates.iter();
        let gate = gates.rfind(|gate| gate.from < at && at < gate.until);
        gate.map_or(at, |gate| gate.until)
    }

    /// Returns the times on workers with what is changed of them.
    pub(crate) fn works(&self, changes: &Changes) -> Vec<i64> {
        let mut works: Vec<i64> = self.tasks.iter().map(|task| task.work).collect();
        let mut is_changed = vec![false; works.len()];
        for (index, work) in &changes.work {
            let known = is_changed[*index].then_some(works[*index]);
            works[*index] = known.map_or(*work, |known| known.min(*work));
            is_changed[*index] = true;
        }
        for (index, work) in works.iter_mut().enumerate() {
            *work = self.work(index, *work, changes);
        }
        works
    }

    /// Returns the graph of the run with changes.
    pub(crate) fn inputs<'r>(&'r self, changes: &'r Changes) -> &'r [Vec<usize>] {
        changes.inputs.as_ref().unwrap_or(&self.graph.inputs)
    }

    /// Returns the makespan in ns, and the number of workers.
    pub(crate) fn run(&self, placement: Placement, changes: &Changes) -> (i64, usize) {
        let (makespan, workers, _) = self.schedule(placement, changes);
        (makespan, workers)
    }

    /// Returns the makespan in ns, the number of workers, and when each task leaves its worker.
    pub(crate) fn schedule(
        &self,
        placement: Placement,
        changes: &Changes,
    ) -> (i64, usize, Vec<i64>) {
        let (workers, (makespan, left)) = match placement {
            Placement::AsMeasured if self.has_times => (self.lanes.len(), self.as_placed(changes)),
            Placement::AsMeasured | Placement::FirstFree => {
                let lanes = self.lanes.clone();
                (self.lanes.len(), self.on_free_lanes(changes, lanes, true))
            }
            Placement::Workers(workers) => {
                let workers = workers.max(1);
                let lane = ReplayedLane {
                    worker: Name::EMPTY,
                    host: Name::EMPTY,
                    from: 0,
                    until: None,
                    slowness: 1.0,
                };
                let lanes = vec![lane; workers];
                (workers, self.on_free_lanes(changes, lanes, false))
            }
        };
        (makespan, workers, left)
    }

    /// Replays every task on the lane that it had, in the order that the lane had.
    fn as_placed(&self, changes: &Changes) -> (i64, Vec<i64>) {
        let inputs = self.inputs(changes);
        let count = self.tasks.len();
        let mut works = self.works(changes);
        if !changes.usual_speed.is_empty() {
            for (index, work) in works.iter_mut().enumerate() {
                let lane = self.lanes[self.lane_of[index] as usize];
                *work = divided(*work, lane.slowness / changes.slowness(&lane));
            }
        }
        let present = |lane: &ReplayedLane| if changes.all_present { 0 } else { lane.from };
        let mut free: Vec<[i64; 2]> = self.lanes.iter().map(|it| [present(it); 2]).collect();
        let mut left = vec![0_i64; count];
        let mut known = vec![0_i64; count];
        let mut starts = vec![MISSING; count];
        let mut makespan = 0;
        for index in &self.order {
            let index = *index;
            let task = &self.tasks[index];
            let mut ready = self.ready(index, &inputs[index], &left, &known);
            ready.behind = task.behind.map_or(0, |it| known[it as usize]);
            let copied = self.copied(index, ready.known, [&left, &starts], changes);
            let lane = self.lane_of[index] as usize;
            starts[index] = self.start(index, ready, free[lane], copied, changes);
            let end = starts[index] + works[index];
            let notice = if changes.without.notice {
                0
            } else {
                task.notice
            };
            (left[index], known[index]) = (end, end + notice);
            free[lane] = [end, end + notice];
            makespan = makespan.max(end + notice);
        }
        (makespan, left)
    }

    /// Replays the tasks in the order of their starts, as soon as they are ready, on the lane that is free first; on
    /// their own lane if that is free, and lanes are those measured. What has no times stays on its worker.
    fn on_free_lanes(
        &self,
        changes: &Changes,
        lanes: Vec<ReplayedLane>,
        are_measured: bool,
    ) -> (i64, Vec<i64>) {
        let inputs = self.inputs(changes);
        let count = self.tasks.len();
        let works = self.works(changes);
        let other_outputs = changes.inputs.as_deref().map(outputs_of);
        let outputs = other_outputs.as_ref().unwrap_or(&self.outputs);
        let mut waiting: Vec<usize> = inputs.iter().map(Vec::len).collect();
        let mut pools = Pools::of(&lanes, are_measured && !self.has_times);
        // What becomes ready, and when lanes become free, by time.
        let mut later: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let first = (0..count).filter(|it| waiting[*it] == 0);
        later.extend(first.map(|it| Reverse((0, it))));
        let mut idle_since: Vec<Option<i64>> = vec![None; lanes.len()];
        let mut busy: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut free: Vec<[i64; 2]> = Vec::with_capacity(lanes.len());
        for (at, lane) in lanes.iter().enumerate() {
            let from = if changes.all_present { 0 } else { lane.from };
            free.push([from; 2]);
            busy.push(Reverse((from, at)));
        }
        let mut ready = vec![0_i64; count];
        let mut left = vec![0_i64; count];
        let mut known = vec![0_i64; count];
        let mut starts = vec![MISSING; count];
        let (mut now, mut makespan) = (0, 0);
        loop {
            while let Some(Reverse((at, lane))) = busy.peek().copied()
                && at <= now
            {
                busy.pop();
                let dies = lanes[lane].until.filter(|_| !changes.no_retries);
                if dies.is_none_or(|until| at < until) {
                    pools.lane_is_free(at, lane);
                    idle_since[lane] = Some(at);
                }
            }
            while let Some(Reverse((at, task))) = later.peek().copied()
                && at <= now
            {
                later.pop();
                pools.task_is_ready(self.places[task], self.lane_of[task] as usize);
            }
            if let Some((first, place)) = pools.next() {
                let task = self.order[place as usize];
                let own = self.lane_of[task] as usize;
                let own_since = idle_since.get(own).filter(|_| are_measured);
                let (since, lane) = match own_since.copied().flatten() {
                    Some(since) => (since, own),
                    None => first,
                };
                pools.lane_is_busy(since, lane);
                idle_since[lane] = None;
                let dies = lanes[lane].until.filter(|_| !changes.no_retries);
                if dies.is_some_and(|until| now >= until) {
                    pools.task_is_ready(place, lane);
                    continue;
                }
                let of_inputs = self.ready(task, &inputs[task], &left, &known);
                let copied = self.copied(task, of_inputs.known, [&left, &starts], changes);
                let start = self.start(task, of_inputs, free[lane], copied, changes);
                starts[task] = start;
                let own = self.lanes[self.lane_of[task] as usize].slowness;
                let slowness = changes.slowness(&lanes[lane]);
                let end = start + divided(works[task], own / slowness);
                let notice = if changes.without.notice {
                    0
                } else {
                    self.tasks[task].notice
                };
                makespan = makespan.max(end + notice);
                (left[task], known[task]) = (end, end + notice);
                free[lane] = [end, end + notice];
                let is_free = if self.waits_for_controller {
                    end + notice
                } else {
                    end
                };
                busy.push(Reverse((is_free, lane)));
                for output in &outputs[task] {
                    let at = if self.waits_on_worker(*output, task) {
                        end
                    } else {
                        end + notice
                    };
                    ready[*output] = ready[*output].max(at);
                    waiting[*output] -= 1;
                    if waiting[*output] == 0 {
                        later.push(Reverse((ready[*output], *output)));
                    }
                }
                continue;
            }
            // Nothing can begin before a task is ready or, if one is, a worker is free.
            let next_ready = later.peek().map(|Reverse((at, _))| *at);
            let next_free = busy.peek().map(|Reverse((at, _))| *at);
            let next_free = next_free.filter(|_| pools.ready > 0);
            let Some(next) = [next_ready, next_free].into_iter().flatten().min() else {
                return (makespan, left);
            };
            now = next.max(now);
        }
    }
}

/// The tasks that are ready, by their places, and the lanes that are idle, by since when: of each worker where tasks
/// stay on theirs, else all together.
struct Pools {
    of_lane: Vec<usize>,
    tasks: Vec<BinaryHeap<Reverse<u32>>>,
    idle: Vec<BTreeSet<(i64, usize)>>,
    /// Those in which something changed since there was nothing to begin.
    changed: Vec<usize>,
    /// Number of tasks that are ready.
    ready: usize,
}

impl Pools {
    fn of(lanes: &[ReplayedLane], are_of_workers: bool) -> Self {
        let workers = lanes.chunk_by(|one, other| !are_of_workers || one.worker == other.worker);
        let count = workers.clone().count();
        let of_lane = (0..).zip(workers);
        let of_lane = of_lane.flat_map(|(pool, lanes)| vec![pool; lanes.len()]);
        Self {
            of_lane: of_lane.collect(),
            tasks: vec![BinaryHeap::new(); count],
            idle: vec![BTreeSet::new(); count],
            changed: Vec::new(),
            ready: 0,
        }
    }

    /// Returns the pool of a lane; tasks may have a lane that is not there.
    fn pool(&self, lane: usize) -> usize {
        self.of_lane.get(lane).copied().unwrap_or(0)
    }

    fn lane_is_free(&mut self, since: i64, lane: usize) {
        let pool = self.pool(lane);
        self.idle[pool].insert((since, lane));
        self.changed.push(pool);
    }

    fn lane_is_busy(&mut self, since: i64, lane: usize) {
        let pool = self.pool(lane);
        self.idle[pool].remove(&(since, lane));
    }

    fn task_is_ready(&mut self, place: u32, lane: usize) {
        let pool = self.pool(lane);
        self.tasks[pool].push(Reverse(place));
        self.ready += 1;
        self.changed.push(pool);
    }

    /// Takes out a task that can begin, with the lane of its pool that is idle for longest.
    fn next(&mut self) -> Option<((i64, usize), u32)> {
        loop {
            let pool = *self.changed.last()?;
            if let Some(lane) = self.idle[pool].first().copied()
                && let Some(Reverse(place)) = self.tasks[pool].pop()
            {
                self.ready -= 1;
                return Some((lane, place));
            }
            self.changed.pop();
        }
    }
}

/// Copies of inputs: their number, and their time in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CopySums {
    pub needed: (usize, i64),
    pub redundant: (usize, i64),
    /// Number of needed copies for tasks all of whose inputs were made on one other host.
    pub avoidable: usize,
}

/// When copies of the inputs of a task are there: at a moment, and how long after it was planned, in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Copied {
    at: i64,
    after_planning: i64,
}

/// When the inputs of a task are known to the controller, and until when others hold it up on its worker.
#[derive(Debug, Clone, Copy, Default)]
struct Inputs {
    known: i64,
    held: i64,
    /// When the controller knew that the lane's queue was short, where that is another task's end.
    behind: i64,
}

/// Returns when a task was planned, which is no later than it was on its worker.
fn planned(task: &Task) -> Option<i64> {
    let started = task.at(TaskEvent::Started);
    let arrived = match (task.at(TaskEvent::Enqueued), started) {
        (Some(arrived), Some(started)) => Some(arrived.min(started)),
        (arrived, started) => arrived.or(started),
    };
    let planned = task.at(TaskEvent::Planned).or(arrived)?;
    Some(arrived.map_or(planned, |arrived| planned.min(arrived)))
}

/// Returns a time divided by a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "durations are far below 2⁵³ ns; 1 is exact"
)]
pub(crate) fn divided(time: i64, factor: f64) -> i64 {
    if factor == 1.0 {
        return time;
    }
    (time as f64 / factor) as i64
}

/// The first of several attempts at a task.
#[derive(Debug, Clone, Copy)]
struct FirstAttempt {
    begin: i64,
    /// The last attempt.
    last: usize,
}

/// Returns for each transfer the task that was planned first of those that had its data as an input.
fn copied_for(trace: &Trace, copies: &InputCopies) -> Vec<usize> {
    let mut first: Vec<Option<(i64, usize)>> = vec![None; trace.transfers.len()];
    for (index, task) in trace.tasks.iter().enumerate() {
        let Some(planned) = planned(task) else {
            continue;
        };
        for copy in copies.of_task(index) {
            let known = &mut first[copy.transfer];
            if known.is_none_or(|it| (planned, index) < it) {
                *known = Some((planned, index));
            }
        }
    }
    let first = first.into_iter().map(|it| it.map_or(0, |it| it.1));
    first.collect()
}

/// Returns whether an attempt has no results.
fn is_lost(task: &Task) -> bool {
    task.has_failed || task.released().is_none()
}

/// Returns the tasks that were tried several times, because an attempt was lost.
fn first_attempts(trace: &Trace) -> HashMap<Name, FirstAttempt> {
    let mut seen: HashMap<Name, (usize, FirstAttempt)> = HashMap::new();
    let mut lost: HashSet<Name> = HashSet::new();
    for (index, task) in trace.tasks.iter().enumerate() {
        let Some(begin) = task.begin() else {
            continue;
        };
        let first = FirstAttempt { begin, last: index };
        if is_lost(task) {
            lost.insert(task.name);
        }
        let known = seen.entry(task.name).or_insert((0, first));
        known.0 += 1;
        known.1.begin = known.1.begin.min(begin);
        if trace.tasks[known.1.last].begin() <= Some(begin) {
            known.1.last = index;
        }
    }
    seen.retain(|name, (count, _)| *count > 1 && lost.contains(name));
    seen.into_iter().map(|(name, (_, it))| (name, it)).collect()
}

/// Returns the tasks in the order of their starts, and each after its inputs where these start at the same time.
fn order_of_starts(trace: &Trace, graph: &TaskGraph) -> Vec<usize> {
    let mut rank = vec![0; trace.tasks.len()];
    for (at, task) in graph.order.iter().enumerate() {
        rank[*task] = at;
    }
    let started = |task: &usize| {
        let task = &trace.tasks[*task];
        let started = task.at(TaskEvent::Started).or_else(|| task.begin());
        started.unwrap_or(i64::MAX)
    };
    let mut order: Vec<usize> = (0..trace.tasks.len()).collect();
    order.sort_by_key(|task| (started(task), rank[*task]));
    order
}

/// Assigns the tasks of each worker to lanes, one more whenever all are busy.
fn lanes_of(trace: &Trace, order: &[usize]) -> (Vec<u32>, Vec<ReplayedLane>) {
    let mut lane_of = vec![0; trace.tasks.len()];
    let mut lanes = Vec::new();
    let mut of_worker: HashMap<Name, Vec<(i64, u32)>> = HashMap::new();
    for index in order {
        let task = &trace.tasks[*index];
        let known = of_worker.entry(task.worker).or_default();
        // Until it computes, a task can be started and wait for the thread of the one before.
        let computing = task.computing().map(|(from, _)| from);
        let started = computing.or(task.at(TaskEvent::Started));
        // What never started needs no lane of its own.
        if let (None, Some((_, lane))) = (started, known.first()) {
            lane_of[*index] = *lane;
            continue;
        }
        let started = started.unwrap_or(MISSING);
        let released = task.released().unwrap_or(started);
        let free = known.iter_mut().filter(|(until, _)| *until <= started);
        if let Some((until, lane)) = free.max_by_key(|(until, _)| *until) {
            *until = released;
            lane_of[*index] = *lane;
            continue;
        }
        let lane = u32::try_from(lanes.len()).unwrap_or(u32::MAX);
        let slots = trace.slots.get(&task.worker).copied().unwrap_or(1);
        let new = ReplayedLane {
            worker: task.worker,
            host: task.host,
            from: 0,
            until: None,
            slowness: 1.0,
        };
        lanes.extend(vec![new; slots]);
        known.push((released, lane));
        lane_of[*index] = lane;
    }
    (lane_of, lanes)
}
