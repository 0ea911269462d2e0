//! Traces side by side: `lapwing trace compare`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lapwing_model::text::{counted, joined};
use lapwing_trace::{PathPart, PathTimes, TaskDuration, Trace, TraceComparison};
use serde_json::Value;

use super::compare_fields::{ComparedTraceRow, TraceComparisonFields, TraceFields, row};
use super::with_defects;
use crate::trace::{column_title, share, signed_percent, signed_time, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Parts of the path whose times differ by less than this share of the baseline's makespan are as good as equal.
const EQUAL: f64 = 0.01;

/// Part of traces that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedPart {
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
    traces: Vec<&'t Trace>,
    names: Vec<String>,
    comparison: TraceComparison,
    part: ComparedPart,
    /// For each class or task that is compared, a row for each trace.
    rows: Vec<Vec<ComparedTraceRow>>,
    /// Number of listed classes or tasks; `None` for all.
    top: Option<usize>,
}

impl<'t> TraceComparisonAnswer<'t> {
    /// Returns the comparison of a part of traces, with their names; tasks are compared by a duration.
    pub fn new(
        traces: Vec<&'t Trace>,
        names: Vec<String>,
        part: ComparedPart,
        duration: TaskDuration,
        relative_to: RelativeTo,
    ) -> Self {
        let comparison = TraceComparison::of(&traces, duration);
        let row =
            |name: &str, part, times: &[Option<i64>]| row(&names, relative_to, name, part, times);
        let rows = match part {
            ComparedPart::Path => {
                let rows = comparison.path.iter().map(|path| {
                    let part = path.part.map_or("before", PathPart::name);
                    let times: Vec<Option<i64>> = path.times.iter().copied().map(Some).collect();
                    let meaning = path.part.map_or("before the first task", PathPart::meaning);
                    let mut rows = row(&path.class, part, &times);
                    rows.iter_mut()
                        .for_each(|row| meaning.clone_into(&mut row.meaning));
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
            traces,
            names,
            comparison,
            part,
            rows,
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
                // Of sums, those of all tasks stand first.
                let is_all = self.part == ComparedPart::Sums && rows[0].name.is_empty();
                (!is_all, Reverse(largest))
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
            ComparedPart::Path => ("class", "path to the end"),
            ComparedPart::Sums => ("class", "duration"),
            ComparedPart::Tasks => ("task", "duration"),
        };
        let mut columns = vec![(name_title, Left), (part_title, Left)];
        let is_pair = self.names.len() == 2;
        if is_pair {
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
            cells.extend(rows.iter().map(|row| row.time.map_or_else(unknown, time)));
            if is_pair {
                let other = &rows[1];
                cells.push(other.difference.map_or_else(unknown, signed_time));
                cells.push(other.relative.map_or_else(unknown, signed_percent));
            }
            table.row(cells);
        }
        table
    }

    fn notes(&self) -> Vec<Note> {
        let comparison = &self.comparison;
        let mut notes = Vec::new();
        if self.part == ComparedPart::Path {
            let baseline = comparison.wholes.first().map_or(0, |whole| whole.makespan);
            let is_large = |path: &&PathTimes| {
                let differences = path.times.iter().map(|time| time - path.times[0]);
                let largest = differences.map(i64::abs).max().unwrap_or(0);
                share(largest, baseline) >= EQUAL
            };
            let large = comparison.path.iter().filter(is_large);
            let large: BTreeSet<&String> = large.map(|path| &path.class).collect();
            let classes = comparison.path.iter().map(|path| &path.class);
            let classes: BTreeSet<&String> = classes.collect();
            let equal = classes
                .difference(&large)
                .map(|class| match class.as_str() {
                    "" => "what is before and between tasks".to_owned(),
                    class => format!("`{class}`"),
                });
            let equal: Vec<String> = equal.collect();
            if !equal.is_empty() {
                let text = format!(
                    "no explanation, each part within 1 % of the baseline's makespan: {}",
                    joined(&equal)
                );
                let note = Note::new("as_good_as_equal", text).with("within", EQUAL);
                notes.push(note.with("parts", equal));
            }
            let text = "differences add up to that of the whole";
            notes.push(Note::new("differences", text));
        }
        let mut elsewhere = Vec::new();
        for (side, name) in self.names.iter().enumerate().skip(1) {
            match comparison.same_workers(side) {
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
        let text = "one run each; for a verdict import several of each and `lapwing compare --metric trace.makespan`";
        notes.push(Note::new("one_run", text).with("runs", 1));
        notes
    }

    /// Returns `2.86 s → 2.06 s (−28 %): … 4 → 4 workers busy 78 → 83 % of the time`.
    fn headline(&self) -> String {
        if let [before, after] = &self.comparison.wholes[..] {
            let change = share(after.makespan - before.makespan, before.makespan);
            let compute = before.parallelism.zip(after.parallelism);
            let compute = compute.map_or_else(String::new, |(before, after)| {
                format!("{before:.2} → {after:.2} tasks compute at once, ")
            });
            let busy = before.utilisation.zip(after.utilisation);
            let busy = busy.map_or_else(String::new, |(before, after)| {
                let [before, after] = [before, after].map(|share| 100.0 * share);
                format!(" busy {before:.0} → {after:.0} % of the time")
            });
            return format!(
                "{} → {} ({}): {compute}{} → {}{busy}",
                time(before.makespan),
                time(after.makespan),
                signed_percent(change),
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
            notes: hidden.into_iter().chain(self.notes()).collect(),
            ..TextAnswer::default()
        };
        with_defects(self.traces.iter().copied(), answer)
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let baseline = self.comparison.wholes.first().map_or(0, |it| it.makespan);
        let wholes = self.names.iter().zip(&self.comparison.wholes).enumerate();
        let traces = wholes.map(|(side, (name, whole))| {
            let same = self.comparison.same_workers(side).filter(|_| side > 0);
            TraceFields {
                trace: name,
                makespan: whole.makespan,
                difference: whole.makespan - baseline,
                relative: share(whole.makespan - baseline, baseline),
                tasks: whole.tasks,
                workers: whole.workers,
                utilisation: whole.utilisation,
                parallelism: whole.parallelism,
                tasks_of_baseline: same.map(|(common, _)| common),
                on_the_same_worker: same.map(|(_, same)| same),
            }
        });
        Ok(serde_json::to_value(TraceComparisonFields {
            traces: traces.collect(),
            compared: self.rows.len(),
            rows: self.rows[..self.listed(view)].concat(),
        })?)
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.rows[self.listed(view)..].iter().map(Vec::len).sum()
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rows.concat())
    }
}
