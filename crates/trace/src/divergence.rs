//! Where two runs of the same tasks first differ by more than noise.

use std::collections::HashMap;

use lapwing_stats::as_f64;

use crate::causes::threshold;
use crate::durations::float;
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};

/// Two runs whose tasks are matched: those of the same name, tried as often before, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedRuns {
    /// The indices of each matched task.
    pub pairs: Vec<[usize; 2]>,
    /// The robust spread of the logarithms of how many times as long a task occupies a worker in the second run.
    pub noise: f64,
    /// The earliest task that differs by more than noise.
    pub first: Option<DivergentTask>,
}

/// A task that differs between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DivergentTask {
    /// When it started, in ns since its run began, in the run where that was earlier.
    pub at: i64,
    /// Its index in each run that has it.
    pub tasks: [Option<usize>; 2],
    /// In what it differs.
    pub kind: DivergenceKind,
}

/// In what a task differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DivergenceKind {
    /// One run does not have it.
    Missing,
    /// It ran on another worker, while nearly all tasks ran on the same.
    Worker,
    /// The time from when it could start to its start, in ns in each run.
    Start([i64; 2]),
    /// How long it occupied its worker, in ns in each run.
    Duration([i64; 2]),
}

/// The fewest tasks of a class that have a spread of their own.
const FEWEST: usize = 10;
/// The smallest spread of logarithms of durations.
const LEAST_SPREAD: f64 = 0.03;
/// Smaller differences of durations matter little: this share of the shorter run.
const LEAST: f64 = 0.05;
/// The same for starts, which vary more from run to run.
const LEAST_DELAY: f64 = 0.1;
/// The largest share of tasks on other workers that are exceptions.
const EXCEPTIONS: f64 = 0.05;

impl MatchedRuns {
    /// Matches the tasks of two runs.
    pub fn of(runs: [&Trace; 2]) -> Self {
        let (pairs, alone) = pairs(runs);
        let both = |of: [usize; 2]| [&runs[0].tasks[of[0]], &runs[1].tasks[of[1]]];
        let each = || pairs.iter().copied();
        let strict = threshold(pairs.len());
        let shorter = runs[0].makespan().min(runs[1].makespan());
        let matters = |times: &[i64; 2], share: f64| {
            float((times[1] - times[0]).abs()) >= share * float(shorter)
        };
        let works = |of| {
            let [one, other] = both(of).map(|task| task.work().filter(|work| *work > 0));
            Some([one?, other?])
        };
        let log = |works: [i64; 2]| (float(works[1]) / float(works[0])).ln();
        let mut logs: HashMap<Name, Vec<f64>> = HashMap::new();
        for of in each() {
            let of_class = logs.entry(both(of)[0].class).or_default();
            of_class.extend(works(of).map(log));
        }
        let all = middle_and_spread(logs.values().flatten().copied().collect());
        let (middle, noise) = (all.0, all.1.max(LEAST_SPREAD));
        logs.retain(|_, of_class| of_class.len() >= FEWEST);
        let spreads = logs
            .into_iter()
            .map(|(class, of)| (class, middle_and_spread(of).1));
        let spreads: HashMap<Name, f64> = spreads.collect();
        let delays = runs.map(delays);
        let delay = |of: [usize; 2]| Some([delays[0][of[0]]?, delays[1][of[1]]?]);
        let later = each().filter_map(delay).map(|it| float(it[1] - it[0]));
        let delay_noise = middle_and_spread(later.collect()).1;
        let is_moved = |of| {
            let [one, other] = both(of);
            runs[0].text(one.worker) != runs[1].text(other.worker)
        };
        let moved = each().filter(|of| is_moved(*of)).count();
        let is_exception = as_f64(moved) <= EXCEPTIONS * as_f64(pairs.len());
        let kind = |of| {
            let spread = spreads.get(&both(of)[0].class).copied().unwrap_or(noise);
            let is_longer = |works: &[i64; 2]| {
                // A run that is slower throughout has no first slow task.
                let [log, relative] = [log(*works), log(*works) - middle];
                log * relative > 0.0
                    && log.abs().min(relative.abs()) >= strict * spread.max(LEAST_SPREAD)
            };
            let is_later = |it: &[i64; 2]| float((it[1] - it[0]).abs()) >= strict * delay_noise;
            let moved = (is_exception && is_moved(of)).then_some(DivergenceKind::Worker);
            let start = delay(of)
                .filter(|it| matters(it, LEAST_DELAY))
                .filter(is_later);
            let works = works(of).filter(|it| matters(it, LEAST)).filter(is_longer);
            let start = start.map(DivergenceKind::Start);
            moved.or(start).or(works.map(DivergenceKind::Duration))
        };
        let begins = runs.map(|run| run.range().map_or(0, |it| it.0));
        let start = |run: usize, task: usize| {
            let task: &Task = &runs[run].tasks[task];
            Some(task.at(TaskEvent::Started).or(task.begin())? - begins[run])
        };
        let differing = each().filter_map(|of| Some((of.map(Some), kind(of)?)));
        let alone = alone.into_iter().map(|of| (of, DivergenceKind::Missing));
        let divergent = differing.chain(alone).filter_map(|(tasks, kind)| {
            let starts = (0..2).filter_map(|run| start(run, tasks[run]?));
            let at = starts.min()?;
            Some(DivergentTask { at, tasks, kind })
        });
        Self {
            noise,
            first: divergent.min_by_key(|it| (it.at, it.kind)),
            pairs,
        }
    }
}

/// Returns the tasks that both runs have, and those that only one has.
fn pairs(runs: [&Trace; 2]) -> (Vec<[usize; 2]>, Vec<[Option<usize>; 2]>) {
    let mut others: HashMap<(&str, u32), Vec<usize>> = HashMap::new();
    for (index, task) in runs[1].tasks.iter().enumerate().rev() {
        let alike = others.entry((runs[1].text(task.name), task.attempt));
        alike.or_default().push(index);
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for (index, task) in runs[0].tasks.iter().enumerate() {
        let alike = others.get_mut(&(runs[0].text(task.name), task.attempt));
        match alike.and_then(Vec::pop) {
            Some(other) => pairs.push([index, other]),
            None => alone.push([Some(index), None]),
        }
    }
    let rest = others.into_values().flatten();
    alone.extend(rest.map(|other| [None, Some(other)]));
    (pairs, alone)
}

/// Returns for each task the time from the last end that it can have waited for to its start: that of its inputs and of
/// the tasks before it on its worker, or of any task if the graph is not known.
fn delays(trace: &Trace) -> Vec<Option<i64>> {
    let has_graph = trace.has_graph();
    let place = |task: &Task| if has_graph { task.worker } else { Name::EMPTY };
    let mut ends: HashMap<Name, Vec<i64>> = HashMap::new();
    let mut inputs: HashMap<Name, i64> = HashMap::new();
    for task in &trace.tasks {
        let Some(end) = task.released() else { continue };
        ends.entry(place(task)).or_default().push(end);
        inputs.insert(task.name, end);
    }
    ends.values_mut().for_each(|it| it.sort_unstable());
    let delay = |task: &Task| {
        let start = task.at(TaskEvent::Started)?;
        let before = ends.get(&place(task))?;
        let before = before[..before.partition_point(|end| *end <= start)].last();
        let inputs = task.inputs.iter().filter_map(|input| inputs.get(input));
        let ready = inputs.chain(before).filter(|end| **end <= start).max()?;
        Some(start - ready)
    };
    trace.tasks.iter().map(delay).collect()
}

/// Returns the middle of the shortest half of values, of halves about as short of that nearest to 0, and their spread by
/// its length, which the other half does not matter for (least median of squares: Rousseeuw 1984, with the factor for
/// few values of Rousseeuw and Leroy 1987).
fn middle_and_spread(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2 + 1;
    let length = |it: &[f64]| it[half - 1] - it[0];
    let halves = || values.windows(half);
    let Some(shortest) = halves().map(length).min_by(f64::total_cmp) else {
        return (0.0, 0.0);
    };
    let near = halves().filter(|it| length(it) <= 1.5 * shortest);
    let middles = near.map(|it| f64::midpoint(it[0], it[half - 1]));
    let middle = middles.min_by(|one, other| one.abs().total_cmp(&other.abs()));
    let few = 1.0 + 5.0 / as_f64(values.len().max(2) - 1);
    (middle.unwrap_or_default(), 1.4826 * few * shortest / 2.0)
}
