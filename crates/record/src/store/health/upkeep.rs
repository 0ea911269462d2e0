//! Maintenance of the store: size, merge, purge.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Connection;

use super::super::columns::iterations::ComparedIterations;
use super::super::curation::remotes::forget_extents;
use super::super::migrate::newest_version;
use super::super::open::SchemaState;
use super::super::reading::select::Selection;
use super::super::writing::indices::StoredIndices;
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

/// What a purge deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PurgeCounts {
    /// Sessions that had nothing left.
    pub sessions: u64,
    /// Runs that had nothing left.
    pub runs: u64,
    /// Instances.
    pub instances: u64,
    /// Iterations.
    pub iterations: u64,
    /// Summaries of metrics whose samples were never kept.
    pub summaries: u64,
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

    /// Returns what [`Writer::purge`] would delete.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn would_purge(&self, filter: &Filter) -> StoreResult<PurgeCounts> {
        self.store.read(|transaction| {
            let selection = Selection::of(transaction, &filter.with_retired())?;
            choose_instances(transaction, &selection)?;
            PurgeCounts::chosen(transaction)
        })
    }
}

impl PurgeCounts {
    /// Counts the instances in `temp.purged` and their data.
    fn chosen(connection: &Connection) -> StoreResult<Self> {
        let of_purged = "WHERE instance IN (SELECT key FROM temp.purged)";
        let sql = format!(
            "SELECT (SELECT count(*) FROM temp.purged), \
                    (SELECT coalesce(sum(count), 0) FROM chunk {of_purged}), \
                    (SELECT count(*) FROM summary {of_purged})"
        );
        Ok(connection.query_row(&sql, [], |row| {
            let count = |column| row.get(column).map(i64::cast_unsigned);
            Ok(Self {
                instances: count(0)?,
                iterations: count(1)?,
                summaries: count(2)?,
                ..Self::default()
            })
        })?)
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

    /// Deletes the instances that pass the filter for good, and the runs, sessions and benchmarks
    /// that have nothing left. Annotations stay.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be written to.
    pub fn purge(&mut self, filter: &Filter) -> StoreResult<PurgeCounts> {
        self.settle()?;
        let purged = self.at_path(|connection| {
            let selection = Selection::of(connection, &filter.with_retired())?;
            delete(connection, &selection)
        })?;
        // Whatever was remembered may be of a row that is gone.
        self.cache.forget();
        self.stored_indices = StoredIndices::default();
        self.compared = ComparedIterations::default();
        Ok(purged)
    }
}

fn choose_instances(connection: &Connection, selection: &Selection) -> StoreResult<()> {
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE IF NOT EXISTS purged (key INTEGER PRIMARY KEY); \
         DELETE FROM temp.purged; \
         INSERT INTO temp.purged SELECT instance.key FROM instance WHERE 1{};",
        selection.on_instance()
    ))?;
    Ok(())
}

fn delete(connection: &Connection, selection: &Selection) -> StoreResult<PurgeCounts> {
    choose_instances(connection, selection)?;
    let chosen = PurgeCounts::chosen(connection)?;
    let delete =
        |sql: &str| -> StoreResult<u64> { Ok(query::execute(connection, sql, [])? as u64) };
    forget_extents(
        connection,
        "SELECT run.session FROM instance JOIN run ON run.key = instance.run \
         WHERE instance.key IN (SELECT key FROM temp.purged)",
    )?;
    // By metric, the order of the table.
    delete(
        "DELETE FROM series WHERE metric IN (SELECT key FROM metric) \
         AND instance IN (SELECT key FROM temp.purged)",
    )?;
    for table in ["chunk", "span_chunk", "summary"] {
        delete(&format!(
            "DELETE FROM {table} WHERE instance IN (SELECT key FROM temp.purged)"
        ))?;
    }
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS purged_run (key INTEGER PRIMARY KEY); \
         DELETE FROM temp.purged_run; \
         CREATE TEMP TABLE IF NOT EXISTS purged_session (key INTEGER PRIMARY KEY); \
         DELETE FROM temp.purged_session;",
    )?;
    let takes_whole_runs = selection.benchmarks.is_none() && selection.takes_all_instances();
    if takes_whole_runs {
        // Runs that were asked for and never had an instance go too.
        let runs = match &selection.runs {
            Some(_) => "SELECT key FROM temp.selected_run",
            None => "SELECT key FROM run",
        };
        connection.execute_batch(&format!("INSERT INTO temp.purged_run {runs};"))?;
    } else {
        connection.execute_batch(
            "INSERT INTO temp.purged_run SELECT DISTINCT run FROM instance \
             WHERE key IN (SELECT key FROM temp.purged);",
        )?;
    }
    connection.execute_batch(
        "INSERT INTO temp.purged_session SELECT DISTINCT session FROM run \
         WHERE key IN (SELECT key FROM temp.purged_run);",
    )?;
    if selection.runs.is_none() && takes_whole_runs {
        connection
            .execute_batch("INSERT OR IGNORE INTO temp.purged_session SELECT key FROM session;")?;
    }
    for session in selection.sessions.iter().flatten() {
        let sql = "INSERT OR IGNORE INTO temp.purged_session VALUES (?1)";
        query::execute(connection, sql, [session])?;
    }
    forget_extents(connection, "SELECT key FROM temp.purged_session")?;
    delete("DELETE FROM instance WHERE key IN (SELECT key FROM temp.purged)")?;
    connection.execute_batch(
        "DELETE FROM temp.purged_run WHERE key IN (SELECT run FROM instance); \
         DELETE FROM run_metric WHERE run IN (SELECT key FROM temp.purged_run);",
    )?;
    let runs = delete("DELETE FROM run WHERE key IN (SELECT key FROM temp.purged_run)")?;
    // Only sessions that the filter could mean: others may just be beginning.
    let sessions = delete(
        "DELETE FROM session WHERE key IN (SELECT key FROM temp.purged_session) \
         AND key NOT IN (SELECT session FROM run)",
    )?;
    connection.execute_batch(
        "DELETE FROM benchmark_metric WHERE benchmark NOT IN (SELECT benchmark FROM instance); \
         DELETE FROM benchmark WHERE key NOT IN (SELECT benchmark FROM instance);",
    )?;
    Ok(PurgeCounts {
        sessions,
        runs,
        ..chosen
    })
}
