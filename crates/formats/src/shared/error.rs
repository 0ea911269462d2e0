//! What can go wrong with an import.

use std::fmt;
use std::io;

use crate::{ColumnChoices, FormatGuess, OtherEndings};
use lapwing_record::StoreError;

/// A line that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its file, where that is not the source itself but lies in it.
    pub file: Option<String>,
    /// Its number, from 1.
    pub line: u64,
    /// The benchmark whose result it would be, where it names one.
    pub benchmark: Option<String>,
    /// The error.
    pub reason: String,
}

impl BadLine {
    /// Returns a line of the source itself.
    pub(crate) fn new(line: u64, reason: impl Into<String>) -> Self {
        Self {
            file: None,
            line,
            benchmark: None,
            reason: reason.into(),
        }
    }

    /// Returns the line as one with a result of a benchmark.
    pub(crate) fn of(self, benchmark: impl Into<String>) -> Self {
        let benchmark = Some(benchmark.into());
        Self { benchmark, ..self }
    }

    /// Returns the line of an element as that of the object whose key has it.
    pub(crate) fn of_key(self, key: &str) -> Self {
        let reason = match self.reason.strip_prefix('`') {
            // The path goes on within the value.
            Some(path) => format!("`{key}{path}"),
            None => format!("`{key}`: {}", self.reason),
        };
        Self { reason, ..self }
    }

    /// Says what is wrong and where, as `FILE:LINE: reason`.
    pub fn in_source(&self, name: &str) -> String {
        let file = self.file.as_deref().unwrap_or(name);
        format!("{file}:{}: {}", self.line, self.reason)
    }
}

/// The apparent kind of a file that is no UTF-8 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Text in two bytes a character.
    Utf16,
    /// An archive of files.
    Zip,
    /// An archive of files.
    Tar,
    /// Compressed in a way that is not read.
    Xz,
    /// Compressed in a way that is not read.
    Bzip2,
    /// gzip-compressed once more, after it was decompressed.
    GzipWithin,
    /// zstd-compressed once more, after it was decompressed.
    ZstdWithin,
    /// A database of another program.
    Sqlite,
    /// A store of ours.
    Store,
    /// Something else.
    Binary,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf16 => "UTF-16 text",
            Self::Zip => "a ZIP archive",
            Self::Tar => "a tar archive",
            Self::Xz => "xz-compressed data",
            Self::Bzip2 => "bzip2-compressed data",
            Self::GzipWithin => "gzip-compressed data within compressed data",
            Self::ZstdWithin => "zstd-compressed data within compressed data",
            Self::Sqlite => "an SQLite database of another program",
            Self::Store => "a store of Lapwing",
            Self::Binary => "binary data",
        })
    }
}

/// Errors of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {name}")]
    Read {
        /// The file.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{0} is empty")]
    Empty(String),
    /// A file was imported before, with options that give other records.
    #[error(
        "the same content is already in the store as session `{session}`, imported with {before} and not {now}"
    )]
    ImportedOtherwise {
        /// The session's name.
        session: String,
        /// The options of the earlier import.
        before: String,
        /// The options of this import.
        now: String,
    },
    /// It is of a known format and says nothing.
    #[error("{0} holds no results")]
    NoResults(String),
    /// No file has a name that fits a pattern.
    #[error("no file fits the pattern `{0}`")]
    NothingFits(String),
    /// It goes with other files and is none to import by itself.
    #[error("{0} goes with the results beside it and holds none itself: import its directory")]
    Companion(String),
    /// A folder has nothing that could be read.
    #[error("{name} is a directory without a file of results")]
    EmptyDirectory {
        /// The folder.
        name: String,
        /// Files with endings that are not those of results.
        other_endings: OtherEndings,
    },
    /// Its compressed data is cut off or damaged.
    #[error("{name}: the compressed data is cut off or damaged")]
    Compressed {
        /// The file.
        name: String,
        /// The error of the decoder.
        source: io::Error,
    },
    /// It is text in another encoding, or no text.
    #[error("{name} is {found}, not UTF-8 text")]
    Encoding {
        /// The file.
        name: String,
        /// Its apparent kind.
        found: Foreign,
    },
    /// It is of no known format.
    #[error("{name} is in none of the formats that can be imported{}", guessed(guess.as_ref()))]
    Unknown {
        /// The file.
        name: String,
        /// The nearest format; `None` of a folder.
        guess: Option<FormatGuess>,
    },
    /// A line is bad.
    #[error("{}", first.in_source(name))]
    Line {
        /// The file.
        name: String,
        /// The first bad line.
        first: BadLine,
        /// The number of further bad lines.
        more: u64,
        /// The number of good lines.
        good: u64,
    },
    /// The good lines of a file were to be kept, and there are none.
    #[error("nothing good in {}", bad_lines_of(name, first, *more))]
    NothingGood {
        /// The file.
        name: String,
        /// The first bad line.
        first: BadLine,
        /// The number of further bad lines.
        more: u64,
    },
    /// A document that has to be read as a whole is bad.
    #[error("{name}:{line}: {reason}")]
    Document {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The error.
        reason: String,
    },
    /// Columns of a table may mean this or that.
    #[error("{name}: {}", doubts.join("; "))]
    UnclearColumns {
        /// The file.
        name: String,
        /// The columns and what they may mean.
        doubts: Vec<String>,
        /// The likely meanings, and those that were given.
        choices: ColumnChoices,
    },
    /// A document that has to be read as a whole is too long for that.
    #[error("{name} is longer than {limit} MiB, which no single document should be")]
    TooLong {
        /// The file.
        name: String,
        /// The limit in MiB.
        limit: u64,
    },
    /// A database cannot be read.
    #[error("{name} cannot be read as a database: {reason}")]
    Database {
        /// The file.
        name: String,
        /// The error.
        reason: String,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn bad_lines_of(name: &str, first: &BadLine, more: u64) -> String {
    let first = first.in_source(name);
    match more {
        0 => format!("{name}: {first}"),
        _ => format!(
            "{name}, which has {} bad lines; the first is {first}",
            more + 1
        ),
    }
}

fn guessed(guess: Option<&FormatGuess>) -> String {
    guess.map_or_else(String::new, |guess| format!(": {guess}"))
}

impl ImportError {
    /// Returns whether a document ends and something stands behind it.
    pub(crate) fn has_more_behind(&self) -> bool {
        matches!(self, Self::Document { reason, .. } if reason.contains("trailing characters"))
    }
}
