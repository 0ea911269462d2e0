//! Writers of answers: one for each output format, and what they share.

#[cfg(feature = "check-answers")]
mod check;
mod data;
mod envelope;
mod fit;
mod note;
mod noted_answer;
mod picture;
mod ready_answer;
mod safe_text;
mod shown;
mod table;
mod text_answer;

use std::io::{self, Write};

use serde_json::Value;

pub use data::{CsvRows, csv_rows, write_csv, write_json};

pub use envelope::AnswerKind;
pub use note::{NextStep, Note, NoteWeight};
pub use noted_answer::NotedAnswer;
pub use picture::{Curve, IntervalBar, Picture, PictureStyle, picture_lines};
pub use ready_answer::ReadyAnswer;
pub use safe_text::{SafeWriter, safe, safe_line};
pub use table::{Align, Table, markdown_text};
pub use text_answer::{MarkdownLayout, TextAnswer};

use self::envelope::enveloped;
use crate::answers::audit::AuditPart;
use crate::chart::{Chart, DrawError};

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
    /// A chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// An answer does not fit its own schema.
    #[cfg(feature = "check-answers")]
    #[error("answer `{kind}` does not fit its schema: {why}")]
    Schema {
        /// The kind of the answer.
        kind: &'static str,
        /// The first difference.
        why: String,
    },
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
            Self::Draw(_) => None,
            #[cfg(feature = "check-answers")]
            Self::Schema { .. } => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }
}

/// How much of an answer is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// Whether everything is listed, even if there is much of it.
    pub full: bool,
    /// Maximum number of listed rows.
    pub limit: Option<usize>,
    /// The fields of a row, for programs; empty: all.
    pub fields: Vec<String>,
}

/// What an answer is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// Width of the terminal; `None` if a program reads the answer.
    pub room: Option<usize>,
    /// Whether everything is listed, even if there is much of it.
    pub full: bool,
}

/// The answer to a question, which can be written in every format.
pub trait Answer {
    /// Returns the kind of the answer.
    fn kind(&self) -> &'static AnswerKind;

    /// Returns the answer for people; programs get its headline, notes and next steps, too.
    fn for_people(&self, view: View) -> TextAnswer;

    /// Returns the fields of the answer for programs, beside those of every answer.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON has no form for.
    fn data(&self, view: View) -> Result<Value, WriteError>;

    /// Returns the rows of the answer for spreadsheets.
    ///
    /// # Errors
    ///
    /// Returns the error of a row that CSV has no form for.
    fn rows(&self) -> Result<CsvRows, WriteError>;

    /// Returns the verdict, where the question has one.
    fn verdict(&self) -> Option<&'static str> {
        None
    }

    /// Returns the number of rows that a view does not list.
    fn omitted_rows(&self, _view: View) -> usize {
        0
    }

    /// Returns the layout of the answer in Markdown.
    fn markdown_layout(&self) -> MarkdownLayout {
        MarkdownLayout::Paragraphs
    }

    /// Returns the charts of the answer, the most important one first.
    fn charts(&self) -> Vec<Chart> {
        Vec::new()
    }

    /// Returns the exclusions, which stand below the answer for people.
    fn audit(&self) -> Option<AuditPart<'_>> {
        None
    }
}

/// Where and how an answer is written.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRequest<'a> {
    /// The format.
    pub format: AnswerFormat,
    /// Width of the terminal, if it is one.
    pub room: Option<usize>,
    /// How much is written.
    pub extent: &'a Extent,
    /// The command that is answered, for programs.
    pub command: &'a [String],
    /// Whether remarks and next steps are left out of text.
    pub quiet: bool,
    /// How pictures are drawn in a terminal.
    pub pictures: PictureStyle,
    /// Whether JSON also has the answer as notebooks show it.
    pub is_shown: bool,
}

/// Writes an answer.
///
/// # Errors
///
/// Returns the error of the output.
pub fn write_answer(
    answer: &dyn Answer,
    request: AnswerRequest<'_>,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let AnswerRequest {
        format,
        room,
        extent,
        command,
        quiet,
        pictures,
        is_shown,
    } = request;
    let view = |room| View {
        room,
        full: extent.full,
    };
    let extended = |text: TextAnswer| {
        let text = if extent.full { text } else { text.brief() };
        text.limited(extent.limit)
    };
    match format {
        AnswerFormat::Text => {
            let text = extended(answer.for_people(view(room)));
            let text = if quiet { text.quiet() } else { text };
            text.text_with(pictures, room, out)?;
        }
        AnswerFormat::Markdown => {
            let text = extended(answer.for_people(view(None)));
            match answer.markdown_layout() {
                MarkdownLayout::Paragraphs => text.markdown(out)?,
                MarkdownLayout::List => text.markdown_list(out)?,
            }
        }
        AnswerFormat::Json => {
            let enveloped = enveloped(answer, extent, command)?;
            #[cfg(feature = "check-answers")]
            check::fits(answer.kind(), extent, &serde_json::to_value(&enveloped)?)?;
            if is_shown {
                serde_json::to_writer(&mut *out, &shown::with_shown(answer, &enveloped, request)?)?;
            } else {
                serde_json::to_writer_pretty(&mut *out, &enveloped)?;
            }
            writeln!(out)?;
        }
        AnswerFormat::Csv => answer.rows()?.within(extent).write(out)?,
    }
    if let Some(audit) = answer.audit() {
        audit.write(format, room, out)?;
    }
    Ok(())
}
