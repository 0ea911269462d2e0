//! Defects of a trace: `lapwing trace show lint`.

use lapwing_model::text::counted;
use lapwing_trace::{Defect, Trace};
use serde::Serialize;
use serde_json::{Value, json};

use crate::trace::time;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// Defects of a trace, and their effect on the numbers.
#[derive(Debug)]
pub struct DefectsAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its defects.
    pub defects: Vec<Defect>,
}

#[derive(Default, Serialize)]
pub(super) struct DefectRow<'d> {
    kind: &'static str,
    subject: &'d str,
    count: usize,
    example: &'d str,
    consequence: &'static str,
}

/// Returns the defects for programs.
pub(super) fn defect_rows(defects: &[Defect]) -> Vec<DefectRow<'_>> {
    let rows = defects.iter().map(|defect| DefectRow {
        kind: defect.kind.name(),
        subject: &defect.subject,
        count: defect.count,
        example: &defect.example,
        consequence: defect.kind.consequence(),
    });
    rows.collect()
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("trace-lint");

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
                row.example.to_owned(),
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
                counted(trace.tasks.len(), "task"),
                counted(trace.transfers.len(), "transfer"),
                counted(trace.phases.len(), "controller phase"),
                time(trace.makespan())
            ),
            table,
            notes: uncoded(Vec::new()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(json!({"defects": defect_rows(&self.defects)}))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&defect_rows(&self.defects))
    }
}
