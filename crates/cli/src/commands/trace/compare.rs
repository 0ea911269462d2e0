//! `lapwing trace compare`: what differs between traces.

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use lapwing_core::show::percent;
use lapwing_core::text::counted;
use lapwing_trace::{TaskDuration, Trace, TraceComparison, compare};

use super::read::{read, write};
use super::words::{share, time, title};
use crate::answer::{TextAnswer, write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, Format};
use crate::table::Align::{Left, Right};
use crate::table::Table;

/// Show what differs between two traces: durations by class, and tasks that both have
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// Log or folder of the baseline
    #[arg(value_name = "BASELINE")]
    baseline: PathBuf,
    /// Log or folder of the candidate
    #[arg(value_name = "CANDIDATE")]
    candidate: PathBuf,
    /// List so many tasks with the largest differences
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A duration of a class in both, in ns.
#[derive(Debug, Default, serde::Serialize)]
struct ChangeRow<'a> {
    class: &'a str,
    duration: &'static str,
    baseline_count: usize,
    candidate_count: usize,
    baseline: i64,
    candidate: i64,
    difference: i64,
    relative: f64,
}

impl TraceCompare {
    /// Shows the differences.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let baseline = read(slice::from_ref(&self.baseline))?;
        let candidate = read(slice::from_ref(&self.candidate))?;
        let found = compare([&baseline, &candidate], TaskDuration::Total);
        let mut out = io::stdout().lock();
        let written = match self.format {
            Format::Json => write_json(&rows(&found), &mut out),
            Format::Csv => write_csv(&rows(&found), &mut out),
            Format::Text | Format::Markdown => {
                drop(out);
                let traces = [&baseline, &candidate];
                let answer = answer(traces, &found, self.top);
                write(answer, &traces, self.format, context)
            }
        };
        CliError::unless_reader_left(written)?;
        Ok(ExitStatus::Fine)
    }
}

fn rows(found: &TraceComparison) -> Vec<ChangeRow<'_>> {
    let changes = found.durations.iter();
    changes
        .map(|it| ChangeRow {
            class: &it.class,
            duration: it.duration.name(),
            baseline_count: it.counts[0],
            candidate_count: it.counts[1],
            baseline: it.sums[0],
            candidate: it.sums[1],
            difference: it.sums[1] - it.sums[0],
            relative: share(it.sums[1] - it.sums[0], it.sums[0]),
        })
        .collect()
}

fn answer(traces: [&Trace; 2], found: &TraceComparison, top: usize) -> TextAnswer {
    let mut table = Table::new(&[
        ("class", Left),
        ("duration", Left),
        ("baseline", Right),
        ("candidate", Right),
        ("difference", Right),
        ("relative", Right),
    ]);
    let mut changes: Vec<_> = found.durations.iter().collect();
    changes.sort_by_key(|it| (!it.class.is_empty(), -(it.sums[1] - it.sums[0]).abs()));
    let of_all = changes.iter().filter(|it| it.class.is_empty()).count();
    for it in changes.iter().take(of_all + 2 * top) {
        let difference = it.sums[1] - it.sums[0];
        table.row(vec![
            match it.class.as_str() {
                "" => "all".to_owned(),
                class => class.to_owned(),
            },
            title(it.duration),
            time(it.sums[0]),
            time(it.sums[1]),
            time(difference),
            percent(share(difference, it.sums[0])),
        ]);
    }
    let mut notes = vec![format!(
        "{} of {} in both ran on the same worker",
        found.same_worker(),
        counted(found.tasks.len(), "task")
    )];
    if found.only_in != [0, 0] {
        notes.push(format!(
            "only in one trace: {} and {}",
            counted(found.only_in[0], "task"),
            counted(found.only_in[1], "task")
        ));
    }
    let mut tasks: Vec<_> = found.tasks.iter().collect();
    tasks.sort_by_key(|it| -(it.durations[1] - it.durations[0]).abs());
    for task in tasks.iter().take(top) {
        let [before, after] = task.durations;
        notes.push(format!(
            "`{}`: {} → {}",
            task.name,
            time(before),
            time(after)
        ));
    }
    let [before, after] = traces.map(Trace::makespan);
    TextAnswer {
        headline: format!(
            "{} → {} ({}); sums over tasks",
            time(before),
            time(after),
            percent(share(after - before, before))
        ),
        table,
        notes,
    }
}
