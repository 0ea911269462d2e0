//! How long tasks compute with other numbers of tasks beside them, over runs of several settings.

use std::collections::BTreeMap;

use lapwing_stats::mean;

use crate::contention::Running;
use crate::durations::float;
use crate::names::Name;
use crate::trace::{Task, Trace};
use crate::worker_time::worker_time;

/// Tasks that take so many times as long beside others share what they all need.
const SLOWER: f64 = 1.1;

/// For each class the number of tasks at once and the time to compute of each run.
type Points<'t> = BTreeMap<&'t str, Vec<(f64, f64)>>;

/// How long the tasks of each class compute, by the number of tasks that compute at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loads {
    /// For each class the mean number of tasks at once and the mean time in ns of each setting, in ascending order.
    classes: BTreeMap<String, Vec<(f64, f64)>>,
    /// The numbers of workers of the settings, in ascending order.
    pub workers: Vec<usize>,
}

impl Loads {
    /// Measures runs of one or more settings, told apart by their numbers of workers, on the same machine. Hosts can be
    /// names on one machine, so tasks are counted over all of them.
    pub fn of(runs: &[&Trace]) -> Self {
        let mut settings: BTreeMap<usize, Points<'_>> = BTreeMap::new();
        for trace in runs {
            let workers = worker_time(trace).map_or(0, |it| it.workers);
            let classes = settings.entry(workers).or_default();
            let times = computing_times(trace);
            for (class, at_once) in at_once(trace) {
                if let Some(time) = times.get(&class).and_then(|times| mean(times)) {
                    let of_class = classes.entry(trace.text(class)).or_default();
                    of_class.push((at_once, time));
                }
            }
        }
        let mut loads = Self {
            workers: settings.keys().copied().collect(),
            ..Self::default()
        };
        for (class, points) in settings.into_values().flatten() {
            let (at_once, times): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            if let Some(point) = mean(&at_once).zip(mean(&times)) {
                loads
                    .classes
                    .entry(class.to_owned())
                    .or_default()
                    .push(point);
            }
        }
        for points in loads.classes.values_mut() {
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        loads
    }

    /// Returns how long a task of a class computes with so many at once, in ns: as long as with the fewer of the nearest
    /// two that were measured, unless more would get done at once than with the more. Beyond the most, what was slower
    /// with them than with the fewest gets no more done at once, and all else takes as long.
    pub(crate) fn time(&self, class: &str, at_once: f64) -> Option<f64> {
        let points = self.classes.get(class)?;
        let (first, last) = (points.first()?, points.last()?);
        if at_once >= last.0 {
            let is_slower = last.1 > SLOWER * first.1;
            let more = if is_slower { at_once / last.0 } else { 1.0 };
            return Some(last.1 * more);
        }
        let after = points.partition_point(|point| point.0 <= at_once);
        let Some((from, to)) = after.checked_sub(1).map(|it| (points[it], points[after])) else {
            return Some(first.1);
        };
        Some(from.1.max(to.1 * at_once / to.0))
    }
}

/// Returns the mean number of tasks that compute at once while one of each class does.
pub(crate) fn at_once(trace: &Trace) -> BTreeMap<Name, f64> {
    let tasks = trace.tasks.iter();
    let intervals = tasks.filter_map(|task| Some((task.class, task.computing()?)));
    at_once_of(&intervals.collect::<Vec<_>>())
}

/// Returns the same of classes of tasks and the intervals in which they compute.
pub(crate) fn at_once_of(intervals: &[(Name, (i64, i64))]) -> BTreeMap<Name, f64> {
    let all = intervals.iter().map(|(_, (from, to))| (*from, *to, 1.0));
    let running = Running::of(all);
    let mut sums: BTreeMap<Name, (f64, f64)> = BTreeMap::new();
    for (class, (from, to)) in intervals {
        let (running_sum, time) = sums.entry(*class).or_default();
        *running_sum += running.until(*to) - running.until(*from);
        *time += float(to - from);
    }
    sums.retain(|_, (_, time)| *time > 0.0);
    let means = sums.into_iter();
    means
        .map(|(class, (sum, time))| (class, sum / time))
        .collect()
}

fn computing_times(trace: &Trace) -> BTreeMap<Name, Vec<f64>> {
    let mut times: BTreeMap<Name, Vec<f64>> = BTreeMap::new();
    for task in &trace.tasks {
        if let Some((from, to)) = Task::computing(task) {
            times.entry(task.class).or_default().push(float(to - from));
        }
    }
    times
}
