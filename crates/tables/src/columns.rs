//! The contract: the tables, and the columns of each.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};

/// The version of the contract. Columns may be added within it; other changes need a new one.
pub const TABLE_VERSION: u32 = 1;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableName {
    /// A row per value of an iteration, or per summary of a source without samples.
    Iterations,
    /// A row per instance and metric.
    Instances,
    /// A row per run.
    Runs,
    /// A row per run, benchmark and metric.
    HistoryPoints,
    /// A row per span of a trace.
    Spans,
    /// A row per instance of a study.
    StudyRuns,
    /// A row per value that is not analysed.
    Exclusions,
}

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A text of few different ones: dictionary-encoded.
    Name,
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A whole number, at least 0.
    Whole,
    /// A whole number of nanoseconds.
    Nanoseconds,
    /// A number.
    Number,
    /// A moment, in UTC.
    Time,
}

/// A column of the contract. Every column may have nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The unit of its values: `s`; empty for none, or where another column has it.
    pub unit: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

const fn column(name: &'static str, kind: ColumnKind, about: &'static str) -> TableColumn {
    TableColumn {
        name,
        kind,
        unit: "",
        about,
    }
}

const fn in_unit(column: TableColumn, unit: &'static str) -> TableColumn {
    TableColumn { unit, ..column }
}

use ColumnKind::{Flag, Name, Nanoseconds, Number, Text, Time, Whole};

const SUITE: TableColumn = column("suite", Name, "suite of the benchmark");
const SESSION: TableColumn = column("session", Name, "name of the session");
const SESSION_ID: TableColumn = column("session_id", Name, "id of the session");
const RUN: TableColumn = column("run", Name, "id of the run");
const BENCHMARK: TableColumn = column("benchmark", Name, "id of the benchmark");
const VERSION: TableColumn = column("version", Name, "name of the version");
const COMMIT: TableColumn = column("commit", Name, "hash of the commit");
const VARIANT: TableColumn = column(
    "variant",
    Name,
    "variant, `default` where nothing was varied",
);
const INSTANCE: TableColumn = column("instance", Name, "id of the instance");
const HOST: TableColumn = column("host", Name, "machine that it ran on");
const BLOCK: TableColumn = column("block", Whole, "block within the session");
const POSITION: TableColumn = column("position", Whole, "place in the order of the session");
const ATTEMPT: TableColumn = column("attempt", Whole, "how often it had been lost before");
const INDEX: TableColumn = column(
    "index",
    Whole,
    "number of the iteration within its instance",
);
const BURN_IN: TableColumn = column("burn_in", Flag, "whether it was planned as burn-in");
const OUTCOME: TableColumn = column(
    "outcome",
    Name,
    "`ok`, `failed`, `timed_out`, `skipped`; of instances also `lost`",
);
const MESSAGE: TableColumn = column("message", Text, "why it failed");
const METRIC: TableColumn = column("metric", Name, "name of the metric");
const UNIT: TableColumn = column("unit", Name, "unit of the metric");
const VALUE: TableColumn = column("value", Number, "value, in the unit");
const BETTER: TableColumn = column("better", Name, "`lower` or `higher`; null if unknown");
const STARTED: TableColumn = column("started", Time, "begin of the instance");
const USED: TableColumn = column("used", Flag, "whether it is analysed");
const EXCLUDED_BY: TableColumn = column(
    "excluded_by",
    Name,
    "the rule that excludes it, as in the audit of an answer: `burn_in`, `failed`, `outlier` …",
);

const ITERATIONS: &[TableColumn] = &[
    SUITE,
    SESSION,
    SESSION_ID,
    RUN,
    BENCHMARK,
    VERSION,
    COMMIT,
    VARIANT,
    INSTANCE,
    HOST,
    BLOCK,
    POSITION,
    ATTEMPT,
    INDEX,
    BURN_IN,
    OUTCOME,
    MESSAGE,
    METRIC,
    UNIT,
    VALUE,
    column(
        "statistic",
        Name,
        "of a summary: what its value is, such as `median`",
    ),
    column("spread", Number, "of a summary: its spread, in the unit"),
    column("n", Whole, "of a summary: the number of samples"),
    BETTER,
    STARTED,
    in_unit(
        column(
            "offset",
            Number,
            "begin of the iteration after that of the instance",
        ),
        "s",
    ),
    USED,
    EXCLUDED_BY,
];

const INSTANCES: &[TableColumn] = &[
    SUITE,
    SESSION,
    SESSION_ID,
    RUN,
    BENCHMARK,
    VERSION,
    COMMIT,
    VARIANT,
    INSTANCE,
    HOST,
    BLOCK,
    POSITION,
    ATTEMPT,
    OUTCOME,
    MESSAGE,
    STARTED,
    column("ended", Time, "end of the instance"),
    METRIC,
    UNIT,
    BETTER,
    column(
        "mean",
        Number,
        "mean of the values that are analysed, in the unit",
    ),
    column(
        "iterations",
        Whole,
        "number of the values that are analysed",
    ),
    column(
        "excluded",
        Whole,
        "number of the values and failures that are not",
    ),
];

const RUNS: &[TableColumn] = &[
    SUITE,
    SESSION,
    SESSION_ID,
    column("session_started", Time, "begin of the session"),
    column("tool", Name, "program that measured"),
    RUN,
    VERSION,
    COMMIT,
    column("branch", Name, "branch of the commit"),
    column(
        "dirty",
        Flag,
        "whether there were changes that were not committed",
    ),
    VARIANT,
    column("factors", Text, "levels of the factors, as JSON"),
    column(
        "environment",
        Text,
        "what was observed of the surroundings, as JSON",
    ),
    column("attributes", Text, "whatever else is known, as JSON"),
];

const HISTORY_POINTS: &[TableColumn] = &[
    SUITE,
    SESSION,
    SESSION_ID,
    column("session_started", Time, "begin of the session"),
    RUN,
    BENCHMARK,
    VERSION,
    COMMIT,
    VARIANT,
    METRIC,
    UNIT,
    BETTER,
    column("instances", Whole, "number of instances with a value"),
    column(
        "mean",
        Number,
        "mean of their means without planned burn-in, in the unit",
    ),
    column(
        "mean_log",
        Number,
        "mean of the logarithms of their means; null if one is not positive",
    ),
];

const SPANS: &[TableColumn] = &[
    BENCHMARK,
    column(
        "version",
        Name,
        "name of the version, or hash of the commit",
    ),
    VARIANT,
    INSTANCE,
    column(
        "iteration",
        Whole,
        "number of the iteration within its instance",
    ),
    column("span", Whole, "number of the span within its instance"),
    column("category", Name, "kind of the span, such as `task`"),
    column("name", Text, "name of the span"),
    column("lane", Name, "where it ran, such as `h0:w1`"),
    column("clock", Name, "clock of its events"),
    in_unit(
        column("begin", Nanoseconds, "its first event, of that clock"),
        "ns",
    ),
    in_unit(
        column("end", Nanoseconds, "its last event, of that clock"),
        "ns",
    ),
    column(
        "events",
        Text,
        "all of its events, as JSON: name to nanoseconds",
    ),
    column(
        "inputs",
        Text,
        "the spans that it waited for, as JSON; null if unknown",
    ),
    column("attributes", Text, "whatever else is known of it, as JSON"),
];

const STUDY_RUNS: &[TableColumn] = &[
    SUITE,
    BENCHMARK,
    METRIC,
    column("unit", Name, "unit of the cost"),
    column(
        "better",
        Name,
        "whether a `lower` or a `higher` cost is better",
    ),
    column(
        "session_number",
        Whole,
        "number of the session within the study",
    ),
    column("measured", Time, "when the instance was measured"),
    column("iterations", Whole, "number of its values"),
    column(
        "cost",
        Number,
        "mean of its values; of a rate its inverse; null if the setting failed",
    ),
];

const EXCLUSIONS: &[TableColumn] = &[
    SUITE,
    SESSION_ID,
    RUN,
    BENCHMARK,
    VARIANT,
    INSTANCE,
    INDEX,
    METRIC,
    VALUE,
    OUTCOME,
    MESSAGE,
    EXCLUDED_BY,
];

impl TableName {
    /// Every table.
    pub const ALL: [Self; 7] = [
        Self::Iterations,
        Self::Instances,
        Self::Runs,
        Self::HistoryPoints,
        Self::Spans,
        Self::StudyRuns,
        Self::Exclusions,
    ];

    /// Returns its name: `history_points`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Instances => "instances",
            Self::Runs => "runs",
            Self::HistoryPoints => "history_points",
            Self::Spans => "spans",
            Self::StudyRuns => "study_runs",
            Self::Exclusions => "exclusions",
        }
    }

    /// Returns its columns in order; those of the factors of a study follow.
    pub fn columns(self) -> &'static [TableColumn] {
        match self {
            Self::Iterations => ITERATIONS,
            Self::Instances => INSTANCES,
            Self::Runs => RUNS,
            Self::HistoryPoints => HISTORY_POINTS,
            Self::Spans => SPANS,
            Self::StudyRuns => STUDY_RUNS,
            Self::Exclusions => EXCLUSIONS,
        }
    }

    /// Returns its schema, with columns of names for these factors after its own.
    pub(crate) fn schema(self, factors: &[String]) -> Arc<Schema> {
        let own = self.columns().iter().map(TableColumn::field);
        let factors = factors.iter().map(|name| {
            let about = HashMap::from([("about".to_owned(), "level of this factor".to_owned())]);
            Field::new(format!("factor.{name}"), data_type(Name), true).with_metadata(about)
        });
        let metadata = HashMap::from([
            ("lapwing.table".to_owned(), self.name().to_owned()),
            (
                "lapwing.table_version".to_owned(),
                TABLE_VERSION.to_string(),
            ),
        ]);
        Arc::new(Schema::new(own.chain(factors).collect::<Vec<_>>()).with_metadata(metadata))
    }
}

impl TableColumn {
    fn field(&self) -> Field {
        let mut metadata = HashMap::from([("about".to_owned(), self.about.to_owned())]);
        if !self.unit.is_empty() {
            metadata.insert("unit".to_owned(), self.unit.to_owned());
        }
        Field::new(self.name, data_type(self.kind), true).with_metadata(metadata)
    }
}

pub(crate) fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        Text => DataType::Utf8,
        Flag => DataType::Boolean,
        // Signed: R has no unsigned numbers.
        Whole | Nanoseconds => DataType::Int64,
        Number => DataType::Float64,
        Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    }
}
