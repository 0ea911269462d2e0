//! What the last tasks waited for, averaged over all paths that are nearly as long as the longest.

use std::collections::BTreeMap;

use crate::copies::InputCopies;
use crate::durations::float;
use crate::graph::TaskGraph;
use crate::names::Name;
use crate::path::{PathPart, PathParts, ReleasedTasks, add_parts};
use crate::trace::{Task, TaskEvent, Trace};

/// A predecessor counts if it ended so close before the last one, as a share of the makespan.
const NEAR: f64 = 0.02;
/// The most completions before the planning of a task that count without a graph.
const MOST_OBSERVED: usize = 16;

/// The mean over near-critical paths.
#[derive(Debug, Default)]
pub(crate) struct NearPaths {
    /// Times in ns of each part, with the class of tasks.
    pub parts: BTreeMap<(PathPart, Name), f64>,
    /// Number of tasks of each class.
    pub tasks: BTreeMap<Name, f64>,
}

/// Tasks that paths lead to, by when they left their worker: until when each path needs them, and its weight.
type OpenTasks = BTreeMap<(Option<i64>, usize), Vec<(i64, f64)>>;

/// Returns the mean over paths that end with the last tasks and go back from each task to what it waited for.
///
/// Rules are those of [`run_path`](crate::run_path), but where several predecessors ended at nearly the same time, each
/// has a share, which falls linearly to 0 at the limit: which of them was the last is chance. The time after a
/// predecessor that was not the last is the controller's, so that each path is as long as the run.
pub(crate) fn near_paths(trace: &Trace) -> NearPaths {
    let mut paths = NearPaths::default();
    let graph = TaskGraph::of(trace);
    let copies = graph.as_ref().map(|graph| InputCopies::of(trace, graph));
    let is_whole = |task: &Task| task.begin().is_some() && task.end().is_some();
    let end_of = |index: usize| Some((trace.tasks[index].end()?, index));
    let indices = (0..trace.tasks.len()).filter(|index| is_whole(&trace.tasks[*index]));
    let mut by_end: Vec<(i64, usize)> = indices.filter_map(end_of).collect();
    by_end.sort_unstable();
    let Some((last, _)) = by_end.last().copied() else {
        return paths;
    };
    let window = NEAR * float(trace.makespan());
    let by_worker = ReleasedTasks::of(trace);
    // A task waits only for what left its worker before, so in this order no path comes back.
    let key = |index: usize| (trace.tasks[index].released(), index);
    let mut open = OpenTasks::new();
    let ends = by_end.iter().rev();
    let ends: Vec<(i64, usize)> = ends
        .take_while(|(end, _)| float(last - end) <= window)
        .copied()
        .collect();
    for (end, index, share) in shares(&ends, window) {
        *paths.between(PathPart::Controller) += share * float(last - end);
        open.entry(key(index)).or_default().push((end, share));
    }
    while let Some(((_, current), mut reached)) = open.pop_last() {
        reached.sort_unstable_by_key(|(until, _)| *until);
        reached.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        let task = &trace.tasks[current];
        let Some(begin) = task.begin() else { continue };
        let weight: f64 = reached.iter().map(|(_, weight)| weight).sum();
        *paths.tasks.entry(task.class).or_default() += weight;
        let queued = by_worker.queued_behind(trace, current);
        let mut before: Vec<(i64, usize)> = match (&graph, queued) {
            (Some(graph), _) => {
                let inputs = graph.inputs[current].iter();
                let inputs = inputs.filter_map(|input| end_of(*input));
                inputs.chain(by_worker.previous(task)).collect()
            }
            (None, Some(queued)) => vec![queued],
            (None, None) => {
                let place = by_end.partition_point(|(end, _)| *end <= begin);
                let earlier = by_end[..place].iter().rev();
                earlier.take(MOST_OBSERVED).copied().collect()
            }
        };
        before.retain(|(_, index)| key(*index) < key(current) && is_whole(&trace.tasks[*index]));
        let before = shares(&before, window);
        for (until, weight) in reached {
            if before.is_empty() {
                paths.add(task, (begin, until), weight);
            }
            for (end, index, share) in &before {
                let (end, weight) = ((*end).min(until), weight * share);
                paths.add(task, (begin.max(end), until), weight);
                let gap = (begin.min(until) - end).max(0);
                let started = task.at(TaskEvent::Started).unwrap_or(begin);
                let copying = copies
                    .as_ref()
                    .map_or(0, |it| it.within(current, end, started));
                let copying = copying.min(gap);
                *paths.between(PathPart::Transfer) += weight * float(copying);
                *paths.between(PathPart::Controller) += weight * float(gap - copying);
                open.entry(key(*index)).or_default().push((end, weight));
            }
        }
    }
    paths.parts.retain(|_, time| *time > 0.0);
    paths
}

impl NearPaths {
    fn between(&mut self, part: PathPart) -> &mut f64 {
        self.parts.entry((part, Name::EMPTY)).or_default()
    }

    fn add(&mut self, task: &Task, (from, until): (i64, i64), weight: f64) {
        let mut parts = PathParts::new();
        add_parts(task, from, until, &mut parts);
        for (part, time) in parts {
            *self.parts.entry(part).or_default() += weight * float(time);
        }
    }
}

/// Returns those that ended within the window before the last of them, with their shares.
fn shares(ends: &[(i64, usize)], window: f64) -> Vec<(i64, usize, f64)> {
    let last = ends.iter().map(|(end, _)| *end).max().unwrap_or(0);
    let weight = |end: i64| match last - end {
        0 => 1.0,
        earlier => (1.0 - float(earlier) / window).max(0.0),
    };
    let sum: f64 = ends.iter().map(|(end, _)| weight(*end)).sum();
    let shares = ends
        .iter()
        .map(|(end, index)| (*end, *index, weight(*end) / sum));
    shares.filter(|(_, _, share)| *share > 0.0).collect()
}
