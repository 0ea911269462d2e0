//! Times in which nothing begins on any worker, or nothing goes on.

use std::collections::BTreeMap;

use lapwing_stats::{as_f64, median};

use super::slow::{Residuals, threshold};
use super::{Candidate, Cause};
use crate::durations::{float, whole};
use crate::names::Name;
use crate::replay::{Changes, Gate, Replay};
use crate::trace::TaskEvent;
use crate::waits::WaitReason;

/// The shortest stall, as a share of the makespan.
const SHORTEST: f64 = 0.03;
/// Usual waits and usual pauses are at most this share of a stall.
const USUAL: f64 = 0.2;

/// Returns a candidate of times in which no task began although some were ready and workers idle, and tells the replay
/// of them.
pub(super) fn idle(replay: &mut Replay<'_>, makespan: i64) -> Vec<Candidate> {
    let trace = replay.trace;
    let unexplained = |index: usize| {
        let wait = &replay.waits[index];
        let of = |reason| wait.of(reason);
        of(WaitReason::Planning) + of(WaitReason::Transport) + of(WaitReason::Unknown)
    };
    let mut starts: Vec<(i64, usize)> = (trace.tasks.iter().enumerate())
        .filter_map(|(index, task)| Some((task.at(TaskEvent::Started)? - replay.begin, index)))
        .collect();
    starts.sort_unstable();
    let waits: Vec<f64> = starts
        .iter()
        .map(|(_, it)| float(unexplained(*it)))
        .collect();
    let usual = median(&waits).unwrap_or(0.0);
    let lanes = replay.lanes.len();
    let mut gates = Vec::new();
    for (at, pair) in starts.windows(2).enumerate() {
        let ((from, _), (until, _)) = (pair[0], pair[1]);
        let length = until - from;
        if float(length) < SHORTEST * float(makespan) || usual > USUAL * float(length) {
            continue;
        }
        // The tasks that begin when it ends, and waited for nothing that is known.
        let soon = until + whole(USUAL * float(length));
        let begun = starts[at + 1..]
            .iter()
            .take_while(|(start, _)| *start <= soon);
        let held = begun.filter(|(start, it)| {
            let waited = unexplained(*it);
            2 * waited >= length && start - waited < until
        });
        let held = held.count();
        let middle = replay.begin + from + length / 2;
        let busy = trace.tasks.iter().filter(|task| {
            let started = task.at(TaskEvent::Started).is_some_and(|it| it <= middle);
            started && task.released().is_some_and(|it| it > middle)
        });
        let idle = lanes.saturating_sub(busy.count());
        if held >= 2 && 2 * held >= idle && 2 * idle >= lanes {
            gates.push(Gate { from, until });
        }
    }
    let Some(longest) = gates.iter().copied().max_by_key(|it| it.until - it.from) else {
        return Vec::new();
    };
    replay.gates = gates;
    replay.measure();
    let cause = Cause::Stall {
        from: longest.from,
        until: longest.until,
        is_freeze: false,
    };
    let changes = Changes {
        no_stalls: true,
        ..Changes::default()
    };
    vec![Candidate::new(0, cause, changes)]
}

/// A time in which all tasks stood still.
struct Freeze {
    from: i64,
    until: i64,
    /// How much longer its tasks took.
    time: i64,
    tasks: Vec<usize>,
}

/// Returns a candidate of the longest time in which no task began or ended, and all that were under way took as much
/// longer than their class.
pub(super) fn freezes(replay: &Replay<'_>, makespan: i64) -> Vec<Candidate> {
    let trace = replay.trace;
    let mut classes: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    let mut events: Vec<i64> = Vec::new();
    for (index, task) in trace.tasks.iter().enumerate() {
        if let Some((start, end)) = task.at(TaskEvent::Started).zip(task.released()) {
            events.extend([start, end]);
            classes.entry(task.class).or_default().push(index);
        }
    }
    events.sort_unstable();
    let works: Vec<i64> = replay.tasks.iter().map(|task| task.work).collect();
    let residuals = Residuals::of(trace, &works);
    let work = |index: &usize| float(replay.tasks[*index].work);
    let mut found: Option<Freeze> = None;
    for pair in events.windows(2) {
        let (from, until) = (pair[0], pair[1]);
        let length = until - from;
        let is_longer = found.as_ref().is_none_or(|it| it.until - it.from < length);
        if !is_longer || float(length) < SHORTEST * float(makespan) {
            continue;
        }
        let spanning: Vec<usize> = (0..trace.tasks.len())
            .filter(|index| {
                let task = &trace.tasks[*index];
                task.at(TaskEvent::Started).is_some_and(|it| it <= from)
                    && task.released().is_some_and(|it| it >= until)
            })
            .collect();
        let running = as_f64(spanning.len());
        // The others of each class, if there are any.
        let others: BTreeMap<Name, Vec<f64>> = spanning
            .iter()
            .map(|it| trace.tasks[*it].class)
            .map(|class| {
                let all = &classes[&class];
                let others = all.iter().filter(|it| !spanning.contains(it));
                let others: Vec<f64> = others.map(work).collect();
                (
                    class,
                    if others.is_empty() {
                        all.iter().map(work).collect()
                    } else {
                        others
                    },
                )
            })
            .collect();
        let usual_of = |index: &usize| median(&others[&trace.tasks[*index].class]).unwrap_or(0.0);
        let longer: Vec<f64> = spanning.iter().map(|it| work(it) - usual_of(it)).collect();
        let usual = spanning.iter().map(usual_of).sum::<f64>() / running.max(1.0);
        // Where a class has short tasks and long ones, some of the others are as long.
        let is_longest = |index: &&usize| {
            let others = others[&trace.tasks[**index].class].iter();
            others.filter(|it| **it >= work(index)).count() == 0
        };
        let longest = spanning.iter().filter(is_longest).count();
        // The longest pause that chance makes among so many, if the ends of tasks are as irregular as can be.
        let mean = usual / std::f64::consts::LN_2;
        let by_chance = mean / running.max(1.0) * (as_f64(events.len()).ln() + 5.0);
        // Or all of them are longer than tasks of their classes are by chance.
        let scores = spanning.iter().filter_map(|it| residuals.score(trace, *it));
        let score = scores.sum::<f64>() / running.sqrt();
        let is_freeze = spanning.len() >= 3
            && 5 * spanning.len() >= 3 * replay.lanes.len()
            && median(&longer).is_some_and(|it| it >= 0.6 * float(length))
            && longer.iter().all(|it| *it > 0.0)
            && 2 * longest > spanning.len()
            && (float(length) >= by_chance || score >= threshold(events.len()) + 1.0);
        if is_freeze {
            // Pauses between events are usual.
            let time = whole(median(&longer).unwrap_or(0.0)).min(length);
            found = Some(Freeze {
                from,
                until,
                time,
                tasks: spanning,
            });
        }
    }
    let candidate = found.map(|found| {
        let Freeze {
            from,
            until,
            time,
            tasks,
        } = found;
        let works = tasks.into_iter();
        let work = works.map(|it| (it, (replay.tasks[it].work - time).max(0)));
        let cause = Cause::Stall {
            from: from - replay.begin,
            until: until - replay.begin,
            is_freeze: true,
        };
        let changes = Changes {
            work: work.collect(),
            ..Changes::default()
        };
        Candidate::new(0, cause, changes)
    });
    candidate.into_iter().collect()
}
