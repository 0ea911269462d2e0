//! What explains the time of a run, what explains most of it first.

use std::collections::BTreeMap;

use crate::contention::{Contention, contention};
use crate::controller::{ControllerTime, controller_time};
use crate::durations::{TaskDuration, TransferDuration};
use crate::graph::{IdealTime, TaskGraph};
use crate::names::Name;
use crate::off_cpu::{OffCpu, off_cpu};
use crate::path::{RunPath, run_path};
use crate::trace::{Trace, TransferMode};
use crate::worker_time::{WorkerTime, worker_time};

/// A part of the time of tasks or workers is news from this share on.
const SHARE: f64 = 0.1;
/// What is lost to tasks at once is news from this share of the makespan on.
const LOSS: f64 = 0.01;
/// Imbalance is news if the busiest worker has so many times the mean.
const IMBALANCE: f64 = 1.3;
/// A dataset is hot if it went to so many targets.
const HOT: usize = 4;

/// Something that explains time.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceFinding {
    /// Tasks spend much of their time on something other than computing.
    TaskTime {
        /// What.
        part: TaskDuration,
        /// The time of all tasks in it, in ns.
        sum: i64,
        /// The time of all tasks, in ns.
        total: i64,
    },
    /// Tasks are in the queue of a worker that does nothing else.
    Queue {
        /// The time of all workers in that state, in ns.
        sum: i64,
        /// The time of all workers, in ns.
        all: i64,
    },
    /// A class is off the CPU for much of its computing.
    OffCpu(OffCpu),
    /// A class computes longer while other tasks compute on the host.
    Contention(Contention),
    /// Datasets were copied to where they were already.
    Redundant {
        /// Number of copies.
        count: usize,
        /// Their time in ns.
        sum: i64,
    },
    /// A dataset went to many places.
    HotDataset {
        /// The dataset.
        dataset: Name,
        /// Number of targets.
        count: usize,
        /// The time of its transfers in ns.
        sum: i64,
    },
    /// Some workers are much busier than others.
    Imbalance {
        /// The busiest worker.
        worker: Name,
        /// Its busy time in ns.
        busy: i64,
        /// The mean busy time of all workers in ns.
        mean: i64,
        /// What all workers would have to be busy longer if they were as busy as it.
        missing: i64,
    },
    /// The controller is busy itself.
    Controller {
        /// The time in which it did not wait, in ns.
        busy: i64,
        /// As a share of its time.
        duty: f64,
    },
}

impl TraceFinding {
    /// Returns the time that it explains, in ns of tasks or workers.
    pub fn explains(&self) -> i64 {
        match self {
            Self::TaskTime { sum, .. }
            | Self::Queue { sum, .. }
            | Self::Redundant { sum, .. }
            | Self::HotDataset { sum, .. } => *sum,
            Self::OffCpu(it) => it.sum,
            #[expect(clippy::cast_possible_truncation, reason = "a time in ns")]
            Self::Contention(it) => it.lost as i64,
            Self::Imbalance { missing, .. } => *missing,
            Self::Controller { busy, .. } => *busy,
        }
    }
}

/// The explanations of the time of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFindings {
    /// What workers did.
    pub workers: WorkerTime,
    /// The path that leads to the last end.
    pub path: Option<RunPath>,
    /// What the graph alone allows, if it is known.
    pub ideal: Option<IdealTime>,
    /// What the controller did.
    pub controller: Option<ControllerTime>,
    /// The findings, that which explains most first.
    pub findings: Vec<TraceFinding>,
}

/// Returns what explains the time of a run; `None` without tasks.
pub fn find(trace: &Trace) -> Option<TraceFindings> {
    let workers = worker_time(trace)?;
    let controller = controller_time(trace);
    let mut findings = task_times(trace);
    findings.extend(queue(&workers));
    findings.extend(transfers(trace));
    findings.extend(waiting(trace, &workers));
    findings.extend(imbalance(&workers));
    if let Some(controller) = &controller
        && let Some(duty) = controller.duty()
        && duty >= 0.5
    {
        let busy = controller.phases.iter().filter(|(name, _)| *name != "wait");
        let busy = busy.map(|(_, phase)| phase.sum).sum();
        findings.push(TraceFinding::Controller { busy, duty });
    }
    findings.sort_by_key(|finding| -finding.explains());
    Some(TraceFindings {
        path: run_path(trace),
        ideal: TaskGraph::with_work(trace).map(|graph| graph.ideal(trace)),
        workers,
        controller,
        findings,
    })
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn task_times(trace: &Trace) -> Vec<TraceFinding> {
    let sum = |part: TaskDuration| -> i64 {
        let durations = trace.tasks.iter().filter_map(|task| part.of(task));
        durations.map(|duration| duration.max(0)).sum()
    };
    let total: i64 = TaskDuration::PARTS.into_iter().map(sum).sum();
    let parts = TaskDuration::PARTS.into_iter();
    // A task in the queue of a busy worker waits for its turn, which is no loss.
    let other = parts.filter(|part| !matches!(part, TaskDuration::Compute | TaskDuration::Queue));
    let times = other.map(|part| TraceFinding::TaskTime {
        part,
        sum: sum(part),
        total,
    });
    times
        .filter(|it| it.explains() as f64 >= SHARE * total as f64 && total > 0)
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn queue(workers: &WorkerTime) -> Option<TraceFinding> {
    let (sum, all) = (*workers.parts.get(&TaskDuration::Queue)?, workers.all());
    (sum as f64 >= SHARE * all as f64).then_some(TraceFinding::Queue { sum, all })
}

/// Returns where classes are slower side by side, and where they are off the CPU for other reasons.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn waiting(trace: &Trace, workers: &WorkerTime) -> Vec<TraceFinding> {
    let is_news = |it: &Contention| {
        let is_certain = it.slope_interval[0] > 0.0 && it.alone > 0.0;
        is_certain && it.lost >= LOSS * workers.makespan as f64
    };
    let contention: Vec<Contention> = contention(trace).into_iter().filter(is_news).collect();
    let off_cpu = off_cpu(trace).into_iter().filter(|it| {
        let of_class = contention.iter().filter(|other| other.class == it.class);
        let explained: f64 = of_class.map(|other| other.lost).sum();
        it.sum as f64 >= SHARE * workers.all() as f64 && explained < it.sum as f64 / 2.0
    });
    let off_cpu: Vec<TraceFinding> = off_cpu.map(TraceFinding::OffCpu).collect();
    let contention = contention.into_iter().map(TraceFinding::Contention);
    contention.chain(off_cpu).collect()
}

fn transfers(trace: &Trace) -> Vec<TraceFinding> {
    let mut redundant = (0, 0);
    let mut datasets: BTreeMap<Name, (usize, i64)> = BTreeMap::new();
    for transfer in &trace.transfers {
        if transfer.mode == TransferMode::Local {
            continue;
        }
        let time = TransferDuration::Total.of(transfer).unwrap_or(0).max(0);
        if transfer.mode == TransferMode::Redundant {
            redundant = (redundant.0 + 1, redundant.1 + time);
        }
        let of_dataset = datasets.entry(transfer.dataset).or_default();
        *of_dataset = (of_dataset.0 + 1, of_dataset.1 + time);
    }
    let mut found = Vec::new();
    if redundant.0 > 0 {
        found.push(TraceFinding::Redundant {
            count: redundant.0,
            sum: redundant.1,
        });
    }
    let hottest = datasets.iter().max_by_key(|(_, (_, sum))| *sum);
    if let Some((dataset, (count, sum))) = hottest
        && *count >= HOT
    {
        found.push(TraceFinding::HotDataset {
            dataset: *dataset,
            count: *count,
            sum: *sum,
        });
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn imbalance(workers: &WorkerTime) -> Option<TraceFinding> {
    let (worker, busy) = workers.busy.iter().max_by_key(|(_, busy)| **busy)?;
    let count = i64::try_from(workers.workers).ok()?;
    let mean = workers.busy.values().sum::<i64>() / count;
    let is_news =
        workers.is_known && workers.workers > 1 && *busy as f64 >= IMBALANCE * mean as f64;
    is_news.then(|| TraceFinding::Imbalance {
        worker: *worker,
        busy: *busy,
        mean,
        missing: (busy - mean) * count,
    })
}
