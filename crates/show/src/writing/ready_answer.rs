//! Answers that are written from what was made beforehand: lists, and results of a single step.

use serde::Serialize;
use serde_json::Value;

use super::data::{CsvRows, csv_rows};
use super::envelope::AnswerKind;
use super::text_answer::TextAnswer;
use super::{Answer, View, WriteError};

/// An answer in words, in fields and in rows.
#[derive(Debug, Clone)]
pub struct ReadyAnswer {
    kind: &'static AnswerKind,
    /// The answer for people.
    pub text: TextAnswer,
    data: Value,
    rows: CsvRows,
    /// The verdict, where the question has one.
    pub verdict: Option<&'static str>,
}

impl ReadyAnswer {
    /// Returns an answer with fields of the type of its kind, and with rows for spreadsheets.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON or CSV has no form for.
    pub fn new<R: Serialize + Default>(
        kind: &'static AnswerKind,
        text: TextAnswer,
        data: &impl Serialize,
        rows: &[R],
    ) -> Result<Self, WriteError> {
        Ok(Self {
            kind,
            text,
            data: serde_json::to_value(data)?,
            rows: csv_rows(rows)?,
            verdict: None,
        })
    }
}

impl Answer for ReadyAnswer {
    fn kind(&self) -> &'static AnswerKind {
        self.kind
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        self.text.clone()
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(self.data.clone())
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        Ok(self.rows.clone())
    }

    fn verdict(&self) -> Option<&'static str> {
        self.verdict
    }
}
