//! Answers that are a table: lists of what there is.

use std::io::Write;

use serde_json::Value;

use super::data::write_json;
use super::table::Table;
use super::{AnswerFormat, WriteError};

/// A table, with a line above it in text; a table without rows is only that line.
#[derive(Debug)]
pub struct TableAnswer {
    /// The line above the table.
    pub headline: String,
    /// The rows.
    pub table: Table,
    /// The answer for programs.
    pub json: Value,
}

impl TableAnswer {
    /// Writes the answer in a format; `room` is the width of the terminal, if it is one.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(
        &self,
        format: AnswerFormat,
        room: Option<usize>,
        out: &mut dyn Write,
    ) -> Result<(), WriteError> {
        match format {
            AnswerFormat::Text if self.table.is_empty() => writeln!(out, "{}", self.headline)?,
            AnswerFormat::Text => {
                writeln!(out, "{}\n", self.headline)?;
                self.table.text_within(room, out)?;
            }
            AnswerFormat::Markdown => self.table.markdown(out)?,
            AnswerFormat::Csv => self.table.csv(out)?,
            AnswerFormat::Json => write_json(&self.json, out)?,
        }
        Ok(())
    }
}
