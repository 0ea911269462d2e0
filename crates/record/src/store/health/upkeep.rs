//! Maintenance of the store: size, copies, merge.

use std::path::Path;

use jiff::Timestamp;

use super::super::migrate::newest_version;
use super::super::open::SchemaState;
use super::super::{AppendCounts, Store, StoreError, StoreResult, Writer, query};
use crate::Filter;
use crate::private::TextSurvey;

/// The contents of a store, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// The version of its tables.
    pub version: u32,
    /// The newest version that this program knows.
    pub newest_version: u32,
    /// Bytes of the file and of what is not yet merged into it.
    pub bytes: u64,
    /// Rows by what they are, in reading order: sessions, runs, benchmarks, ….
    pub counts: Vec<(&'static str, u64)>,
    /// When the first session started.
    pub first: Option<Timestamp>,
    /// When the last session started.
    pub last: Option<Timestamp>,
}

const COUNTED: [(&str, &str); 9] = [
    ("sessions", "SELECT count(*) FROM session"),
    ("runs", "SELECT count(*) FROM run"),
    ("benchmarks", "SELECT count(*) FROM benchmark"),
    ("instances", "SELECT count(*) FROM instance"),
    ("iterations", "SELECT coalesce(sum(count), 0) FROM chunk"),
    (
        "values",
        // Entries but for those that are `null`.
        "SELECT coalesce(sum(1 + length(vals) - length(replace(vals, ',', '')) \
         - (length(vals) - length(replace(vals, 'null', ''))) / 4), 0) FROM series",
    ),
    ("spans", "SELECT coalesce(sum(spans), 0) FROM span_chunk"),
    ("summaries", "SELECT count(*) FROM summary"),
    ("annotations", "SELECT count(*) FROM annotation"),
];

/// Maintains the store ([`Store::upkeep`]).
#[derive(Debug, Clone, Copy)]
pub struct StoreUpkeep<'s> {
    pub(crate) store: &'s Store,
}

impl StoreUpkeep<'_> {
    /// Writes a copy of the store to a new file, which [`Store::open_copy`] opens.
    ///
    /// # Errors
    /// When the store cannot be read, or the file exists or cannot be written.
    pub fn copy_to(&self, path: &Path) -> StoreResult<()> {
        let path = path.to_string_lossy();
        self.store.connection.execute("VACUUM INTO ?1", [path])?;
        Ok(())
    }

    /// Returns the kinds of texts that the store holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn texts(&self) -> StoreResult<TextSurvey> {
        let mut survey = TextSurvey::default();
        self.store
            .scan(&Filter::default().with_retired(), |record| {
                survey.add(record);
                Ok::<(), StoreError>(())
            })?;
        Ok(survey)
    }

    /// Returns the contents of the store, in numbers.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn info(&self) -> StoreResult<StoreInfo> {
        let version = match self.store.state()? {
            SchemaState::Version(version) => version,
            SchemaState::Empty | SchemaState::Foreign => 0,
        };
        let (counts, first, last) = self.store.read(|connection| {
            let mut counts = Vec::new();
            for (what, sql) in COUNTED {
                let count: i64 = query::value(connection, sql, [])?;
                counts.push((what, count.cast_unsigned()));
            }
            let sql = "SELECT min(started), max(started) FROM session";
            let (first, last): (Option<String>, Option<String>) =
                connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok((counts, first, last))
        })?;
        let mut bytes = 0;
        for ending in ["", "-wal"] {
            let mut name = self.store.path.clone().into_os_string();
            name.push(ending);
            bytes += std::fs::metadata(name).map_or(0, |metadata| metadata.len());
        }
        Ok(StoreInfo {
            version,
            newest_version: newest_version(),
            bytes,
            counts,
            first: first.and_then(|text| text.parse().ok()),
            last: last.and_then(|text| text.parse().ok()),
        })
    }
}

impl Writer<'_> {
    /// Puts everything that another store holds; doing it twice changes nothing.
    ///
    /// # Errors
    /// When the two disagree about a record, or one of them cannot be used.
    pub fn merge(&mut self, other: &Store) -> StoreResult<AppendCounts> {
        other.scan(&Filter::default(), |record| self.put(&record))?;
        self.settle()
    }
}
