//! Writers of answers: one for each output format, and what they share.

mod data;
mod fit;
mod safe_text;
mod table;
mod table_answer;
mod text_answer;

use std::io::{self, Write};

use serde_json::Value;

pub use data::{CsvRows, csv_rows, write_csv, write_json};

pub use safe_text::{SafeWriter, safe, safe_line};
pub use table::{Align, Table, markdown_text};
pub use table_answer::TableAnswer;
pub use text_answer::{MarkdownLayout, TextAnswer};

use crate::answers::audit::AuditPart;

/// Output format of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Text for reading in a terminal.
    #[default]
    Text,
    /// JSON for programs.
    Json,
    /// Markdown for pull requests.
    Markdown,
    /// CSV for spreadsheets.
    Csv,
}

/// Reason why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output took no more.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// A row could not be written as CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A value could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl WriteError {
    /// Returns whether the reader of the output closed it.
    pub fn is_broken_pipe(&self) -> bool {
        let kind = match self {
            Self::Output(error) => Some(error.kind()),
            Self::Csv(error) => match error.kind() {
                csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            },
            Self::Json(error) => error.io_error_kind(),
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }
}

/// The answer to a question, which can be written in every format.
pub trait Answer {
    /// Returns the answer for people; `room` is the width of the terminal, `None` if a program
    /// reads it.
    fn for_people(&self, room: Option<usize>) -> TextAnswer;

    /// Returns the answer for programs.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON has no form for.
    fn json(&self) -> Result<Value, WriteError>;

    /// Returns the rows of the answer for spreadsheets.
    ///
    /// # Errors
    ///
    /// Returns the error of a row that CSV has no form for.
    fn rows(&self) -> Result<CsvRows, WriteError>;

    /// Returns the layout of the answer in Markdown.
    fn markdown_layout(&self) -> MarkdownLayout {
        MarkdownLayout::Paragraphs
    }

    /// Returns the exclusions, which stand below the answer for people.
    fn audit(&self) -> Option<AuditPart<'_>> {
        None
    }
}

/// Writes an answer in a format; `room` is the width of the terminal, if it is one.
///
/// # Errors
///
/// Returns the error of the output.
pub fn write_answer(
    answer: &dyn Answer,
    format: AnswerFormat,
    room: Option<usize>,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    match format {
        AnswerFormat::Text => answer.for_people(room).wrapped(room).text(room, out)?,
        AnswerFormat::Markdown => {
            let text = answer.for_people(None);
            match answer.markdown_layout() {
                MarkdownLayout::Paragraphs => text.markdown(out)?,
                MarkdownLayout::List => text.markdown_list(out)?,
            }
        }
        AnswerFormat::Json => write_json(&answer.json()?, out)?,
        AnswerFormat::Csv => answer.rows()?.write(out)?,
    }
    if let Some(audit) = answer.audit() {
        audit.write(format, room, out)?;
    }
    Ok(())
}
