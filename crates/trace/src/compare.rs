//! What differs between traces.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lapwing_stats::{
    Confidence, Interval, as_f64, geometric_mean, geometric_mean_interval, mean, ratio_of_means,
};

use crate::durations::{DurationGroup, TaskDuration, durations as group_durations, float, whole};
use crate::loads::at_once;
use crate::near_paths::near_paths;
use crate::path::PathPart;
use crate::trace::{Task, Trace};
use crate::worker_time::{WorkerTime, worker_time};

/// Sides of one or more runs each; each list has a value for each side, in their order, and the first is the baseline.
/// Where a side has several runs, times and numbers are means over them.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceComparison {
    /// Number of runs of each side.
    pub runs: Vec<usize>,
    /// What each side has on the whole, in the mean of its runs.
    pub wholes: Vec<TraceWhole>,
    /// How long the tasks of each class take.
    pub classes: Vec<ClassTimes>,
    /// The paths to the last end, averaged over those that are nearly as long. The times of a side add up to its
    /// makespan, so differences add up to that of makespans.
    pub path: Vec<PathTimes>,
    /// For each class the mean number of its tasks on those paths, on each side.
    pub on_path: BTreeMap<String, Vec<f64>>,
    /// Every duration of all tasks and of each class.
    pub durations: Vec<DurationSums>,
    /// The tasks of the baseline, in its order.
    pub tasks: Vec<TaskTimes>,
}

/// How long the tasks of a class take on each side.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassTimes {
    /// The class.
    pub class: String,
    /// The duration.
    pub duration: TaskDuration,
    /// Number of tasks per run.
    pub counts: Vec<usize>,
    /// The mean over tasks in ns; `None` if no task has it.
    pub means: Vec<Option<i64>>,
    /// Of the time to compute: the mean number of tasks that compute at once while one of the class does.
    pub at_once: Vec<Option<f64>>,
    /// How many times as long as on the baseline; `None` for the baseline, and if a side has no positive time.
    pub ratios: Vec<Option<DurationRatio>>,
}

/// How many times as long tasks take as on the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationRatio {
    /// The ratio of geometric means.
    pub ratio: f64,
    /// Its 95 % interval; `None` for a single task on each side.
    pub interval: Option<Interval>,
    /// What the interval is over.
    pub over: Replicates,
    /// Whether the tasks changed: the interval excludes 1 also after Bonferroni's correction for the number of classes
    /// and durations, and the ratio is further than 1 % from 1. Without an interval, 5 % decide.
    pub is_changed: bool,
}

/// What an interval is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replicates {
    /// Runs: three or more on each side.
    Runs,
    /// Tasks of the same name on both sides.
    PairedTasks,
    /// All tasks of the class.
    Tasks,
}

/// A part of the difference between two makespans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReason {
    /// Its kind.
    pub kind: ReasonKind,
    /// The class of tasks; empty for what is not of a class.
    pub class: String,
    /// The difference in ns.
    pub time: i64,
}

/// Why a makespan differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasonKind {
    /// Tasks of the class take longer or less, in this part.
    Longer(TaskDuration),
    /// The class has another number of tasks.
    Number,
    /// The path has other tasks, none of which changed.
    Placement,
    /// Tasks wait; `None` for the time before the first task.
    Waiting(Option<PathPart>),
}

/// A class whose tasks take longer where more tasks compute at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowding {
    /// The class.
    pub class: String,
    /// How many times as long they take.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The mean numbers of tasks at once: fewer, more.
    pub at_once: [f64; 2],
    /// How many of the fewer would get as much done as the more do.
    pub worth: f64,
    /// The 95 % interval of that.
    pub worth_interval: Interval,
    /// The number of workers where more compute at once.
    pub workers: usize,
    /// Number of those that add nothing, as far as the interval tells.
    pub idle: usize,
}

/// Tasks compute next to more others if their number is so many times as large.
const MORE_AT_ONCE: f64 = 1.1;
/// Workers add nothing if at most this share of what they could add is within the interval.
const NOTHING: f64 = 0.25;

/// The least share of all computing of a class that is told to be in its own way.
const MUCH: f64 = 0.1;

/// Returns the time of all tasks of a class in a run of a side, in ns.
fn time_of(class: &ClassTimes, side: usize) -> i64 {
    let count = i64::try_from(class.counts[side]).unwrap_or(0);
    class.means[side].unwrap_or(0).saturating_mul(count)
}

/// A trace on the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceWhole {
    /// From the first event to the last, in ns.
    pub makespan: i64,
    /// Number of tasks.
    pub tasks: usize,
    /// Number of workers.
    pub workers: usize,
    /// The share of the time in which workers had a task; `None` if the trace does not say.
    pub utilisation: Option<f64>,
    /// The mean number of tasks that computed at once; `None` if the trace does not say.
    pub parallelism: Option<f64>,
}

/// What paths spend on a part of the tasks of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct PathTimes {
    /// The class; empty for what is between tasks.
    pub class: String,
    /// The part; `None` for the time before the first task of the path.
    pub part: Option<PathPart>,
    /// The time in each trace, in ns.
    pub times: Vec<i64>,
}

/// A duration of a class of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationSums {
    /// The class; empty for all tasks.
    pub class: String,
    /// The duration.
    pub duration: TaskDuration,
    /// Number of tasks with it in each trace.
    pub counts: Vec<usize>,
    /// Its sum in each, in ns.
    pub sums: Vec<i64>,
}

/// A task of the baseline and its like in the others: of the same name, tried as often before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTimes {
    /// Its name.
    pub name: String,
    /// Its duration in each trace, in ns.
    pub durations: Vec<Option<i64>>,
    /// Its worker in each.
    pub workers: Vec<Option<String>>,
}

impl TraceComparison {
    /// Compares sides of one or more runs each, the first of which is the baseline, their tasks by a duration.
    pub fn of(sides: &[Vec<&Trace>], duration: TaskDuration) -> Self {
        let (path, on_path) = path(sides);
        Self {
            runs: sides.iter().map(Vec::len).collect(),
            wholes: sides.iter().map(|runs| TraceWhole::of(runs)).collect(),
            classes: classes(sides),
            path,
            on_path,
            durations: durations(sides),
            tasks: tasks(sides, duration),
        }
    }

    /// Returns what makes up the difference of a side's makespan from the baseline's, the largest part first; the
    /// times add up to it.
    ///
    /// With n tasks of a class on the path that take t each, the difference of n·t is (t₁ − t₀)·(n₀ + n₁)/2 for how
    /// long they take and the rest for how many there are. The former is a reason only if the tasks of the class
    /// changed, on the path or not, and the latter only if the class has another number of tasks. All else is
    /// placement: other tasks happen to be waited for.
    pub fn reasons(&self, side: usize) -> Vec<PathReason> {
        let mut all: BTreeMap<(ReasonKind, &str), f64> = BTreeMap::new();
        for path in &self.path {
            let class = path.class.as_str();
            let [before, after] = [0, side].map(|at| float(path.times[at]));
            let Some(work) = work_part(path.part) else {
                *all.entry((ReasonKind::Waiting(path.part), "")).or_default() += after - before;
                continue;
            };
            let of_class = self.classes.iter();
            let of_class = of_class.filter(|it| it.class == class && it.duration == work);
            let times = of_class.clone().next();
            let numbers = self.on_path.get(class);
            let [tasks_before, tasks_after] = [0, side].map(|at| numbers.map_or(0.0, |of| of[at]));
            let ratio = times.and_then(|it| it.ratios[side].as_ref());
            let mut longer = 0.0;
            if let Some(ratio) = ratio.filter(|it| it.is_changed)
                && tasks_before > 0.0
                && tasks_after > 0.0
            {
                let each = after / tasks_after - before / tasks_before;
                if (each > 0.0) == (ratio.ratio > 1.0) {
                    longer = each * f64::midpoint(tasks_before, tasks_after);
                    *all.entry((ReasonKind::Longer(work), class)).or_default() += longer;
                }
            }
            let has_other_number = times.is_none_or(|it| it.counts[0] != it.counts[side]);
            let rest = match has_other_number {
                true => (ReasonKind::Number, class),
                false => (ReasonKind::Placement, ""),
            };
            *all.entry(rest).or_default() += after - before - longer;
        }
        let reasons = all.into_iter().map(|((kind, class), time)| PathReason {
            kind,
            class: class.to_owned(),
            time: rounded(time),
        });
        let mut reasons: Vec<PathReason> = reasons.filter(|it| it.time != 0).collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.time.abs()));
        reasons
    }

    /// Returns the classes whose tasks take longer on that one of the baseline and another side which has more workers
    /// and more tasks at once, that which takes longest first.
    pub fn crowding(&self, side: usize) -> Vec<Crowding> {
        let workers = [0, side].map(|it| self.wholes[it].workers);
        let (fewer, more) = match workers {
            [before, after] if before < after => (0, side),
            [before, after] if before > after => (side, 0),
            _ => return Vec::new(),
        };
        let classes = self.classes.iter();
        let crowded = classes.filter_map(|class| {
            let found = class.ratios[side].as_ref().filter(|it| it.is_changed)?;
            let at_once = [class.at_once[fewer]?, class.at_once[more]?];
            let interval = found.interval?;
            let (ratio, interval) = if more == side {
                (found.ratio, interval)
            } else {
                let turned = Interval {
                    lower: 1.0 / interval.upper,
                    upper: 1.0 / interval.lower,
                };
                (1.0 / found.ratio, turned)
            };
            if interval.lower <= 1.0 || at_once[1] < MORE_AT_ONCE * at_once[0] {
                return None;
            }
            let worth_interval = Interval {
                lower: at_once[1] / interval.upper,
                upper: at_once[1] / interval.lower,
            };
            let little = at_once[0] + NOTHING * (at_once[1] - at_once[0]);
            let adds_nothing = worth_interval.upper <= little;
            let [fewer, more] = [fewer, more].map(|it| self.wholes[it].workers);
            Some(Crowding {
                class: class.class.clone(),
                ratio,
                interval,
                at_once,
                worth: at_once[1] / ratio,
                worth_interval,
                workers: more,
                idle: if adds_nothing { more - fewer } else { 0 },
            })
        });
        let mut crowded: Vec<Crowding> = crowded.collect();
        let sum = |it: &Crowding| {
            let mut classes = self.classes.iter();
            let of_class = classes
                .find(|other| other.class == it.class && other.duration == TaskDuration::Compute);
            of_class.map_or(0, |it| time_of(it, more))
        };
        let all = self.classes.iter();
        let all = all.filter(|it| it.duration == TaskDuration::Compute);
        let all: i64 = all.map(|it| time_of(it, more)).sum();
        crowded.retain(|it| float(sum(it)) >= MUCH * float(all));
        crowded.sort_by_key(|it| std::cmp::Reverse(sum(it)));
        crowded
    }

    /// Returns how many tasks a trace has in common with the baseline, and how many of those ran on the same worker;
    /// `None` if no worker of one has the name of one of the other.
    pub fn same_workers(&self, other: usize) -> Option<(usize, usize)> {
        let workers = |side: usize| -> BTreeSet<&String> {
            let workers = self.tasks.iter();
            workers.filter_map(|it| it.workers[side].as_ref()).collect()
        };
        if workers(0).is_disjoint(&workers(other)) {
            return None;
        }
        let common = self
            .tasks
            .iter()
            .filter(|task| task.workers[other].is_some());
        let same = common
            .clone()
            .filter(|task| task.workers[0] == task.workers[other]);
        Some((common.count(), same.count()))
    }
}

impl TraceWhole {
    fn of(runs: &[&Trace]) -> Self {
        let workers: Vec<Option<WorkerTime>> = runs.iter().map(|run| worker_time(run)).collect();
        let counts = workers
            .iter()
            .map(|it| it.as_ref().map_or(0, |it| it.workers));
        let share = |of: fn(&WorkerTime) -> Option<f64>| {
            let each = workers.iter().map(|it| it.as_ref().and_then(of));
            mean(&each.collect::<Option<Vec<f64>>>()?)
        };
        Self {
            makespan: mean_time(runs.iter().map(|run| run.makespan())),
            tasks: per_run(runs.iter().map(|run| run.tasks.len()).sum(), runs.len()),
            workers: counts.max().unwrap_or(0),
            utilisation: share(WorkerTime::utilisation),
            parallelism: share(WorkerTime::parallelism),
        }
    }
}

/// Ratios closer to 1 than this are no change.
const SMALLEST_CHANGE: f64 = 0.01;
/// A single task on each side takes as long if its ratio is as close to 1 as this.
const SMALLEST_OF_ONE: f64 = 0.05;
/// The fewest runs of a side over which an interval is calculated.
const FEWEST_RUNS: usize = 3;
/// The smallest share of tasks that are alike on both sides, of which pairs are made.
const LEAST_PAIRED: f64 = 0.9;

/// The durations of a class that are compared: those that make up the total, and the processor's part of one.
const COMPARED: [TaskDuration; 8] = [
    TaskDuration::Compute,
    TaskDuration::OnCpu,
    TaskDuration::OffCpu,
    TaskDuration::Load,
    TaskDuration::Publish,
    TaskDuration::ToWorker,
    TaskDuration::Queue,
    TaskDuration::ToController,
];

/// Returns the duration that a part of a path belongs to, if tasks work in it.
fn work_part(part: Option<PathPart>) -> Option<TaskDuration> {
    use TaskDuration::{Compute, Load, OffCpu, OnCpu, Publish};
    match part? {
        PathPart::Task(Compute | OnCpu | OffCpu) => Some(Compute),
        PathPart::Task(part @ (Load | Publish)) => Some(part),
        PathPart::Task(_) | PathPart::Transfer | PathPart::Controller => None,
    }
}

/// Durations of the tasks of a class in ns, by name and attempt, for each run of a side.
type ClassRuns<'t> = Vec<BTreeMap<(&'t str, u32), Vec<f64>>>;

fn classes(sides: &[Vec<&Trace>]) -> Vec<ClassTimes> {
    let mut all: BTreeMap<&str, Vec<Vec<Vec<&Task>>>> = BTreeMap::new();
    for (side, runs) in sides.iter().enumerate() {
        for (run, trace) in runs.iter().enumerate() {
            for task in &trace.tasks {
                let empty = || {
                    sides
                        .iter()
                        .map(|runs| vec![Vec::new(); runs.len()])
                        .collect()
                };
                let of_class = all.entry(trace.text(task.class)).or_insert_with(empty);
                of_class[side][run].push(task);
            }
        }
    }
    // What waits differs with the placement, so only the parts in which tasks work are judged.
    let level = 1.0 - 0.05 / as_f64(3 * all.len().max(1));
    let strict = Confidence::new(level).unwrap_or(Confidence::P95);
    let at_once: Vec<Vec<BTreeMap<&str, f64>>> = sides
        .iter()
        .map(|runs| runs.iter().map(|trace| named_at_once(trace)).collect())
        .collect();
    let mut classes = Vec::new();
    for (class, tasks) in &all {
        for duration in COMPARED {
            let values: Vec<ClassRuns> = sides
                .iter()
                .zip(tasks)
                .map(|(runs, tasks)| {
                    let runs = runs.iter().zip(tasks);
                    let runs = runs.map(|(trace, tasks)| {
                        let mut by_name: BTreeMap<_, Vec<f64>> = BTreeMap::new();
                        for task in tasks {
                            let key = (trace.text(task.name), task.attempt);
                            by_name
                                .entry(key)
                                .or_default()
                                .extend(duration.of(task).map(float));
                        }
                        by_name
                    });
                    runs.collect()
                })
                .collect();
            let means = values.iter().map(|runs| {
                let values = runs.iter().flat_map(BTreeMap::values).flatten();
                mean(&values.copied().collect::<Vec<_>>()).map(rounded)
            });
            let means: Vec<Option<i64>> = means.collect();
            if means.iter().all(Option::is_none) {
                continue;
            }
            let counts = tasks
                .iter()
                .map(|runs| per_run(runs.iter().map(Vec::len).sum(), runs.len()));
            let at_once = at_once.iter().map(|runs| {
                let numbers = runs.iter().filter_map(|run| run.get(class).copied());
                mean(&numbers.collect::<Vec<_>>()).filter(|_| duration == TaskDuration::Compute)
            });
            let at_once = at_once.collect();
            let sides = values.iter().enumerate();
            // Times of different clocks can be below zero: no ratio is of such.
            let is_positive = |side: usize| means[side].is_some_and(|mean| mean > 0);
            let ratios = sides.map(|(side, runs)| {
                let has_ratio = side > 0 && is_positive(0) && is_positive(side);
                has_ratio.then(|| duration_ratio(&values[0], runs, strict))?
            });
            let ratios = ratios.collect();
            classes.push(ClassTimes {
                class: (*class).to_owned(),
                duration,
                counts: counts.collect(),
                means,
                at_once,
                ratios,
            });
        }
    }
    classes
}

fn named_at_once(trace: &Trace) -> BTreeMap<&str, f64> {
    let numbers = at_once(trace).into_iter();
    numbers
        .map(|(class, number)| (trace.text(class), number))
        .collect()
}

/// Returns how many times as long tasks take.
fn duration_ratio(
    baseline: &ClassRuns,
    candidate: &ClassRuns,
    strict: Confidence,
) -> Option<DurationRatio> {
    let sides = [baseline, candidate];
    let changed = |ratio: f64, interval: Option<Interval>| {
        let (least, excludes) = match interval {
            Some(interval) => (SMALLEST_CHANGE, !interval.contains(1.0)),
            None => (SMALLEST_OF_ONE, true),
        };
        excludes && (ratio - 1.0).abs() > least
    };
    let of_means = |[before, after]: [Vec<f64>; 2], over| {
        let ratio = ratio_of_means(&before, &after, Confidence::P95)?;
        let strict = ratio_of_means(&before, &after, strict)?;
        Some(DurationRatio {
            ratio: ratio.ratio,
            interval: Some(ratio.interval),
            over,
            is_changed: changed(ratio.ratio, Some(strict.interval)),
        })
    };
    if sides.iter().all(|runs| runs.len() >= FEWEST_RUNS) {
        // Runs, never tasks: the tasks of a run share its disturbances.
        let means = sides.map(|runs| {
            let means = runs.iter().filter_map(|run| {
                let values: Vec<f64> = run.values().flatten().copied().collect();
                mean(&values)
            });
            means.collect::<Vec<f64>>()
        });
        if means.iter().all(|means| means.len() >= FEWEST_RUNS) {
            return of_means(means, Replicates::Runs);
        }
    }
    let by_name = sides.map(|runs| {
        let mut all: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
        for (name, values) in runs.iter().flatten() {
            let values = values.iter().filter(|value| **value > 0.0);
            all.entry(*name).or_default().extend(values);
        }
        let means = all
            .into_iter()
            .filter_map(|(name, of)| Some((name, mean(&of)?)));
        means.collect::<BTreeMap<_, f64>>()
    });
    let [before, after] = &by_name;
    let pairs = before
        .iter()
        .filter_map(|(name, time)| Some(after.get(name)? / time));
    let pairs: Vec<f64> = pairs.collect();
    let most = before.len().max(after.len());
    if most > 0 && as_f64(pairs.len()) >= LEAST_PAIRED * as_f64(most) {
        let ratio = geometric_mean(&pairs)?;
        let interval = |level| geometric_mean_interval(&pairs, level);
        return Some(DurationRatio {
            ratio,
            interval: interval(Confidence::P95),
            over: Replicates::PairedTasks,
            is_changed: changed(ratio, interval(strict)),
        });
    }
    let values = by_name.map(|means| means.into_values().collect::<Vec<f64>>());
    let ratio = geometric_mean(&values[1])? / geometric_mean(&values[0])?;
    Some(
        of_means(values, Replicates::Tasks).unwrap_or(DurationRatio {
            ratio,
            interval: None,
            over: Replicates::Tasks,
            is_changed: changed(ratio, None),
        }),
    )
}

/// Returns the times and the numbers of tasks on paths that are about as long as the longest.
fn path(sides: &[Vec<&Trace>]) -> (Vec<PathTimes>, BTreeMap<String, Vec<f64>>) {
    let zeros = || vec![0.0; sides.len()];
    let mut times: BTreeMap<(&str, Option<PathPart>), Vec<f64>> = BTreeMap::new();
    let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (side, runs) in sides.iter().enumerate() {
        let share = 1.0 / as_f64(runs.len().max(1));
        for trace in runs {
            let mut before = float(trace.makespan());
            let paths = near_paths(trace);
            for ((part, class), time) in paths.parts {
                let of = times.entry((trace.text(class), Some(part)));
                of.or_insert_with(zeros)[side] += share * time;
                before -= time;
            }
            times.entry(("", None)).or_insert_with(zeros)[side] += share * before;
            for (class, number) in paths.tasks {
                let of = numbers.entry(trace.text(class).to_owned());
                of.or_insert_with(zeros)[side] += share * number;
            }
        }
    }
    let times = times.into_iter().map(|((class, part), times)| PathTimes {
        class: class.to_owned(),
        part,
        times: times.into_iter().map(rounded).collect(),
    });
    let mut times: Vec<PathTimes> = times.collect();
    // Rounding to whole ns is made good where nothing is measured.
    for (side, runs) in sides.iter().enumerate() {
        let makespan = mean_time(runs.iter().map(|run| run.makespan()));
        let sum: i64 = times.iter().map(|it| it.times[side]).sum();
        if let Some(first) = times.iter_mut().find(|it| it.part.is_none()) {
            first.times[side] += makespan - sum;
        }
    }
    times.retain(|it| it.times.iter().any(|time| *time != 0));
    (times, numbers)
}

/// Returns the number per run.
fn per_run(all: usize, runs: usize) -> usize {
    let runs = runs.max(1);
    (all + runs / 2) / runs
}

/// Returns the mean of times, rounded.
fn mean_time(times: impl Iterator<Item = i64>) -> i64 {
    let times: Vec<f64> = times.map(float).collect();
    mean(&times).map_or(0, rounded)
}

fn rounded(time: f64) -> i64 {
    whole(time.round())
}

fn durations(sides: &[Vec<&Trace>]) -> Vec<DurationSums> {
    let mut all: BTreeMap<(String, TaskDuration), (Vec<usize>, Vec<i64>)> = BTreeMap::new();
    for (side, runs) in sides.iter().enumerate() {
        for trace in runs {
            for group in [DurationGroup::All, DurationGroup::Class] {
                for (class, durations) in group_durations(trace, group) {
                    for (duration, statistics) in durations {
                        let zeros = || (vec![0; sides.len()], vec![0; sides.len()]);
                        let entry = all.entry((class.clone(), duration));
                        let (counts, sums) = entry.or_insert_with(zeros);
                        counts[side] += statistics.count;
                        sums[side] += statistics.sum;
                    }
                }
            }
        }
    }
    let all = all.into_iter();
    all.map(|((class, duration), (mut counts, mut sums))| {
        for (side, runs) in sides.iter().enumerate() {
            counts[side] = per_run(counts[side], runs.len());
            sums[side] = rounded(float(sums[side]) / as_f64(runs.len().max(1)));
        }
        DurationSums {
            class,
            duration,
            counts,
            sums,
        }
    })
    .collect()
}

fn tasks(sides: &[Vec<&Trace>], duration: TaskDuration) -> Vec<TaskTimes> {
    let indices = sides.iter().map(|runs| runs.iter().map(by_name));
    let indices: Vec<Vec<_>> = indices.map(Iterator::collect).collect();
    let Some(baseline) = sides.first().and_then(|runs| runs.first()) else {
        return Vec::new();
    };
    let each = baseline.tasks.iter().map(|task| {
        let name = baseline.text(task.name);
        let like = sides.iter().zip(&indices).map(|(runs, indices)| {
            let runs = runs.iter().zip(indices);
            let like = runs.filter_map(|(trace, index)| {
                let like = &trace.tasks[*index.get(&(name, task.attempt))?];
                Some((duration.of(like), trace.text(like.worker)))
            });
            let like: Vec<_> = like.collect();
            let worker = like.first()?.1.to_owned();
            let times: Option<Vec<f64>> = like.iter().map(|it| it.0.map(float)).collect();
            Some((mean(&times.unwrap_or_default()).map(rounded), worker))
        });
        let like: Vec<_> = like.collect();
        TaskTimes {
            name: name.to_owned(),
            durations: like.iter().map(|it| it.as_ref()?.0).collect(),
            workers: like.into_iter().map(|it| Some(it?.1)).collect(),
        }
    });
    each.collect()
}

/// Returns the indices of tasks by name and number of the attempt.
fn by_name<'t>(trace: &&'t Trace) -> HashMap<(&'t str, u32), usize> {
    let tasks = trace.tasks.iter().enumerate();
    tasks
        .map(|(at, task)| ((trace.text(task.name), task.attempt), at))
        .collect()
}
