//! Reads other tools' files into the store.
//!
//! A format is a file of this folder and a line in [`FORMATS`]. Each input is one
//! transaction: all of it is kept or nothing. Ids come from the content, so importing
//! the same content again, under whatever name, changes nothing.

mod detect;
mod error;
mod hail;
mod hail_line;
mod hyperfine;
mod hyperfine_document;
mod lines;
mod reason;
mod record_v1;
mod sink;
mod source;

use jiff::Timestamp;

use super::{Appended, Store};
use crate::model::Session;

pub use error::{BadLine, ImportError};
pub use source::{Source, files_in};

/// Every format that can be read, the surest signs first.
pub const FORMATS: &[Format] = &[record_v1::FORMAT, hail::FORMAT, hyperfine::FORMAT];

/// A kind of file.
#[derive(Debug)]
pub struct Format {
    /// What `--from` calls it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Says by what the beginning of a file looks like this format, if it does.
    looks_like: fn(&[u8]) -> Option<&'static str>,
    /// Puts everything that a file says into the sink.
    read: fn(&Source, &ImportOptions, &mut sink::Sink<'_, '_>) -> Result<(), ImportError>,
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

/// What to do about bad lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadLines {
    /// Keep nothing of the file.
    #[default]
    Refuse,
    /// Keep the good lines and report the bad ones.
    Skip,
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
    /// The lines that were left out.
    pub bad_lines: Vec<BadLine>,
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
    let (format, because) = detect::format_of(source, options.format)?;
    store.write(|writer| {
        let mut sink = sink::Sink::new(writer, source.name(), options.bad_lines);
        (format.read)(source, options, &mut sink)?;
        let (session, bad_lines) = sink.finish()?;
        Ok(Imported {
            format,
            because,
            appended: writer.settle()?,
            session,
            bad_lines,
        })
    })
}
