//! Results that were imported: `lapwing import`.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_model::RecordKind;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::AppendCounts;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::error::ErrorPlace;
use crate::writing::Align::Left;
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Of more files only the sum is listed.
const FILES_SHOWN: usize = 20;

/// What was imported.
#[derive(Debug)]
pub struct ImportAnswer<'a> {
    /// The store that keeps it; `None` for a dry run.
    pub store: Option<&'a Path>,
    /// The files with results.
    pub files: Vec<ImportedFile>,
    /// Files and paths with errors.
    pub refused: Vec<RefusedFile>,
    /// Number of sessions of all files.
    pub sessions: usize,
    /// Name and suite of the session, if there is only one.
    pub session: Option<[String; 2]>,
    /// Remarks.
    pub notes: Vec<Note>,
    /// The benchmarks that the files name, with and without results.
    pub found: FoundNames,
}

/// What files name, and what there are results of.
#[derive(Debug, Clone, Default)]
pub struct FoundNames {
    /// Number of different names of benchmarks.
    pub names: usize,
    /// Number of results, new or in the store already.
    pub results: u64,
    /// The names without any result.
    pub without: Vec<NameWithoutResult>,
}

/// A benchmark that a file names without a result of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NameWithoutResult {
    /// The file.
    pub file: String,
    /// The benchmark.
    pub name: String,
    /// The line where it is named; `null` if it is on none.
    pub line: Option<u64>,
    /// Why it has no result.
    pub why: &'static str,
}

/// Names to spell out in the last note.
const NAMES_SHOWN: usize = 20;

impl FoundNames {
    /// Returns the note with which every import ends.
    fn note(&self, files: usize) -> Note {
        let mut text = format!(
            "found {}, {}",
            counted(self.names, "name"),
            counted(self.results, "result")
        );
        // Many files may name the same benchmark.
        let mut places: BTreeMap<&str, (&NameWithoutResult, usize)> = BTreeMap::new();
        for it in &self.without {
            places.entry(&it.name).or_insert((it, 0)).1 += 1;
        }
        let shown: Vec<String> = places
            .values()
            .take(NAMES_SHOWN)
            .map(|(it, number)| {
                let mut place = match it.line {
                    Some(line) if files > 1 => format!("{}:{line}", it.file),
                    Some(line) => format!("line {line}"),
                    None => it.why.to_owned(),
                };
                if *number > 1 {
                    place.push_str(&format!(" and {} more", grouped(number - 1)));
                }
                format!("{} ({place})", it.name)
            })
            .collect();
        if !shown.is_empty() {
            text.push_str(&format!("; without a result: {}", shown.join(", ")));
        }
        if let Some(more @ 1..) = places.len().checked_sub(NAMES_SHOWN) {
            text.push_str(&format!(" and {} more", grouped(more)));
        }
        let note = match self.without.is_empty() {
            true => Note::new("found", text),
            false => Note::marked("found", text),
        };
        let note = note.with("names", self.names).with("results", self.results);
        note.with("names_without_result", places.len())
    }
}

/// A file with results.
#[derive(Debug, Clone)]
pub struct ImportedFile {
    /// Its name.
    pub name: String,
    /// Its format.
    pub format: &'static str,
    /// How the format was detected; `None` if it was given.
    pub because: Option<&'static str>,
    /// The meaning of its columns; `None` unless it is a table.
    pub columns: Option<String>,
    /// Numbers of its records.
    pub appended: AppendCounts,
    /// Number of its invalid lines.
    pub invalid_lines: usize,
    /// Number of names of benchmarks in it, with and without results.
    pub names: usize,
    /// Number of results in it, new or in the store already.
    pub results: u64,
    /// Number of names without any result.
    pub without_result: usize,
}

/// A file that could not be imported.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefusedFile {
    /// Why.
    pub error: String,
    /// What that means for the store.
    pub consequence: Option<String>,
    /// The file, and the line of the problem if it is in one.
    #[serde(rename = "where")]
    pub place: Option<ErrorPlace>,
    /// Advice on what to do next.
    pub hint: Option<String>,
}

/// The import for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct ImportFields<'a> {
    /// The store that keeps it; `null` in a dry run.
    store: Option<&'a Path>,
    /// Whether nothing was kept.
    dry_run: bool,
    /// Number of files with results.
    imported_files: usize,
    /// Number of sessions of all files.
    sessions: usize,
    /// Name of the session, if there is only one.
    session: Option<&'a str>,
    /// Suite of the session, if there is only one.
    suite: Option<&'a str>,
    /// New records of all files.
    total: RecordCounts,
    files: Vec<ImportedRow<'a>>,
    /// Number of files that were refused.
    refused_files: usize,
    refused: &'a [RefusedFile],
    /// Number of different names of benchmarks in all files, with and without results.
    names: usize,
    /// Number of results in all files, new or in the store already.
    results: u64,
    /// The names without any result.
    without_result: &'a [NameWithoutResult],
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct ImportedRow<'a> {
    file: &'a str,
    format: &'a str,
    /// How the format was detected; `null` if it was given.
    because: Option<&'a str>,
    /// The meaning of its columns, as `--columns` takes it; `null` unless it is a table.
    columns: Option<&'a str>,
    #[serde(flatten)]
    counts: RecordCounts,
    /// Number of names of benchmarks in it, with and without results.
    names: usize,
    /// Number of results, new or in the store already.
    results: u64,
    /// Number of names without any result.
    names_without_result: usize,
}

/// New records, and those that the store had before.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct RecordCounts {
    instances: u64,
    iterations: u64,
    summaries: u64,
    spans: u64,
    annotations: u64,
    new_records: u64,
    known_records: u64,
    known_instances: u64,
    invalid_lines: usize,
}

impl RecordCounts {
    fn new(appended: &AppendCounts, invalid_lines: usize) -> Self {
        let new = |kind: RecordKind| appended.of(kind).new;
        Self {
            instances: new(RecordKind::Instance),
            iterations: new(RecordKind::Iteration),
            summaries: new(RecordKind::Summary),
            spans: new(RecordKind::Span),
            annotations: new(RecordKind::Annotation),
            new_records: appended.total().new,
            known_records: appended.total().already_there,
            known_instances: appended.of(RecordKind::Instance).already_there,
            invalid_lines,
        }
    }

    /// Returns the new records, in words.
    fn text(&self, is_kept: bool) -> String {
        if self.new_records == 0 {
            let text = match self.invalid_lines {
                0 => "nothing new, everything is already in the store",
                _some => "nothing new, all valid lines are already in the store",
            };
            return text.to_owned();
        }
        let mut parts = vec![counted(self.instances, "instance")];
        if self.iterations > 0 || self.summaries == 0 {
            parts.push(counted(self.iterations, "iteration"));
        }
        let others = [
            (self.summaries, "summary"),
            (self.spans, "span"),
            (self.annotations, "annotation"),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(others.map(|(count, noun)| counted(count, noun)));
        let verb = if is_kept {
            "imported"
        } else {
            "would be imported"
        };
        let mut text = format!("{} {verb}", parts.join(", "));
        if self.iterations == 0 && self.summaries > 0 {
            text.push_str("; the source kept no samples");
        }
        if self.known_instances > 0 {
            let instances = counted(self.known_instances, "instance");
            let verb = plural(self.known_instances, "was", "were");
            text.push_str(&format!("; {instances} {verb} already in the store"));
        }
        text
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<ImportFields<'_>>("import").listing("files");

impl ImportAnswer<'_> {
    /// Returns all remarks, the last of them on what was found.
    pub fn all_notes(&self) -> Vec<Note> {
        let mut notes = self.first_notes();
        notes.extend(self.notes.iter().cloned());
        if !self.files.is_empty() {
            notes.push(self.found.note(self.files.len()));
        }
        notes
    }

    fn total(&self) -> RecordCounts {
        let mut total = AppendCounts::default();
        self.files.iter().for_each(|file| total.add(&file.appended));
        let invalid = self.files.iter().map(|file| file.invalid_lines);
        RecordCounts::new(&total, invalid.sum())
    }

    fn file_rows(&self) -> Vec<ImportedRow<'_>> {
        let rows = self.files.iter().map(|file| ImportedRow {
            file: &file.name,
            format: file.format,
            because: file.because,
            columns: file.columns.as_deref(),
            counts: RecordCounts::new(&file.appended, file.invalid_lines),
            names: file.names,
            results: file.results,
            names_without_result: file.without_result,
        });
        rows.collect()
    }

    fn headline_text(&self) -> String {
        let taken = self.total().text(self.store.is_some());
        if let [only] = self.files.as_slice()
            && self.refused.is_empty()
        {
            return format!("{}: {taken}", only.name);
        }
        let mut formats: Vec<(&str, usize)> = Vec::new();
        for file in &self.files {
            match formats.iter_mut().find(|(name, _)| *name == file.format) {
                Some((_, count)) => *count += 1,
                None => formats.push((file.format, 1)),
            }
        }
        formats.sort_unstable();
        let formats = formats.iter();
        let formats: Vec<String> = formats
            .map(|(name, files)| format!("{} {name}", grouped(*files)))
            .collect();
        let files = counted(self.files.len(), "file");
        match formats.is_empty() {
            true => format!("nothing was imported: {} refused", self.refused.len()),
            false if self.refused.is_empty() => {
                format!("{files} ({}): {taken}", formats.join(", "))
            }
            false => format!(
                "{files} ({}): {taken}; {} refused",
                formats.join(", "),
                self.refused.len()
            ),
        }
    }

    /// Returns what was found in a single file, and where it is.
    fn first_notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if let [only] = self.files.as_slice()
            && let Some(because) = only.because
        {
            let text = format!("detected {}: {because}", only.format);
            notes.push(Note::new("detected", text));
        }
        if let (Some(store), 1..) = (self.store, self.sessions) {
            let store = store.display();
            let text = match &self.session {
                Some([name, suite]) => {
                    format!("stored in {store} as session `{name}` of suite `{suite}`")
                }
                None => format!("stored in {store} as {}", counted(self.sessions, "session")),
            };
            notes.push(Note::new("stored", text).with("sessions", self.sessions));
        }
        notes
    }
}

impl Answer for ImportAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut table = Table::default();
        let is_listed = self.files.len() > 1 || !self.refused.is_empty();
        if is_listed && self.omitted_rows(view) == 0 {
            table = Table::new(&[("file", Left), ("format", Left), ("result", Left)]);
            for row in self.file_rows() {
                let taken = row.counts.text(self.store.is_some());
                table.row(vec![row.file.to_owned(), row.format.to_owned(), taken]);
            }
        }
        let mut notes = self.all_notes();
        let hidden = self.omitted_rows(view);
        if hidden > 0 {
            let text = format!("{} are not listed: `--full`", counted(hidden, "file"));
            let note = Note::marked("files", text).with("files", hidden);
            notes.insert(notes.len() - usize::from(!self.files.is_empty()), note);
        }
        TextAnswer {
            headline: self.headline_text(),
            table,
            notes,
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let [session, suite] = match &self.session {
            Some([name, suite]) => [Some(name.as_str()), Some(suite.as_str())],
            None => [None, None],
        };
        Ok(serde_json::to_value(ImportFields {
            store: self.store,
            dry_run: self.store.is_none(),
            imported_files: self.files.len(),
            sessions: self.sessions,
            session,
            suite,
            total: self.total(),
            files: match self.omitted_rows(view) {
                0 => self.file_rows(),
                _all => Vec::new(),
            },
            refused_files: self.refused.len(),
            refused: &self.refused,
            names: self.found.names,
            results: self.found.results,
            without_result: &self.found.without,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.file_rows())
    }

    fn omitted_rows(&self, view: View) -> usize {
        match self.files.len() {
            many if many > FILES_SHOWN && !view.full => many,
            _few => 0,
        }
    }
}
