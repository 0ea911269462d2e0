//! The contents of a store: `lapwing list`.

use jiff::Timestamp;
use lapwing_model::Session;
use lapwing_model::text::{counted, grouped};
use lapwing_record::{BenchmarkRow, MetricRow, RunRow, SessionRow};
use serde_json::json;

use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{AnswerFormat, AnswerKind, ReadyAnswer, Table, Untyped, WriteError};

const LIST: AnswerKind = AnswerKind::of::<Untyped>("list");

/// Column of summaries, from sources that kept no samples.
const SUMMARIES: &str = "summaries";

/// Of more metrics of a benchmark people see the number: a dozen would not fit a terminal.
const SHOWN_METRICS: usize = 3;

/// Rows of a store.
#[derive(Debug)]
pub enum ListedRows {
    /// Benchmarks.
    Benchmarks(Vec<BenchmarkRow>),
    /// Sessions.
    Sessions(Vec<SessionRow>),
    /// Runs.
    Runs(Vec<RunRow>),
    /// Metrics.
    Metrics(Vec<MetricRow>),
}

/// The reason why a list is empty.
#[derive(Debug)]
pub enum EmptyList {
    /// These sessions are in progress.
    UnderWay(Vec<Session>),
    /// The store is empty.
    EmptyStore,
    /// The sessions have no results.
    NoResults,
    /// Nothing matches the filters.
    NoMatch,
}

impl ListedRows {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn count(&self) -> usize {
        match self {
            Self::Benchmarks(rows) => rows.len(),
            Self::Sessions(rows) => rows.len(),
            Self::Runs(rows) => rows.len(),
            Self::Metrics(rows) => rows.len(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Benchmarks(_) => "benchmarks",
            Self::Sessions(_) => "sessions",
            Self::Runs(_) => "runs",
            Self::Metrics(_) => "metrics",
        }
    }

    /// Returns the list for a format; `empty` says why there is nothing.
    ///
    /// # Errors
    ///
    /// Returns the error of a row that JSON has no form for.
    pub fn answer(
        &self,
        format: AnswerFormat,
        empty: Option<EmptyList>,
    ) -> Result<ReadyAnswer, WriteError> {
        let for_people = matches!(format, AnswerFormat::Text | AnswerFormat::Markdown);
        let (table, rows) = match self {
            Self::Benchmarks(rows) => (benchmarks(rows, for_people), serde_json::to_value(rows)?),
            Self::Sessions(rows) => (sessions(rows), serde_json::to_value(rows)?),
            Self::Runs(rows) => (runs(rows), serde_json::to_value(rows)?),
            Self::Metrics(rows) => (metrics(rows), serde_json::to_value(rows)?),
        };
        let name = self.name();
        Ok(ReadyAnswer::of_table(
            &LIST,
            match empty {
                Some(empty) => empty.text(name),
                None => counted(self.count(), name.trim_end_matches('s')),
            },
            if for_people {
                // Few sources keep no samples; a column of zeros is not informative.
                table.without_zeros(SUMMARIES)
            } else {
                table
            },
            json!({ name: rows }),
        ))
    }
}

impl EmptyList {
    fn text(&self, name: &str) -> String {
        match self {
            Self::UnderWay(sessions) => {
                let names = sessions.iter().map(|session| match &session.name {
                    Some(name) => format!("`{name}` (suite `{}`)", session.suite),
                    None => format!("of suite `{}`", session.suite),
                });
                let (noun, verb) = match sessions.as_slice() {
                    [_one] => ("session", "is"),
                    _several => ("sessions", "are"),
                };
                format!(
                    "no {name} yet: {noun} {} {verb} in progress\n\
                     results are listed when it has ended",
                    names.collect::<Vec<_>>().join(", ")
                )
            }
            Self::EmptyStore => format!(
                "no {name} yet: the store is empty\n\
                 measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`"
            ),
            Self::NoResults => format!("no {name} yet: the sessions have no results"),
            Self::NoMatch => {
                format!("no {name} match all of these filters\nremove a filter to see more")
            }
        }
    }
}

fn benchmarks(rows: &[BenchmarkRow], for_people: bool) -> Table {
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
            if for_people && row.metrics.len() > SHOWN_METRICS {
                grouped(row.metrics.len())
            } else {
                row.metrics.join(", ")
            },
            row.tags.join(", "),
        ]);
    }
    table
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
fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}
