//! Reads other tools' files into the store.
//!
//! A format is a file of this folder and a line in [`FORMATS`]. Each input is one
//! transaction: all of it is kept or nothing. Ids come from the content, so importing
//! the same content again, under whatever name, changes nothing.
//!
//! A reader parses its wire structs (from a `Document` or from `Lines`) and hands drafts of
//! session, runs and instances to an `Intake`, which makes records of them.

mod alike;
mod asv;
mod asv_document;
mod asv_identity;
mod asv_rows;
mod asv_values;
mod bare_words;
mod benchmarkdotnet;
mod benchmarkdotnet_document;
mod bmf;
mod coiled;
mod coiled_account;
mod coiled_columns;
mod coiled_database;
mod coiled_identity;
mod coiled_pairs;
mod coiled_row;
mod coiled_setting;
mod conbench;
mod conbench_comparison;
mod conbench_document;
mod conbench_stats;
mod criterion;
mod criterion_document;
mod criterion_folder;
mod criterion_messages;
mod depth;
mod detect;
mod divan;
mod divan_table;
mod document;
mod drafts;
mod endings;
mod error;
mod github_action;
mod github_action_document;
mod go;
mod go_drafts;
mod go_line;
mod go_results;
mod go_stream;
mod go_text;
mod go_visits;
mod google_benchmark;
mod google_benchmark_document;
mod google_benchmark_rows;
mod hail;
mod hail_line;
mod hyperfine;
mod hyperfine_document;
mod intake;
mod jmh;
mod jmh_document;
mod jmh_histogram;
mod keys;
mod libtest;
mod libtest_lines;
mod lines;
mod moment;
mod notes;
mod number;
mod others;
mod places;
mod promises;
mod pyperf;
mod pytest_benchmark;
mod pytest_benchmark_document;
mod reason;
mod rebar;
mod record_v1;
mod sink;
mod source;
mod spot;
#[cfg(test)]
mod testing;
mod units;
mod zstd;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;

use jiff::Timestamp;

use super::{Appended, Store, StoreError, Writer};
use crate::model::{Id, Record, Session};

pub use alike::Alike;
pub(crate) use depth::is_too_deep;
pub use endings::OtherEndings;
pub use error::{BadLine, Foreign, ImportError};
pub use notes::Note;
pub use places::{Place, Places, places_at};
pub use promises::check_promises;
pub use source::Source;

/// Every format that can be read, the surest signs first.
pub const FORMATS: &[Format] = &[
    record_v1::FORMAT,
    hail::FORMAT,
    pytest_benchmark::FORMAT,
    pyperf::FORMAT,
    asv::FORMAT,
    conbench::FORMAT,
    google_benchmark::FORMAT,
    jmh::FORMAT,
    benchmarkdotnet::FORMAT,
    criterion::FORMAT,
    hyperfine::FORMAT,
    coiled::FORMAT,
    github_action::FORMAT,
    bmf::FORMAT,
    divan::FORMAT,
    libtest::FORMAT,
    rebar::FORMAT,
    go::FORMAT,
];

/// A kind of file.
#[derive(Debug)]
pub struct Format {
    /// What `--from` calls it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Says by what the beginning of a file looks like this format, if it does.
    looks_like: fn(&[u8]) -> Option<&'static str>,
    /// Says by what a folder looks like one result of this format, if it does.
    folder: fn(&Path) -> Option<&'static str>,
    /// Names of files that go with results and hold none themselves.
    companions: &'static [&'static str],
    /// Puts everything that a file says into the sink.
    read: fn(&Source, &ImportOptions, &mut sink::Sink<'_, '_>) -> Result<(), ImportError>,
}

impl Format {
    /// Returns whether it leaves open what each measured run of a command is
    /// ([`ImportOptions::each_run`]).
    pub fn leaves_runs_open(&self) -> bool {
        self.name == hyperfine::FORMAT.name
    }
}

/// How to read files.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The format; `None` to find out from the content.
    pub format: Option<&'static Format>,
    /// The suite of the benchmarks; `None` for the one that the source names, or the
    /// name of its format.
    pub suite: Option<String>,
    /// What each measured run of a command is, where the source does not say.
    pub each_run: EachRun,
    /// Whether to keep the good lines of a file that has bad ones.
    pub bad_lines: BadLines,
    /// When the import takes place: the time of a source that states none.
    pub now: Timestamp,
}

/// What each measured run of a command is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EachRun {
    /// An iteration of one instance.
    #[default]
    Iteration,
    /// An instance of its own.
    Instance,
}

impl EachRun {
    /// Returns the name that the option has, and the session's attributes keep.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Instance => "instance",
        }
    }

    /// Returns the choice of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Iteration, Self::Instance]
            .into_iter()
            .find(|choice| choice.name() == name)
    }
}

/// What to do about bad lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadLines {
    /// Keep nothing of the file.
    #[default]
    Refuse,
    /// Keep the good lines and report the bad ones.
    Skip,
}

/// For formats whose results are single files.
fn no_folder(_folder: &Path) -> Option<&'static str> {
    None
}

/// What came of reading a file.
#[derive(Debug)]
pub struct Imported {
    /// The format that it was read as.
    pub format: &'static Format,
    /// By what it was recognised; `None` when the format was given.
    pub because: Option<&'static str>,
    /// What it held.
    pub appended: Appended,
    /// Its session, where it has exactly one.
    pub session: Option<Session>,
    /// The ids of all its sessions.
    pub sessions: BTreeSet<Id>,
    /// Those that look like one that is in the store from another file.
    pub alike: Vec<Alike>,
    /// The lines that were left out.
    pub bad_lines: Vec<BadLine>,
    /// What else was left out, and what was kept without being understood.
    pub notes: Vec<Note>,
    /// The records, where they were only read.
    pub records: Vec<Record>,
}

/// Returns the format of that name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Reads one source into the store, all of it or nothing.
///
/// # Errors
/// When the source cannot be read or understood, a line of it is bad and bad lines are
/// refused, or the store cannot be written to.
pub fn import(
    store: &mut Store,
    source: &Source,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let recognised = detect::format_of(source, options.format)?;
    store.write(|writer| put(writer, source, options, recognised))
}

/// Reads one source into the store as [`import`] does, says what came of it, and undoes it.
///
/// # Errors
/// Those of [`import`].
pub fn rehearse(
    store: &mut Store,
    source: &Source,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    /// Why a transaction is undone.
    enum Ended {
        Rehearsed(Box<Imported>),
        Failed(ImportError),
    }
    impl From<StoreError> for Ended {
        fn from(error: StoreError) -> Self {
            Self::Failed(error.into())
        }
    }
    let recognised = detect::format_of(source, options.format)?;
    let ended = store.write(|writer| -> Result<Infallible, Ended> {
        Err(match put(writer, source, options, recognised) {
            Ok(imported) => Ended::Rehearsed(Box::new(imported)),
            Err(error) => Ended::Failed(error),
        })
    });
    match ended {
        Ok(never) => match never {},
        Err(Ended::Rehearsed(imported)) => Ok(*imported),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// Returns the format that a source would be read as.
///
/// # Errors
/// When it cannot be read, or is in none that is known.
pub fn recognise(source: &Source, options: &ImportOptions) -> Result<&'static Format, ImportError> {
    detect::format_of(source, options.format).map(|(format, _)| format)
}

fn put(
    writer: &mut Writer<'_>,
    source: &Source,
    options: &ImportOptions,
    (format, because): (&'static Format, Option<&'static str>),
) -> Result<Imported, ImportError> {
    let mut sink = sink::Sink::new(writer, source.name(), options.bad_lines);
    (format.read)(source, options, &mut sink)?;
    Ok(imported(format, because, sink.finish()?))
}

/// Reads one source as [`import`] does, and returns its records instead of storing them:
/// for tests and fuzzing, since all of them are in memory at once.
///
/// # Errors
/// When the source cannot be read or understood, or a line of it is bad and bad lines are
/// refused.
pub fn read(source: &Source, options: &ImportOptions) -> Result<Imported, ImportError> {
    let (format, because) = detect::format_of(source, options.format)?;
    let mut sink = sink::Sink::in_memory(source.name(), options.bad_lines);
    (format.read)(source, options, &mut sink)?;
    Ok(imported(format, because, sink.finish()?))
}

fn imported(
    format: &'static Format,
    because: Option<&'static str>,
    finished: sink::Finished,
) -> Imported {
    Imported {
        format,
        because,
        appended: finished.appended,
        session: finished.session,
        sessions: finished.sessions,
        alike: finished.alike,
        bad_lines: finished.bad_lines,
        notes: finished.notes.into_list(),
        records: finished.records,
    }
}
