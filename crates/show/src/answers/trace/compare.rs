//! Traces side by side: `lapwing trace compare`.

use std::cmp::Reverse;

use lapwing_model::text::{counted, joined};
use lapwing_stats::Interval;
use lapwing_trace::{
    ClassTimes, Crowding, PathPart, PathReason, ReasonKind, Replicates, TaskDuration, Trace,
    TraceComparison,
};
use serde_json::Value;

use super::compare_fields::{
    ComparedTraceRow, ReasonFields, TraceComparisonFields, TraceFields, row,
};
use super::with_defects;
use crate::trace::{column_title, share, signed_percent, signed_time, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Parts of the path whose times differ by less than this share of the baseline's makespan are as good as equal.
const EQUAL: f64 = 0.01;

/// A ratio of geometric means beyond so many times that of the arithmetic ones is remarked on.
const OTHER_RATIO: f64 = 1.05;

/// Part of traces that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedPart {
    /// Number of tasks of each class and how long one takes.
    Classes,
    /// Time along the path to the last end, by class of tasks.
    Path,
    /// Sums over all tasks, by class.
    Sums,
    /// Each task of the baseline and its like in the others.
    Tasks,
}

/// Order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// The largest difference first.
    Difference,
    /// The largest relative difference first.
    Relative,
    /// By name.
    Name,
}

/// The trace whose value a relative difference is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeTo {
    /// The baseline.
    Baseline,
    /// The other one.
    Other,
}

/// Traces side by side, the first of which is the baseline.
#[derive(Debug)]
pub struct TraceComparisonAnswer<'t> {
    sides: Vec<Vec<&'t Trace>>,
    names: Vec<String>,
    comparison: TraceComparison,
    part: ComparedPart,
    /// For each class or task that is compared, a row for each trace.
    rows: Vec<Vec<ComparedTraceRow>>,
    /// How long the tasks of each class compute.
    computing: Vec<ComparedTraceRow>,
    /// Number of listed classes or tasks; `None` for all.
    top: Option<usize>,
}

impl<'t> TraceComparisonAnswer<'t> {
    /// Returns the comparison of a part of sides of one or more runs, with their names; tasks are compared by a duration.
    pub fn new(
        sides: Vec<Vec<&'t Trace>>,
        names: Vec<String>,
        part: ComparedPart,
        duration: TaskDuration,
        relative_to: RelativeTo,
    ) -> Self {
        let duration = measured(&sides, duration);
        let comparison = TraceComparison::of(&sides, duration);
        let row =
            |name: &str, part, times: &[Option<i64>]| row(&names, relative_to, name, part, times);
        let mut computing = class_rows(&comparison, row);
        computing.retain(|rows| rows[0].part == TaskDuration::Compute.name());
        let rows = match part {
            ComparedPart::Classes => class_rows(&comparison, row),
            ComparedPart::Path => {
                let rows = comparison.path.iter().map(|path| {
                    let part = path.part.map_or("before", PathPart::name);
                    let times: Vec<Option<i64>> = path.times.iter().copied().map(Some).collect();
                    let meaning = path.part.map_or("before the first task", PathPart::meaning);
                    let mut rows = row(&path.class, part, &times);
                    let on_path = comparison.on_path.get(&path.class);
                    for (side, row) in rows.iter_mut().enumerate() {
                        meaning.clone_into(&mut row.meaning);
                        row.on_path = on_path.map(|numbers| numbers[side]);
                    }
                    rows
                });
                rows.collect()
            }
            ComparedPart::Sums => {
                let rows = comparison.durations.iter().map(|sums| {
                    let times = sums.sums.iter().zip(&sums.counts);
                    let times = times.map(|(sum, count)| (*count > 0).then_some(*sum));
                    let times: Vec<Option<i64>> = times.collect();
                    let mut rows = row(&sums.class, sums.duration.name(), &times);
                    for (row, count) in rows.iter_mut().zip(&sums.counts) {
                        row.count = Some(*count);
                        row.meaning = column_title(sums.duration);
                    }
                    rows
                });
                rows.collect()
            }
            ComparedPart::Tasks => {
                let rows = comparison.tasks.iter().map(|task| {
                    let mut rows = row(&task.name, duration.name(), &task.durations);
                    for (row, worker) in rows.iter_mut().zip(&task.workers) {
                        row.worker.clone_from(worker);
                        row.meaning = column_title(duration);
                    }
                    rows
                });
                rows.collect()
            }
        };
        Self {
            sides,
            names,
            comparison,
            part,
            rows,
            computing: computing.concat(),
            top: None,
        }
    }

    /// Returns the answer with its rows in an order, the first of which are shown in the table.
    #[must_use]
    pub fn ordered(mut self, order: RowOrder, top: Option<usize>) -> Self {
        match order {
            RowOrder::Name => self.rows.sort_by(|one, other| {
                let key = |rows: &[ComparedTraceRow]| (rows[0].name.clone(), rows[0].part);
                key(one).cmp(&key(other))
            }),
            RowOrder::Difference => self.rows.sort_by_key(|rows| {
                let differences = rows.iter().filter_map(|row| row.difference);
                let largest = differences.map(i64::abs).max().unwrap_or(0);
                // Of sums, those of all tasks stand first; of classes, what their tasks are for, then what differs.
                let is_first = match self.part {
                    ComparedPart::Sums => rows[0].name.is_empty(),
                    ComparedPart::Classes => rows[0].part == TaskDuration::Compute.name(),
                    ComparedPart::Path | ComparedPart::Tasks => false,
                };
                let is_changed = rows.iter().any(|row| row.is_changed == Some(true));
                (!is_first, !is_changed, Reverse(largest))
            }),
            RowOrder::Relative => self.rows.sort_by(|one, other| {
                let largest = |rows: &[ComparedTraceRow]| {
                    let relative = rows.iter().map(|row| row.relative.unwrap_or(0.0).abs());
                    relative.fold(0.0_f64, f64::max)
                };
                largest(other).total_cmp(&largest(one))
            }),
        }
        self.top = top;
        // Phases that do not differ are no answer.
        if self.part == ComparedPart::Classes && order == RowOrder::Difference {
            let differing = self.rows.iter().filter(|rows| {
                let is_changed = rows.iter().any(|row| row.is_changed == Some(true));
                is_changed || rows[0].part == TaskDuration::Compute.name()
            });
            let differing = differing.count();
            self.top = top.map(|top| top.min(differing));
        }
        self
    }

    /// Returns the number of classes or tasks of a view.
    fn listed(&self, view: View) -> usize {
        let all = self.rows.len();
        let top = self.top.filter(|_| !view.full);
        top.map_or(all, |top| top.min(all))
    }

    fn table(&self, top: usize) -> Table {
        let (name_title, part_title) = match self.part {
            ComparedPart::Classes => ("class", "mean per task"),
            ComparedPart::Path => ("class", "path to the end"),
            ComparedPart::Sums => ("class", "duration"),
            ComparedPart::Tasks => ("task", "duration"),
        };
        let mut columns = vec![(name_title, Left), (part_title, Left)];
        let is_pair = self.names.len() == 2;
        let is_of_classes = self.part == ComparedPart::Classes;
        if is_of_classes {
            columns.insert(1, ("tasks", Right));
        }
        if is_pair && is_of_classes {
            let pair = ["baseline", "candidate", "ratio", "95 % interval"];
            columns.extend(pair.map(|title| (title, Right)));
        } else if is_pair {
            let pair = ["baseline", "candidate", "difference", "relative"];
            columns.extend(pair.map(|title| (title, Right)));
        } else {
            columns.extend(self.names.iter().map(|name| (name.as_str(), Right)));
        }
        let mut table = Table::new(&columns);
        let unknown = || "–".to_owned();
        for rows in self.rows.iter().take(top) {
            let name = match rows[0].name.as_str() {
                "" if self.part == ComparedPart::Sums => "all",
                name => name,
            };
            let mut cells = vec![name.to_owned(), rows[0].meaning.clone()];
            if is_of_classes {
                cells.insert(1, numbers(rows));
            }
            cells.extend(rows.iter().map(|row| row.time.map_or_else(unknown, time)));
            if is_pair && is_of_classes {
                let interval = rows[1].ratio_lower.zip(rows[1].ratio_upper);
                cells.push(rows[1].ratio.map_or_else(unknown, times));
                let text = |(lower, upper)| format!("[{}, {}]", digits(lower), digits(upper));
                cells.push(interval.map_or_else(unknown, text));
            } else if is_pair {
                let other = &rows[1];
                cells.push(other.difference.map_or_else(unknown, signed_time));
                cells.push(other.relative.map_or_else(unknown, signed_percent));
            }
            table.row(cells);
        }
        table
    }

    /// Returns what makes up the difference of each side's makespan.
    fn reasons(&self) -> Vec<Note> {
        let wholes = &self.comparison.wholes;
        let baseline = wholes.first().map_or(0, |whole| whole.makespan);
        let mut notes = Vec::new();
        for (side, name) in self.names.iter().enumerate().skip(1) {
            let difference = wholes[side].makespan - baseline;
            let reasons = self.comparison.reasons(side);
            let large = reasons.iter();
            let large = large.filter(|it| share(it.time.abs(), baseline) >= EQUAL);
            let large: Vec<&PathReason> = large.collect();
            if large.is_empty() {
                continue;
            }
            let rest = difference - large.iter().map(|it| it.time).sum::<i64>();
            let is_other = wholes[side].workers != wholes[0].workers;
            let texts = large
                .iter()
                .map(|it| format!("{} ({})", phrase(it, is_other), signed_time(it.time)));
            let mut texts: Vec<String> = texts.collect();
            if share(rest.abs(), baseline) >= EQUAL / 2.0 {
                texts.push(format!("the rest ({})", signed_time(rest)));
            }
            let of = match self.names.len() {
                2 => String::new(),
                _ => format!("{name}: "),
            };
            let text = format!(
                "{of}the difference of {} on the path to the end: {}",
                signed_time(difference),
                joined(texts)
            );
            let note = Note::new("reasons", text).with("trace", name.as_str());
            notes.push(note.with("difference", difference).with("rest", rest));
        }
        notes
    }

    /// Returns the classes whose tasks take longer where more compute at once.
    fn crowding(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (side, name) in self.names.iter().enumerate().skip(1) {
            for it in self.comparison.crowding(side).into_iter().take(3) {
                let Crowding {
                    class,
                    ratio,
                    at_once: [fewer, more],
                    worth,
                    ..
                } = &it;
                let [interval, worth_interval] = [it.interval, it.worth_interval]
                    .map(|it| format!("[{}, {}]", digits(it.lower), digits(it.upper)));
                let idle = match it.idle {
                    0 => String::new(),
                    1 => format!("; 1 of the {} workers adds nothing", it.workers),
                    idle => format!("; {idle} of the {} workers add nothing", it.workers),
                };
                let of = match self.names.len() {
                    2 => String::new(),
                    _ => format!("{name}: "),
                };
                let text = format!(
                    "{of}`{class}` takes {} {interval} as long with {} tasks at once as with {}: {} get done what {} {worth_interval} did there{idle}",
                    times(*ratio),
                    digits(*more),
                    digits(*fewer),
                    digits(*more),
                    digits(*worth),
                );
                let note = Note::new("contention", text).with("trace", name.as_str());
                let note = note.with("class", class.as_str()).with("ratio", *ratio);
                let note = note.with("ratio_lower", it.interval.lower);
                let note = note.with("ratio_upper", it.interval.upper);
                let note = note
                    .with("fewer_at_once", *fewer)
                    .with("more_at_once", *more);
                let note = note.with("worth", *worth);
                let note = note.with("worth_lower", it.worth_interval.lower);
                let note = note.with("worth_upper", it.worth_interval.upper);
                notes.push(
                    note.with("workers", it.workers)
                        .with("idle_workers", it.idle),
                );
            }
        }
        notes
    }

    /// Returns the classes that only one side has.
    fn other_classes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut classes: Vec<&ClassTimes> = self.comparison.classes.iter().collect();
        classes.dedup_by_key(|it| &it.class);
        for (side, name) in self.names.iter().enumerate().skip(1) {
            let sides = [(0, side, "the baseline"), (side, 0, name.as_str())];
            for (with, without, where_) in sides {
                let only = classes.iter();
                let only = only.filter(|it| it.counts[with] > 0 && it.counts[without] == 0);
                let only =
                    only.map(|it| format!("`{}` ({})", it.class, counted(it.counts[with], "task")));
                let only: Vec<String> = only.collect();
                if !only.is_empty() {
                    let text = format!("only in {where_}: {}", joined(&only));
                    let note = Note::new("only_on_one_side", text).with("trace", where_);
                    notes.push(note.with("classes", only));
                }
            }
        }
        notes
    }

    /// Returns whether the traces say on which workers tasks ran.
    fn has_workers(&self) -> bool {
        let mut all = self.sides.iter().flatten();
        !all.any(|trace| trace.has_numbered_lanes())
    }

    /// Returns what a reader of the first rows has to know of their ratios and intervals.
    fn ratios(&self, listed: usize) -> Vec<Note> {
        let [_, _] = &self.names[..] else {
            return Vec::new();
        };
        let rows = self.rows.iter().take(listed);
        let rows = rows.filter_map(|rows| Some((rows, rows[1].ratio?)));
        let is_elsewhere = |(rows, ratio): &(&Vec<ComparedTraceRow>, f64)| {
            let [before, after] = [0, 1].map(|side| rows[side].time.unwrap_or(0));
            let of_means = share(after, before);
            let is_apart = (ratio / of_means).ln().abs() > OTHER_RATIO.ln();
            let is_opposite = (ratio - 1.0) * (of_means - 1.0) < 0.0
                && digits(*ratio) != "1.00"
                && digits(of_means) != "1.00";
            is_apart || is_opposite
        };
        let mut notes = Vec::new();
        let elsewhere = rows.clone().filter(is_elsewhere).count();
        if elsewhere > 0 {
            let text = "ratios are of geometric means, which single long tasks hardly move; the means shown are arithmetic";
            notes.push(Note::new("geometric_means", text).with("rows", elsewhere));
        }
        let mut computing = rows
            .map(|(rows, _)| &rows[1])
            .filter(|row| row.part == TaskDuration::Compute.name());
        let is_alone = |row: &&ComparedTraceRow| {
            let interval = row.ratio_lower.zip(row.ratio_upper);
            interval.is_some_and(|(lower, upper)| lower > 1.0 || upper < 1.0)
        };
        let is_changed = |row: &ComparedTraceRow| row.is_changed == Some(true);
        if !self.computing.iter().any(is_changed) && computing.any(|row| is_alone(&row)) {
            let text = "intervals are of each row alone; the first line allows for the number of classes, and for differences below 1 %";
            notes.push(Note::new("many_classes", text));
        }
        notes
    }

    fn notes(&self, listed: usize) -> Vec<Note> {
        let comparison = &self.comparison;
        let mut notes = self.crowding();
        notes.extend(self.ratios(listed));
        notes.extend(self.reasons());
        notes.extend(self.other_classes());
        if self.part == ComparedPart::Path {
            let text = "differences add up to that of the whole; times are means over the paths that are nearly as long as the longest";
            notes.push(Note::new("differences", text));
        }
        let mut elsewhere = Vec::new();
        for (side, name) in self.names.iter().enumerate().skip(1) {
            match comparison.same_workers(side) {
                _ if !self.has_workers() => {}
                Some((common, same)) => {
                    let text = format!(
                        "{same} of {} in both ran on the same worker in {name}",
                        counted(common, "task")
                    );
                    let note = Note::new("same_worker", text).with("trace", name.as_str());
                    notes.push(note.with("tasks", common).with("same", same));
                }
                None => elsewhere.push(name.as_str()),
            }
            let tasks = &comparison.tasks;
            let common = tasks.iter().filter(|task| task.workers[side].is_some());
            let common = common.count();
            let of_side = comparison.wholes[side].tasks;
            if [tasks.len(), of_side] != [common, common] {
                let only = [tasks.len(), of_side].map(|all| all.saturating_sub(common));
                let [of_baseline, of_other] = only.map(|count| counted(count, "task"));
                let text = format!("{of_baseline} only in the baseline, {of_other} only in {name}");
                let note = Note::new("other_tasks", text).with("trace", name.as_str());
                notes.push(
                    note.with("only_baseline", only[0])
                        .with("only_other", only[1]),
                );
            }
        }
        if !elsewhere.is_empty() {
            let text = format!(
                "places are not compared: no worker of {} has the name of one of the baseline's",
                joined(&elsewhere)
            );
            notes.push(Note::new("other_workers", text).with("traces", elsewhere));
        }
        if comparison.runs.iter().any(|runs| *runs < 3) {
            let are_single = comparison.runs.iter().all(|runs| *runs == 1);
            let of = match are_single {
                true => "one run",
                false => "fewer than three runs",
            };
            let text = format!(
                "intervals are over tasks of {of} on a side: another run may differ by more; for a verdict import several of each and `lapwing compare --metric trace.makespan`"
            );
            let fewest = comparison.runs.iter().min().copied().unwrap_or(0);
            notes.push(Note::new("few_runs", text).with("runs", fewest));
        } else {
            let runs = joined(comparison.runs.iter().map(ToString::to_string));
            let text = format!("means and intervals are over runs: {runs}");
            notes.push(Note::new("over_runs", text));
        }
        notes
    }

    /// Returns the classes whose tasks take longer or less, or that none does.
    fn changed_classes(&self) -> String {
        let computing = self.comparison.classes.iter();
        let computing = computing.filter(|it| it.duration == TaskDuration::Compute);
        let ratios = computing.filter_map(|it| Some((it, it.ratios[1].as_ref()?)));
        let (mut changed, others): (Vec<_>, Vec<_>) = ratios.partition(|(_, it)| it.is_changed);
        changed.sort_by_key(|(class, _)| {
            let sum = |side: usize| {
                let count = i64::try_from(class.counts[side]).unwrap_or(0);
                class.means[side].unwrap_or(0).saturating_mul(count)
            };
            Reverse(sum(1).abs_diff(sum(0)))
        });
        let texts = changed.iter().take(3).map(|(class, ratio)| {
            let interval = match ratio.interval {
                Some(it) => format!(" [{}, {}]", digits(it.lower), digits(it.upper)),
                None => String::new(),
            };
            let number = match class.counts[..] {
                [1, 1] => "one task each, so without an interval".to_owned(),
                [before, after] if before == after => format!("{} each", counted(before, "task")),
                _ => format!("{} → {}", class.counts[0], counted(class.counts[1], "task")),
            };
            let (class, ratio) = (&class.class, times(ratio.ratio));
            format!("`{class}` tasks take {ratio}{interval} as long ({number})")
        });
        let mut text = joined(texts);
        if changed.len() > 3 {
            let more = changed.len() - 3;
            text = format!("{text}, and {more} more classes changed");
        }
        let intervals = others.iter().filter_map(|(_, ratio)| ratio.interval);
        let reach = intervals.reduce(|all, it| Interval {
            lower: all.lower.min(it.lower),
            upper: all.upper.max(it.upper),
        });
        match (changed.is_empty(), others.is_empty()) {
            (true, true) => "no class has tasks that compute on both sides".to_owned(),
            (true, false) => {
                "no class of tasks takes longer or less time to compute, beyond chance".to_owned()
            }
            (false, true) => text,
            (false, false) => {
                let reach = reach.map_or_else(String::new, |it| {
                    let [lower, upper] = [it.lower, it.upper].map(digits);
                    format!(" (intervals reach from {lower} to {upper})")
                });
                format!("{text}; no other class differs beyond chance{reach}")
            }
        }
    }

    /// Returns `12.1 s → 9.3 s (−23 %): … tasks take 0.62× [0.58, 0.66] as long (40 tasks each); …; 4 → 6 workers …`.
    fn headline(&self) -> String {
        if let [before, after] = &self.comparison.wholes[..] {
            let change = share(after.makespan - before.makespan, before.makespan);
            let busy = before.utilisation.zip(after.utilisation);
            let busy = busy.map_or_else(String::new, |(before, after)| {
                let [before, after] = [before, after].map(|share| 100.0 * share);
                format!(" busy {before:.0} → {after:.0} % of the time")
            });
            return format!(
                "{} → {} ({}): {}; {} → {}{busy}",
                time(before.makespan),
                time(after.makespan),
                signed_percent(change),
                self.changed_classes(),
                before.workers,
                counted(after.workers, "worker"),
            );
        }
        let wholes = self.comparison.wholes.iter().zip(&self.names);
        joined(wholes.map(|(whole, name)| {
            let makespan = time(whole.makespan);
            match whole.utilisation {
                Some(share) => format!("{name} {makespan} (busy {:.0} %)", 100.0 * share),
                None => format!("{name} {makespan}"),
            }
        }))
    }
}

/// Returns a duration that tasks of all sides have, if they do not have this one: the longest part of it.
fn measured(sides: &[Vec<&Trace>], duration: TaskDuration) -> TaskDuration {
    let has = |runs: &Vec<&Trace>, it: TaskDuration| {
        let mut tasks = runs.iter().flat_map(|run| &run.tasks);
        tasks.any(|task| it.of(task).is_some())
    };
    let durations = [duration, TaskDuration::OnWorker, TaskDuration::Compute];
    let mut measured = durations.into_iter();
    let measured = measured.find(|it| sides.iter().all(|runs| has(runs, *it)));
    measured.unwrap_or(duration)
}

/// Returns the rows of each duration of each class, made of its class, part and times.
fn class_rows(
    comparison: &TraceComparison,
    row: impl Fn(&str, &'static str, &[Option<i64>]) -> Vec<ComparedTraceRow>,
) -> Vec<Vec<ComparedTraceRow>> {
    let rows = comparison.classes.iter().map(|class| {
        let mut rows = row(&class.class, class.duration.name(), &class.means);
        let sides = class.counts.iter().zip(&class.at_once).zip(&class.ratios);
        for (row, ((count, at_once), ratio)) in rows.iter_mut().zip(sides) {
            row.count = Some(*count);
            row.at_once = *at_once;
            class.duration.meaning().clone_into(&mut row.meaning);
            if let Some(ratio) = ratio {
                row.ratio = Some(ratio.ratio);
                row.ratio_lower = ratio.interval.map(|it| it.lower);
                row.ratio_upper = ratio.interval.map(|it| it.upper);
                row.over = Some(over(ratio.over));
                row.is_changed = Some(ratio.is_changed);
                row.change = Some((ratio.ratio - 1.0).abs());
            }
        }
        rows
    });
    rows.collect()
}

/// Returns `0.62×`.
fn times(ratio: f64) -> String {
    format!("{}×", digits(ratio))
}

/// Returns a ratio with the digits that a reader compares: `0.98`, `1.64`, `12.3`.
fn digits(ratio: f64) -> String {
    match ratio {
        large if large >= 100.0 => format!("{large:.0}"),
        large if large >= 10.0 => format!("{large:.1}"),
        small if small < 0.1 => format!("{small:.3}"),
        ratio => format!("{ratio:.2}"),
    }
}

/// Returns the number of tasks per run: `40`, or `40 → 60`.
fn numbers(rows: &[ComparedTraceRow]) -> String {
    let mut counts: Vec<usize> = rows.iter().filter_map(|row| row.count).collect();
    counts.dedup();
    let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    counts.join(" → ")
}

/// Returns the name of what an interval is over.
fn over(replicates: Replicates) -> &'static str {
    match replicates {
        Replicates::Runs => "runs",
        Replicates::PairedTasks => "paired tasks",
        Replicates::Tasks => "tasks",
    }
}

/// Says what makes up a part of a difference.
fn phrase(reason: &PathReason, is_other_number: bool) -> String {
    let (class, is_more) = (&reason.class, reason.time > 0);
    match reason.kind {
        ReasonKind::Longer(part) => {
            let longer = if is_more { "longer" } else { "less time" };
            format!("`{class}` tasks take {longer} {}", part.meaning())
        }
        ReasonKind::Number => {
            let more = if is_more { "more" } else { "fewer" };
            format!("{more} `{class}` tasks")
        }
        ReasonKind::Placement if is_other_number => {
            "tasks are shared by another number of workers".to_owned()
        }
        ReasonKind::Placement => "placement, as other tasks are waited for".to_owned(),
        ReasonKind::Waiting(Some(PathPart::Task(TaskDuration::Queue))) => {
            "waiting in the queue of the worker".to_owned()
        }
        ReasonKind::Waiting(part) => part
            .map_or("before the first task", PathPart::meaning)
            .to_owned(),
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<TraceComparisonFields<'_>>("trace-compare").listing("rows");

impl Answer for TraceComparisonAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let all = self.rows.len();
        let top = self.listed(view);
        let text = format!("{top} of {all} rows; `--full` shows all");
        let hidden = (all > top).then(|| Note::new("top", text).with("shown", top));
        let answer = TextAnswer {
            headline: self.headline(),
            table: self.table(top),
            notes: hidden.into_iter().chain(self.notes(top)).collect(),
            ..TextAnswer::default()
        };
        with_defects(self.sides.iter().flatten().copied(), answer)
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let baseline = self.comparison.wholes.first().map_or(0, |it| it.makespan);
        let wholes = self.names.iter().zip(&self.comparison.wholes).enumerate();
        let traces = wholes.map(|(side, (name, whole))| {
            let same = self.comparison.same_workers(side);
            let same = same.filter(|_| side > 0 && self.has_workers());
            TraceFields {
                trace: name,
                makespan: whole.makespan,
                difference: whole.makespan - baseline,
                relative: share(whole.makespan - baseline, baseline),
                runs: self.comparison.runs[side],
                tasks: whole.tasks,
                workers: whole.workers,
                utilisation: whole.utilisation,
                parallelism: whole.parallelism,
                tasks_of_baseline: same.map(|(common, _)| common),
                on_the_same_worker: same.map(|(_, same)| same),
            }
        });
        let others = self.names.iter().enumerate().skip(1);
        let reasons = others.flat_map(|(side, name)| {
            let reasons = self.comparison.reasons(side).into_iter();
            reasons.map(|reason| ReasonFields::of(name, reason))
        });
        Ok(serde_json::to_value(TraceComparisonFields {
            traces: traces.collect(),
            compared: self.rows.len(),
            rows: self.rows[..self.listed(view)].concat(),
            classes: &self.computing,
            reasons: reasons.collect(),
        })?)
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.rows[self.listed(view)..].iter().map(Vec::len).sum()
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rows.concat())
    }
}
