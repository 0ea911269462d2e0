//! The format that is nearest to a text that looks like none.

use std::cmp::Reverse;
use std::fmt;

use jiff::Timestamp;
use lapwing_model::EachRun;
use lapwing_model::text::joined_with_and;

use crate::shared::detect::{first_line, has_key};
use crate::shared::looks::looks;
use crate::{BadLines, ColumnChoices, FORMATS, Format, ImportOptions, Source, TraceNames, read};

/// The longest text that is tried with every format.
const LONGEST: usize = 1 << 16;

/// The format nearest to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatGuess {
    /// It can be read as that format, although it does not look like it.
    Reads {
        /// The name of the format.
        format: &'static str,
        /// The number of results.
        results: u64,
    },
    /// It is a table without measurements.
    Table {
        /// What is missing.
        reason: String,
    },
    /// It has all keys of that format but one.
    Lacks {
        /// The name of the format.
        format: &'static str,
        /// The key that is missing.
        key: &'static str,
    },
    /// It is something else.
    Other {
        /// A description of its contents.
        looks: String,
        /// The format that shares most keys with it, and the keys that are missing.
        nearest: Option<(&'static str, Vec<&'static str>)>,
    },
}

impl fmt::Display for FormatGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads { format, results } => {
                let noun = lapwing_model::text::plural(*results, "result", "results");
                write!(
                    f,
                    "it does not look like {format}, but {results} {noun} can be read as that"
                )
            }
            Self::Table { reason } => write!(f, "it looks like a table, but {reason}"),
            Self::Lacks { format, key } => {
                write!(f, "it looks like {format}, but `{key}` is missing")
            }
            Self::Other { looks, nearest } => {
                write!(f, "it is {looks}")?;
                let Some((format, missing)) = nearest else {
                    return Ok(());
                };
                let missing: Vec<String> = missing.iter().map(|key| format!("`{key}`")).collect();
                let verb = if missing.len() == 1 { "is" } else { "are" };
                let missing = joined_with_and(&missing);
                write!(f, "; {format} is nearest, but {missing} {verb} missing")
            }
        }
    }
}

/// Returns the format nearest to a text, or what it looks like; `is_whole` unless only its beginning is known.
pub(crate) fn guess(text: &[u8], is_whole: bool) -> FormatGuess {
    near(text).unwrap_or_else(|| FormatGuess::Other {
        looks: looks(text, is_whole),
        nearest: nearest(text),
    })
}

fn near(text: &[u8]) -> Option<FormatGuess> {
    let is_short = text.len() < LONGEST;
    let mut formats = FORMATS
        .iter()
        .filter(|format| is_short && !format.is_database);
    let reads = formats.find_map(|format| {
        let results = results_as(format, text)?;
        let format = format.name;
        Some(FormatGuess::Reads { format, results })
    });
    let lacks = reads.or_else(|| lacking(text));
    lacks.or_else(|| crate::table_refusal(text).map(|reason| FormatGuess::Table { reason }))
}

/// Returns the number of results of a text that is read as a format, where all of it is good.
fn results_as(format: &'static Format, text: &[u8]) -> Option<u64> {
    let options = ImportOptions {
        format: Some(format),
        suite: None,
        trace: TraceNames::default(),
        each_run: EachRun::Iteration,
        columns: ColumnChoices::default(),
        bad_lines: BadLines::Refuse,
        continued: None,
        now: Timestamp::UNIX_EPOCH,
    };
    let source = Source::from_bytes("", text.to_vec()).ok()?;
    let found = read(&source, &options).ok()?.found;
    (found.results() > 0).then(|| found.results())
}

/// Returns the format of whose keys a text lacks one.
fn lacking(text: &[u8]) -> Option<FormatGuess> {
    let guesses = FORMATS.iter().filter_map(|format| {
        let mut missing = format.keys.iter().filter(|key| !has_key(text, key));
        let key = missing.next()?;
        let known = format.keys.len() - 1;
        let guess = FormatGuess::Lacks {
            format: format.name,
            key,
        };
        (missing.next().is_none() && known > 1).then_some((known, guess))
    });
    guesses
        .min_by_key(|(known, _)| Reverse(*known))
        .map(|(_, guess)| guess)
}

/// Returns the format of which a text in JSON has most keys, at least half, and the keys that are missing.
fn nearest(text: &[u8]) -> Option<(&'static str, Vec<&'static str>)> {
    if !matches!(first_line(text).first(), Some(b'{' | b'[')) {
        return None;
    }
    let shared = FORMATS.iter().filter_map(|format| {
        let missing = format.keys.iter().filter(|key| !has_key(text, key));
        let missing: Vec<&str> = missing.copied().collect();
        let known = format.keys.len() - missing.len();
        (known > 0 && known >= missing.len()).then_some((known, format.name, missing))
    });
    let best = shared.min_by_key(|(known, _, missing)| (Reverse(*known), missing.len()));
    best.map(|(_, format, missing)| (format, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_format_is_named_with_what_is_missing() {
        let text = br#"{"benchmarks": [{"context": 1, "time_unit": "ns", "iterations": 3}]}"#;
        let lacks = FormatGuess::Lacks {
            format: "google-benchmark",
            key: "real_time",
        };
        assert_eq!(guess(text, true), lacks);
        let other = |text: &[u8]| guess(text, true).to_string();
        assert_eq!(other(b"{\"a\": 1}"), "it is JSON with the key `a`");
        assert_eq!(
            other(b"nothing of the kind"),
            "it is text that begins with `nothing of the kind`"
        );
        assert_eq!(
            other(br#"{"benchmarks": [{"label": "a", "real_time": "short"}]}"#),
            "it is JSON with the key `benchmarks`; google-benchmark is nearest, but `time_unit` and `iterations` are missing"
        );
        let table = near(b"date,test,time (ms)\n2026-11-05,a,12 ms\n");
        let expected = "it looks like a table, but no column has measured values: `time (ms)` has texts such as \"12 ms\"";
        assert_eq!(table.map(|it| it.to_string()).as_deref(), Some(expected));
    }
}
