//! Deletion for good: from the tables, from the bytes of the file, and what lies beside it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lapwing_model::{Id, Object};
use rusqlite::Connection;

use super::super::columns::iterations::ComparedIterations;
use super::super::curation::remotes::forget_extents;
use super::super::open::{PATIENCE, folder_of};
use super::super::points::{self, PointGatherer};
use super::super::reading::rows::{from_json, parsed};
use super::super::reading::select::Selection;
use super::super::writing::indices::StoredIndices;
use super::super::{Store, StoreResult, StoreUpkeep, Writer, query};
use crate::Filter;
use crate::inbox;

/// How long to wait for those who read what is deleted.
const READER_PATIENCE: Duration = Duration::from_secs(5);

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
    /// Annotations, which go only with everything.
    pub annotations: u64,
    /// Whether another process has the store open, so that its log still has what was deleted.
    pub log_in_use: bool,
}

impl StoreUpkeep<'_> {
    /// Returns what [`Store::purge`] would delete.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn would_purge(&self, filter: &Filter) -> StoreResult<PurgeCounts> {
        self.store.read(|transaction| {
            let selection = Selection::of(transaction, &filter.with_retired())?;
            choose_instances(transaction, &selection)?;
            let annotations = match is_everything(filter) {
                true => annotations(transaction)?,
                false => 0,
            };
            let chosen = PurgeCounts::chosen(transaction)?;
            Ok(PurgeCounts {
                annotations,
                ..chosen
            })
        })
    }
}

fn is_everything(filter: &Filter) -> bool {
    filter.with_retired() == Filter::default().with_retired()
}

fn annotations(connection: &Connection) -> StoreResult<u64> {
    let sql = "SELECT count(*) FROM annotation";
    Ok(connection.query_row(sql, [], |row| row.get(0).map(i64::cast_unsigned))?)
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

impl Store {
    /// Deletes the instances that pass the filter for good, and the runs, sessions and benchmarks that have nothing
    /// left: also their bytes in the file of the store, the profiles that Lapwing keeps of them, and their record
    /// files. Without a filter, annotations go too.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be written to.
    pub fn purge(&mut self, filter: &Filter) -> StoreResult<PurgeCounts> {
        let path = self.path.clone();
        let is_everything = is_everything(filter);
        self.connection
            .pragma_update(None, "secure_delete", true)
            .map_err(|error| crate::StoreError::from(error).at(&path))?;
        let mut counts = self.write(|writer| {
            let mut counts = writer.purge(filter)?;
            if is_everything {
                counts.annotations = writer.at_path(annotations)?;
                writer.at_path(|connection| {
                    Ok(connection.execute_batch(
                        "DELETE FROM annotation; DELETE FROM remote_annotation; \
                         DELETE FROM opened_session \
                         WHERE session NOT IN (SELECT id FROM session);",
                    )?)
                })?;
            }
            Ok::<_, crate::StoreError>(counts)
        })?;
        counts.log_in_use = self.erase(is_everything)?;
        Ok(counts)
    }

    /// Deletes what lies beside the store of the sessions that a [`Writer`] has purged, and the bytes of deleted rows.
    /// Returns whether another process keeps the log.
    pub(crate) fn erase(&mut self, is_everything: bool) -> StoreResult<bool> {
        let path = self.path.clone();
        let erase = || {
            purged_files(&self.connection)?.delete(&path, is_everything);
            self.rewrite()
        };
        erase().map_err(|error| error.at(&path))
    }

    /// Writes the file anew, without the bytes of deleted rows. Returns whether another process keeps its log.
    fn rewrite(&self) -> StoreResult<bool> {
        // In memory the rest of the store may have no room.
        self.connection.pragma_update(None, "temp_store", "file")?;
        self.connection.execute_batch("VACUUM")?;
        // A reader may stay for long, and is named.
        self.connection.busy_timeout(READER_PATIENCE)?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        self.connection.busy_timeout(PATIENCE)?;
        Ok(busy != 0)
    }
}

/// What lies beside the store of sessions that were purged.
struct PurgedFiles {
    sessions: Vec<Id>,
    /// The artifacts of purged instances, with their sessions.
    artifacts: Vec<(Id, Object)>,
}

fn purged_files(connection: &Connection) -> StoreResult<PurgedFiles> {
    let sql = "SELECT session, artifacts FROM temp.purged_file";
    Ok(PurgedFiles {
        sessions: query::rows(connection, "SELECT id FROM temp.purged_id", [], |row| {
            parsed(row, 0)
        })?,
        artifacts: query::rows(connection, sql, [], |row| {
            Ok((parsed(row, 0)?, from_json(row, 1)?))
        })?,
    })
}

impl PurgedFiles {
    /// Deletes the files, as far as possible. Only what this program makes: a record may name any file.
    fn delete(&self, store: &Path, is_everything: bool) {
        let folder = folder_of(store);
        for (session, artifacts) in &self.artifacts {
            let profiles = folder.join("profiles").join(session.to_string());
            let names = artifacts.values().filter_map(|it| it.as_str());
            for name in names.filter_map(|it| Path::new(it).file_name()) {
                let _absent = fs::remove_file(profiles.join(name));
            }
            // Only if it is empty.
            let _others = fs::remove_dir(profiles);
        }
        for session in &self.sessions {
            for kind in ["profiles", "cluster"] {
                let _absent = fs::remove_dir_all(folder.join(kind).join(session.to_string()));
            }
        }
        inbox::forget(&Store::inbox_of(store), &self.sessions, is_everything);
    }
}

impl Writer<'_> {
    /// Deletes the instances that pass the filter from the tables, and the runs, sessions and benchmarks
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
        self.points = PointGatherer::default();
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
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS purged_file (session TEXT, artifacts TEXT); \
         DELETE FROM temp.purged_file; \
         INSERT INTO temp.purged_file SELECT session.id, instance.artifacts FROM instance \
         JOIN run ON run.key = instance.run JOIN session ON session.key = run.session \
         WHERE instance.artifacts IS NOT NULL \
         AND instance.key IN (SELECT key FROM temp.purged);",
    )?;
    forget_extents(
        connection,
        "SELECT run.session FROM instance JOIN run ON run.key = instance.run \
         WHERE instance.key IN (SELECT key FROM temp.purged)",
    )?;
    points::forget(
        connection,
        "SELECT run FROM instance WHERE key IN (SELECT key FROM temp.purged)",
        [],
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
    points::forget(connection, "SELECT key FROM temp.purged_run", [])?;
    let runs = delete("DELETE FROM run WHERE key IN (SELECT key FROM temp.purged_run)")?;
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS purged_id (id TEXT PRIMARY KEY); \
         DELETE FROM temp.purged_id; \
         INSERT INTO temp.purged_id SELECT id FROM session \
         WHERE key IN (SELECT key FROM temp.purged_session) \
         AND key NOT IN (SELECT session FROM run);",
    )?;
    delete("DELETE FROM opened_session WHERE session IN (SELECT id FROM temp.purged_id)")?;
    // Only sessions that the filter could mean: others may just be beginning.
    let sessions = delete("DELETE FROM session WHERE id IN (SELECT id FROM temp.purged_id)")?;
    connection.execute_batch(
        "DELETE FROM benchmark_metric WHERE benchmark NOT IN (SELECT benchmark FROM instance); \
         DELETE FROM history_benchmark WHERE benchmark NOT IN (SELECT benchmark FROM instance); \
         DELETE FROM benchmark WHERE key NOT IN (SELECT benchmark FROM instance); \
         DELETE FROM metric WHERE key > 4 AND key NOT IN (SELECT metric FROM benchmark_metric) \
         AND key NOT IN (SELECT metric FROM run_metric) \
         AND key NOT IN (SELECT metric FROM summary);",
    )?;
    // SQLite's own samples of the columns, if a person had them made.
    for table in ["sqlite_stat1", "sqlite_stat4"] {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        if query::value::<i64>(connection, sql, [table])? > 0 {
            delete(&format!("DELETE FROM {table}"))?;
        }
    }
    Ok(PurgeCounts {
        sessions,
        runs,
        ..chosen
    })
}
