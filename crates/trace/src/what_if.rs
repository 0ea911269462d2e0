//! What a run would have taken under other conditions, by replaying its graph.

use std::collections::BTreeMap;

use crate::graph::TaskGraph;
use crate::replay::{Changes, Overheads, Placement, Replay, WithoutCopies, divided};
use crate::trace::Trace;

/// What is different from the measured run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scenario {
    /// The number of workers; `None` for those measured, with the tasks that they had.
    pub workers: Option<usize>,
    /// Copies of inputs take no time.
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

/// Returns what the scenario would take. The replay keeps what was measured of each task: what it waited for and how
/// long, and its time on the worker. With another number of workers, tasks go to the worker that is free first, in the
/// order in which they were started.
pub fn what_if(trace: &Trace, graph: &TaskGraph, scenario: &Scenario) -> Prediction {
    let replay = Replay::of(trace, graph);
    let placement = match scenario.workers {
        None => Placement::AsMeasured,
        Some(workers) => Placement::Workers(workers),
    };
    let (predicted, workers) = replay.run(placement, &scenario.changes(&replay));
    let (replayed, _) = replay.run(Placement::AsMeasured, &Changes::default());
    Prediction {
        measured: trace.range().map(|(start, end)| end - start),
        replayed,
        predicted,
        workers,
    }
}

impl Scenario {
    fn changes(&self, replay: &Replay<'_>) -> Changes {
        let copies = if self.free_transfers {
            Some(WithoutCopies::All)
        } else {
            (self.no_redundant_transfers).then_some(WithoutCopies::Redundant)
        };
        let trace = replay.trace;
        let tasks = trace.tasks.iter().zip(&replay.tasks).enumerate();
        let faster = tasks.filter_map(|(index, (task, replayed))| {
            let factor = self.faster.get(trace.text(task.class))?;
            Some((index, divided(replayed.work, *factor)))
        });
        Changes {
            copies,
            without: Overheads {
                notice: self.instant_controller,
                planning: self.instant_controller,
                ..Overheads::default()
            },
            work: if self.faster.is_empty() {
                Vec::new()
            } else {
                faster.collect()
            },
            ..Changes::default()
        }
    }
}
