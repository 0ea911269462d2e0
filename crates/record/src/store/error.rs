//! What can go wrong with a store.

use std::path::{Path, PathBuf};

use lapwing_model::RecordKind;
use lapwing_model::text::first_names;

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no store yet.
    #[error("nothing measured yet: there is no store at {}", .0.display())]
    Missing(PathBuf),
    /// The folder that it belongs in cannot be had.
    #[error("cannot make the store's folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The path is a folder.
    #[error("{} is a directory, not a store", .0.display())]
    Directory(PathBuf),
    /// A file in a folder of ours is a link.
    #[error("{} is a link, and measurements are not written through links", .0.display())]
    Link(PathBuf),
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Damage was found in it, and nothing may be added.
    #[error("{} is damaged ({what}): nothing is written into it", path.display())]
    KnownDamage {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The file is something else.
    #[error("{} is not a Lapwing store: {why}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        why: &'static str,
    },
    /// A newer program made it.
    #[error(
        "{} is a store of version {found}, newer than version {known}, the newest that this program knows",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// It is older and must not be changed.
    #[error(
        "{} is a store of version {found}; it must be brought to version {known} first, and it is read-only",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// It may not be written to.
    #[error("the store {} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// There is no room.
    #[error("the disk of the store {} is full", .0.display())]
    Full(PathBuf),
    /// It was deleted or replaced while it was open.
    #[error("the store {} was deleted or replaced while in use", .0.display())]
    Vanished(PathBuf),
    /// Others kept it for longer than we wait.
    #[error("the store {} has been busy for over a minute", .0.display())]
    Busy(PathBuf),
    /// It holds what no program of ours writes.
    #[error("the store {} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Any other trouble of SQLite.
    #[error("cannot use the store {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The same key has other content already.
    #[error("{kind} {key} is already in the store with other content: {}", differences.join("; "))]
    Conflict {
        /// The kind of the record.
        kind: RecordKind,
        /// Its key.
        key: String,
        /// Which fields differ, and how.
        differences: Vec<String>,
    },
    /// A record's parent is neither in the store nor among the records before it.
    #[error("{kind} {key} belongs to {parent_kind} {parent}, which is not known")]
    NoParent {
        /// The kind of the record.
        kind: RecordKind,
        /// Its key.
        key: String,
        /// The kind of its parent.
        parent_kind: RecordKind,
        /// The parent's id.
        parent: String,
    },
    /// No reader of record v1 would take the record.
    #[error("{kind} {key}: {why}")]
    Refused {
        /// What it is.
        kind: RecordKind,
        /// Its key.
        key: String,
        /// Why.
        why: String,
    },
    /// A name in a filter or a question fits nothing.
    #[error("no {what} `{text}`{}", did_you_mean(suggestions))]
    NoMatch {
        /// What was looked for.
        what: &'static str,
        /// What was asked.
        text: String,
        /// What may have been meant.
        suggestions: Vec<String>,
    },
    /// No run is of a branch.
    #[error("no run is of branch `{text}`: {}", recorded_branches(recorded))]
    NoBranch {
        /// What was asked.
        text: String,
        /// The branches that runs were recorded with.
        recorded: Vec<String>,
    },
    /// A name fits several things.
    #[error("{what} `{text}` could be any of {}", candidates.join(", "))]
    Ambiguous {
        /// What was looked for.
        what: &'static str,
        /// What was asked.
        text: String,
        /// What it may be.
        candidates: Vec<String>,
    },
}

/// Result of an operation on a store.
pub(crate) type StoreResult<T> = Result<T, StoreError>;

fn recorded_branches(names: &[String]) -> String {
    /// More names than this are a number.
    const NAMED: usize = 6;
    match names {
        [] => "none has a recorded branch".to_owned(),
        [name] => format!("the recorded one is {name}"),
        _ => format!("the recorded ones are {}", first_names(names, NAMED)),
    }
}

fn did_you_mean(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    format!("; did you mean `{}`?", suggestions.join("` or `"))
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite {
            path: PathBuf::new(),
            source,
        }
    }
}

impl StoreError {
    /// Returns the error that nothing is called `text`, with those of `names` that may have been meant.
    pub fn no_match(what: &'static str, text: &str, mut names: Vec<String>) -> Self {
        const LIKE_ENOUGH: f64 = 0.75;
        const MOST: usize = 3;
        names.sort_unstable();
        names.dedup();
        let mut scored: Vec<(f64, String)> = names
            .into_iter()
            .map(|name| {
                // `test_jion` should find `tests/test_join.py::test_join`.
                let last = name.rsplit("::").next().unwrap_or(&name);
                let score = strsim::jaro_winkler(text, &name).max(strsim::jaro_winkler(text, last));
                (score, name)
            })
            .filter(|(score, _)| *score >= LIKE_ENOUGH)
            .collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0));
        scored.truncate(MOST);
        Self::NoMatch {
            what,
            text: text.to_owned(),
            suggestions: scored.into_iter().map(|(_, name)| name).collect(),
        }
    }

    /// Returns the error with the store's path in it, and SQLite's codes told apart.
    pub(crate) fn at(mut self, path: &Path) -> Self {
        use rusqlite::ErrorCode;
        if let Self::Sqlite { path: known, .. } | Self::Damaged { path: known, .. } = &mut self
            && known.as_os_str().is_empty()
        {
            path.clone_into(known);
        } else {
            return self;
        }
        let Self::Sqlite { source, path } = self else {
            return self;
        };
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly(path),
            // On a read-only file system SQLite fails only when it wants its log.
            Some(ErrorCode::CannotOpen)
                if path.exists()
                    && rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_err() =>
            {
                Self::ReadOnly(path)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(path),
            Some(ErrorCode::NotADatabase) => Self::NotAStore {
                path,
                why: "it is no SQLite database",
            },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                what: source.to_string(),
            },
            Some(ErrorCode::SystemIoFailure) if !path.exists() => Self::Vanished(path),
            Some(_) | None => Self::Sqlite { path, source },
        }
    }

    /// Returns whether it is about one record, which would not be accepted another time either.
    pub(crate) fn is_about_record(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. } | Self::NoParent { .. } | Self::Refused { .. }
        )
    }

    /// Returns that no reader would take a record.
    pub(crate) fn refused(kind: RecordKind, key: String, why: String) -> Self {
        Self::Refused { kind, key, why }
    }

    /// Returns that the store holds what no program of ours writes; the path comes later.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged {
            path: PathBuf::new(),
            what: what.into(),
        }
    }
}
