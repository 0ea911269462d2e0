use std::fmt;
use std::path::PathBuf;

use crate::suite::SuiteProblem;

/// Why a plan is of no use.
#[derive(Debug, thiserror::Error)]
pub enum PlanDocumentError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is neither YAML nor JSON.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// It has no entry.
    #[error("{} plans nothing: it has no entry", .0.display())]
    Empty(PathBuf),
    /// It is no list.
    #[error("{}:{line}: a plan is a list of entries, not {found}", path.display())]
    NoList {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it is instead.
        found: &'static str,
    },
    /// An entry is wrong.
    #[error("{}:{line}: {entry}: {problem}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Which entry.
        entry: EntryName,
        /// What is wrong with it.
        problem: Box<SuiteProblem>,
    },
}

/// Which entry of a plan something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryName {
    /// Its place, from 1.
    pub position: usize,
    /// Its item, if it has one.
    pub item: Option<String>,
}

impl fmt::Display for EntryName {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.item {
            Some(item) => write!(formatter, "entry {} (`{item}`)", self.position),
            None => write!(formatter, "entry {}", self.position),
        }
    }
}
