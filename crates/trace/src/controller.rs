//! What the controller does.

use std::collections::BTreeMap;

use crate::trace::{MISSING, TaskEvent, Trace, TransferEvent};

/// The phases of the controller with one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseTime {
    /// Number of phases.
    pub count: usize,
    /// Their sum in ns.
    pub sum: i64,
    /// The longest in ns.
    pub max: i64,
}

/// What the controller did during a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ControllerTime {
    /// The time of each kind of phase.
    pub phases: BTreeMap<String, PhaseTime>,
    /// The sums of all that was counted, such as `actionsTransmit`, and of durations that were measured, such as
    /// `waitDuration` in ns.
    pub counts: BTreeMap<String, i64>,
    /// Number of times that it went through its loop: of its most frequent phase.
    pub iterations: usize,
    /// Number of completions of tasks and transfers that it learned of.
    pub events: usize,
    /// Busy workers × ns while it waited, where it counted busy workers.
    pub busy_while_waiting: Option<i64>,
}

impl ControllerTime {
    /// Returns the share of the time in which it did not wait; `None` if it has no phase that waits, or no time.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    pub fn duty(&self) -> Option<f64> {
        let waited = self.phases.get("wait")?.sum;
        let all: i64 = self.phases.values().map(|phase| phase.sum).sum();
        (all > 0).then(|| 1.0 - waited as f64 / all as f64)
    }
}

/// Returns what the controller did; `None` if the trace does not say.
pub fn controller_time(trace: &Trace) -> Option<ControllerTime> {
    if trace.phases.is_empty() {
        return None;
    }
    let mut time = ControllerTime::default();
    for phase in &trace.phases {
        let name = trace.text(phase.name).to_owned();
        let of_name = time.phases.entry(name).or_default();
        of_name.count += 1;
        if phase.end != MISSING {
            of_name.sum += phase.end - phase.start;
            of_name.max = of_name.max.max(phase.end - phase.start);
        }
        let mut busy = 1;
        let mut waited = None;
        for (name, count) in &phase.counts {
            let name = trace.text(*name);
            *time.counts.entry(name.to_owned()).or_default() += count;
            match name {
                "busyWorkers" => busy = *count,
                "waitDuration" => waited = Some(*count),
                _ => {}
            }
        }
        if let Some(waited) = waited {
            *time.busy_while_waiting.get_or_insert(0) += busy * waited;
        }
    }
    time.iterations = time.phases.values().map(|it| it.count).max().unwrap_or(0);
    let tasks = trace
        .tasks
        .iter()
        .filter_map(|it| it.at(TaskEvent::Completed));
    let transfers = trace
        .transfers
        .iter()
        .filter_map(|it| it.at(TransferEvent::Completed));
    time.events = tasks.count() + transfers.count();
    Some(time)
}
