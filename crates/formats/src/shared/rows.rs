//! Rows of CSV that cannot be read.

use crate::{BadLine, ImportError, Source};

/// Returns what is wrong with a row, or the error of a source that cannot be read.
pub(crate) fn bad_row(source: &Source, error: csv::Error) -> Result<BadLine, ImportError> {
    let line = error.position().map_or(1, csv::Position::line);
    let reason = match error.into_kind() {
        csv::ErrorKind::Io(error) => return Err(source.failed(error)),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("the row has {len} columns where the first line has {expected_len}"),
        csv::ErrorKind::Utf8 { err, .. } => {
            format!("not UTF-8 text in column {}", err.field() + 1)
        }
        other => format!("not valid CSV: {other:?}"),
    };
    Ok(BadLine::new(line, reason))
}

/// Returns the error of a source whose first line is bad.
pub(crate) fn bad_header(source: &Source, bad: BadLine) -> ImportError {
    ImportError::Document {
        name: source.name().to_owned(),
        line: bad.line,
        reason: bad.reason,
    }
}
