//! Answers that are not yet types of `show`.

use std::io::Write;

use lapwing_show::writing;
use serde::Serialize;

use crate::error::CliError;

/// Writes a value as JSON.
pub fn write_json(answer: &impl Serialize, out: &mut dyn Write) -> Result<(), CliError> {
    Ok(writing::write_json(answer, out)?)
}

/// Writes rows as CSV.
pub fn write_csv<R: Serialize + Default>(rows: &[R], out: &mut dyn Write) -> Result<(), CliError> {
    Ok(writing::write_csv(rows, out)?)
}
