//! The contents of a store: `lapwing list`.

use jiff::Timestamp;
use lapwing_model::Session;
use lapwing_model::text::{counted, grouped};
use lapwing_record::{BenchmarkRow, MetricRow, RunRow, SessionRow};
use schemars::JsonSchema;
use serde::Serialize;

use super::list_rows::{ListedBenchmarkFields, MetricRowFields, RunFields, SessionRowFields};
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{AnswerKind, Note, ReadyAnswer, Table, TextAnswer, WriteError};

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

/// A list of benchmarks for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct BenchmarkList<'a> {
    count: usize,
    benchmarks: &'a [ListedBenchmarkFields<'a>],
}

/// A list of sessions for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionList<'a> {
    count: usize,
    sessions: &'a [SessionRowFields<'a>],
}

/// A list of runs for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct RunList<'a> {
    count: usize,
    runs: &'a [RunFields<'a>],
}

/// A list of metrics for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct MetricList<'a> {
    count: usize,
    metrics: &'a [MetricRowFields<'a>],
}

/// The kind of a list of benchmarks.
pub const BENCHMARKS: AnswerKind =
    AnswerKind::of::<BenchmarkList<'_>>("list-benchmarks").listing("benchmarks");
/// The kind of a list of sessions.
pub const SESSIONS: AnswerKind =
    AnswerKind::of::<SessionList<'_>>("list-sessions").listing("sessions");
/// The kind of a list of runs.
pub const RUNS: AnswerKind = AnswerKind::of::<RunList<'_>>("list-runs").listing("runs");
/// The kind of a list of metrics.
pub const METRICS: AnswerKind = AnswerKind::of::<MetricList<'_>>("list-metrics").listing("metrics");

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

    /// Returns the list with notes; `empty` says why there is nothing.
    ///
    /// # Errors
    ///
    /// Returns the error of a row that JSON has no form for.
    pub fn answer(
        &self,
        empty: Option<EmptyList>,
        notes: Vec<Note>,
    ) -> Result<ReadyAnswer, WriteError> {
        let name = self.name();
        let count = self.count();
        let (headline, explanation) = match empty {
            Some(empty) => empty.text(name),
            None => (counted(count, name.trim_end_matches('s')), None),
        };
        let explanation = explanation.map(|text| Note::new("empty", text));
        let text = |table: Table| TextAnswer {
            headline,
            // Few sources keep no samples; a column of zeros is not informative.
            table: table.without_zeros(SUMMARIES),
            notes: explanation.into_iter().chain(notes).collect(),
            ..TextAnswer::default()
        };
        match self {
            Self::Benchmarks(rows) => {
                let fields: Vec<_> = rows.iter().map(ListedBenchmarkFields::new).collect();
                let list = BenchmarkList {
                    count,
                    benchmarks: &fields,
                };
                ReadyAnswer::new(&BENCHMARKS, text(benchmarks(rows)), &list, &fields)
            }
            Self::Sessions(rows) => {
                let fields: Vec<_> = rows.iter().map(SessionRowFields::new).collect();
                let list = SessionList {
                    count,
                    sessions: &fields,
                };
                ReadyAnswer::new(&SESSIONS, text(sessions(rows)), &list, &fields)
            }
            Self::Runs(rows) => {
                let fields: Vec<_> = rows.iter().map(RunFields::new).collect();
                let list = RunList {
                    count,
                    runs: &fields,
                };
                ReadyAnswer::new(&RUNS, text(runs(rows)), &list, &fields)
            }
            Self::Metrics(rows) => {
                let fields: Vec<_> = rows.iter().map(MetricRowFields::new).collect();
                let list = MetricList {
                    count,
                    metrics: &fields,
                };
                ReadyAnswer::new(&METRICS, text(metrics(rows)), &list, &fields)
            }
        }
    }
}

impl EmptyList {
    /// Returns a sentence, and what to do about it.
    fn text(&self, name: &str) -> (String, Option<String>) {
        let (headline, explanation) = match self {
            Self::UnderWay(sessions) => {
                let names = sessions.iter().map(|session| match &session.name {
                    Some(name) => format!("`{name}` (suite `{}`)", session.suite),
                    None => format!("of suite `{}`", session.suite),
                });
                let (noun, verb) = match sessions.as_slice() {
                    [_one] => ("session", "is"),
                    _several => ("sessions", "are"),
                };
                let names = names.collect::<Vec<_>>().join(", ");
                (
                    format!("no {name} yet: {noun} {names} {verb} in progress"),
                    Some("results are listed when it has ended"),
                )
            }
            Self::EmptyStore => (
                format!("no {name} yet: the store is empty"),
                Some(
                    "measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`",
                ),
            ),
            Self::NoResults => (format!("no {name} yet: the sessions have no results"), None),
            Self::NoMatch => (
                format!("no {name} match all of these filters"),
                Some("remove a filter to see more"),
            ),
        };
        (headline, explanation.map(str::to_owned))
    }
}

fn benchmarks(rows: &[BenchmarkRow]) -> Table {
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
            if row.metrics.len() > SHOWN_METRICS {
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
