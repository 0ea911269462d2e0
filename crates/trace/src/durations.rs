//! How long tasks and transfers take, from event to event.

use std::collections::BTreeMap;

use lapwing_stats::{as_f64, quantile};

use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace, Transfer, TransferEvent, TransferMode};

/// A duration of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskDuration {
    /// From planned, or else started, to the end.
    Total,
    /// From enqueued to published: on the worker, or in its queue.
    OnWorker,
    /// From planned to enqueued: on its way to the worker.
    ToWorker,
    /// From enqueued to started: in the queue, and until the worker is ready.
    Queue,
    /// From started to loaded: inputs.
    Load,
    /// From loaded (or started) to computed (or published): its function.
    Compute,
    /// Of computing, the time on the CPU, if it was measured.
    OnCpu,
    /// Of computing, the rest: waiting for a lock, for disks or for a free core, or asleep.
    OffCpu,
    /// Of the time off the CPU, the time that its thread waited for a core that was free, if it was measured.
    RunDelay,
    /// From computed to published: results.
    Publish,
    /// From published to completed: until the controller knows.
    ToController,
}

impl TaskDuration {
    /// All durations.
    pub const ALL: [Self; 11] = [
        Self::Total,
        Self::OnWorker,
        Self::ToWorker,
        Self::Queue,
        Self::Load,
        Self::Compute,
        Self::OnCpu,
        Self::OffCpu,
        Self::RunDelay,
        Self::Publish,
        Self::ToController,
    ];

    /// Those that make up the total, in order.
    pub const PARTS: [Self; 6] = [
        Self::ToWorker,
        Self::Queue,
        Self::Load,
        Self::Compute,
        Self::Publish,
        Self::ToController,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::OnWorker => "on_worker",
            Self::ToWorker => "to_worker",
            Self::Queue => "queue",
            Self::Load => "load",
            Self::Compute => "compute",
            Self::OnCpu => "on_cpu",
            Self::OffCpu => "off_cpu",
            Self::RunDelay => "run_delay",
            Self::Publish => "publish",
            Self::ToController => "to_controller",
        }
    }

    /// Returns what the time is spent on.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Total => "from planning to completion",
            Self::OnWorker => "on the worker or in its queue",
            Self::ToWorker => "on the way to the worker",
            Self::Queue => "in the queue of the worker",
            Self::Load => "loading inputs",
            Self::Compute => "computing",
            Self::OnCpu => "computing on the CPU",
            Self::OffCpu => "computing off the CPU (waiting or asleep)",
            Self::RunDelay => "computing, waiting for a core",
            Self::Publish => "publishing results",
            Self::ToController => "waiting for the controller to notice completion",
        }
    }

    /// Returns from when to when a task is in this part; `None` if it lacks an event, and for the parts of computing,
    /// which have no place in time.
    pub(crate) fn interval(self, task: &Task) -> Option<(i64, i64)> {
        let between = |from, to| task.at(from).zip(task.at(to));
        match self {
            Self::Total => task.at(TaskEvent::Planned).zip(task.end()),
            Self::OnWorker => between(TaskEvent::Enqueued, TaskEvent::Published),
            Self::ToWorker => between(TaskEvent::Planned, TaskEvent::Enqueued),
            Self::Queue => between(TaskEvent::Enqueued, TaskEvent::Started),
            Self::Load => between(TaskEvent::Started, TaskEvent::Loaded),
            Self::Compute => task.computing(),
            Self::OnCpu | Self::OffCpu | Self::RunDelay => None,
            Self::Publish => between(TaskEvent::Computed, TaskEvent::Published),
            Self::ToController => between(TaskEvent::Published, TaskEvent::Completed),
        }
    }

    /// Returns the duration of a task in ns; `None` if it lacks an event.
    pub fn of(self, task: &Task) -> Option<i64> {
        let measured = self.interval(task).map(|(from, to)| to - from);
        let computing = || Self::Compute.of(task);
        match self {
            Self::Compute => measured.or(task.duration),
            Self::OnCpu => Some(task.cpu?.min(computing()?)),
            Self::OffCpu => Some((computing()? - task.cpu?).max(0)),
            Self::RunDelay => Some(task.run_delay?.min(Self::OffCpu.of(task)?)),
            _ => measured,
        }
    }
}

/// A duration of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferDuration {
    /// From planned, or else started, to the end.
    Total,
    /// From planned to started: until the source begins.
    ToSource,
    /// From started to loaded: in the source.
    Load,
    /// From loaded to unloaded: between and in the target.
    Transmit,
    /// From loaded to received: on the way.
    ToTarget,
    /// From received to unloaded: in the target.
    Unload,
    /// From unloaded to completed: until the controller knows.
    ToController,
}

impl TransferDuration {
    /// All durations.
    pub const ALL: [Self; 7] = [
        Self::Total,
        Self::ToSource,
        Self::Load,
        Self::Transmit,
        Self::ToTarget,
        Self::Unload,
        Self::ToController,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::ToSource => "to_source",
            Self::Load => "load",
            Self::Transmit => "transmit",
            Self::ToTarget => "to_target",
            Self::Unload => "unload",
            Self::ToController => "to_controller",
        }
    }

    /// Returns the duration of a transfer in ns; `None` if it lacks an event, and for all but the total if nothing
    /// was copied.
    pub fn of(self, transfer: &Transfer) -> Option<i64> {
        use TransferEvent::{Completed, Loaded, Planned, Received, Started, Unloaded};
        if transfer.mode == TransferMode::Local && self != Self::Total {
            return None;
        }
        let between = |from, to| transfer.at(from).zip(transfer.at(to));
        let (from, to) = match self {
            Self::Total => (transfer.at(Planned).or(transfer.at(Started))).zip(transfer.end()),
            Self::ToSource => between(Planned, Started),
            Self::Load => between(Started, Loaded),
            Self::Transmit => between(Loaded, Unloaded),
            Self::ToTarget => between(Loaded, Received),
            Self::Unload => between(Received, Unloaded),
            Self::ToController => between(Unloaded, Completed),
        }?;
        Some(to - from)
    }
}

/// Statistics of durations, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Number of durations.
    pub count: usize,
    /// Their sum.
    pub sum: i64,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub min: i64,
    /// The median.
    pub median: f64,
    /// The quantile at 0.9, interpolated linearly.
    pub p90: f64,
    /// The largest.
    pub max: i64,
}

impl Statistics {
    /// Returns the statistics of durations; `None` if there are none.
    #[expect(
        clippy::cast_precision_loss,
        reason = "durations are far below 2⁵³ ns, which are 104 days"
    )]
    pub fn of(durations: &[i64]) -> Option<Self> {
        let (min, max) = (*durations.iter().min()?, *durations.iter().max()?);
        let sum: i64 = durations.iter().sum();
        let values: Vec<f64> = durations.iter().map(|it| *it as f64).collect();
        Some(Self {
            count: durations.len(),
            sum,
            mean: sum as f64 / as_f64(durations.len()),
            min,
            median: quantile(&values, 0.5)?,
            p90: quantile(&values, 0.9)?,
            max,
        })
    }
}

/// By what durations are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DurationGroup {
    /// Not at all.
    #[default]
    All,
    /// By class of task.
    Class,
    /// By worker.
    Worker,
    /// By host.
    Host,
}

impl DurationGroup {
    fn key(self, class: Name, worker: Name, host: Name) -> Name {
        match self {
            Self::All => Name::EMPTY,
            Self::Class => class,
            Self::Worker => worker,
            Self::Host => host,
        }
    }
}

/// Returns the statistics of each duration of the tasks, by group; of calls the total, of recursive ones only that of
/// the outermost, and as computing the self time.
pub fn durations(
    trace: &Trace,
    group: DurationGroup,
) -> BTreeMap<String, BTreeMap<TaskDuration, Statistics>> {
    let mut all: BTreeMap<Name, Vec<Vec<i64>>> = BTreeMap::new();
    let mut add = |key, of: &dyn Fn(TaskDuration) -> Option<i64>| {
        let lists = all
            .entry(key)
            .or_insert_with(|| vec![Vec::new(); TaskDuration::ALL.len()]);
        for (duration, list) in TaskDuration::ALL.iter().zip(lists) {
            list.extend(of(*duration));
        }
    };
    if trace.calls.is_empty() {
        for task in &trace.tasks {
            let key = group.key(task.class, task.worker, task.host);
            add(key, &|duration| duration.of(task));
        }
    }
    for call in &trace.calls {
        let key = group.key(call.class, call.worker, call.host);
        add(key, &|duration| match duration {
            TaskDuration::Compute => Some(call.self_time),
            TaskDuration::Total => (!call.is_recursive).then(|| call.end - call.start),
            _ => None,
        });
    }
    let groups = all.into_iter().map(|(key, lists)| {
        let statistics = by_duration(&TaskDuration::ALL, &lists);
        (trace.text(key).to_owned(), statistics)
    });
    groups.collect()
}

/// Returns the statistics of each duration that has any.
fn by_duration<D: Copy + Ord>(all: &[D], lists: &[Vec<i64>]) -> BTreeMap<D, Statistics> {
    let each = all.iter().zip(lists);
    each.filter_map(|(duration, list)| Some((*duration, Statistics::of(list)?)))
        .collect()
}

/// Returns the statistics of each duration of the transfers, by mode.
pub fn transfer_durations(
    trace: &Trace,
) -> BTreeMap<TransferMode, (usize, BTreeMap<TransferDuration, Statistics>)> {
    let mut all: BTreeMap<TransferMode, (usize, Vec<Vec<i64>>)> = BTreeMap::new();
    for transfer in &trace.transfers {
        let (count, lists) = all
            .entry(transfer.mode)
            .or_insert_with(|| (0, vec![Vec::new(); TransferDuration::ALL.len()]));
        *count += 1;
        for (duration, list) in TransferDuration::ALL.iter().zip(lists) {
            list.extend(duration.of(transfer));
        }
    }
    let modes = all
        .into_iter()
        .map(|(mode, (count, lists))| (mode, (count, by_duration(&TransferDuration::ALL, &lists))));
    modes.collect()
}

/// Returns a time in ns as a number.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub(crate) fn float(time: i64) -> f64 {
    time as f64
}

/// Returns a number of ns as a time.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub(crate) fn whole(time: f64) -> i64 {
    time as i64
}

/// Returns the time in at least one of the intervals.
pub(crate) fn covered_time(mut intervals: Vec<(i64, i64)>) -> i64 {
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
