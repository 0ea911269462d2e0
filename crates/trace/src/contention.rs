//! Whether tasks are slower while others compute.

use std::collections::BTreeMap;

use lapwing_stats::{Confidence, as_f64};

use crate::names::Name;
use crate::trace::{Task, Trace};

/// The fewest tasks of a class on a host of which a line is fitted.
const FEWEST: usize = 10;
/// The smallest difference in concurrency within which nothing can be seen.
const LEAST_RANGE: f64 = 0.5;

/// How the time to compute depends on the number of tasks that compute at once on the same host, by a least-squares line.
#[derive(Debug, Clone, PartialEq)]
pub struct Contention {
    /// The class of tasks.
    pub class: Name,
    /// The host.
    pub host: Name,
    /// Number of tasks.
    pub tasks: usize,
    /// Mean number of tasks that computed on the host at once, these included.
    pub concurrency: f64,
    /// The time to compute alone, in ns, by the line.
    pub alone: f64,
    /// What each further task adds, in ns.
    pub slope: f64,
    /// The 95 % interval of the slope, if tasks were independent; they share a run, so it is too narrow for another run.
    pub slope_interval: [f64; 2],
    /// The time that was lost to tasks at once, in ns: the slope for each further task, of all tasks.
    pub lost: f64,
}

/// Returns the contention of each class and host with enough tasks, the largest loss first.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn contention(trace: &Trace) -> Vec<Contention> {
    let mut hosts: BTreeMap<Name, Vec<&Task>> = BTreeMap::new();
    for task in &trace.tasks {
        if task.computing().is_some_and(|(from, to)| from < to) {
            hosts.entry(task.host).or_default().push(task);
        }
    }
    let mut found = Vec::new();
    for (host, tasks) in hosts {
        let running = Running::of(&tasks);
        let mut classes: BTreeMap<Name, Vec<(f64, f64)>> = BTreeMap::new();
        for task in tasks {
            let Some((from, to)) = task.computing() else {
                continue;
            };
            let at_once = (running.until(to) - running.until(from)) as f64 / (to - from) as f64;
            let of_class = classes.entry(task.class).or_default();
            of_class.push((at_once, (to - from) as f64));
        }
        for (class, points) in classes {
            found.extend(line(class, host, &points));
        }
    }
    found.sort_by(|one, other| other.lost.total_cmp(&one.lost));
    found
}

/// The number of tasks that compute at once, summed over time.
struct Running {
    /// Moments, the sum up to each, and the number from then on.
    steps: Vec<(i64, i64, i64)>,
}

impl Running {
    fn of(tasks: &[&Task]) -> Self {
        let computing = tasks.iter().filter_map(|task| task.computing());
        let mut edges: Vec<(i64, i64)> = computing
            .flat_map(|(from, to)| [(from, 1), (to, -1)])
            .collect();
        edges.sort_unstable();
        let (mut sum, mut number, mut before) = (0, 0, 0);
        let steps = edges.into_iter().map(|(at, step)| {
            sum += number * (at - before);
            before = at;
            number += step;
            (at, sum, number)
        });
        Self {
            steps: steps.collect(),
        }
    }

    /// Returns the sum up to a moment, in tasks × ns.
    fn until(&self, moment: i64) -> i64 {
        let place = self.steps.partition_point(|(at, ..)| *at <= moment);
        match place.checked_sub(1) {
            Some(last) => {
                let (at, sum, number) = self.steps[last];
                sum + number * (moment - at)
            }
            None => 0,
        }
    }
}

/// Fits a line to concurrency and time.
fn line(class: Name, host: Name, points: &[(f64, f64)]) -> Option<Contention> {
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
    let range = points.iter().map(|point| point.0);
    let range = range.clone().fold(f64::MIN, f64::max) - range.fold(f64::MAX, f64::min);
    if range < LEAST_RANGE || sxx <= 0.0 {
        return None;
    }
    let slope = sxy / sxx;
    let rest = sum(&|dx, dy| (dy - slope * dx).powi(2));
    let error = (rest / (count - 2.0) / sxx).sqrt();
    let reach = Confidence::P95.t_quantile(count - 2.0)? * error;
    let further: f64 = points.iter().map(|point| (point.0 - 1.0).max(0.0)).sum();
    Some(Contention {
        class,
        host,
        tasks: points.len(),
        concurrency: x,
        alone: y - slope * (x - 1.0),
        slope,
        slope_interval: [slope - reach, slope + reach],
        lost: slope * further,
    })
}
