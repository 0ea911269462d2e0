//! `lapwing trace show tasks`: how long tasks take.

use std::io;

use clap::ValueEnum;
use lapwing_model::text::counted;
use lapwing_show::quantity;
use lapwing_show::trace::{column_title, time};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{DurationGroup, Statistics, TaskDuration, Trace, durations};

use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// How tasks are grouped.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum TaskGroup {
    /// By class: the name without what follows `:` or `(`, and without a number at the end
    #[default]
    Class,
    /// By worker
    Worker,
    /// By host
    Host,
    /// All together
    All,
}

/// A duration of a group, in ns.
#[derive(Debug, Default, serde::Serialize)]
pub struct DurationRow {
    group: String,
    duration: &'static str,
    count: usize,
    sum: i64,
    mean: f64,
    min: i64,
    median: f64,
    p90: f64,
    max: i64,
}

impl DurationRow {
    /// Returns the row of these statistics.
    pub fn of(group: &str, duration: &'static str, it: &Statistics) -> Self {
        Self {
            group: group.to_owned(),
            duration,
            count: it.count,
            sum: it.sum,
            mean: it.mean,
            min: it.min,
            median: it.median,
            p90: it.p90,
            max: it.max,
        }
    }
}

/// Shows the durations.
pub fn act(shown: &ShownTrace, by: TaskGroup, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let group = match by {
        TaskGroup::Class => DurationGroup::Class,
        TaskGroup::Worker => DurationGroup::Worker,
        TaskGroup::Host => DurationGroup::Host,
        TaskGroup::All => DurationGroup::All,
    };
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => write_json(&rows(&trace, group), &mut out),
        AnswerFormat::Csv => write_csv(&rows(&trace, group), &mut out),
        AnswerFormat::Text | AnswerFormat::Markdown => {
            drop(out);
            write(
                answer(&trace, group),
                &[&trace],
                shown.answer.format,
                context,
            )
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(ExitStatus::Fine)
}

fn rows(trace: &Trace, group: DurationGroup) -> Vec<DurationRow> {
    let mut rows = Vec::new();
    for (group, found) in durations(trace, group) {
        for (duration, it) in &found {
            rows.push(DurationRow::of(&group, duration.name(), it));
        }
    }
    rows
}

fn answer(trace: &Trace, group: DurationGroup) -> TextAnswer {
    let mut columns = vec![(String::new(), Left), ("tasks".to_owned(), Right)];
    let groups = durations(trace, group);
    let mut known = TaskDuration::ALL.to_vec();
    known.retain(|it| groups.values().any(|found| found.contains_key(it)));
    columns.extend(known.iter().map(|it| (column_title(*it), Right)));
    let mut table = Table::new(&columns);
    for (name, found) in groups {
        let count = found.values().map(|it| it.count).max().unwrap_or(0);
        let mut cells = vec![name, count.to_string()];
        for duration in &known {
            let mean = found.get(duration).map(|it| quantity(it.mean / 1e9, "s"));
            cells.push(mean.unwrap_or_else(|| "–".to_owned()));
        }
        table.row(cells);
    }
    let total: i64 = trace
        .tasks
        .iter()
        .filter_map(|task| TaskDuration::Total.of(task))
        .sum();
    TextAnswer {
        headline: format!(
            "{} in {}, {} in all; means of each duration",
            counted(trace.tasks.len(), "task"),
            time(trace.makespan()),
            time(total)
        ),
        table,
        notes: Vec::new(),
    }
}
