//! What each worker did from moment to moment: the rows of a timeline.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::natural_order;

use crate::durations::TaskDuration;
use crate::names::Name;
use crate::processes::ProcessSample;
use crate::trace::{MISSING, Task, Trace, Transfer, TransferEvent};

/// What a lane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneKind {
    /// The phases of the controller.
    Controller,
    /// The tasks of a worker.
    Worker,
    /// The transfers to a target.
    Transfers,
}

/// What happens in a piece of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LanePart {
    /// A part of a task.
    Task(TaskDuration),
    /// A transfer was planned, and its source has not begun.
    Waiting,
    /// A transfer is on its way.
    Copying,
    /// The data are there, and the controller does not know.
    Noticing,
    /// A phase of the controller.
    Phase(Name),
}

/// A piece of a lane: what happened from one moment to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanePiece {
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns.
    pub end: i64,
    /// What happened.
    pub part: LanePart,
    /// The place of the task, transfer or phase in the trace.
    pub item: usize,
}

/// A row of a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// What it shows.
    pub kind: LaneKind,
    /// The worker or the target; empty for the controller.
    pub name: Name,
    /// How many rows of the same worker are above it: calls stand below those that they lie within.
    pub level: u32,
    /// Its pieces in order; none overlaps another.
    pub pieces: Vec<LanePiece>,
}

/// Of several things at once on a worker the first of these counts.
pub const LANE_ORDER: [TaskDuration; 6] = [
    TaskDuration::Compute,
    TaskDuration::Publish,
    TaskDuration::Load,
    TaskDuration::Queue,
    TaskDuration::ToWorker,
    TaskDuration::ToController,
];

/// Returns all lanes: the controller, and each worker followed by the transfers to it.
pub fn lanes(trace: &Trace) -> Vec<Lane> {
    let mut lanes = worker_lanes(trace);
    lanes.extend(transfer_lanes(trace));
    // Transfers to a host stand below its workers, those to a worker below it.
    let key = |lane: &Lane| match lane.kind {
        LaneKind::Transfers => format!("{}\u{10ffff}", trace.text(lane.name)),
        LaneKind::Controller | LaneKind::Worker => trace.text(lane.name).to_owned(),
    };
    lanes.sort_by(|one, other| {
        natural_order(&key(one), &key(other)).then(one.level.cmp(&other.level))
    });
    let pieces: Vec<LanePiece> = (trace.phases.iter().enumerate())
        .filter(|(_, phase)| phase.end != MISSING && phase.start < phase.end)
        .map(|(item, phase)| LanePiece {
            start: phase.start,
            end: phase.end,
            part: LanePart::Phase(phase.name),
            item,
        })
        .collect();
    if !pieces.is_empty() {
        let controller = Lane {
            kind: LaneKind::Controller,
            name: Name::EMPTY,
            level: 0,
            pieces: flat(pieces),
        };
        lanes.insert(0, controller);
    }
    lanes
}

/// Returns a lane of the pieces of each worker or target.
fn flat_lanes(kind: LaneKind, by_name: BTreeMap<(Name, u32), Vec<LanePiece>>) -> Vec<Lane> {
    let lanes = by_name.into_iter().map(|((name, level), pieces)| Lane {
        kind,
        name,
        level,
        pieces: flat(pieces),
    });
    lanes.collect()
}

/// Returns the lanes of all workers that had a task, in no order.
pub(crate) fn worker_lanes(trace: &Trace) -> Vec<Lane> {
    let mut by_worker: BTreeMap<(Name, u32), Vec<LanePiece>> = BTreeMap::new();
    // Tasks that are whole calls lie within each other.
    let mut both = trace.tasks.iter().zip(&trace.calls);
    let are_calls = trace.tasks.len() == trace.calls.len()
        && both.all(|(task, call)| task.computing() == Some((call.start, call.end)));
    let samples = trace.samples_by_lane();
    for (item, task) in trace.tasks.iter().enumerate() {
        if let Some(samples) = samples.get(&task.worker) {
            let pieces = by_worker.entry((task.worker, 0)).or_default();
            process_pieces(samples, task, item, pieces);
            continue;
        }
        let call = trace.calls.get(item).filter(|_| are_calls);
        let level = call.map_or(0, |call| call.level);
        let pieces = by_worker.entry((task.worker, level)).or_default();
        pieces.extend(LANE_ORDER.into_iter().filter_map(|part| {
            let (start, end) = part.interval(task)?;
            (start < end).then_some(LanePiece {
                start,
                end,
                part: LanePart::Task(part),
                item,
            })
        }));
    }
    flat_lanes(LaneKind::Worker, by_worker)
}

/// Adds what a process did in a task: how much of each sample it was on a core, waited for one, and did neither. In which
/// order is not known.
fn process_pieces(
    samples: &[&ProcessSample],
    task: &Task,
    item: usize,
    pieces: &mut Vec<LanePiece>,
) {
    let Some((from, to)) = task.computing() else {
        return;
    };
    let first = samples.partition_point(|sample| sample.start < from);
    for sample in samples[first..].iter().take_while(|it| it.end <= to) {
        let mut start = sample.start;
        let parts = [
            (TaskDuration::OnCpu, sample.cpu),
            (TaskDuration::RunDelay, sample.run_delay),
            (TaskDuration::OffCpu, i64::MAX),
        ];
        for (part, time) in parts {
            let end = start.saturating_add(time).min(sample.end);
            let part = LanePart::Task(part);
            match pieces.last_mut() {
                _ if start == end => {}
                Some(last) if (last.end, last.part, last.item) == (start, part, item) => {
                    last.end = end;
                }
                _ => pieces.push(LanePiece {
                    start,
                    end,
                    part,
                    item,
                }),
            }
            start = end;
        }
    }
}

fn transfer_lanes(trace: &Trace) -> Vec<Lane> {
    let mut by_target: BTreeMap<(Name, u32), Vec<LanePiece>> = BTreeMap::new();
    for (item, transfer) in trace.transfers.iter().enumerate() {
        for (part, interval) in parts(transfer) {
            if let Some((start, end)) = interval
                && start < end
            {
                let pieces = by_target.entry((transfer.target, 0)).or_default();
                pieces.push(LanePiece {
                    start,
                    end,
                    part,
                    item,
                });
            }
        }
    }
    flat_lanes(LaneKind::Transfers, by_target)
}

fn parts(transfer: &Transfer) -> [(LanePart, Option<(i64, i64)>); 3] {
    let [started, unloaded, completed] = [
        TransferEvent::Started,
        TransferEvent::Unloaded,
        TransferEvent::Completed,
    ]
    .map(|event| transfer.at(event));
    [
        (
            LanePart::Waiting,
            transfer.at(TransferEvent::Planned).zip(started),
        ),
        (LanePart::Copying, started.zip(unloaded.or(completed))),
        (LanePart::Noticing, unloaded.zip(completed)),
    ]
}

/// Returns the rank of a part among those of its lane: of several at once the lowest counts.
fn rank(part: LanePart) -> usize {
    match part {
        LanePart::Task(part) => {
            let place = LANE_ORDER.iter().position(|known| *known == part);
            place.unwrap_or_default()
        }
        LanePart::Copying | LanePart::Phase(_) => 0,
        LanePart::Waiting => 1,
        LanePart::Noticing => 2,
    }
}

/// Returns pieces of which none overlaps another: at each moment that with the lowest rank, of these the one that
/// began first.
fn flat(mut pieces: Vec<LanePiece>) -> Vec<LanePiece> {
    pieces.sort_unstable_by_key(|piece| (piece.start, piece.item));
    let mut edges: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        edges.extend([(piece.start, true, at), (piece.end, false, at)]);
    }
    edges.sort_unstable();
    let mut active: [BTreeSet<usize>; LANE_ORDER.len()] = Default::default();
    let mut flat: Vec<LanePiece> = Vec::with_capacity(pieces.len());
    let mut before = i64::MIN;
    for (time, begins, at) in edges {
        let first = active.iter().find_map(|of_rank| of_rank.first());
        if let Some(first) = first
            && before < time
        {
            let piece = LanePiece {
                start: before,
                end: time,
                ..pieces[*first]
            };
            match flat.last_mut() {
                Some(last)
                    if (last.end, last.part, last.item) == (before, piece.part, piece.item) =>
                {
                    last.end = time;
                }
                _ => flat.push(piece),
            }
        }
        before = time;
        let of_rank = &mut active[rank(pieces[at].part)];
        if begins {
            of_rank.insert(at);
        } else {
            of_rank.remove(&at);
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_each_moment_the_lowest_rank_counts() {
        let piece = |start, end, item| LanePiece {
            start,
            end,
            part: LanePart::Waiting,
            item,
        };
        let pieces = flat(vec![piece(0, 10, 0), piece(2, 4, 1), piece(3, 12, 2)]);
        assert_eq!(pieces, [piece(0, 10, 0), piece(10, 12, 2)]);
        let mut ranked = [piece(0, 10, 0), piece(2, 4, 1)];
        ranked[1].part = LanePart::Copying;
        let found = flat(ranked.to_vec());
        let times: Vec<_> = found.iter().map(|it| (it.start, it.end, it.item)).collect();
        assert_eq!(times, [(0, 2, 0), (2, 4, 1), (4, 10, 0)]);
    }
}
