//! An answer with notes on the choice of its data.

use serde_json::Value;

use super::envelope::AnswerKind;
use super::note::{NextStep, Note, NoteWeight};
use super::text_answer::{MarkdownLayout, TextAnswer};
use super::{Answer, CsvRows, View, WriteError};
use crate::answers::audit::AuditPart;
use crate::chart::Chart;

/// An answer with further notes below its own.
pub struct NotedAnswer<'a> {
    /// The answer.
    pub answer: &'a dyn Answer,
    /// The notes.
    pub notes: &'a [Note],
    /// Next steps in place of its own; `None` to keep these.
    pub next: Option<&'a [NextStep]>,
}

impl Answer for NotedAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        self.answer.kind()
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut text = self.answer.for_people(view);
        // They say how the command was understood.
        let notes = self.notes.iter().cloned();
        text.notes
            .extend(notes.map(|note| note.weighing(NoteWeight::Vital)));
        if let Some(next) = self.next {
            text.next = next.to_vec();
        }
        text
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        self.answer.data(view)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        self.answer.rows()
    }

    fn verdict(&self) -> Option<&'static str> {
        self.answer.verdict()
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.answer.omitted_rows(view)
    }

    fn markdown_layout(&self) -> MarkdownLayout {
        self.answer.markdown_layout()
    }

    fn charts(&self) -> Vec<Chart> {
        self.answer.charts()
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        self.answer.audit()
    }
}
