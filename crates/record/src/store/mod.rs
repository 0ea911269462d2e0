//! The store: one SQLite file that keeps every measurement (`docs/store.md`).
//!
//! Integer keys inside, ids outside; iterations and their values in columns, values by
//! metric. Records are returned as they were written.

mod columns;
mod curation;
mod error;
mod health;
mod migrate;
mod open;
mod place;
mod points;
mod query;
mod reading;
mod writing;

use writing::keys;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::private::{PrivacyRules, RecordCleaner};
use lapwing_model::Record;

pub use columns::spans::TraceHead;
pub use curation::annotate::{StoreAnnotations, TouchedCounts};
pub(crate) use curation::remotes::{KnownRemote, StoreSharing};
pub(crate) use curation::unshared::UnsharedRecords;
pub use error::StoreError;
pub(crate) use error::StoreResult;
pub use health::check::CheckReport;
pub(crate) use health::compare::{as_stored, differences, with_metrics_of};
pub use health::purge::PurgeCounts;
pub use health::rescue::{RescueReport, rescue};
pub use health::upkeep::{StoreInfo, StoreUpkeep};
pub use points::{BenchmarkPoints, HistoryPoint, HistoryPoints, NO_POINTS, PointRun};
pub use reading::catalogue::{BenchmarkRow, MetricRow, RunRow, SessionRow, StoreCatalogue};
pub(crate) use reading::extent::{SessionExtent, UnsharedSession};
pub use reading::left_out::LeftOut;
pub use reading::sessions::{InstanceState, SessionState};
pub use writing::appended::{AppendCounts, RecordCount};
pub use writing::opened::OpenedSession;
pub use writing::write::Writer;

/// Takes what is read, one after another.
type Visitor<'v, T> = dyn FnMut(T) -> Result<(), VisitEnd> + 'v;

/// Why a visit of what is read ended early.
enum VisitEnd {
    /// The store cannot be read.
    Store(StoreError),
    /// The visitor wants no more.
    Visitor,
}

impl<E: Into<StoreError>> From<E> for VisitEnd {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// Keeps every measurement in one file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    read_only: bool,
    /// Which file it is, to notice when it is deleted under us.
    file: Option<(u64, u64)>,
    cache: keys::KeyCache,
    /// SQLite's counter of other connections' changes when `cache` was filled.
    data_version: Option<i64>,
    cleaner: RecordCleaner,
}

impl Store {
    /// Returns where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it can only be read.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the folder of record files that wait for import (`record::inbox`).
    ///
    /// It is `inbox` beside a store named `lapwing.db`; stores of other names have
    /// one of their own each, so that two stores in one folder do not share it.
    pub fn inbox(&self) -> PathBuf {
        Self::inbox_of(&self.path)
    }

    /// Returns the folder of record files that wait for the store at `path`.
    pub fn inbox_of(path: &Path) -> PathBuf {
        let folder = open::folder_of(path);
        match path.file_name().and_then(|name| name.to_str()) {
            Some("lapwing.db") | None => folder.join("inbox"),
            Some(name) => folder.join(format!("{name}.inbox")),
        }
    }

    /// Hides what these rules call private in every record that is written from now on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn set_privacy(&mut self, rules: PrivacyRules) -> StoreResult<()> {
        let sql = "SELECT salt FROM host_salt";
        let salt = self.read(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))?;
        self.cleaner = RecordCleaner::new(rules, salt);
        Ok(())
    }

    /// Returns what hides private texts of the records that are written.
    pub fn cleaner(&self) -> &RecordCleaner {
        &self.cleaner
    }

    /// Returns the view that lists benchmarks, sessions, runs and metrics.
    pub fn catalogue(&self) -> StoreCatalogue<'_> {
        StoreCatalogue { store: self }
    }

    /// Returns the view of annotations and of what they affect.
    pub fn annotations(&self) -> StoreAnnotations<'_> {
        StoreAnnotations { store: self }
    }

    /// Returns the view of shared histories and of what they lack.
    pub(crate) fn sharing(&self) -> StoreSharing<'_> {
        StoreSharing { store: self }
    }

    /// Returns the view for maintenance: size, damage, effects of a purge.
    pub fn upkeep(&self) -> StoreUpkeep<'_> {
        StoreUpkeep { store: self }
    }

    /// Calls `action` with one consistent state of the store; adds the path to its error.
    fn read<T>(&self, action: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        self.connection
            .unchecked_transaction()
            .map_err(StoreError::from)
            .and_then(|snapshot| action(&snapshot))
            .map_err(|error| error.at(&self.path))
    }

    /// Calls `read` with one consistent state of the store, and with `visit` for it to call.
    ///
    /// The readers are the same whatever `visit` can fail with; its error waits here until they have ended.
    fn visit<T, E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(T) -> Result<(), E>,
        read: impl FnOnce(&Connection, &mut Visitor<'_, T>) -> Result<(), VisitEnd>,
    ) -> Result<(), E> {
        let mut failure = None;
        let mut visitor = |item| {
            visit(item).map_err(|error| {
                failure = Some(error);
                VisitEnd::Visitor
            })
        };
        let snapshot = self.connection.unchecked_transaction();
        let ended = snapshot
            .map_err(VisitEnd::from)
            .and_then(|snapshot| read(&snapshot, &mut visitor));
        match (failure, ended) {
            (Some(error), _) => Err(error),
            (None, Err(VisitEnd::Store(error))) => Err(error.at(&self.path).into()),
            (None, Ok(()) | Err(VisitEnd::Visitor)) => Ok(()),
        }
    }

    /// Writes in one transaction: everything that `action` puts is kept, or nothing
    /// when it returns an error.
    ///
    /// # Errors
    /// Whatever `action` returns; or when the store cannot be written to.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        action: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = self.write_inner(action);
        if result.is_err() {
            // Keys handed out by the transaction that was undone mean nothing.
            self.cache.forget();
        }
        result
    }

    fn write_inner<T, E: From<StoreError>>(
        &mut self,
        action: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let path = self.path.clone();
        let wrap = |error: StoreError| E::from(error.at(&path));
        if self.read_only {
            return Err(E::from(StoreError::ReadOnly(path)));
        }
        if open::file_identity(&path) != self.file {
            return Err(E::from(StoreError::Vanished(path)));
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| wrap(error.into()))?;
        // It may have gone while others had the lock.
        if open::file_identity(&path) != self.file {
            return Err(E::from(StoreError::Vanished(path)));
        }
        let version: i64 = transaction
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(|error| wrap(error.into()))?;
        if self.data_version != Some(version) {
            self.cache.forget();
            self.data_version = Some(version);
        }
        let mut writer = Writer::new(&transaction, &mut self.cache, &path, &self.cleaner);
        let given = action(&mut writer)?;
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(|error| wrap(error.into()))?;
        Ok(given)
    }

    /// Appends records, parents before children, all or none of them.
    ///
    /// A record that is already present with the same content changes nothing.
    ///
    /// # Errors
    /// When a key is already present with other content, a parent is missing, or the
    /// store cannot be written to.
    pub fn append<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> StoreResult<AppendCounts> {
        self.write(|writer| {
            for record in records {
                writer.put(record)?;
            }
            writer.settle()
        })
    }
}
