//! Whether tasks are slower while others compute.

use std::collections::BTreeMap;

use lapwing_stats::{Confidence, as_f64, quantile};

use crate::durations::TaskDuration;
use crate::names::Name;
use crate::off_cpu::{WaitsFor, waits_for};
use crate::trace::{Task, Trace};

/// The fewest tasks of a class on a host of which a line is fitted.
const FEWEST: usize = 10;
/// The smallest difference in concurrency within which nothing can be seen.
const LEAST_RANGE: f64 = 0.5;

/// How the time to compute depends on the number of tasks that compute at once on the same host, by a least-squares
/// line.
///
/// Where the time on the CPU was measured, a task of a class counts as much as the class can use the CPU: by the 0.9
/// quantile of the share that its tasks had. Tasks that sleep are in nobody's way.
#[derive(Debug, Clone, PartialEq)]
pub struct Contention {
    /// The class of tasks.
    pub class: Name,
    /// The host; empty for all hosts together, which can be names on one machine.
    pub host: Name,
    /// Number of tasks.
    pub tasks: usize,
    /// Mean number of tasks that computed on the host at once, these included.
    pub concurrency: f64,
    /// The time to compute alone, in ns, by the line.
    pub alone: f64,
    /// What each further task adds, in ns.
    pub slope: f64,
    /// The 95 % interval of the slope, if tasks were independent; they share a run, so it is too narrow for another
    /// run.
    pub slope_interval: [f64; 2],
    /// The time that was lost to tasks at once, in ns: the slope for each further task, of all tasks.
    pub lost: f64,
    /// Each task, and the mean number of further tasks beside it.
    pub of_tasks: Vec<(usize, f64)>,
    /// Why, if the time on the CPU was measured.
    pub cause: Option<ContentionCause>,
}

/// Why tasks are slower while others compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentionCause {
    /// They take more time on the CPU: cores are slower that share caches, memory or a clock.
    OnCpu,
    /// They wait longer.
    OffCpu(WaitsFor),
}

/// Returns the contention of each class and host with enough tasks, the largest loss first.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn contention(trace: &Trace) -> Vec<Contention> {
    let mut hosts: BTreeMap<Name, Vec<(usize, &Task)>> = BTreeMap::new();
    for (index, task) in trace.tasks.iter().enumerate() {
        if task.computing().is_some_and(|(from, to)| from < to) {
            hosts.entry(task.host).or_default().push((index, task));
        }
    }
    // Hosts can be names on one machine.
    if hosts.len() > 1 {
        let all = hosts.values().flatten().copied().collect();
        hosts.insert(Name::EMPTY, all);
    }
    let mut found = Vec::new();
    for (host, tasks) in hosts {
        let mut classes: BTreeMap<Name, Vec<(usize, &Task)>> = BTreeMap::new();
        for (index, task) in &tasks {
            classes.entry(task.class).or_default().push((*index, task));
        }
        let weights = classes.iter().map(|(class, of)| (*class, weight(of)));
        let weights: BTreeMap<Name, f64> = weights.collect();
        let running = tasks.iter().filter_map(|(_, task)| {
            let (from, to) = task.computing()?;
            Some((from, to, weights[&task.class]))
        });
        let running = Running::of(running);
        for (class, tasks) in classes {
            let further = |task: &Task| {
                let (from, to) = task.computing()?;
                let all = running.until(to) - running.until(from);
                Some(all / (to - from) as f64 - weights[&class])
            };
            let beside = tasks.iter();
            let beside = beside.filter_map(|(index, task)| Some((*index, *task, further(task)?)));
            let beside: Vec<(usize, &Task, f64)> = beside.collect();
            let line = |part: TaskDuration| {
                let points = beside.iter();
                let points = points
                    .filter_map(|(_, task, further)| Some((1.0 + further, part.of(task)? as f64)));
                StraightLine::through(&points.collect::<Vec<_>>())
            };
            let Some(computing) = line(TaskDuration::Compute) else {
                continue;
            };
            let lost = computing.slope * computing.further;
            let time = computing.mean * as_f64(computing.count);
            let off_cpu = line(TaskDuration::OffCpu).filter(|off| off.count == computing.count);
            let cause = off_cpu.map(|off| {
                if off.slope < computing.slope / 2.0 {
                    ContentionCause::OnCpu
                } else {
                    let tasks: Vec<&Task> = tasks.iter().map(|(_, task)| *task).collect();
                    ContentionCause::OffCpu(waits_for(trace, &tasks, lost / time))
                }
            });
            let others = computing.concurrency - 1.0;
            let of_tasks = beside.iter().map(|(index, _, further)| (*index, *further));
            let of_tasks = of_tasks.collect();
            found.push(Contention {
                class,
                host,
                tasks: computing.count,
                concurrency: computing.concurrency,
                alone: computing.mean - computing.slope * others,
                slope: computing.slope,
                slope_interval: computing.slope_interval,
                lost,
                of_tasks,
                cause,
            });
        }
    }
    found.sort_by(|one, other| other.lost.total_cmp(&one.lost));
    found
}

/// Returns how much of the CPU the tasks of a class can use.
fn weight(tasks: &[(usize, &Task)]) -> f64 {
    let shares: Option<Vec<f64>> = tasks.iter().map(|(_, task)| task.cpu_share()).collect();
    let weight = shares.and_then(|shares| quantile(&shares, 0.9));
    weight.unwrap_or(1.0)
}

/// The number of tasks that compute at once, by weight and summed over time.
pub(crate) struct Running {
    /// Moments, the sum up to each, and the number from then on.
    steps: Vec<(i64, f64, f64)>,
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
impl Running {
    /// Counts intervals, from a moment to another and with a weight each.
    pub(crate) fn of(intervals: impl Iterator<Item = (i64, i64, f64)>) -> Self {
        let edges = intervals.map(|(from, to, weight)| [(from, weight), (to, -weight)]);
        let mut edges: Vec<(i64, f64)> = edges.flatten().collect();
        edges.sort_unstable_by_key(|(at, _)| *at);
        let mut before = edges.first().map_or(0, |(at, _)| *at);
        let (mut sum, mut number) = (0.0, 0.0);
        let steps = edges.into_iter().map(|(at, step)| {
            sum += number * (at - before) as f64;
            before = at;
            number += step;
            (at, sum, number)
        });
        Self {
            steps: steps.collect(),
        }
    }

    /// Returns the sum up to a moment, in tasks × ns.
    pub(crate) fn until(&self, moment: i64) -> f64 {
        let place = self.steps.partition_point(|(at, ..)| *at <= moment);
        place.checked_sub(1).map_or(0.0, |last| {
            let (at, sum, number) = self.steps[last];
            sum + number * (moment - at) as f64
        })
    }
}

/// A least-squares line of time on concurrency.
struct StraightLine {
    count: usize,
    concurrency: f64,
    mean: f64,
    slope: f64,
    slope_interval: [f64; 2],
    /// The number of further tasks, summed over all.
    further: f64,
}

impl StraightLine {
    /// Fits a line; `None` if the points are too few, or too close to each other in concurrency.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < FEWEST {
            return None;
        }
        let count = as_f64(points.len());
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            points
                .iter()
                .map(|point| of(point.0 - x, point.1 - y))
                .sum()
        };
        let (sxx, sxy) = (sum(&|dx, _| dx * dx), sum(&|dx, dy| dx * dy));
        let at = points.iter().map(|point| point.0);
        let range = at.clone().fold(f64::MIN, f64::max) - at.fold(f64::MAX, f64::min);
        if range < LEAST_RANGE || sxx <= 0.0 {
            return None;
        }
        let slope = sxy / sxx;
        let rest = sum(&|dx, dy| (dy - slope * dx).powi(2));
        let error = (rest / (count - 2.0) / sxx).sqrt();
        let reach = Confidence::P95.t_quantile(count - 2.0)? * error;
        Some(Self {
            count: points.len(),
            concurrency: x,
            mean: y,
            slope,
            slope_interval: [slope - reach, slope + reach],
            further: points.iter().map(|point| (point.0 - 1.0).max(0.0)).sum(),
        })
    }
}
