//! Samples of processes, as `lapwing trace record` takes them: beside a trace of tasks that ran in them, or alone.

use std::collections::BTreeMap;

use lapwing_model::Span;

use crate::names::Name;
use crate::spans::{at, host, integer};
use crate::trace::{InputsSource, MISSING, Task, TaskEvent, Trace};

/// Shorter tasks get nothing from samples, which say nothing of a moment.
const SHORTEST_TASK: i64 = 100_000_000;
/// A process that has children works beside them if it is on a core, or waits for one, for this share of the time.
const ACTIVE: f64 = 0.1;
/// A process waits for so many of the newest processes that ended before it.
const MOST_INPUTS: usize = 64;

/// A process between two looks at it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessSample {
    /// The number of the process.
    pub process: i64,
    /// The number of the process that started it; 0 if unknown.
    pub parent: i64,
    /// Its program.
    pub name: Name,
    /// Its lane: `host:1234`.
    pub lane: Name,
    /// When the first look was, in ns.
    pub start: i64,
    /// When the second one was.
    pub end: i64,
    /// The time of its threads on a core, in ns.
    pub cpu: i64,
    /// The time that its threads waited for a core, in ns.
    pub run_delay: i64,
    /// Its resident memory, in bytes.
    pub memory: i64,
}

/// A process from its first sample to its last.
#[derive(Debug)]
struct Process<'s> {
    samples: Vec<&'s ProcessSample>,
    children: Vec<usize>,
    /// When it was last there: it waits for its children, although looks at an idle process are left out.
    end: i64,
}

impl Process<'_> {
    fn start(&self) -> i64 {
        self.samples[0].start
    }

    /// Returns the time on a core and the time of waiting for one between two moments, in ns.
    fn sums(&self, from: i64, to: i64) -> (i64, i64) {
        sums(&self.samples, from, to)
    }
}

impl Trace {
    /// Adds a sample of a process.
    pub(crate) fn add_sample(&mut self, span: &Span) {
        let [start, end] = ["begin", "end"].map(|event| at(span, event));
        if start == MISSING || end <= start {
            return;
        }
        let number = |key: &str| integer(&span.attributes, key).unwrap_or_default();
        self.samples.push(ProcessSample {
            process: number("pid"),
            parent: number("parent"),
            name: self.names.intern(&span.name),
            lane: self.names.intern(span.lane.as_deref().unwrap_or_default()),
            start,
            end,
            cpu: number("cpu"),
            run_delay: number("run_delay"),
            memory: number("memory"),
        });
    }

    /// Makes a task of each time in which a process works: all of its life, but for the time in which it waits for its
    /// children. What it does then waits for them.
    pub(crate) fn take_processes_for_tasks(&mut self) {
        if self.samples.is_empty() {
            return;
        }
        let recorded = Self {
            samples: std::mem::take(&mut self.samples),
            ..Self::default()
        };
        let mut processes: Vec<Process<'_>> = (recorded.samples_by_lane())
            .into_values()
            .map(|samples| Process {
                end: samples[samples.len() - 1].end,
                samples,
                children: Vec::new(),
            })
            .collect();
        processes.sort_by_key(|process| (process.start(), process.samples[0].process));
        let numbers = processes.iter().enumerate();
        let numbers: BTreeMap<i64, usize> = numbers
            .map(|(at, process)| (process.samples[0].process, at))
            .collect();
        let mut roots = Vec::new();
        for at in 0..processes.len() {
            // Those that lost their parent belong to another one, which can be younger.
            let parent = numbers.get(&processes[at].samples[0].parent);
            match parent.filter(|parent| **parent < at) {
                Some(parent) => processes[*parent].children.push(at),
                None => roots.push(at),
            }
        }
        for at in (0..processes.len()).rev() {
            let ends = processes[at]
                .children
                .iter()
                .map(|child| processes[*child].end);
            if let Some(last) = ends.max() {
                processes[at].end = processes[at].end.max(last);
            }
        }
        for root in roots {
            self.take_process(&processes, root, &[]);
        }
        self.inputs_from = InputsSource::Trace;
        self.samples = recorded.samples;
    }

    /// Adds the tasks of a process and its descendants, the first of which waits for these; returns the tasks at its end.
    fn take_process(
        &mut self,
        processes: &[Process<'_>],
        index: usize,
        inputs: &[Name],
    ) -> Vec<Name> {
        let process = &processes[index];
        let children = process.children.iter();
        let mut moments: Vec<(i64, u8, usize)> = children
            .flat_map(|child| {
                let it = &processes[*child];
                [(it.start(), 1, *child), (it.end, 0, *child)]
            })
            .collect();
        moments.sort_unstable();
        let mut waits_for = inputs.to_vec();
        let mut ends: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
        let (mut from, mut alive, mut pieces) = (process.start(), 0_usize, 0_usize);
        for (at, kind, child) in moments {
            let is_end = kind == 0;
            let at = at.clamp(from, process.end);
            let (cpu, run_delay) = process.sums(from, at);
            let is_active = active(cpu.saturating_add(run_delay), at - from);
            if from < at && (alive == 0 || is_active) {
                waits_for = vec![self.piece(process, (from, at), &waits_for, &mut pieces)];
            }
            if is_end {
                alive -= 1;
                if !is_active {
                    waits_for.extend(ends.remove(&child).unwrap_or_default());
                    let surplus = waits_for.len().saturating_sub(MOST_INPUTS);
                    waits_for.drain(..surplus);
                }
            } else {
                alive += 1;
                ends.insert(child, self.take_process(processes, child, &waits_for));
            }
            from = at;
        }
        if from < process.end {
            let range = (from, process.end);
            waits_for = vec![self.piece(process, range, &waits_for, &mut pieces)];
        }
        waits_for
    }

    /// Adds a task of a process, and returns its name.
    fn piece(
        &mut self,
        process: &Process<'_>,
        (from, to): (i64, i64),
        inputs: &[Name],
        pieces: &mut usize,
    ) -> Name {
        // What it became by `exec`.
        let last = process.samples[process.samples.len() - 1];
        *pieces += 1;
        let number = match *pieces {
            1 => String::new(),
            number => format!(" #{number}"),
        };
        let (class, lane) = (last.name, last.lane);
        let name = format!("{} {}{number}", self.text(class), last.process);
        let host = host(self.text(lane)).to_owned();
        let name = self.names.intern(&name);
        let (cpu, run_delay) = process.sums(from, to);
        let mut task = Task {
            host: self.names.intern(&host),
            inputs: inputs.into(),
            cpu: Some(cpu),
            run_delay: Some(run_delay),
            ..Task::new(name, class, lane)
        };
        task.events[TaskEvent::Started as usize] = from;
        task.events[TaskEvent::Computed as usize] = to;
        self.tasks.push(task);
        name
    }

    /// Returns the samples of each lane in order.
    pub(crate) fn samples_by_lane(&self) -> BTreeMap<Name, Vec<&ProcessSample>> {
        let mut by_lane: BTreeMap<Name, Vec<&ProcessSample>> = BTreeMap::new();
        for sample in &self.samples {
            by_lane.entry(sample.lane).or_default().push(sample);
        }
        for samples in by_lane.values_mut() {
            samples.sort_by_key(|sample| sample.start);
        }
        by_lane
    }

    /// Returns the most resident memory of all processes together, in bytes; what they share counts for each.
    pub fn most_memory(&self) -> i64 {
        let mut changes: Vec<(i64, i64)> = self
            .samples
            .iter()
            .flat_map(|it| [(it.start, it.memory), (it.end, -it.memory)])
            .collect();
        changes.sort_unstable();
        let sums = changes.iter().scan(0, |sum, (_, change)| {
            *sum += change;
            Some(*sum)
        });
        sums.max().unwrap_or_default()
    }

    /// Returns whether its tasks are processes.
    pub fn is_of_processes(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Gives tasks the time on a core and the time of waiting for one of the process that they ran in, where they do not
    /// have them and nothing else ran in it; returns the number of tasks that got them.
    pub fn join_processes(&mut self, recorded: &[Self]) -> usize {
        let mut processes: BTreeMap<i64, Vec<&ProcessSample>> = BTreeMap::new();
        for sample in recorded.iter().flat_map(|it| &it.samples) {
            processes.entry(sample.process).or_default().push(sample);
        }
        for samples in processes.values_mut() {
            samples.sort_by_key(|sample| sample.start);
        }
        // A number can be that of processes on two machines.
        processes.retain(|_, samples| samples.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let mut of_process: BTreeMap<i64, Vec<(i64, i64, usize)>> = BTreeMap::new();
        for (index, task) in self.tasks.iter().enumerate() {
            if let Some((process, (from, to))) = task.process.zip(task.computing()) {
                of_process
                    .entry(process)
                    .or_default()
                    .push((from, to, index));
            }
        }
        let mut joined = 0;
        for (process, mut tasks) in of_process {
            let Some(samples) = processes.get(&process) else {
                continue;
            };
            let (first, last) = (samples[0].start, samples[samples.len() - 1].end);
            tasks.sort_unstable();
            let mut until = i64::MIN;
            for at in 0..tasks.len() {
                let (from, to, index) = tasks[at];
                let next = tasks.get(at + 1).map_or(i64::MAX, |(next, ..)| *next);
                let is_alone = until <= from && to <= next;
                until = until.max(to);
                let task = &mut self.tasks[index];
                let is_within = first <= from && to <= last && to - from >= SHORTEST_TASK;
                if !is_alone || !is_within || task.cpu.is_some() {
                    continue;
                }
                let (cpu, run_delay) = sums(samples, from, to);
                (task.cpu, task.run_delay) = (Some(cpu), Some(run_delay));
                joined += 1;
            }
        }
        joined
    }
}

/// Returns the time on a core and the time of waiting for one between two moments, in ns, of samples in order. A sample
/// that is partly within counts in proportion.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "durations are far below 2⁵³ ns"
)]
fn sums(samples: &[&ProcessSample], from: i64, to: i64) -> (i64, i64) {
    let first = samples.partition_point(|sample| sample.end <= from);
    let within = samples[first..].iter().take_while(|it| it.start < to);
    let (mut cpu, mut run_delay) = (0.0, 0.0);
    for sample in within {
        let overlap = (to.min(sample.end) - from.max(sample.start)).max(0);
        let share = overlap as f64 / (sample.end - sample.start) as f64;
        cpu += share * sample.cpu as f64;
        run_delay += share * sample.run_delay as f64;
    }
    (cpu.round() as i64, run_delay.round() as i64)
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn active(time: i64, of: i64) -> bool {
    time as f64 >= ACTIVE * of as f64 && time > 0
}
