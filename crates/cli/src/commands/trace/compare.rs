//! `lapwing trace compare`: what differs between traces.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::slice;

use clap::{Args, ValueEnum};
use lapwing_model::text::{counted, joined};
use lapwing_show::trace::{column_title, share, signed_percent, signed_time, time};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{PathPart, PathTimes, TaskDuration, Trace, TraceComparison};
use serde_json::json;

use super::read::{read, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Parts of the path whose times differ by less than this share of the baseline's makespan are as good as equal.
const EQUAL: f64 = 0.01;

/// Show what differs between traces
///
/// By default, the difference in makespan is divided into what the paths to the last end spend on
/// each class of tasks: those differences add up to it.
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// The baseline, and one or more others: files of any format that `lapwing import` reads, or
    /// folders of logs
    #[arg(value_name = "TRACE", num_args = 2.., required = true)]
    traces: Vec<PathBuf>,
    /// What to compare
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    show: Compared,
    /// Duration by which tasks are compared
    #[arg(long, value_enum, default_value_t, value_name = "DURATION")]
    duration: Duration,
    /// Order of rows
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    sort: Order,
    /// Show so many rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Reproduce another tool's method, bugs included
    #[arg(long, value_enum, value_name = "TOOL")]
    compat: Option<TraceCompat>,
    #[command(flatten)]
    answer: AnswerOptions,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Compared {
    /// Time along the path to the last end, by class of tasks
    #[default]
    Path,
    /// Sums over all tasks, by class
    Sums,
    /// Each task of the baseline and its like in the others
    Tasks,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Duration {
    /// From planning to completion
    #[default]
    Total,
    /// On the worker or in its queue
    OnWorker,
    /// Computing
    Compute,
    /// In the queue of the worker
    Queue,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Order {
    /// The largest difference first
    #[default]
    Difference,
    /// The largest relative difference first
    Relative,
    /// By name
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TraceCompat {
    /// The notebook of earthkit-workflows: relative differences are of the other trace's value instead of the
    /// baseline's
    Notebook,
}

/// A time in one trace beside the baseline's, in ns.
#[derive(Debug, Clone, Default, serde::Serialize)]
struct ComparedRow {
    /// The class of tasks, or the task; empty for all.
    name: String,
    /// The part of the tasks or of the path.
    part: &'static str,
    trace: String,
    count: Option<usize>,
    worker: Option<String>,
    time: Option<i64>,
    difference: Option<i64>,
    relative: Option<f64>,
    #[serde(skip)]
    meaning: String,
}

impl TraceCompare {
    /// Shows the differences.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let traces = self.traces.iter().map(slice::from_ref).map(read);
        let traces: Vec<Trace> = traces.collect::<Result<_, _>>()?;
        let traces: Vec<&Trace> = traces.iter().collect();
        let duration = match self.duration {
            Duration::Total => TaskDuration::Total,
            Duration::OnWorker => TaskDuration::OnWorker,
            Duration::Compute => TaskDuration::Compute,
            Duration::Queue => TaskDuration::Queue,
        };
        let found = TraceComparison::of(&traces, duration);
        let rows = self.sorted(self.rows(&found, duration));
        let mut out = io::stdout().lock();
        let written = match self.answer.format {
            AnswerFormat::Json => write_json(&self.json(&found, &rows), &mut out),
            AnswerFormat::Csv => write_csv(&rows.concat(), &mut out),
            AnswerFormat::Text | AnswerFormat::Markdown => {
                drop(out);
                write(
                    self.answer(&found, &rows),
                    &traces,
                    self.answer.format,
                    context,
                )
            }
        };
        CliError::unless_reader_left(written)?;
        Ok(ExitStatus::Fine)
    }

    /// Returns short names for the traces: those of their files, or their paths where these are alike.
    fn names(&self) -> Vec<String> {
        let stems = self.traces.iter().map(|path| path.file_stem());
        let stems: Vec<String> = stems
            .map(|stem| stem.unwrap_or_default().display().to_string())
            .collect();
        let each = self.traces.iter().zip(&stems).map(|(path, stem)| {
            match stems.iter().filter(|other| *other == stem).count() {
                1 => stem.clone(),
                _ => path.display().to_string(),
            }
        });
        each.collect()
    }

    /// Returns, for each thing that is compared, a row for each trace.
    fn rows(&self, found: &TraceComparison, duration: TaskDuration) -> Vec<Vec<ComparedRow>> {
        match self.show {
            Compared::Path => {
                let each = found.path.iter().map(|it| {
                    let part = it.part.map_or("before", PathPart::name);
                    let times: Vec<Option<i64>> = it.times.iter().copied().map(Some).collect();
                    let mut rows = self.row(&it.class, part, &times);
                    for row in &mut rows {
                        row.meaning = path_meaning(it).to_owned();
                    }
                    rows
                });
                each.collect()
            }
            Compared::Sums => {
                let each = found.durations.iter().map(|it| {
                    let known = it.sums.iter().zip(&it.counts);
                    let times: Vec<Option<i64>> = known
                        .map(|(sum, count)| (*count > 0).then_some(*sum))
                        .collect();
                    let mut rows = self.row(&it.class, it.duration.name(), &times);
                    for (row, count) in rows.iter_mut().zip(&it.counts) {
                        row.count = Some(*count);
                        row.meaning = column_title(it.duration);
                    }
                    rows
                });
                each.collect()
            }
            Compared::Tasks => {
                let each = found.tasks.iter().map(|it| {
                    let mut rows = self.row(&it.name, duration.name(), &it.durations);
                    for (row, worker) in rows.iter_mut().zip(&it.workers) {
                        row.worker.clone_from(worker);
                        row.meaning = column_title(duration);
                    }
                    rows
                });
                each.collect()
            }
        }
    }

    fn row(&self, name: &str, part: &'static str, times: &[Option<i64>]) -> Vec<ComparedRow> {
        let baseline = times.first().copied().flatten();
        let each = times.iter().zip(self.names()).enumerate();
        let rows = each.map(|(side, (time, trace))| {
            let pair = baseline.zip(*time).filter(|_| side > 0);
            let difference = pair.map(|(baseline, time)| time - baseline);
            let base = pair.map(|(baseline, time)| match self.compat {
                Some(TraceCompat::Notebook) => time,
                None => baseline,
            });
            let relative = difference.zip(base.filter(|base| *base != 0));
            ComparedRow {
                name: name.to_owned(),
                part,
                trace,
                time: *time,
                difference,
                relative: relative.map(|(difference, base)| share(difference, base)),
                ..ComparedRow::default()
            }
        });
        rows.collect()
    }

    fn sorted(&self, mut rows: Vec<Vec<ComparedRow>>) -> Vec<Vec<ComparedRow>> {
        let largest = |row: &Vec<ComparedRow>, of: fn(&ComparedRow) -> f64| {
            row.iter().map(of).fold(0.0_f64, f64::max)
        };
        let relative = |row: &ComparedRow| row.relative.unwrap_or(0.0).abs();
        match self.sort {
            Order::Name => rows.sort_by(|one, other| {
                (&one[0].name, one[0].part).cmp(&(&other[0].name, other[0].part))
            }),
            Order::Difference => rows.sort_by_key(|row| {
                let differences = row.iter().filter_map(|it| it.difference);
                let largest = differences.map(i64::abs).max().unwrap_or(0);
                // Of sums, those of all tasks stand first.
                let is_all = self.show == Compared::Sums && row[0].name.is_empty();
                (!is_all, Reverse(largest))
            }),
            Order::Relative => rows
                .sort_by(|one, other| largest(other, relative).total_cmp(&largest(one, relative))),
        }
        rows
    }

    fn answer(&self, found: &TraceComparison, rows: &[Vec<ComparedRow>]) -> TextAnswer {
        let names = self.names();
        let mut columns = vec![(self.show.name_title().to_owned(), Left)];
        columns.push((self.show.part_title().to_owned(), Left));
        let is_pair = names.len() == 2;
        if is_pair {
            let pair = ["baseline", "candidate", "difference", "relative"];
            columns.extend(pair.map(|title| (title.to_owned(), Right)));
        } else {
            columns.extend(names.iter().map(|name| (name.clone(), Right)));
        }
        let mut table = Table::new(&columns);
        let top = match self.top {
            0 => rows.len(),
            top => top,
        };
        let unknown = || "–".to_owned();
        for row in rows.iter().take(top) {
            let name = match row[0].name.as_str() {
                "" if self.show == Compared::Sums => "all",
                name => name,
            };
            let mut cells = vec![name.to_owned(), row[0].meaning.clone()];
            cells.extend(row.iter().map(|it| it.time.map_or_else(unknown, time)));
            if is_pair {
                let other = &row[1];
                cells.push(other.difference.map_or_else(unknown, signed_time));
                cells.push(other.relative.map_or_else(unknown, signed_percent));
            }
            table.row(cells);
        }
        let mut notes = self.notes(found);
        if rows.len() > top {
            notes.insert(
                0,
                format!("{top} of {} rows; `--top 0` shows all", rows.len()),
            );
        }
        TextAnswer {
            headline: headline(found, &names),
            table,
            notes,
        }
    }

    fn notes(&self, found: &TraceComparison) -> Vec<String> {
        let mut notes = Vec::new();
        if self.show == Compared::Path {
            let baseline = found.wholes.first().map_or(0, |it| it.makespan);
            let is_large = |it: &&PathTimes| {
                let differences = it.times.iter().map(|time| time - it.times[0]);
                let largest = differences.map(i64::abs).max().unwrap_or(0);
                share(largest, baseline) >= EQUAL
            };
            let large = found.path.iter().filter(is_large).map(|it| &it.class);
            let large: BTreeSet<&String> = large.collect();
            let classes: BTreeSet<&String> = found.path.iter().map(|it| &it.class).collect();
            let equal = joined(classes.difference(&large).map(|class| format!("`{class}`")));
            if !equal.is_empty() {
                notes.push(format!(
                    "no explanation, each part within 1 % of the baseline's makespan: {equal}"
                ));
            }
            notes.push("differences add up to that of the whole".to_owned());
        }
        let names = self.names();
        let mut elsewhere = Vec::new();
        for (side, name) in names.iter().enumerate().skip(1) {
            match found.same_workers(side) {
                Some((common, same)) => notes.push(format!(
                    "{same} of {} in both ran on the same worker in {name}",
                    counted(common, "task")
                )),
                None => elsewhere.push(name.as_str()),
            }
            let whole = &found.wholes[side];
            let common = found.tasks.iter().filter(|it| it.workers[side].is_some());
            let common = common.count();
            if [found.tasks.len(), whole.tasks] != [common, common] {
                notes.push(format!(
                    "{} only in the baseline, {} only in {name}",
                    counted(found.tasks.len().saturating_sub(common), "task"),
                    counted(whole.tasks.saturating_sub(common), "task"),
                ));
            }
        }
        if !elsewhere.is_empty() {
            notes.push(format!(
                "places are not compared: no worker of {} has the name of one of the baseline's",
                joined(elsewhere)
            ));
        }
        notes.push(
            "one run each; for a verdict import several of each and `lapwing compare --metric trace.makespan`"
                .to_owned(),
        );
        notes
    }

    fn json(&self, found: &TraceComparison, rows: &[Vec<ComparedRow>]) -> serde_json::Value {
        let wholes = self.names().into_iter().zip(&found.wholes);
        let wholes = wholes.enumerate().map(|(side, (name, it))| {
            let same = (side > 0).then(|| found.same_workers(side)).flatten();
            json!({
                "trace": name,
                "makespan": it.makespan,
                "tasks": it.tasks,
                "workers": it.workers,
                "utilisation": it.utilisation,
                "parallelism": it.parallelism,
                "tasks_of_baseline": same.map(|it| it.0),
                "on_the_same_worker": same.map(|it| it.1),
            })
        });
        json!({"traces": wholes.collect::<Vec<_>>(), "rows": rows.concat()})
    }
}

impl Compared {
    fn name_title(self) -> &'static str {
        match self {
            Self::Path | Self::Sums => "class",
            Self::Tasks => "task",
        }
    }

    fn part_title(self) -> &'static str {
        match self {
            Self::Path => "path to the end",
            Self::Sums | Self::Tasks => "duration",
        }
    }
}

fn path_meaning(it: &PathTimes) -> &'static str {
    it.part.map_or("before the first task", PathPart::meaning)
}

/// Returns `2.86 s → 2.06 s (−28 %) with 4 → 4 workers, which are busy 78 → 83 % of the time`.
fn headline(found: &TraceComparison, names: &[String]) -> String {
    let each = found.wholes.iter().zip(names);
    match &found.wholes[..] {
        [before, after] => {
            let change = share(after.makespan - before.makespan, before.makespan);
            format!(
                "{} → {} ({}): {:.2} → {:.2} tasks compute at once, {} → {} busy {:.0} → {:.0} % of the time",
                time(before.makespan),
                time(after.makespan),
                signed_percent(change),
                before.parallelism,
                after.parallelism,
                before.workers,
                counted(after.workers, "worker"),
                100.0 * before.utilisation,
                100.0 * after.utilisation,
            )
        }
        _ => {
            let each = each.map(|(it, name)| {
                format!(
                    "{name} {} (busy {:.0} %)",
                    time(it.makespan),
                    100.0 * it.utilisation
                )
            });
            joined(each)
        }
    }
}
