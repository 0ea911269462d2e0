//! A factor in parts: `lapwing study split`.

use lapwing_model::text::counted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::writing::Align::Left;
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// The factors that one factor became.
#[derive(Debug)]
pub struct SplitAnswer {
    /// The factor.
    pub factor: String,
    /// The suite file.
    pub suite_file: String,
    /// The new factors with what each changes.
    pub parts: Vec<(String, String)>,
    /// The files of the new patches.
    pub patches: Vec<String>,
    /// Whether the files were written.
    pub is_written: bool,
    /// The command to type next.
    pub next: NextStep,
}

/// The factors that one factor became.
#[derive(Debug, Serialize, JsonSchema)]
struct SplitFields<'a> {
    factor: &'a str,
    suite_file: &'a str,
    parts: Vec<SplitRow<'a>>,
    /// The files of the new patches.
    patches: &'a [String],
    /// Whether the files were written, not only shown.
    is_written: bool,
}

/// A new factor.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct SplitRow<'a> {
    factor: &'a str,
    /// The change: words, a variable, or a place in a file.
    changes: &'a str,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<SplitFields<'_>>("study-split").listing("parts");

impl SplitAnswer {
    fn split_rows(&self) -> Vec<SplitRow<'_>> {
        let parts = self.parts.iter();
        let rows = parts.map(|(factor, changes)| SplitRow { factor, changes });
        rows.collect()
    }
}

impl Answer for SplitAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[("factor", Left), ("changes", Left)]);
        for row in self.split_rows() {
            table.row(vec![row.factor.to_owned(), row.changes.to_owned()]);
        }
        let verb = if self.is_written {
            "is now"
        } else {
            "would be"
        };
        let text = "parts may not work without each other: what fails is recorded as failed, and `requires` says what a part needs";
        TextAnswer {
            headline: format!(
                "`{}` {verb} {} in {}",
                self.factor,
                counted(self.parts.len(), "factor"),
                self.suite_file
            ),
            table,
            notes: vec![Note::new("parts", text)],
            next: vec![self.next.clone()],
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(SplitFields {
            factor: &self.factor,
            suite_file: &self.suite_file,
            parts: self.split_rows(),
            patches: &self.patches,
            is_written: self.is_written,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.split_rows())
    }
}
