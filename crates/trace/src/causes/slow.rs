//! Workers, hosts, tasks and classes that take longer than others.

use std::collections::BTreeMap;

use lapwing_stats::{as_f64, mean, median, standard_deviation};

use super::{Candidate, Cause, Model};
use crate::durations::{float, whole};
use crate::names::Name;
use crate::path::PathPart;
use crate::replay::{Changes, Replay, divided};
use crate::trace::Trace;

/// A worker is slow from so many times as long on.
const SLOW: f64 = 1.25;
/// A task is slow from so many times the median of its class on.
const FAR: f64 = 3.0;
/// A class is long from so many times the median of all other tasks on.
const LONG: f64 = 5.0;
/// The fewest tasks of a class whose durations can be compared.
const FEWEST: usize = 5;
/// The chance that a run without a cause has one.
const ALPHA: f64 = 0.005;
/// The smallest spread of logarithms of durations.
const LEAST_SPREAD: f64 = 0.03;

/// How much longer tasks take than the median of their class, as logarithms.
pub(super) struct Residuals {
    /// That of each task; `None` without a duration, or in a class with too few.
    of_task: Vec<Option<f64>>,
    medians: BTreeMap<Name, f64>,
    /// The robust spread of each class: 1.4826 times the median of absolute residuals.
    spreads: BTreeMap<Name, f64>,
}

impl Residuals {
    pub(super) fn of(trace: &Trace, works: &[i64]) -> Self {
        let mut classes: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (index, task) in trace.tasks.iter().enumerate() {
            if works[index] > 0 && task.released().is_some() {
                classes.entry(task.class).or_default().push(index);
            }
        }
        let mut residuals = Self {
            of_task: vec![None; trace.tasks.len()],
            medians: BTreeMap::new(),
            spreads: BTreeMap::new(),
        };
        for (class, tasks) in classes {
            let logs: Vec<f64> = tasks.iter().map(|it| float(works[*it]).ln()).collect();
            let Some(middle) = median(&logs).filter(|_| tasks.len() >= FEWEST) else {
                continue;
            };
            let away: Vec<f64> = logs.iter().map(|it| (it - middle).abs()).collect();
            let spread = 1.4826 * median(&away).unwrap_or_default();
            residuals.medians.insert(class, middle.exp());
            residuals.spreads.insert(class, spread.max(LEAST_SPREAD));
            for (index, log) in tasks.iter().zip(logs) {
                residuals.of_task[*index] = Some(log - middle);
            }
        }
        residuals
    }

    /// Returns the residual of a task in robust standard deviations of its class.
    pub(super) fn score(&self, trace: &Trace, task: usize) -> Option<f64> {
        let residual = self.of_task[task]?;
        Some(residual / self.spreads.get(&trace.tasks[task].class)?)
    }
}

/// Returns the value that the largest of so many standard normal ones exceeds with a chance below [`ALPHA`].
pub(crate) fn threshold(count: usize) -> f64 {
    (2.0 * (as_f64(count.max(1)) / ALPHA).ln()).sqrt()
}

/// Returns the standard deviation of values without a twentieth of them at each end.
fn trimmed_deviation(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = values.len().div_ceil(20);
    let kept = sorted.get(cut..sorted.len().saturating_sub(cut));
    kept.and_then(standard_deviation).unwrap_or(0.0)
}

/// How much longer the tasks of a worker or host take.
#[derive(Debug, Clone, Copy)]
struct Slowness {
    name: Name,
    /// How many times as long as elsewhere.
    times: f64,
    tasks: usize,
}

/// Returns the slow workers or hosts: the mean of the residuals of their tasks, from which that of all others is
/// taken, is above 0 by more than chance.
fn slow_places(replay: &Replay<'_>, place_of: impl Fn(usize) -> Name) -> Vec<Slowness> {
    let works: Vec<i64> = replay.tasks.iter().map(|task| task.work).collect();
    let residuals = Residuals::of(replay.trace, &works);
    let mut places: BTreeMap<Name, Vec<(f64, f64)>> = BTreeMap::new();
    for (index, residual) in residuals.of_task.iter().enumerate() {
        if let Some(residual) = residual {
            let spread = residuals.spreads[&replay.trace.tasks[index].class];
            let of_place = places.entry(place_of(index)).or_default();
            of_place.push((*residual, spread));
        }
    }
    let count = places.len();
    if count < 2 {
        return Vec::new();
    }
    let slow = places.iter().filter_map(|(name, of_place)| {
        let values: Vec<f64> = of_place.iter().map(|it| it.0).collect();
        let others = places.iter().filter(|(other, _)| *other != name);
        let others: Vec<f64> = others.flat_map(|it| it.1).map(|it| it.0).collect();
        let typical = median(&others)?;
        // The median is little moved by single slow tasks, which are causes of their own.
        let effect = median(&values)? - typical;
        let number = as_f64(values.len());
        let spread = of_place.iter().map(|it| it.1).sum::<f64>() / number;
        // The robust spread does not know of a second kind of tasks in a class.
        let spread = spread.max(trimmed_deviation(&others));
        // The standard error of a median is 1.2533 times that of a mean of normal values.
        let error = 1.2533 * spread / number.sqrt();
        // The median of values of two kinds can be that of either.
        let further = mean(&values)? - mean(&others)?;
        let is_slow = values.len() >= 2
            && further >= threshold(count) * spread / number.sqrt()
            && others.len() >= FEWEST
            && effect >= SLOW.ln()
            && effect >= threshold(count) * error;
        is_slow.then(|| Slowness {
            name: *name,
            times: effect.exp(),
            tasks: values.len(),
        })
    });
    slow.collect()
}

/// Returns candidates of slow workers and hosts, and tells the replay of them.
pub(super) fn workers(replay: &mut Replay<'_>) -> Vec<Candidate> {
    let trace = replay.trace;
    let hosts: BTreeMap<Name, usize> =
        replay.lanes.iter().fold(BTreeMap::new(), |mut all, lane| {
            *all.entry(lane.host).or_default() += 1;
            all
        });
    let mut slow = Vec::new();
    let slow_hosts = if hosts.len() > 1 {
        slow_places(replay, |task| trace.tasks[task].host)
    } else {
        Vec::new()
    };
    let slow_workers = slow_places(replay, |task| trace.tasks[task].worker);
    let host_of = |worker: Name| {
        let lane = replay.lanes.iter().find(|lane| lane.worker == worker);
        lane.map_or(Name::EMPTY, |lane| lane.host)
    };
    for host in slow_hosts {
        // One slow worker makes its host slow on average; a slow host has no other workers.
        let of_host = slow_workers
            .iter()
            .filter(|it| host_of(it.name) == host.name);
        let all = hosts[&host.name];
        if all > 1 && 2 * of_host.count() > all {
            slow.push((host, true));
        }
    }
    for worker in slow_workers {
        let host = host_of(worker.name);
        if !slow.iter().any(|(it, is_host)| *is_host && it.name == host) {
            slow.push((worker, false));
        }
    }
    let candidates: Vec<Candidate> = slow
        .iter()
        .map(|(it, is_host)| {
            let Slowness { name, times, tasks } = *it;
            let cause = if *is_host {
                Cause::SlowHost {
                    host: name,
                    times,
                    tasks,
                }
            } else {
                Cause::SlowWorker {
                    worker: name,
                    times,
                    tasks,
                }
            };
            let changes = Changes {
                usual_speed: vec![name],
                ..Changes::default()
            };
            Candidate::new(1, cause, changes)
        })
        .collect();
    for (it, is_host) in slow {
        let lanes = replay.lanes.iter_mut();
        let of_it = lanes.filter(|lane| it.name == if is_host { lane.host } else { lane.worker });
        of_it.for_each(|lane| lane.slowness = it.times);
    }
    candidates
}

/// Returns candidates of tasks that take much longer than their class, but for what their worker takes longer.
pub(super) fn tasks(model: &Model<'_>) -> Vec<Candidate> {
    let replay = &model.replay;
    if !model.trace.calls.is_empty() {
        // They are pieces of calls.
        return Vec::new();
    }
    let usual = replay
        .tasks
        .iter()
        .zip(&replay.lane_of)
        .map(|(task, lane)| divided(task.work, replay.lanes[*lane as usize].slowness));
    let works: Vec<i64> = usual.collect();
    let residuals = Residuals::of(model.trace, &works);
    let mut classes: BTreeMap<Name, Vec<(f64, usize)>> = BTreeMap::new();
    let count = residuals.of_task.iter().flatten().count();
    for (index, residual) in residuals.of_task.iter().enumerate() {
        let class = model.trace.tasks[index].class;
        if let Some(residual) = residual
            && *residual >= FAR.ln()
            && *residual >= (threshold(count) + 1.0) * residuals.spreads[&class]
        {
            classes.entry(class).or_default().push((*residual, index));
        }
    }
    let candidates = classes.into_iter().filter_map(|(class, mut tasks)| {
        tasks.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (residual, longest) = *tasks.first()?;
        // Many of them are a class of their own.
        let of_class = model.trace.tasks.iter().filter(|task| task.class == class);
        if tasks.len() > 2.max(of_class.count() / 20) {
            return None;
        }
        let usual = residuals.medians[&class];
        let work = tasks.iter().map(|(_, index)| {
            let own = replay.lanes[replay.lane_of[*index] as usize].slowness;
            (*index, divided(whole(usual), 1.0 / own))
        });
        let cause = Cause::SlowTasks {
            class,
            task: model.trace.tasks[longest].name,
            times: residual.exp(),
            tasks: tasks.len(),
        };
        let changes = Changes {
            work: work.collect(),
            ..Changes::default()
        };
        Some(Candidate::new(2, cause, changes))
    });
    candidates.collect()
}

/// Returns candidates of classes that take most of the path to the end, and much longer than all others.
pub(super) fn classes(model: &Model<'_>) -> Vec<Candidate> {
    let Some(path) = model.path else {
        return Vec::new();
    };
    let trace = model.trace;
    let mut of_path: BTreeMap<Name, i64> = BTreeMap::new();
    for ((part, class), time) in &path.by_class {
        if matches!(part, PathPart::Task(_)) {
            *of_path.entry(*class).or_default() += time;
        }
    }
    let most = of_path.into_iter().max_by_key(|(_, time)| *time);
    let Some((class, _)) = most.filter(|(_, time)| model.share(*time) >= 0.5) else {
        return Vec::new();
    };
    let works = trace.tasks.iter().zip(&model.replay.tasks);
    let mut sides: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for (task, replayed) in works {
        sides[usize::from(task.class == class)].push(float(replayed.work));
    }
    let Some((other, own)) = median(&sides[0]).zip(median(&sides[1])) else {
        return Vec::new();
    };
    let is_usual = sides[0].len() < FEWEST || 5 * sides[0].len() < trace.tasks.len();
    // Of calls, that one class takes most of the time is what is looked for.
    if trace.calls.is_empty() && (is_usual || own < LONG * other) {
        return Vec::new();
    }
    let of_class = (0..trace.tasks.len()).filter(|it| trace.tasks[*it].class == class);
    let cause = Cause::LongClass {
        class,
        tasks: sides[1].len(),
        times: own / other.max(1.0),
    };
    let changes = Changes {
        work: of_class.map(|index| (index, 0)).collect(),
        ..Changes::default()
    };
    vec![Candidate::new(8, cause, changes)]
}
