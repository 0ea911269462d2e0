//! What tasks wait for while they compute, where their time on the CPU was measured.

use std::collections::BTreeMap;

use crate::durations::TaskDuration;
use crate::names::Name;
use crate::trace::{Pressure, Resource, Task, Trace};

/// The least share of its computing that a class has to be off the CPU.
const SHARE: f64 = 0.2;
/// A resource is what tasks wait for if processes wait for it at least so much of the tasks' own share of waiting.
const PRESSED: f64 = 0.5;

/// What computing tasks wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A core that is free: their own threads waited for one.
    Core,
    /// What the host is short of.
    Resource(Resource),
    /// Something within the process, or nothing at all: a lock, another task, an answer over the network, sleep. The
    /// host is not short of anything.
    Process,
    /// The trace does not say what the host is short of.
    Unknown,
}

/// How much a class of tasks is off the CPU while it computes.
#[derive(Debug, Clone, PartialEq)]
pub struct OffCpu {
    /// The class.
    pub class: Name,
    /// Number of tasks.
    pub tasks: usize,
    /// The time in which they computed, in ns.
    pub computing: i64,
    /// The part of it off the CPU, in ns.
    pub sum: i64,
    /// The part of it in which their threads waited for a core, in ns; `None` unless it is known of all tasks.
    pub run_delay: Option<i64>,
    /// What for.
    pub waits_for: WaitsFor,
}

/// Returns the classes that are off the CPU for much of their computing.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn off_cpu(trace: &Trace) -> Vec<OffCpu> {
    let mut classes: BTreeMap<Name, Vec<&Task>> = BTreeMap::new();
    for task in trace.tasks.iter().filter(|task| task.cpu_share().is_some()) {
        classes.entry(task.class).or_default().push(task);
    }
    let found = classes.into_iter().map(|(class, tasks)| {
        let sum = |part: TaskDuration| tasks.iter().filter_map(|task| part.of(task)).sum::<i64>();
        let (computing, off) = (sum(TaskDuration::Compute), sum(TaskDuration::OffCpu));
        OffCpu {
            class,
            tasks: tasks.len(),
            computing,
            sum: off,
            run_delay: run_delay(&tasks),
            waits_for: waits_for(trace, &tasks, off as f64 / computing.max(1) as f64),
        }
    });
    found
        .filter(|it| it.sum as f64 >= SHARE * it.computing as f64)
        .collect()
}

/// Returns how long tasks waited for a core; `None` unless it is known of all.
fn run_delay(tasks: &[&Task]) -> Option<i64> {
    let delays = tasks.iter().map(|task| TaskDuration::RunDelay.of(task));
    delays.sum()
}

/// Returns what tasks wait for that are off the CPU for a share of their computing.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn waits_for(trace: &Trace, tasks: &[&Task], share: f64) -> WaitsFor {
    let delay = run_delay(tasks);
    let computing = tasks.iter().filter_map(|it| TaskDuration::Compute.of(it));
    let computing: i64 = computing.sum();
    if delay.is_some_and(|delay| delay as f64 >= PRESSED * share * computing.max(1) as f64) {
        return WaitsFor::Core;
    }
    let mut hosts: BTreeMap<Name, Vec<&Pressure>> = BTreeMap::new();
    for pressure in &trace.pressures {
        hosts.entry(pressure.host).or_default().push(pressure);
    }
    for of_host in hosts.values_mut() {
        of_host.sort_by_key(|pressure| (pressure.end, pressure.start));
    }
    let mut sums = [0.0; 3];
    let mut all = 0.0;
    for task in tasks {
        let Some(((from, to), of_host)) = task.computing().zip(hosts.get(&task.host)) else {
            continue;
        };
        let first = of_host.partition_point(|pressure| pressure.end <= from);
        for pressure in of_host[first..].iter().take_while(|it| it.start < to) {
            let overlap = (to.min(pressure.end) - from.max(pressure.start)) as f64;
            all += overlap;
            for (sum, share) in sums.iter_mut().zip(pressure.shares) {
                *sum += share * overlap;
            }
        }
    }
    if all <= 0.0 {
        return WaitsFor::Unknown;
    }
    let shares = Resource::ALL.into_iter().zip(sums.map(|sum| sum / all));
    let most = shares.max_by(|one, other| one.1.total_cmp(&other.1));
    match most {
        // Only a task's own delay tells that it was this one that waited.
        Some((Resource::Cpu, pressed)) if pressed >= PRESSED * share => WaitsFor::Unknown,
        Some((resource, pressed)) if pressed >= PRESSED * share => WaitsFor::Resource(resource),
        _ => WaitsFor::Process,
    }
}
