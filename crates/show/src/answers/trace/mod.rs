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

use lapwing_trace::{Defect, DefectKind, Statistics, Trace, lint as defects_of};
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
use crate::trace::{defects_text, time};
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

/// Returns a note on a host whose times are shifted.
fn shift_note(defect: &Defect) -> Note {
    let (host, offset) = (&defect.subject, defect.offset.unwrap_or_default());
    let direction = if offset < 0 { "behind" } else { "ahead" };
    let by = time(offset.abs());
    let text = format!("the clock of {host} was {by} {direction}; its times are shifted");
    Note::new("shifted_clock", text)
        .with("host", host.clone())
        .with("offset", offset)
}

/// Adds the defects of the traces to the notes of an answer, and marks these as notes.
fn with_defects<'t>(
    traces: impl IntoIterator<Item = &'t Trace>,
    mut answer: TextAnswer,
) -> TextAnswer {
    let notes = traces.into_iter().flat_map(|trace| {
        let mut defects = defects_of(trace);
        let shifted = defects.extract_if(.., |it| it.kind == DefectKind::ShiftedClock);
        let mut notes: Vec<Note> = shifted.map(|it| shift_note(&it)).collect();
        if let Some(text) = defects_text(&defects) {
            let note = Note::new("defects", text);
            notes.push(note.with("defects", json!(lint::defect_rows(&defects))));
        }
        notes
    });
    answer.notes.extend(notes);
    let notes = std::mem::take(&mut answer.notes).into_iter();
    answer.notes = notes.map(Note::mark).collect();
    answer
}
