//! Phases of tasks other than their function.

use super::{Candidate, Cause, Model, Overhead};
use crate::replay::{Changes, Overheads, ReplayedTask};

/// The least gain by a phase, as a share of the makespan.
const LEAST: f64 = 0.05;
/// The fewest tasks that can be too small.
const FEWEST: usize = 50;
/// A task that computes longer than this, in ns, is not small: its overhead is large.
const SMALL: i64 = 50_000_000;

/// Returns candidates of phases that take long, and of tasks that are small against all of them.
///
/// Without a graph, tasks are planned when the controller has noticed something, so that its planning goes with that.
pub(super) fn phases(model: &Model<'_>, has_graph: bool) -> Vec<Candidate> {
    type Phase = (fn(&ReplayedTask) -> i64, fn(Overhead) -> Cause, Overheads);
    let none = Overheads::default();
    let phases: [Phase; 6] = [
        (
            |task| task.notice,
            Cause::ControllerNotice,
            Overheads {
                notice: true,
                planning: !has_graph,
                ..none
            },
        ),
        (
            |task| task.planning - task.retrying,
            Cause::ControllerPlanning,
            Overheads {
                planning: has_graph,
                ..none
            },
        ),
        (
            |task| task.transport,
            Cause::ToWorker,
            Overheads {
                transport: true,
                ..none
            },
        ),
        (
            |task| task.start_up,
            Cause::StartUp,
            Overheads {
                start_up: true,
                ..none
            },
        ),
        (
            |task| task.load,
            Cause::Load,
            Overheads { load: true, ..none },
        ),
        (
            |task| task.publish,
            Cause::Publish,
            Overheads {
                publish: true,
                ..none
            },
        ),
    ];
    let tasks = &model.replay.tasks;
    let candidates = phases.into_iter().map(|(time, cause, without)| {
        let times = tasks.iter().map(time).filter(|time| *time > 0);
        let overhead = Overhead {
            sum: times.clone().sum(),
            longest: times.clone().max().unwrap_or(0),
            tasks: times.count(),
        };
        let changes = Changes {
            without,
            ..Changes::default()
        };
        // What else is between two tasks is of unknown cause.
        let most = if has_graph { i64::MAX } else { overhead.sum };
        Candidate {
            most,
            ..Candidate::new(6, cause(overhead), changes).at_least(LEAST)
        }
    });
    candidates.chain(small_tasks(model)).collect()
}

fn small_tasks(model: &Model<'_>) -> Option<Candidate> {
    let tasks = &model.replay.tasks;
    let count = i64::try_from(tasks.len()).ok()?;
    let overhead = |task: &ReplayedTask| {
        task.notice + task.planning + task.transport + task.start_up + task.load + task.publish
    };
    let overheads: i64 = tasks.iter().map(overhead).sum();
    let works = tasks
        .iter()
        .map(|task| task.work - task.load - task.publish);
    let computing: i64 = works.sum();
    let is_small = tasks.len() >= FEWEST && computing < overheads && computing / count <= SMALL;
    let changes = Changes {
        without: Overheads::ALL,
        ..Changes::default()
    };
    let cause = Cause::SmallTasks {
        tasks: tasks.len(),
        computing: computing / count.max(1),
        overhead: overheads / count.max(1),
    };
    is_small.then(|| Candidate::new(7, cause, changes).at_least(LEAST))
}
