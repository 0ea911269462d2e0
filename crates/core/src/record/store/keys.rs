//! Finds the integer keys of what a writer refers to, making what has no id of its own.

use rusqlite::OptionalExtension;

use super::cache::{CachedRun, InstanceKey, SessionKey};
use super::rows::{self, INSTANCE_COLUMNS};
use super::{StoreError, Writer};
use crate::model::Id;

impl Writer<'_> {
    pub(super) fn find_session(&mut self, id: Id) -> Result<Option<SessionKey>, StoreError> {
        if let Some(found) = self.cache.sessions.get(&id) {
            return Ok(Some(found.clone()));
        }
        let found = self
            .connection
            .prepare_cached("SELECT key, suite FROM session WHERE id = ?1")?
            .query_row([id.to_string()], |row| {
                let (key, suite) = (row.get(0)?, row.get(1)?);
                Ok(SessionKey { key, suite })
            })
            .optional()?;
        if let Some(found) = &found {
            self.cache.sessions.insert(id, found.clone());
        }
        Ok(found)
    }

    pub(super) fn find_run(&mut self, id: Id) -> Result<Option<CachedRun>, StoreError> {
        if let Some(found) = self.cache.runs.get(&id) {
            return Ok(Some(found.clone()));
        }
        let found = self
            .connection
            .prepare_cached(
                "SELECT run.key, session.suite FROM run JOIN session ON session.key = run.session \
                 WHERE run.id = ?1",
            )?
            .query_row([id.to_string()], |row| {
                let (key, suite) = (row.get(0)?, row.get(1)?);
                Ok(CachedRun { key, suite })
            })
            .optional()?;
        if let Some(found) = &found {
            self.cache.runs.insert(id, found.clone());
        }
        Ok(found)
    }

    pub(super) fn find_instance(&mut self, id: Id) -> Result<Option<InstanceKey>, StoreError> {
        if let Some(found) = self.cache.instances.get(&id) {
            return Ok(Some(*found));
        }
        let found = self
            .connection
            .prepare_cached("SELECT key, benchmark FROM instance WHERE id = ?1")?
            .query_row([id.to_string()], |row| {
                let (key, benchmark) = (row.get(0)?, row.get(1)?);
                Ok(InstanceKey { key, benchmark })
            })
            .optional()?;
        if let Some(found) = found {
            self.cache.remember_instance(id, found);
        }
        Ok(found)
    }

    pub(super) fn benchmark(&mut self, suite: &str, id: &str) -> Result<i64, StoreError> {
        let name = (suite.to_owned(), id.to_owned());
        if let Some(&key) = self.cache.benchmarks.get(&name) {
            return Ok(key);
        }
        let found = self
            .connection
            .prepare_cached("SELECT key FROM benchmark WHERE suite = ?1 AND id = ?2")?
            .query_row([suite, id], |row| row.get(0))
            .optional()?;
        let key = match found {
            Some(key) => key,
            None => {
                self.connection
                    .prepare_cached("INSERT INTO benchmark (suite, id) VALUES (?1, ?2)")?
                    .execute([suite, id])?;
                self.connection.last_insert_rowid()
            }
        };
        self.cache.remember_benchmark(name, key);
        Ok(key)
    }

    pub(super) fn metric(&mut self, name: &str) -> Result<i64, StoreError> {
        if let Some(&key) = self.cache.metrics.get(name) {
            return Ok(key);
        }
        let found = self
            .connection
            .prepare_cached("SELECT key FROM metric WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        let key = match found {
            Some(key) => key,
            None => {
                self.connection
                    .prepare_cached("INSERT INTO metric (name) VALUES (?1)")?
                    .execute([name])?;
                self.connection.last_insert_rowid()
            }
        };
        self.cache.metrics.insert(name.to_owned(), key);
        Ok(key)
    }

    /// Returns the key of a metric, and notes that the benchmark has it.
    pub(super) fn metric_of(&mut self, benchmark: i64, name: &str) -> Result<i64, StoreError> {
        let metric = self.metric(name)?;
        if self.cache.remember_metric(benchmark, metric) {
            self.connection
                .prepare_cached(
                    "INSERT INTO benchmark_metric (benchmark, metric) VALUES (?1, ?2) \
                     ON CONFLICT DO NOTHING",
                )?
                .execute([benchmark, metric])?;
        }
        Ok(metric)
    }

    pub(super) fn instance_row(&self, key: i64) -> Result<rows::StoredInstanceRow, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
             JOIN benchmark ON benchmark.key = instance.benchmark WHERE instance.key = ?1"
        ))?;
        let mut found = statement.query([key])?;
        match found.next()? {
            Some(row) => rows::read_instance(row),
            None => Err(StoreError::damaged("an instance has gone")),
        }
    }
}
