//! Answers about traces of task graphs: `lapwing trace`.

mod compare;
mod compare_fields;
mod controller;
mod durations;
mod finding_row;
mod findings;
mod lint;
mod profile;
mod task_rows;
mod what_if;

use lapwing_trace::{Statistics, Trace, lint as defects_of};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

pub use self::compare::{ComparedPart, RelativeTo, RowOrder, TraceComparisonAnswer};
pub use self::controller::ControllerAnswer;
pub use self::durations::{TaskDurationsAnswer, TransferDurationsAnswer};
pub use self::findings::TraceFindingsAnswer;
pub use self::lint::DefectsAnswer;
pub use self::profile::ProfileAnswer;
pub use self::task_rows::TaskRowsAnswer;
pub use self::what_if::{WhatIfAnswer, usual_scenarios};
use crate::trace::defects_text;
use crate::writing::{AnswerKind, Note, TextAnswer};

/// The kinds of answers about traces.
pub const KINDS: &[&AnswerKind] = &[
    &compare::KIND,
    &controller::KIND,
    &durations::TRACE_TASKS,
    &durations::TRACE_TRANSFERS,
    &findings::KIND,
    &lint::KIND,
    &profile::KIND,
    &task_rows::KIND,
    &what_if::KIND,
];

/// Statistics of durations in ns, or of sizes in bytes.
#[derive(Debug, Default, Clone, Copy, Serialize, JsonSchema)]
struct StatisticsFields {
    count: usize,
    sum: i64,
    mean: f64,
    min: i64,
    median: f64,
    p90: f64,
    max: i64,
}

impl From<Statistics> for StatisticsFields {
    fn from(statistics: Statistics) -> Self {
        Self {
            count: statistics.count,
            sum: statistics.sum,
            mean: statistics.mean,
            min: statistics.min,
            median: statistics.median,
            p90: statistics.p90,
            max: statistics.max,
        }
    }
}

/// Adds the defects of the traces to the notes of an answer, and marks these as notes.
fn with_defects<'t>(
    traces: impl IntoIterator<Item = &'t Trace>,
    mut answer: TextAnswer,
) -> TextAnswer {
    let notes = traces.into_iter().filter_map(|trace| {
        let defects = defects_of(trace);
        let note = Note::new("defects", defects_text(&defects)?);
        Some(note.with("defects", json!(lint::defect_rows(&defects))))
    });
    answer.notes.extend(notes);
    let notes = std::mem::take(&mut answer.notes).into_iter();
    answer.notes = notes.map(Note::mark).collect();
    answer
}
