//! Reads other tools' files into the store.
//!
//! A format is a folder and a line in [`FORMATS`]. Each input is one
//! transaction: all of it is kept or nothing. Ids come from the content, so importing
//! the same content again, under whatever name, changes nothing.
//!
//! A reader parses its wire structs (from a `Document` or from `Lines`) and hands drafts of
//! session, runs and instances to an `Intake`, which makes records of them.

mod amun;
mod asv;
mod asv_text;
mod benchmark_js;
mod benchmark_tools;
mod benchmarkdotnet;
mod bmf;
mod catch2;
mod catch2_text;
mod chrome_trace;
mod coiled;
mod conbench;
mod criterion;
mod criterion_text;
mod csv;
mod dask;
mod divan;
mod earthkit;
mod github_action;
mod go;
mod google_benchmark;
mod gungraun;
mod hail;
mod hyperfine;
mod jaeger;
mod jmh;
mod junit;
mod libtest;
mod lnt;
mod nextflow;
mod ninja;
mod otlp;
mod parsl;
mod pyperf;
mod pytest_benchmark;
mod rebar;
mod record_v1;
mod runs;
mod shared;
mod vitest;
mod wfcommons;
mod zipkin;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;

use jiff::Timestamp;

use crate::shared::detect::{Recognised, format_of};
use crate::shared::reading::documents::documents_of;
use crate::shared::sink::Sink;
use lapwing_model::{Id, Record, Session};
use lapwing_record::{AppendCounts, Store, StoreError, Writer};

pub(crate) use csv::refusal as table_refusal;
pub use csv::{ColumnChoices, ColumnsUsed, UnclearColumn};
pub use lapwing_model::EachRun;
pub use shared::alike::Alike;
pub use shared::continued::ContinuedHistory;
pub use shared::error::{BadLine, Foreign, ImportError};
pub use shared::found::{Found, Unmeasured};
pub use shared::guess::FormatGuess;
pub use shared::notes::Note;
pub use shared::places::{ImportPath, ImportPaths, places_at};
pub use shared::promises::check_promises;
pub use shared::reading::endings::OtherEndings;
pub use shared::source::Source;

/// Every format that can be read, the surest signs first.
pub const FORMATS: &[Format] = &[
    record_v1::FORMAT,
    hail::FORMAT,
    pytest_benchmark::FORMAT,
    pyperf::FORMAT,
    asv::FORMAT,
    conbench::FORMAT,
    amun::FORMAT,
    google_benchmark::FORMAT,
    jmh::FORMAT,
    benchmarkdotnet::FORMAT,
    criterion::FORMAT,
    hyperfine::FORMAT,
    earthkit::FORMAT,
    dask::FORMAT,
    wfcommons::FORMAT,
    otlp::FORMAT,
    jaeger::FORMAT,
    zipkin::FORMAT,
    ninja::FORMAT,
    nextflow::FORMAT,
    chrome_trace::FORMAT,
    parsl::FORMAT,
    coiled::FORMAT,
    github_action::FORMAT,
    bmf::FORMAT,
    catch2::FORMAT,
    junit::FORMAT,
    vitest::FORMAT,
    gungraun::FORMAT,
    benchmark_tools::FORMAT,
    lnt::FORMAT,
    criterion_text::FORMAT,
    catch2_text::FORMAT,
    asv_text::FORMAT,
    benchmark_js::FORMAT,
    divan::FORMAT,
    libtest::FORMAT,
    rebar::FORMAT,
    go::FORMAT,
    runs::FORMAT,
    csv::FORMAT,
];

/// A kind of file.
#[derive(Debug)]
pub struct Format {
    /// Name of the format, the value of `--from`.
    pub name: &'static str,
    /// Description in a few words.
    pub about: &'static str,
    /// Whether it leaves open what each measured run of a command is
    /// ([`ImportOptions::each_run`]).
    pub leaves_runs_open: bool,
    /// Whether its files name no benchmark, so that [`TraceNames`] apply to them: traces, and runs of a study.
    pub takes_names: bool,
    /// Whether its files are traces: what happened inside runs of a graph of tasks.
    pub is_trace: bool,
    /// Returns by what the beginning of a file looks like this format, if it does.
    looks_like: fn(&[u8]) -> Option<&'static str>,
    /// Returns by what a folder looks like one result of this format, or a file that does not
    /// say so itself, if it does.
    is_at: fn(&Path) -> Option<&'static str>,
    /// Whether its files are SQLite databases.
    is_database: bool,
    /// Names of files that go with results and hold none themselves.
    companions: &'static [&'static str],
    /// The keys by which its JSON is known, to name the one that is missing.
    keys: &'static [&'static str],
    /// Puts everything that a file says into the sink.
    read: ReadFormat,
}

/// Reads a source of one format.
type ReadFormat = fn(&Source, &mut Sink<'_, '_>) -> Result<(), ImportError>;

impl Format {
    /// Returns a format whose results are single text files.
    const fn new(
        name: &'static str,
        about: &'static str,
        looks_like: fn(&[u8]) -> Option<&'static str>,
        read: ReadFormat,
    ) -> Self {
        Self {
            name,
            about,
            leaves_runs_open: false,
            takes_names: false,
            is_trace: false,
            looks_like,
            is_at: |_path| None,
            is_database: false,
            companions: &[],
            keys: &[],
            read,
        }
    }

    /// Returns the format with the keys by which its JSON is known.
    const fn with_keys(mut self, keys: &'static [&'static str]) -> Self {
        self.keys = keys;
        self
    }
}

/// Returns whether a file is a record of Lapwing that is a trace, as `trace_dask` and `lapwing trace record` write it.
pub fn is_recorded_trace(format: &Format, source: &Source) -> bool {
    format.name == "record" && record_v1::is_trace(source).unwrap_or(false)
}

/// Returns whether a source is the history that github-action-benchmark keeps.
pub fn is_history_of_action(source: &Source) -> bool {
    format_of(source, None).is_ok_and(|(format, because)| {
        format.name == github_action::FORMAT.name && because != Some(github_action::IS_ARRAY)
    })
}

/// Options of reading files.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The format; `None` to find out from the content.
    pub format: Option<&'static Format>,
    /// The suite of the benchmarks; `None` for the one that the source names, or the
    /// name of its format.
    pub suite: Option<String>,
    /// The names of what was measured, where traces and runs of a study do not say.
    pub trace: TraceNames,
    /// The meaning of each measured run of a command, where the source does not say.
    pub each_run: EachRun,
    /// The columns of tables that mean something else than is found.
    pub columns: ColumnChoices,
    /// Whether to keep the good lines of a file that has bad ones.
    pub bad_lines: BadLines,
    /// The history that the results continue, if one is known.
    pub continued: Option<ContinuedHistory>,
    /// The time of the import, which is that of a source that states none.
    pub now: Timestamp,
}

impl ImportOptions {
    /// Returns the usual options of reading files at this time.
    pub fn at(now: Timestamp) -> Self {
        Self {
            format: None,
            suite: None,
            trace: TraceNames::default(),
            each_run: EachRun::default(),
            columns: ColumnChoices::default(),
            bad_lines: BadLines::default(),
            continued: None,
            now,
        }
    }
}

/// The names under which traces and runs of a study are stored, so that several files of one job are runs of one
/// benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceNames {
    /// The benchmark; `None` for the name that the source has, or that of the file.
    pub benchmark: Option<String>,
    /// The variant; `None` if nothing was varied.
    pub variant: Option<String>,
}

/// The treatment of bad lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadLines {
    /// Keep nothing of the file.
    #[default]
    Refuse,
    /// Keep the good lines and report the bad ones.
    Skip,
}

/// The result of reading a file.
#[derive(Debug)]
pub struct Imported {
    /// The format that it was read as.
    pub format: &'static Format,
    /// By what it was recognised; `None` when the format was given.
    pub because: Option<&'static str>,
    /// The numbers of its records.
    pub appended: AppendCounts,
    /// The meaning of its columns, where that was found by their names and contents.
    pub columns: Option<ColumnsUsed>,
    /// Its session, where it has exactly one.
    pub session: Option<Session>,
    /// The ids of all its sessions.
    pub sessions: BTreeSet<Id>,
    /// Those that look like one that is in the store from another file.
    pub alike: Vec<Alike>,
    /// The lines that were left out.
    pub bad_lines: Vec<BadLine>,
    /// Accounts of what else was left out, and of what was kept without being understood.
    pub notes: Vec<Note>,
    /// The names of benchmarks in it, with and without results.
    pub found: Found,
    /// Whether its results have the suite and names of a history that they continue.
    pub is_continuation: bool,
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
    let recognised = format_of(source, options.format)?;
    store.write(|writer| put(Some(writer), source, options, recognised))
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
    /// The reason why a transaction is undone.
    enum Ended {
        Rehearsed(Box<Imported>),
        Failed(ImportError),
    }
    impl From<StoreError> for Ended {
        fn from(error: StoreError) -> Self {
            Self::Failed(error.into())
        }
    }
    let recognised = format_of(source, options.format)?;
    let ended = store.write(|writer| -> Result<Infallible, Ended> {
        Err(match put(Some(writer), source, options, recognised) {
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
    format_of(source, options.format).map(|(format, _)| format)
}

/// Reads one source into the store, or into memory if there is none.
fn put(
    writer: Option<&mut Writer<'_>>,
    source: &Source,
    options: &ImportOptions,
    recognised: Recognised,
) -> Result<Imported, ImportError> {
    let mut sink = Sink::new(writer, recognised, source, options);
    match (recognised.0.read)(source, &mut sink) {
        Err(error) if error.has_more_behind() => match documents_of(source)? {
            Some(documents) => {
                for document in &documents {
                    (recognised.0.read)(document, &mut sink)?;
                }
            }
            None => return Err(error),
        },
        read => read?,
    }
    sink.finish()
}

/// Reads one source as [`import`] does, and returns its records instead of storing them:
/// for tests and fuzzing, since all of them are in memory at once.
///
/// # Errors
/// When the source cannot be read or understood, or a line of it is bad and bad lines are
/// refused.
pub fn read(source: &Source, options: &ImportOptions) -> Result<Imported, ImportError> {
    let recognised = format_of(source, options.format)?;
    put(None, source, options, recognised)
}
