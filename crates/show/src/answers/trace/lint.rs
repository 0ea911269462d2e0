//! Defects of a trace: `lapwing trace lint`.

use lapwing_model::text::{counted, joined};
use lapwing_trace::{Defect, Trace};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::trace::{signed_time, size, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{Answer, AnswerKind, CsvRows, Table, TextAnswer, View, WriteError, csv_rows};

/// Defects of a trace, and their effect on the numbers.
#[derive(Debug)]
pub struct DefectsAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its defects.
    pub defects: Vec<Defect>,
}

/// The defects of a trace.
#[derive(Debug, Serialize, JsonSchema)]
struct DefectsFields<'d> {
    /// Number of tasks.
    tasks: usize,
    transfers: usize,
    controller_phases: usize,
    /// Time from the first event of the run to its end, in nanoseconds.
    makespan: i64,
    /// Number of kinds of defects.
    kinds: usize,
    defects: Vec<DefectRow<'d>>,
}

/// Defects of one kind.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct DefectRow<'d> {
    kind: &'static str,
    /// What it is about: an event, a duration, a host.
    subject: &'d str,
    count: usize,
    example: &'d str,
    /// How far a clock is off at least, or the most negative duration, in nanoseconds.
    offset: Option<i64>,
    consequence: &'static str,
}

/// Returns the defects for programs.
pub(super) fn defect_rows(defects: &[Defect]) -> Vec<DefectRow<'_>> {
    let rows = defects.iter().map(|defect| DefectRow {
        kind: defect.kind.name(),
        subject: &defect.subject,
        count: defect.count,
        example: &defect.example,
        offset: defect.offset,
        consequence: defect.kind.consequence(),
    });
    rows.collect()
}

/// Returns the example with its time, if it has one: `load1, −12.0 ms`.
fn example_text(row: &DefectRow<'_>) -> String {
    let offset = row.offset.map(signed_time);
    let example = (!row.example.is_empty()).then(|| row.example.to_owned());
    joined(example.into_iter().chain(offset))
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<DefectsFields<'_>>("trace-lint").listing("defects");

impl Answer for DefectsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let Self { trace, defects } = self;
        let mut table = Table::new(&[
            ("defect", Left),
            ("of", Left),
            ("number", Right),
            ("such as", Left),
            ("so", Left),
        ]);
        for row in defect_rows(defects) {
            table.row(vec![
                row.kind.replace('_', " "),
                row.subject.to_owned(),
                row.count.to_string(),
                example_text(&row),
                row.consequence.to_owned(),
            ]);
        }
        let kinds = match defects.len() {
            0 => "no defects".to_owned(),
            1 => "1 kind of defect".to_owned(),
            kinds => format!("{kinds} kinds of defects"),
        };
        TextAnswer {
            headline: format!(
                "{kinds}   ({}, {}, {}, {})",
                size(trace),
                counted(trace.transfers.len(), "transfer"),
                counted(trace.phases.len(), "controller phase"),
                time(trace.makespan())
            ),
            table,
            notes: Vec::new(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(DefectsFields {
            tasks: self.trace.tasks.len(),
            transfers: self.trace.transfers.len(),
            controller_phases: self.trace.phases.len(),
            makespan: self.trace.makespan(),
            kinds: self.defects.len(),
            defects: defect_rows(&self.defects),
        })?)
    }

    fn verdict(&self) -> Option<&'static str> {
        let is_fine = self.defects.is_empty();
        Some(if is_fine { "no_defects" } else { "defects" })
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&defect_rows(&self.defects))
    }
}
