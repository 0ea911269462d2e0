//! Files that were written: `lapwing init`, `export`, `trace export`, `report`, `self man` and `stack run --build-folder`.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::{AnswerKind, NextStep, Note, ReadyAnswer, TextAnswer, WriteError};

/// The kind of a suite file that was written.
pub const SUITE: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("init");
/// The kind of measurements that were written.
pub const EXPORT: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("export");
/// The kind of a trace or its picture that was written.
pub const TRACE: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("trace-export");
/// The kind of a report that was written.
pub const REPORT: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("report");
/// The kind of manual pages that were written.
pub const MANUAL: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("self-man");
/// The kind of the build file of an image.
pub const BUILD_FILE: AnswerKind = AnswerKind::of::<WrittenFields<'_>>("stack-build-file");

/// A file or folder that was written.
#[derive(Debug)]
pub struct WrittenAnswer<'a> {
    /// The kind.
    pub kind: &'static AnswerKind,
    /// The file or folder; of a report, the page to open.
    pub path: &'a Path,
    /// The contents by number: `benchmarks`.
    pub counts: BTreeMap<&'static str, u64>,
    /// The contents in words, after the path.
    pub contents: String,
    /// Remarks.
    pub notes: Vec<Note>,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
}

/// What was written, for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct WrittenFields<'a> {
    /// The file or folder; of a report, the page to open.
    path: &'a Path,
    /// The contents by number, such as `benchmarks`.
    counts: &'a BTreeMap<&'static str, u64>,
}

#[derive(Debug, Default, Serialize)]
struct WrittenRow {
    path: String,
    contents: &'static str,
    count: Option<u64>,
}

impl WrittenAnswer<'_> {
    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON has no form for.
    pub fn answer(self) -> Result<ReadyAnswer, WriteError> {
        let path = self.path.display().to_string();
        let row = |contents, count| WrittenRow {
            path: path.clone(),
            contents,
            count,
        };
        let mut rows: Vec<WrittenRow> = self
            .counts
            .iter()
            .map(|(name, count)| row(*name, Some(*count)))
            .collect();
        if rows.is_empty() {
            rows.push(row("", None));
        }
        let fields = WrittenFields {
            path: self.path,
            counts: &self.counts,
        };
        let text = TextAnswer {
            headline: format!("wrote {path}{}", self.contents),
            notes: self.notes,
            next: self.next,
            ..TextAnswer::default()
        };
        ReadyAnswer::new(self.kind, text, &fields, &rows)
    }
}
