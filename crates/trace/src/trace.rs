//! Tasks, transfers and controller phases.

use std::collections::BTreeMap;

use crate::calls::Call;
use crate::names::{Name, Names};
use crate::processes::ProcessSample;

/// An event that a trace does not have.
pub const MISSING: i64 = i64::MIN;

/// What happens to a task, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskEvent {
    /// The controller decided where it runs.
    Planned,
    /// The host of the worker received it.
    Enqueued,
    /// The worker began with it.
    Started,
    /// Its inputs are in the memory of the worker.
    Loaded,
    /// Its function returned.
    Computed,
    /// Its results are available to others.
    Published,
    /// The controller knows.
    Completed,
}

impl TaskEvent {
    /// All events, in order.
    pub const ALL: [Self; 7] = [
        Self::Planned,
        Self::Enqueued,
        Self::Started,
        Self::Loaded,
        Self::Computed,
        Self::Published,
        Self::Completed,
    ];

    /// Returns its name: `planned`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Enqueued => "enqueued",
            Self::Started => "started",
            Self::Loaded => "loaded",
            Self::Computed => "computed",
            Self::Published => "published",
            Self::Completed => "completed",
        }
    }
}

/// What happens to a transfer, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferEvent {
    /// The controller decided it.
    Planned,
    /// The source began.
    Started,
    /// The source has the data in memory.
    Loaded,
    /// The target received them.
    Received,
    /// The target has stored them.
    Unloaded,
    /// The controller knows.
    Completed,
}

impl TransferEvent {
    /// All events, in order.
    pub const ALL: [Self; 6] = [
        Self::Planned,
        Self::Started,
        Self::Loaded,
        Self::Received,
        Self::Unloaded,
        Self::Completed,
    ];

    /// Returns its name: `planned`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Started => "started",
            Self::Loaded => "loaded",
            Self::Received => "received",
            Self::Unloaded => "unloaded",
            Self::Completed => "completed",
        }
    }
}

/// How a dataset got to where it is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferMode {
    /// It was copied from another host.
    Remote,
    /// It was there: on the same host, without a copy.
    Local,
    /// It was copied although it was there.
    Redundant,
    /// The trace does not say.
    #[default]
    Unknown,
}

impl TransferMode {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Local => "local",
            Self::Redundant => "redundant",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the mode of that name; `None` if it is unknown.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let known = [Self::Remote, Self::Local, Self::Redundant];
        known.into_iter().find(|mode| mode.name() == name)
    }
}

/// A task on a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: Name,
    /// Its class: the name up to `:` or `(`.
    pub class: Name,
    /// Its worker, with the host: `h0:w1`.
    pub worker: Name,
    /// The host of the worker; empty if it has no name.
    pub host: Name,
    /// How often it was tried on this worker before.
    pub attempt: u32,
    /// Nanoseconds of each [`TaskEvent`]; [`MISSING`] where unknown.
    pub events: [i64; 7],
    /// The names of the tasks whose results it needs.
    pub inputs: Box<[Name]>,
    /// Its duration in ns, where that was measured without a place in time.
    pub duration: Option<i64>,
    /// The processor time of its function in ns.
    pub cpu: Option<i64>,
    /// The time that its function waited for a core that was free (Linux: `run_delay` of its thread), in ns.
    pub run_delay: Option<i64>,
    /// The number of the process that it ran in.
    pub process: Option<i64>,
    /// The size of its results in bytes.
    pub bytes: Option<i64>,
    /// Whether it failed.
    pub has_failed: bool,
}

impl Task {
    /// Returns a task without events.
    pub fn new(name: Name, class: Name, worker: Name) -> Self {
        Self {
            name,
            class,
            worker,
            host: Name::EMPTY,
            attempt: 0,
            events: [MISSING; 7],
            inputs: Box::default(),
            duration: None,
            cpu: None,
            run_delay: None,
            process: None,
            bytes: None,
            has_failed: false,
        }
    }

    /// Returns when it began: its first event.
    pub fn begin(&self) -> Option<i64> {
        let events = self.events.iter().copied();
        events.filter(|at| *at != MISSING).min()
    }

    /// Returns when it left its worker: when its results were there, or else when its function returned.
    pub fn released(&self) -> Option<i64> {
        self.at(TaskEvent::Published)
            .or_else(|| self.at(TaskEvent::Computed))
    }

    /// Returns how long it occupied a worker, from started to [released](Self::released), in ns.
    pub fn work(&self) -> Option<i64> {
        let measured = self.at(TaskEvent::Started).zip(self.released());
        let measured = measured.map(|(start, end)| (end - start).max(0));
        measured.or(self.duration)
    }

    /// Returns the nanoseconds of an event.
    pub fn at(&self, event: TaskEvent) -> Option<i64> {
        let at = self.events[event as usize];
        (at != MISSING).then_some(at)
    }

    /// Returns when it ended: when the controller knew, or else when it was [released](Self::released).
    pub fn end(&self) -> Option<i64> {
        self.at(TaskEvent::Completed).or_else(|| self.released())
    }

    /// Returns the share of its computing in which it had the CPU; `None` if either is unknown.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn cpu_share(&self) -> Option<f64> {
        let (from, to) = self.computing().filter(|(from, to)| from < to)?;
        Some((self.cpu? as f64 / (to - from) as f64).clamp(0.0, 1.0))
    }

    /// Returns from when to when its function ran: as far as its events tell it from loading and publishing.
    pub fn computing(&self) -> Option<(i64, i64)> {
        let start = self.at(TaskEvent::Loaded).or(self.at(TaskEvent::Started))?;
        let end = (self.at(TaskEvent::Computed)).or(self.at(TaskEvent::Published))?;
        Some((start, end))
    }
}

/// A transfer of a dataset to a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// The dataset.
    pub dataset: Name,
    /// Where it came from; empty if unknown.
    pub source: Name,
    /// The worker or host that it went to.
    pub target: Name,
    /// How.
    pub mode: TransferMode,
    /// How often it was tried before.
    pub attempt: u32,
    /// Nanoseconds of each [`TransferEvent`]; [`MISSING`] where unknown.
    pub events: [i64; 6],
}

impl Transfer {
    /// Returns the nanoseconds of an event.
    pub fn at(&self, event: TransferEvent) -> Option<i64> {
        let at = self.events[event as usize];
        (at != MISSING).then_some(at)
    }

    /// Returns when it ended: when the controller knew, or else when the data were stored.
    pub fn end(&self) -> Option<i64> {
        self.at(TransferEvent::Completed)
            .or_else(|| self.at(TransferEvent::Unloaded))
    }
}

/// A phase of the controller's loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// What it did: `plan`, `act`, `wait`, `assign`, `flush`, `shutdown` or `loop`.
    pub name: Name,
    /// When it began.
    pub start: i64,
    /// When it ended; [`MISSING`] for the last one.
    pub end: i64,
    /// What was counted in it, and durations that were measured (`waitDuration`, in ns).
    pub counts: Vec<(Name, i64)>,
}

/// Durations of one kind that were measured without a place in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Micro {
    /// Number of them.
    pub count: u64,
    /// Their sum in ns.
    pub sum: i64,
    /// The largest in ns.
    pub max: i64,
}

/// A piece of work that is neither task nor transfer nor phase.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherSpan {
    /// What it is.
    pub name: Name,
    /// The worker that it ran on.
    pub worker: Name,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
}

/// How much of an interval some process on a host waited for a resource, as Linux tells it (`/proc/pressure`).
#[derive(Debug, Clone, PartialEq)]
pub struct Pressure {
    /// The worker that looked.
    pub worker: Name,
    /// Its host.
    pub host: Name,
    /// When the interval began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// The share of the interval for each [`Resource`]; 0 where unknown.
    pub shares: [f64; 3],
}

/// What processes wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// A core that is free.
    Cpu,
    /// Disks.
    Io,
    /// Memory.
    Memory,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Io, Self::Memory];

    /// Returns the attribute of its share: `cpu_some`.
    pub fn share_name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu_some",
            Self::Io => "io_some",
            Self::Memory => "memory_some",
        }
    }
}

/// Where it is known from what tasks wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputsSource {
    /// It is not, unless some task has inputs.
    #[default]
    Nowhere,
    /// The trace: tasks without inputs wait for none that it has.
    Trace,
    /// The user, who gave the whole graph.
    User,
}

/// A trace of one execution of a task graph.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The texts.
    pub names: Names,
    /// The tasks, in the order in which they appeared.
    pub tasks: Vec<Task>,
    /// The transfers, in the order in which they appeared.
    pub transfers: Vec<Transfer>,
    /// The phases of the controller, in order.
    pub phases: Vec<Phase>,
    /// Durations without a place in time, by kind.
    pub micros: BTreeMap<String, Micro>,
    /// What else has a beginning and an end.
    pub others: Vec<OtherSpan>,
    /// What hosts were short of.
    pub pressures: Vec<Pressure>,
    /// Samples of processes.
    pub samples: Vec<ProcessSample>,
    /// Number of lines with an event.
    pub lines: u64,
    /// Lines that look like events but cannot be read: their numbers.
    pub unreadable: Vec<u64>,
    /// Events that were there before: their lines.
    pub repeated: Vec<u64>,
    /// Whether the last line has no end.
    pub is_truncated: bool,
    /// The calls that spans within each other are. Tasks are the pieces of their self time.
    pub calls: Vec<Call>,
    /// How far the clocks of hosts were ahead of the controller's, in ns, where their times are shifted by that.
    pub shifts: BTreeMap<Name, i64>,
    /// How many tasks each worker has cores for at once, where tasks have no times that tell.
    pub slots: BTreeMap<Name, usize>,
    /// Says what tasks wait for.
    pub inputs_from: InputsSource,
}

impl Trace {
    /// Returns the text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// Returns when the first task was planned and when the last one ended, in ns; `None` without tasks.
    pub fn range(&self) -> Option<(i64, i64)> {
        let start = self.tasks.iter().filter_map(Task::begin).min()?;
        let ends = self.tasks.iter().map(|task| task.events.iter().copied());
        let end = ends.flatten().filter(|at| *at != MISSING).max()?;
        Some((start, end))
    }

    /// Returns whether the trace says what a task waited for.
    pub fn has_graph(&self) -> bool {
        self.inputs_from != InputsSource::Nowhere
            || self.tasks.iter().any(|task| !task.inputs.is_empty())
    }

    /// Sets what tasks wait for, by their names; returns the number of tasks that it is known of.
    pub fn set_inputs(&mut self, inputs: &BTreeMap<String, Vec<String>>) -> usize {
        let mut known = 0;
        self.inputs_from = InputsSource::User;
        for at in 0..self.tasks.len() {
            let name = self.names.text(self.tasks[at].name);
            if let Some(inputs) = inputs.get(name) {
                known += 1;
                let inputs = inputs.iter().map(|input| self.names.intern(input));
                self.tasks[at].inputs = inputs.collect();
            }
        }
        known
    }

    /// Returns whether the source does not say where tasks ran, so that they are on lanes with numbers (`lane 2`): these
    /// are no workers, of which something could be found.
    pub fn has_numbered_lanes(&self) -> bool {
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        let is_lane = |task: &Task| {
            let number = self.text(task.worker).strip_prefix("lane ");
            number.is_some_and(is_number)
        };
        self.tasks.iter().all(is_lane)
    }

    /// Returns how long the run took in ns: by the events of its tasks, or else as the source states it.
    pub fn measured_makespan(&self) -> Option<i64> {
        let stated = || self.micros.get("makespan").map(|it| it.sum);
        let range = self.range().map(|(start, end)| end - start);
        range.or_else(stated)
    }

    /// Returns the time from the first event of a task to the last in ns.
    pub fn makespan(&self) -> i64 {
        self.range().map_or(0, |(start, end)| end - start)
    }
}
