//! Answers that are not yet types of `show`.

use std::io::Write;

use lapwing_show::writing::{self, AnswerFormat, TextAnswer};
use serde::Serialize;
use serde_json::Value;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Writes an answer in parts: as JSON, with a row per line as CSV, else for people.
pub fn write_parts<R: Serialize + Default>(
    text: TextAnswer,
    json: &Value,
    rows: &[R],
    format: AnswerFormat,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let mut out = context.terminal.out_as(format);
    let written = match format {
        AnswerFormat::Json => write_json(json, &mut out),
        AnswerFormat::Csv => write_csv(rows, &mut out),
        AnswerFormat::Markdown => text.markdown(&mut out).map_err(CliError::from),
        AnswerFormat::Text => {
            let width = context.terminal.width();
            text.wrapped(width)
                .text(width, &mut out)
                .map_err(CliError::from)
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(ExitStatus::Fine)
}

/// Writes a value as JSON.
pub fn write_json(answer: &impl Serialize, out: &mut dyn Write) -> Result<(), CliError> {
    Ok(writing::write_json(answer, out)?)
}

/// Writes rows as CSV.
pub fn write_csv<R: Serialize + Default>(rows: &[R], out: &mut dyn Write) -> Result<(), CliError> {
    Ok(writing::write_csv(rows, out)?)
}
