//! Record v1, one line at a time (`docs/record-format.md`).

use std::fmt;
use std::io::{self, Write};

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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
    let record = match serde_json::from_slice(line) {
        Ok(UsualLine(record)) => record,
        // Another order of keys, or an error, of which the head says more.
        Err(_) => parse_any(line)?,
    };
    match refusal_of_line(&record, line.len()) {
        None => Ok(record),
        Some(why) => Err(LineError::Refused(why)),
    }
}

/// A line that begins with `v` and `kind`, as programs write it: it is read once.
struct UsualLine(Record);

impl<'de> Deserialize<'de> for UsualLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UsualLineVisitor)
    }
}

struct UsualLineVisitor;

impl<'de> Visitor<'de> for UsualLineVisitor {
    type Value = UsualLine;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut line: A) -> Result<UsualLine, A::Error> {
        let version: Option<(&str, u64)> = line.next_entry()?;
        if version != Some(("v", RECORD_VERSION)) {
            return Err(A::Error::custom("another order of keys"));
        }
        let kind = match line.next_entry::<&str, &str>()? {
            Some(("kind", kind)) => RecordKind::from_name(kind),
            Some(_) | None => None,
        };
        let kind = kind.ok_or_else(|| A::Error::custom("another order of keys"))?;
        let body = MapAccessDeserializer::new(line);
        macro_rules! read {
            ($kind:ident) => {{
                let record = $kind::deserialize(body)?;
                if record.extra.contains_key("v") || record.extra.contains_key("kind") {
                    return Err(A::Error::custom("a key stands there twice"));
                }
                record
            }};
        }
        Ok(UsualLine(match kind {
            RecordKind::Session => Record::Session(read!(Session)),
            RecordKind::Run => Record::Run(read!(Run)),
            RecordKind::Instance => Record::Instance(read!(Instance)),
            RecordKind::Iteration => {
                Record::Iteration(read!(Iteration).without_impossible_values())
            }
            RecordKind::Span => Record::Span(read!(Span)),
            RecordKind::InstanceEnd => Record::InstanceEnd(read!(InstanceEnd)),
            RecordKind::Summary => Record::Summary(read!(Summary)),
            RecordKind::Annotation => Record::Annotation(read!(Annotation)),
        }))
    }
}

/// Returns the record on a line whose keys are in any order.
fn parse_any(line: &[u8]) -> Result<Record, LineError> {
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
    Ok(match kind {
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
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01930000-0000-7000-8000-000000000003";

    fn read(line: &str) -> Result<Record, String> {
        parse_line(line.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_may_stand_in_any_order() {
        let bodies = [
            (
                "iteration",
                format!(
                    r#""instance":"{ID}","index":3,"metrics":{{"wall_time":-1.5}},"later":{{"v":2}}"#
                ),
            ),
            (
                "instance",
                format!(r#""id":"{ID}","run":"{ID}","benchmark":{{"id":"b","kind":"x"}}"#),
            ),
            (
                "instance_end",
                format!(r#""instance":"{ID}","outcome":"failed""#),
            ),
        ];
        for (kind, body) in bodies {
            let usual = read(&format!(r#"{{"v": 1, "kind":"{kind}",{body}}}"#));
            let later = read(&format!(r#"{{{body},"kind":"{kind}","v":1}}"#));
            let escaped = read(&format!(r#"{{"v":1,"k\u0069nd":"{kind}",{body}}}"#));
            assert!(usual.is_ok(), "{usual:?}");
            assert_eq!(usual, later);
            assert_eq!(usual, escaped);
        }
    }

    #[test]
    fn errors_are_those_of_the_whole_line() {
        let end = format!(r#""instance":"{ID}""#);
        for (line, error) in [
            (
                format!(r#"{{"v":2,"kind":"moment",{end}}}"#),
                "record version 2 is newer than version 1, which this program reads",
            ),
            (
                format!(r#"{{"v":1,"kind":"moment",{end}}}"#),
                "unknown record kind `moment`",
            ),
            (
                format!(r#"{{"kind":"instance_end",{end}}}"#),
                "no record: the key `v` is missing",
            ),
            (
                format!(r#"{{"v":1,"kind":"instance_end",{end},"v":1}}"#),
                "duplicate field `v`",
            ),
            (
                format!(r#"{{"v":1,"kind":"instance_end",{end},{end}}}"#),
                "duplicate field `instance`",
            ),
            (
                r#"{"v":1,"kind":"instance_end"}"#.to_owned(),
                "missing field `instance`",
            ),
        ] {
            let read = read(&line).expect_err(&line);
            let (what, _) = read.split_once(" at line").unwrap_or((&read, ""));
            assert_eq!(what, error, "{line}");
        }
    }
}
