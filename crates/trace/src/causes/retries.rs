//! Attempts at tasks that were lost, and workers that died.

use super::{Candidate, Cause};
use crate::names::Name;
use crate::replay::{Changes, Replay};
use crate::trace::MISSING;

/// Returns a candidate if attempts were lost, and tells the replay of workers that died.
pub(super) fn retries(replay: &mut Replay<'_>) -> Option<Candidate> {
    let trace = replay.trace;
    let lost: Vec<usize> = (0..trace.tasks.len())
        .filter(|index| replay.tasks[*index].is_lost || replay.tasks[*index].retrying > 0)
        .collect();
    let tasks = lost.iter().filter(|it| !replay.tasks[**it].is_lost).count();
    if tasks == 0 {
        return None;
    }
    let mut dead: Option<Name> = None;
    let has_workers = !trace.has_numbered_lanes();
    for index in &lost {
        if !has_workers || !replay.tasks[*index].is_lost {
            continue;
        }
        let worker = trace.tasks[*index].worker;
        let Some(began) = trace.tasks[*index].begin() else {
            continue;
        };
        // Nothing was done on a dead worker after what was lost had begun.
        let of_worker = trace.tasks.iter().filter(|task| task.worker == worker);
        let ends = of_worker.filter_map(crate::trace::Task::released);
        if ends.max().unwrap_or(MISSING) <= began {
            dead = Some(worker);
            let until = began - replay.begin + 1;
            let lanes = replay.lanes.iter_mut();
            let lanes = lanes.filter(|lane| lane.worker == worker);
            lanes.for_each(|lane| lane.until = Some(until));
        }
    }
    let cause = Cause::Retries {
        tasks,
        worker: dead,
    };
    let changes = Changes {
        no_retries: true,
        ..Changes::default()
    };
    Some(Candidate::new(0, cause, changes))
}
