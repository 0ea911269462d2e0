//! What was imported, and remarks on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lapwing_formats::{
    Alike, ColumnsUsed, EachRun, FormatGuess, Found, ImportError, ImportOptions, Imported,
    OtherEndings, TraceNames, UnclearColumn,
};
use lapwing_model::text::{counted, grouped, joined};
use lapwing_model::{Id, Session};
use lapwing_show::answers::error::ErrorPlace;
use lapwing_show::answers::imported::{
    FoundNames, ImportAnswer, ImportedFile, NameWithoutResult, RefusedFile,
};
use lapwing_show::writing::Note;

use super::alike::alike_notes;
use super::target::Target;
use crate::error::CliError;
use crate::hints::with_hint;
use crate::options::Context;

/// Bad lines to spell out.
const BAD_LINES_SHOWN: usize = 10;

/// Meanings of columns to spell out, of files that differ in them.
const COLUMNS_SHOWN: usize = 5;

/// Names to spell out in a note.
const NAMES_SHOWN: usize = 20;

/// Results of the import so far.
#[derive(Default)]
pub(super) struct ImportTally {
    pub(super) files: Vec<ImportedFile>,
    pub(super) refused: Vec<RefusedFile>,
    /// The suite of a history that the other results continue.
    pub(super) continued: Option<String>,
    /// Files without results that were not asked for.
    strangers: Vec<String>,
    /// The same files, with what they look like.
    strangers_told: Vec<String>,
    /// The meanings of columns, in the order in which they came.
    columns: Vec<ColumnsUsed>,
    /// Formats without columns to choose.
    without_columns: BTreeSet<&'static str>,
    /// Formats whose runs have one meaning.
    without_runs: BTreeSet<&'static str>,
    without_names: BTreeSet<&'static str>,
    /// Several files may belong to one session.
    sessions: BTreeSet<Id>,
    session: Option<Session>,
    alike: Vec<Alike>,
    bad_lines: Vec<Note>,
    /// By kept and reason: names in the order in which they came, and how many more.
    notes: BTreeMap<(bool, &'static str), (Vec<String>, u64)>,
    found: Found,
    without: Vec<NameWithoutResult>,
}

impl ImportTally {
    /// Adds a file or path with an error, and says so.
    pub(super) fn refuse(&mut self, error: CliError, context: &Context) {
        let error = with_hint(error);
        context.terminal.error(&error);
        self.refused.push(RefusedFile {
            place: ErrorPlace::of(&error.sentence()),
            error: error.sentence(),
            consequence: error.consequence,
            hint: error.hint,
        });
    }

    /// Adds a file without results.
    pub(super) fn skip(&mut self, path: &Path, error: &ImportError) {
        let name = path.display().to_string();
        self.strangers_told.push(match error {
            ImportError::Unknown {
                guess: Some(guess), ..
            } if !matches!(guess, FormatGuess::Other { .. }) => format!("{name} ({guess})"),
            _other => name.clone(),
        });
        self.strangers.push(name);
    }

    /// Adds a file with results.
    pub(super) fn add(&mut self, imported: Imported, file: &str) {
        // To these formats, `--each-run` or names of traces do not apply.
        if !imported.format.takes_names {
            self.without_names.insert(imported.format.name);
        }
        if !imported.format.leaves_runs_open {
            self.without_runs.insert(imported.format.name);
        }
        if imported.columns.is_none() {
            self.without_columns.insert(imported.format.name);
        }
        let text = imported.columns.as_ref().map(|used| used.text.clone());
        if let Some(used) = imported.columns.clone()
            && !self.columns.contains(&used)
        {
            self.columns.push(used);
        }
        self.sessions.extend(imported.sessions.iter().copied());
        self.session = imported.session.clone().or(self.session.take());
        self.bad_lines.extend(bad_lines_note(&imported, file));
        self.found.append(&imported.found);
        let without = imported.found.without_results();
        let without: Vec<NameWithoutResult> = without
            .map(|it| NameWithoutResult {
                file: file.to_owned(),
                name: it.name,
                line: (it.line > 0).then_some(it.line),
                why: it.why,
            })
            .collect();
        self.files.push(ImportedFile {
            name: file.to_owned(),
            format: imported.format.name,
            because: imported.because,
            columns: text,
            appended: imported.appended,
            invalid_lines: imported.bad_lines.len(),
            names: imported.found.names(),
            results: imported.found.results(),
            without_result: without.len(),
        });
        self.without.extend(without);
        self.alike.extend(imported.alike);
        for note in imported.notes {
            let (names, more) = self.notes.entry((note.kept, note.why)).or_default();
            *more = if note.names_lines() {
                *more + note.more
            } else {
                (*more).max(note.more)
            };
            for what in note.names_in(file) {
                if !names.contains(&what) && names.len() < NAMES_SHOWN {
                    names.push(what);
                } else if !names.contains(&what) {
                    *more += 1;
                }
            }
        }
    }

    /// Returns notes on options without effect and skipped files.
    pub(super) fn skipped(
        &self,
        options: &ImportOptions,
        other: &OtherEndings,
        context: &Context,
    ) -> Vec<Note> {
        let mut notes = Vec::new();
        if options.each_run == EachRun::Instance && !self.without_runs.is_empty() {
            let text = format!(
                "not used: --each-run, which only applies to hyperfine's results, not to those of {}",
                joined(&self.without_runs)
            );
            notes.push(Note::marked("each_run", text));
        }
        if options.trace != TraceNames::default() && !self.without_names.is_empty() {
            let text = format!(
                "not used: --as benchmark=… and variant=…, which only apply to traces, tables and runs of a study, not to results of {}",
                joined(&self.without_names)
            );
            notes.push(Note::marked("names", text));
        }
        if !options.columns.is_empty() && !self.without_columns.is_empty() {
            let text = format!(
                "--columns only applies to tables (CSV, TSV), not to results of {}",
                joined(&self.without_columns)
            );
            notes.push(Note::marked("columns_unused", text));
        }
        if !self.strangers.is_empty() {
            let mut text = format!(
                "skipped {} without results in a known format",
                counted(self.strangers.len(), "file")
            );
            if context.verbose {
                text.push_str(&format!(": {}", joined(&self.strangers_told)));
            }
            let note = Note::marked("unknown_format", text).with("count", self.strangers.len());
            notes.push(note.with("files", self.strangers.clone()));
        }
        if other.files() > 0 {
            let text = format!(
                "skipped {} with other extensions ({}): name a file or use a pattern to import it",
                counted(other.files(), "file"),
                other.text()
            );
            notes.push(Note::marked("other_extensions", text).with("count", other.files()));
        }
        notes
    }

    /// Returns the answer.
    pub(super) fn answer<'t>(
        self,
        options: &ImportOptions,
        other: &OtherEndings,
        target: &'t Target<'_>,
        context: &Context,
    ) -> ImportAnswer<'t> {
        let mut notes = columns_notes(&self.columns);
        notes.extend(self.continued.as_ref().map(|suite| {
            let text =
                format!("results continue the history `{suite}`: they have its suite and names");
            Note::marked("history_continued", text)
        }));
        notes.extend(self.notes.iter().map(kept_note));
        notes.extend(self.bad_lines.iter().cloned());
        notes.extend(alike_notes(&self.alike, target));
        notes.extend(self.skipped(options, other, context));
        let session = self.session.filter(|_| self.sessions.len() == 1);
        ImportAnswer {
            store: target.kept_in(),
            files: self.files,
            refused: self.refused,
            sessions: self.sessions.len(),
            session: session.map(|it| [it.name.unwrap_or_else(|| it.id.to_string()), it.suite]),
            notes,
            found: FoundNames {
                names: self.found.names(),
                results: self.found.results(),
                without: self.without,
            },
        }
    }
}

/// Returns notes on the meanings of columns.
fn columns_notes(columns: &[ColumnsUsed]) -> Vec<Note> {
    let mut notes = Vec::new();
    for used in columns.iter().take(COLUMNS_SHOWN) {
        notes.push(Note::new("columns", format!("columns: {}", used.text)));
        if let Some(first) = used.rivals.first() {
            let text = format!(
                "the value could also be {}: `--columns value={first}` takes it instead",
                joined(used.rivals.iter().map(|title| format!("`{title}`")))
            );
            notes.push(Note::marked("rival_columns", text).with("columns", used.rivals.clone()));
        }
        notes.extend(used.unclear.iter().map(unclear_note));
    }
    if let Some(more @ 1..) = columns.len().checked_sub(COLUMNS_SHOWN) {
        let text = format!("{} more kinds of columns", grouped(more));
        notes.push(Note::new("more_columns", text).with("count", more));
    }
    notes
}

/// Returns a note on a column whose numbers can be read in two ways.
fn unclear_note(column: &UnclearColumn) -> Note {
    let UnclearColumn {
        title,
        cell,
        taken,
        otherwise,
    } = column;
    let text = format!(
        "`{cell}` in column `{title}` is read as {taken}: if that is wrong, say `--columns {otherwise}={title}`"
    );
    Note::marked("unclear_numbers", text)
        .with("column", title.clone())
        .with("cell", cell.clone())
        .with("taken", *taken)
}

/// Returns notes on what of a file is left out.
pub fn skipped_notes(imported: &Imported, file: &str) -> Vec<Note> {
    let left = imported.notes.iter().filter(|note| !note.kept);
    let left = left.map(|note| kept_note((&(false, note.why), &(note.names_in(file), note.more))));
    left.chain(bad_lines_note(imported, file)).collect()
}

/// Returns a note on what was skipped, or kept without being understood.
fn kept_note(
    ((is_kept, why), (names, more)): (&(bool, &'static str), &(Vec<String>, u64)),
) -> Note {
    let mut text = names.join(", ");
    if *more > 0 {
        text.push_str(&format!(" and {} more", grouped(*more)));
    }
    let note = if *is_kept {
        Note::new("kept", format!("kept in the {why}: {text}"))
    } else {
        Note::new("skipped", format!("skipped because {why}: {text}"))
    };
    note.with("names", names.clone()).with("more", *more)
}

/// Returns a note on the invalid lines of a file.
fn bad_lines_note(imported: &Imported, file: &str) -> Option<Note> {
    let number = imported.bad_lines.len();
    if number == 0 {
        return None;
    }
    let shown = imported.bad_lines.iter().take(BAD_LINES_SHOWN);
    let shown: Vec<String> = shown.map(|bad| bad.in_source(file).to_string()).collect();
    let more = match number - shown.len() {
        0 => String::new(),
        more => format!("; and {} more", grouped(more)),
    };
    let text = format!(
        "{} skipped: {}{more}",
        counted(number, "invalid line"),
        shown.join("; ")
    );
    let note = Note::new("invalid_lines", text).with("count", number);
    Some(note.with("lines", shown))
}
