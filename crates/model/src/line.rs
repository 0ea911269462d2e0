//! Record v1, one line at a time (`docs/record-format.md`).

use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::limits::{LONGEST_LINE, refusal_of_line, too_long};
use super::{
    Annotation, Instance, InstanceEnd, Iteration, Record, RecordKind, Run, Session, Span, Summary,
};

/// The version of the record format that this program reads and writes.
pub const RECORD_VERSION: u64 = 1;

/// Why a line is no record.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is no JSON object, or one with keys of the wrong type.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It has no `"v"`, so it is no record at all.
    #[error("no record: the key `v` is missing")]
    NoVersion,
    /// It was written by a newer program.
    #[error("record version {0} is newer than version {RECORD_VERSION}, which this program reads")]
    Newer(u64),
    /// Its kind is missing or unknown.
    #[error("unknown record kind `{0}`")]
    Kind(String),
    /// It is longer than a line may be, or says what no record can.
    #[error("{0}")]
    Refused(String),
}

#[derive(Deserialize)]
struct Head<'a> {
    v: Option<u64>,
    #[serde(default, borrow)]
    kind: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
struct Line<'a, T> {
    v: u64,
    kind: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Returns the record that stands on a line (without its line end).
///
/// # Errors
/// When the line is no JSON object, of a newer version, of an unknown kind, lacks a key that its
/// kind must have, or is a record that [`refusal`](super::refusal()) names.
pub fn parse_line(line: &[u8]) -> Result<Record, LineError> {
    if line.len() >= LONGEST_LINE {
        return Err(LineError::Refused(too_long()));
    }
    let head: Head<'_> = serde_json::from_slice(line)?;
    match head.v {
        None => return Err(LineError::NoVersion),
        Some(found) if found > RECORD_VERSION => return Err(LineError::Newer(found)),
        Some(_) => {}
    }
    let Some(kind) = RecordKind::from_name(&head.kind) else {
        return Err(LineError::Kind(head.kind.into_owned()));
    };
    macro_rules! read {
        ($kind:ident) => {
            Record::$kind(body(line, |record: &mut $kind| &mut record.extra)?)
        };
    }
    let record = match kind {
        RecordKind::Session => read!(Session),
        RecordKind::Run => read!(Run),
        RecordKind::Instance => read!(Instance),
        RecordKind::Iteration => {
            let iteration = body(line, |iteration: &mut Iteration| &mut iteration.extra)?;
            Record::Iteration(iteration.without_impossible_values())
        }
        RecordKind::Span => read!(Span),
        RecordKind::InstanceEnd => read!(InstanceEnd),
        RecordKind::Summary => read!(Summary),
        RecordKind::Annotation => read!(Annotation),
    };
    match refusal_of_line(&record, line.len()) {
        None => Ok(record),
        Some(why) => Err(LineError::Refused(why)),
    }
}

/// Returns the line's own keys; the two of the envelope are no extra keys.
fn body<T: DeserializeOwned>(
    line: &[u8],
    extra: impl Fn(&mut T) -> &mut super::Object,
) -> Result<T, LineError> {
    let mut value: T = serde_json::from_slice(line)?;
    let extra = extra(&mut value);
    extra.remove("v");
    extra.remove("kind");
    Ok(value)
}

/// Writes a record as one line, line end included.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_line(out: &mut impl Write, record: &Record) -> io::Result<()> {
    match record {
        Record::Session(body) => write_body(out, record, body),
        Record::Run(body) => write_body(out, record, body),
        Record::Instance(body) => write_body(out, record, body),
        Record::Iteration(body) => write_body(out, record, body),
        Record::Span(body) => write_body(out, record, body),
        Record::InstanceEnd(body) => write_body(out, record, body),
        Record::Summary(body) => write_body(out, record, body),
        Record::Annotation(body) => write_body(out, record, body),
    }
}

fn write_body<T: Serialize>(out: &mut impl Write, record: &Record, body: &T) -> io::Result<()> {
    let line = Line {
        v: RECORD_VERSION,
        kind: record.kind().name(),
        body,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
