//! What a run would have taken under other conditions, by replaying its graph.

use std::collections::BTreeMap;

use crate::durations::float;
use crate::graph::TaskGraph;
use crate::loads::{Loads, at_once, at_once_of};
use crate::names::Name;
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
    /// How long tasks compute with other numbers beside them; without it, as long as measured.
    pub loads: Option<Loads>,
    /// Classes of tasks that take their time on the worker divided by a number.
    pub faster: BTreeMap<String, f64>,
}

/// What a replay predicts, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// The makespan as measured; `None` if the trace does not say.
    pub measured: Option<i64>,
    /// The makespan of the measured setting by the replay: how far it is from the measured one is the error of the
    /// model.
    pub replayed: i64,
    /// The makespan of the scenario.
    pub predicted: i64,
    /// Number of workers in the scenario.
    pub workers: usize,
    /// The makespan if workers beyond those that were measured, or fewer, changed nothing, because tasks slow each other
    /// down as much; `None` with as many as were measured.
    pub with_full_machine: Option<i64>,
}

impl Prediction {
    /// The largest relative error of the replay, as a share, with which anything is predicted.
    pub const LARGEST_ERROR: f64 = 0.1;

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
    let (predicted, workers) = scenario.replayed(&replay, placement);
    let (replayed, measured_workers) = replay.run(Placement::AsMeasured, &Changes::default());
    let known = match &scenario.loads {
        Some(loads) => loads.workers.last().copied().unwrap_or(measured_workers),
        None => measured_workers,
    };
    let is_unknown = match &scenario.loads {
        Some(_) => workers > known,
        None => workers != known,
    };
    let with_full_machine = is_unknown.then(|| match &scenario.loads {
        Some(_) => scenario.replayed(&replay, Placement::Workers(known)).0,
        None => scenario.replayed(&replay, Placement::AsMeasured).0,
    });
    Prediction {
        measured: trace.measured_makespan(),
        replayed,
        predicted,
        workers,
        with_full_machine,
    }
}

/// Most rounds in which times and the number of tasks at once are fitted to each other.
const ROUNDS: usize = 12;

impl Scenario {
    /// Returns the makespan in ns, and the number of workers. How long tasks compute and how many do at once depend on
    /// each other: each is replayed with what the other was before, halfway, until they agree.
    fn replayed(&self, replay: &Replay<'_>, placement: Placement) -> (i64, usize) {
        let mut changes = self.changes(replay);
        let Some(loads) = &self.loads else {
            return replay.run(placement, &changes);
        };
        let trace = replay.trace;
        let works = replay.works(&changes);
        let computing = works.iter().zip(&replay.tasks);
        let computing = computing.map(|(work, task)| (work - task.load - task.publish).max(0));
        let computing: Vec<i64> = computing.collect();
        let measured = at_once(trace);
        let mut numbers = measured.clone();
        let mut until_now = replay.run(placement, &changes);
        for round in 0..ROUNDS {
            let factor = |class: &Name| {
                let time = |of: &BTreeMap<Name, f64>| {
                    let at_once = of.get(class)?;
                    loads
                        .time(trace.text(*class), *at_once)
                        .filter(|time| *time > 0.0)
                };
                time(&numbers)
                    .zip(time(&measured))
                    .map_or(1.0, |(now, then)| now / then)
            };
            let times = trace.tasks.iter().zip(&computing);
            let times = times.map(|(task, time)| divided(*time, 1.0 / factor(&task.class)));
            let times: Vec<i64> = times.collect();
            let changed = works.iter().zip(&computing).zip(&times);
            let changed = changed.map(|((work, before), now)| work - before + now);
            changes.work = changed.enumerate().collect();
            let (makespan, workers, ends) = replay.schedule(placement, &changes);
            let intervals = ends.iter().zip(&replay.tasks).zip(&times).zip(&trace.tasks);
            let intervals = intervals.map(|(((end, replayed), time), task)| {
                let to = end - replayed.publish;
                (task.class, (to - time, to))
            });
            let found = at_once_of(&intervals.collect::<Vec<_>>());
            for (class, number) in found {
                let before = numbers.get(&class).copied().unwrap_or(number);
                numbers.insert(class, f64::midpoint(before, number));
            }
            let (before, _) = until_now;
            until_now = (makespan, workers);
            // The first round has the times that were measured.
            if round > 1 && float((makespan - before).abs()) <= 0.001 * float(makespan) {
                break;
            }
        }
        until_now
    }

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
