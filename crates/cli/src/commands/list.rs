//! `lapwing list`: lists the contents of the store.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use lapwing_analyse::sample::SampleFilter;
use lapwing_model::text::{counted, grouped};
use lapwing_model::{Record, Session};
use lapwing_record::{BenchmarkRow, Filter, MetricRow, RunRow, SessionRow, Store, parse_line};
use lapwing_show::writing::Align::{Left, Right, Whole};
use lapwing_show::writing::{AnswerFormat, Table};
use serde::Serialize;

use crate::answer::write_json;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::{note_retired, open_for_reading};

/// Column of summaries, from sources that kept no samples.
const SUMMARIES: &str = "summaries";

/// List benchmarks, sessions, runs or metrics
#[derive(Debug, Args)]
pub struct ListCommand {
    /// What to list
    #[arg(default_value = "benchmarks")]
    what: ListedThing,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListedThing {
    /// Benchmarks
    Benchmarks,
    /// Sessions: invocations of `lapwing run`, and imported files
    Sessions,
    /// Runs: one version and variant within a session
    Runs,
    /// Metrics: measured quantities
    Metrics,
}

impl ListedThing {
    fn name(self) -> &'static str {
        match self {
            Self::Benchmarks => "benchmarks",
            Self::Sessions => "sessions",
            Self::Runs => "runs",
            Self::Metrics => "metrics",
        }
    }

    fn singular(self) -> &'static str {
        self.name().trim_end_matches('s')
    }
}

impl ListCommand {
    /// Prints a line with the number of rows, then the table.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let asked = self.filters.filter()?;
        let store = open_for_reading(context)?;
        let filter = asked.resolve(&store)?;
        note_retired(&store, &filter, context)?;
        let (table, json) = match self.what {
            ListedThing::Benchmarks => both(&store.catalogue().benchmarks(&filter)?, |rows| {
                benchmarks(rows, self.answer.format)
            })?,
            ListedThing::Sessions => both(&store.catalogue().sessions(&filter)?, sessions)?,
            ListedThing::Runs => both(&store.catalogue().runs(&filter)?, runs)?,
            ListedThing::Metrics => both(&store.catalogue().metrics(&filter)?, metrics)?,
        };
        let table = match self.answer.format {
            // Few sources keep no samples; a column of zeros is not informative.
            AnswerFormat::Text | AnswerFormat::Markdown => table.without_zeros(SUMMARIES),
            AnswerFormat::Json | AnswerFormat::Csv => table,
        };
        let mut out = context.terminal.out_as(self.answer.format);
        match self.answer.format {
            AnswerFormat::Text => {
                let count = json.as_array().map_or(0, Vec::len) as u64;
                if count == 0 {
                    writeln!(out, "{}", nothing(self.what, &store, &asked)?)?;
                } else {
                    writeln!(out, "{}\n", counted(count, self.what.singular()))?;
                    table.text_within(context.terminal.width(), &mut out)?;
                }
            }
            AnswerFormat::Json => {
                write_json(&serde_json::json!({ self.what.name(): json }), &mut out)?;
            }
            AnswerFormat::Markdown => table.markdown(&mut out)?,
            AnswerFormat::Csv => table.csv(&mut out)?,
        }
        Ok(ExitStatus::Fine)
    }
}

fn both<T: Serialize>(
    rows: &[T],
    table: impl Fn(&[T]) -> Table,
) -> Result<(Table, serde_json::Value), CliError> {
    Ok((table(rows), serde_json::to_value(rows)?))
}

/// Returns why the list is empty, with advice.
fn nothing(what: ListedThing, store: &Store, asked: &SampleFilter) -> Result<String, CliError> {
    let name = what.name();
    let under_way = sessions_under_way(&store.inbox());
    if !under_way.is_empty() && *asked == SampleFilter::default() {
        let sessions: Vec<String> = under_way
            .iter()
            .map(|session| match &session.name {
                Some(name) => format!("`{name}` (suite `{}`)", session.suite),
                None => format!("of suite `{}`", session.suite),
            })
            .collect();
        let (noun, verb) = match sessions.as_slice() {
            [_one] => ("session", "is"),
            _several => ("sessions", "are"),
        };
        return Ok(format!(
            "no {name} yet: {noun} {} {verb} in progress\n\
             results are listed when it has ended",
            sessions.join(", ")
        ));
    }
    if store.catalogue().sessions(&Filter::default())?.is_empty() {
        return Ok(format!(
            "no {name} yet: the store is empty\n\
             measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`"
        ));
    }
    if *asked == SampleFilter::default() {
        return Ok(format!("no {name} yet: the sessions have no results"));
    }
    Ok(format!(
        "no {name} match all of these filters\nremove a filter to see more"
    ))
}

/// Returns the sessions in progress by name: their record files in the inbox are locked.
fn sessions_under_way(inbox: &Path) -> Vec<Session> {
    let entries = fs::read_dir(inbox).into_iter().flatten().flatten();
    let mut found: Vec<Session> = entries
        .filter_map(|it| session_under_way(&it.path()))
        .collect();
    found.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    // Several workers of one session have a file each.
    found.dedup_by_key(|it| it.id);
    found
}

fn session_under_way(path: &Path) -> Option<Session> {
    path.extension().filter(|it| *it == "jsonl")?;
    let file = File::open(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut line = String::new();
    BufReader::new(file).read_line(&mut line).ok()?;
    match parse_line(line.trim().as_bytes()) {
        Ok(Record::Session(session)) => Some(session),
        Ok(_) | Err(_) => None,
    }
}

fn benchmarks(rows: &[BenchmarkRow], format: AnswerFormat) -> Table {
    let mut table = Table::new(&[
        ("benchmark", Left),
        ("suite", Left),
        ("instances", Right),
        ("iterations", Right),
        ("failures", Right),
        (SUMMARIES, Right),
        ("last measured", Whole),
        ("metrics", Left),
        ("tags", Left),
    ])
    .dispensable(&["tags", "metrics", "suite", "last measured"]);
    for row in rows {
        table.row(vec![
            row.benchmark.clone(),
            row.suite.clone(),
            grouped(row.instances),
            grouped(row.iterations),
            grouped(row.failures),
            grouped(row.summaries),
            minute(row.last_measured),
            match format {
                AnswerFormat::Text | AnswerFormat::Markdown => some_of(&row.metrics),
                AnswerFormat::Json | AnswerFormat::Csv => row.metrics.join(", "),
            },
            row.tags.join(", "),
        ]);
    }
    table
}

/// Returns the names if they are few, otherwise their number: a dozen would not fit a terminal.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 3;
    if names.len() <= SHOWN {
        names.join(", ")
    } else {
        grouped(names.len())
    }
}

fn sessions(rows: &[SessionRow]) -> Table {
    let mut table = Table::new(&[
        ("session", Left),
        ("started", Whole),
        ("suite", Left),
        ("runs", Right),
        ("instances", Right),
        ("iterations", Right),
        (SUMMARIES, Right),
        ("unfinished", Right),
        ("tool", Left),
        ("id", Whole),
    ])
    .dispensable(&["tool", "id", "suite", "unfinished", "runs"]);
    for row in rows {
        table.row(vec![
            row.name.clone().unwrap_or_default(),
            minute(row.started),
            row.suite.clone(),
            grouped(row.runs),
            grouped(row.instances),
            grouped(row.iterations),
            grouped(row.summaries),
            grouped(row.unfinished),
            row.tool.clone(),
            row.id.clone(),
        ]);
    }
    table
}

fn runs(rows: &[RunRow]) -> Table {
    let mut table = Table::new(&[
        ("session", Left),
        ("started", Whole),
        ("version", Left),
        ("commit", Whole),
        ("variant", Left),
        ("instances", Right),
        ("iterations", Right),
        (SUMMARIES, Right),
        ("id", Whole),
    ])
    .dispensable(&["commit", "id", "instances", "version"]);
    for row in rows {
        let commit = row.head.commit.as_deref().unwrap_or_default();
        table.row(vec![
            row.head.session_name.clone().unwrap_or_default(),
            minute(row.head.started),
            row.head.version.clone().unwrap_or_default(),
            commit.chars().take(10).collect(),
            row.head.variant.clone(),
            grouped(row.instances),
            grouped(row.iterations),
            grouped(row.summaries),
            row.head.id.to_string(),
        ]);
    }
    table
}

fn metrics(rows: &[MetricRow]) -> Table {
    let mut table = Table::new(&[
        ("metric", Left),
        ("unit", Left),
        ("better", Left),
        ("benchmarks", Right),
        (SUMMARIES, Right),
    ]);
    for row in rows {
        table.row(vec![
            row.metric.clone(),
            row.units.join(", "),
            row.better.join(", "),
            grouped(row.benchmarks),
            grouped(row.summaries),
        ]);
    }
    table
}

/// Returns a UTC time without seconds.
fn minute(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}
