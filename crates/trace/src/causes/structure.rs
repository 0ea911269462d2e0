//! The graph and the placement: late workers, barriers, imbalance, and too little to do at once.

use std::collections::BTreeMap;

use lapwing_model::natural_order;

use super::{Candidate, Cause, LEAST_GAIN, Model, TraceFinding};
use crate::durations::float;
use crate::graph::TaskGraph;
use crate::names::Name;
use crate::replay::{Changes, Placement, Replay};
use crate::trace::TaskEvent;
use crate::waits::WaitReason;

/// A worker is late if tasks wait for so large a share of the makespan before it comes.
const LATE: f64 = 0.05;
/// The least gain by another placement, as a share of the makespan.
const IMBALANCE: f64 = 0.1;
/// A chain is what limits a run if it takes this share of the makespan, and workers are busy for less than it.
const CHAIN: f64 = 0.7;

/// Returns a candidate of workers that came while tasks had been ready for long, and tells the replay of them.
pub(super) fn late_workers(replay: &mut Replay<'_>, makespan: i64) -> Option<Candidate> {
    let trace = replay.trace;
    let mut first: BTreeMap<Name, i64> = BTreeMap::new();
    for task in &trace.tasks {
        let event = task
            .at(TaskEvent::Planned)
            .or_else(|| task.at(TaskEvent::Started));
        if let Some(at) = event {
            let known = first.entry(task.worker).or_insert(at);
            *known = at.min(*known);
        }
    }
    // When tasks became ready, and when they were planned.
    let mut ready: Vec<i64> = Vec::new();
    let mut planned: Vec<i64> = Vec::new();
    for (index, task) in trace.tasks.iter().enumerate() {
        let at = task
            .at(TaskEvent::Planned)
            .or_else(|| task.at(TaskEvent::Started));
        if let Some(at) = at {
            ready.push(replay.inputs_known(index).min(at));
            planned.push(at);
        }
    }
    ready.sort_unstable();
    planned.sort_unstable();
    let waiting = |at: i64| {
        let became = ready.partition_point(|it| *it <= at);
        became - planned.partition_point(|it| *it <= at).min(became)
    };
    let mut late = 0;
    let mut until = 0;
    for (worker, at) in first {
        let came = at - replay.begin;
        if float(came) < LATE * float(makespan) {
            continue;
        }
        // Ten moments tell whether there was work for it all the time.
        let had_work = (1..=10).filter(|tenth| waiting(replay.begin + came * tenth / 11) > 0);
        if had_work.count() < 8 {
            continue;
        }
        late += 1;
        until = until.max(came);
        for lane in replay.lanes.iter_mut().filter(|it| it.worker == worker) {
            lane.from = came;
        }
    }
    if late == 0 {
        return None;
    }
    replay.measure();
    let cause = Cause::LateWorkers {
        workers: late,
        until,
    };
    let changes = Changes {
        all_present: true,
        ..Changes::default()
    };
    Some(Candidate::new(1, cause, changes))
}

/// Returns a candidate if stages wait for all of the stage before them.
///
/// Without a barrier, each task waits for one task of the stage before: that in the same place.
pub(super) fn barriers(model: &Model<'_>) -> Option<Candidate> {
    let inputs = &model.replay.own.inputs;
    let mut stages: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (index, inputs) in inputs.iter().enumerate().filter(|(_, it)| it.len() > 1) {
        let mut sorted = inputs.clone();
        sorted.sort_unstable();
        stages.entry(sorted).or_default().push(index);
    }
    // All tasks of a stage are waited for by all of the next, and by hardly any other.
    let mut followers = vec![0_usize; inputs.len()];
    for input in inputs.iter().flatten() {
        followers[*input] += 1;
    }
    let fewest = model.replay.lanes.len().clamp(2, 3);
    stages.retain(|inputs, tasks| {
        let all: usize = inputs.iter().map(|it| followers[*it]).sum();
        let is_stage = inputs.len() >= fewest && tasks.len() >= fewest;
        is_stage && 10 * inputs.len() * tasks.len() >= 9 * all
    });
    if stages.is_empty() {
        return None;
    }
    let mut open = model.replay.graph.inputs.clone();
    let name = |task: &usize| model.trace.text(model.trace.tasks[*task].name);
    for (mut inputs, mut tasks) in stages.clone() {
        inputs.sort_by(|one, other| natural_order(name(one), name(other)));
        tasks.sort_by(|one, other| natural_order(name(one), name(other)));
        for (at, task) in tasks.iter().enumerate() {
            open[*task] = vec![inputs[at % inputs.len()]];
        }
    }
    let cause = Cause::Barrier {
        barriers: stages.len(),
        tasks: stages.values().map(Vec::len).sum(),
    };
    let changes = Changes {
        inputs: Some(open),
        ..Changes::default()
    };
    Some(Candidate::new(4, cause, changes))
}

/// Returns a candidate if tasks wait for the inputs of those that were sent with them.
pub(super) fn sequences(model: &Model<'_>) -> Option<Candidate> {
    let replay = &model.replay;
    if replay.in_sequences == 0 {
        return None;
    }
    let waits = replay.waits.iter().map(|it| it.of(WaitReason::Sequence));
    let cause = Cause::Sequences {
        tasks: replay.in_sequences,
        sum: waits.sum(),
    };
    let changes = Changes {
        inputs: Some(replay.own.inputs.clone()),
        ..Changes::default()
    };
    Some(Candidate::new(4, cause, changes))
}

/// Returns a candidate if the tasks would end sooner on the worker that is free first.
pub(super) fn imbalance(model: &Model<'_>) -> Option<Candidate> {
    let mut busy: BTreeMap<Name, i64> = BTreeMap::new();
    for (task, replayed) in model.trace.tasks.iter().zip(&model.replay.tasks) {
        *busy.entry(task.worker).or_default() += replayed.work;
    }
    let count = i64::try_from(busy.len()).ok().filter(|it| *it > 1)?;
    let mean = busy.values().sum::<i64>() / count;
    let (worker, most) = busy.into_iter().max_by_key(|(_, busy)| *busy)?;
    if model.placement != Placement::AsMeasured {
        return None;
    }
    let cause = Cause::Imbalance {
        worker,
        busy: most,
        mean,
    };
    let mut candidate = Candidate::new(7, cause, Changes::default()).at_least(IMBALANCE);
    candidate.is_placed_anew = true;
    Some(candidate)
}

/// Returns whether a chain of tasks, or their number, keeps workers idle, once other causes are gone. `until_now` is
/// the makespan without those.
pub(super) fn parallelism(
    model: &Model<'_>,
    gone: &Changes,
    until_now: i64,
) -> Option<TraceFinding> {
    let trace = model.trace;
    let graph = TaskGraph::ordered(model.replay.inputs(gone).to_vec());
    let works = model.replay.works(gone);
    let ideal = graph.ideal_of(&works);
    let workers = model.replay.lanes.len();
    let bound = ideal.work / i64::try_from(workers).ok()?.max(1);
    let gain = until_now - bound;
    if float(gain) < (1.0 - CHAIN) * float(until_now)
        || float(gain) < LEAST_GAIN * float(model.makespan)
    {
        return None;
    }
    let longest = ideal.path.iter().map(|it| works[*it]).max().unwrap_or(0);
    let is_chain = ideal.path.len() >= 3
        && float(ideal.critical) >= CHAIN * float(until_now)
        && 2 * longest < ideal.critical;
    let cause = if is_chain {
        let mut classes: BTreeMap<Name, usize> = BTreeMap::new();
        for task in &ideal.path {
            *classes.entry(trace.tasks[*task].class).or_default() += 1;
        }
        let most = classes.into_iter().max_by_key(|(_, count)| *count);
        Cause::CriticalPath {
            tasks: ideal.path.len(),
            class: most.map_or(Name::EMPTY, |(class, _)| class),
            duration: ideal.critical,
        }
    } else if trace.tasks.len() < 2 * workers {
        Cause::FewTasks {
            tasks: trace.tasks.len(),
            workers,
        }
    } else {
        return None;
    };
    Some(TraceFinding {
        cause,
        without: model.makespan - gain,
        gain,
    })
}
