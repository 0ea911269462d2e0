//! The integer keys of records, and the cache of a writer for them.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Params, params};

use super::super::{StoreResult, Writer, query};
use lapwing_model::{Id, MOST_METRICS, MetricName};

/// Integer keys by id. Valid until another connection writes.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    pub(crate) sessions: HashMap<Id, SuiteKey>,
    pub(crate) runs: HashMap<Id, SuiteKey>,
    pub(crate) instances: HashMap<Id, InstanceKey>,
    pub(crate) metrics: HashMap<MetricName, i64>,
    pub(crate) benchmarks: HashMap<(String, String), i64>,
    pub(crate) benchmark_metrics: HashSet<(i64, i64)>,
    /// The sessions by start, once they were needed.
    pub(crate) begun: Option<HashMap<String, Vec<i64>>>,
}

/// The largest number of instances, and of metrics of benchmarks, in the cache.
const MANY: usize = 200_000;

/// The largest number of benchmarks in the cache: their names need more memory.
const BENCHMARKS: usize = 50_000;

/// The key of a session or of a run, and its suite.
#[derive(Debug, Clone)]
pub(crate) struct SuiteKey {
    pub(crate) key: i64,
    pub(crate) suite: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct InstanceKey {
    pub(crate) key: i64,
    pub(crate) run: i64,
    pub(crate) benchmark: i64,
}

impl KeyCache {
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn remember_benchmark(&mut self, suite_and_id: (String, String), key: i64) {
        if self.benchmarks.len() >= BENCHMARKS {
            self.benchmarks.clear();
        }
        self.benchmarks.insert(suite_and_id, key);
    }

    /// Remembers that a benchmark has a metric. Returns whether that is new.
    pub(crate) fn remember_metric(&mut self, benchmark: i64, metric: i64) -> bool {
        if self.benchmark_metrics.len() >= MANY {
            self.benchmark_metrics.clear();
        }
        self.benchmark_metrics.insert((benchmark, metric))
    }

    pub(crate) fn remember_instance(&mut self, id: Id, key: InstanceKey) {
        if self.instances.len() >= MANY {
            self.instances.clear();
        }
        self.instances.insert(id, key);
    }
}

impl Writer<'_> {
    pub(crate) fn find_session(&mut self, id: Id) -> StoreResult<Option<SuiteKey>> {
        let sql = "SELECT key, suite FROM session WHERE id = ?1";
        find(self.connection, &mut self.cache.sessions, sql, id)
    }

    pub(crate) fn find_run(&mut self, id: Id) -> StoreResult<Option<SuiteKey>> {
        let sql = "SELECT run.key, session.suite FROM run \
                   JOIN session ON session.key = run.session WHERE run.id = ?1";
        find(self.connection, &mut self.cache.runs, sql, id)
    }

    pub(crate) fn find_instance(&mut self, id: Id) -> StoreResult<Option<InstanceKey>> {
        if let Some(found) = self.cache.instances.get(&id) {
            return Ok(Some(*found));
        }
        let sql = "SELECT key, run, benchmark FROM instance WHERE id = ?1";
        let found = query::first(self.connection, sql, [id.to_string()], |row| {
            Ok(InstanceKey {
                key: row.get(0)?,
                run: row.get(1)?,
                benchmark: row.get(2)?,
            })
        })?;
        if let Some(found) = found {
            self.cache.remember_instance(id, found);
        }
        Ok(found)
    }

    pub(crate) fn benchmark(&mut self, suite: &str, id: &str) -> StoreResult<i64> {
        let name = (suite.to_owned(), id.to_owned());
        if let Some(&key) = self.cache.benchmarks.get(&name) {
            return Ok(key);
        }
        let select = "SELECT key FROM benchmark WHERE suite = ?1 AND id = ?2";
        let insert = "INSERT INTO benchmark (suite, id) VALUES (?1, ?2)";
        let key = find_or_insert(self.connection, select, insert, [suite, id])?;
        self.cache.remember_benchmark(name, key);
        Ok(key)
    }

    pub(crate) fn metric(&mut self, name: &str) -> StoreResult<i64> {
        if let Some(&key) = self.cache.metrics.get(name) {
            return Ok(key);
        }
        let select = "SELECT key FROM metric WHERE name = ?1";
        let insert = "INSERT INTO metric (name) VALUES (?1)";
        let key = find_or_insert(self.connection, select, insert, [name])?;
        self.cache.metrics.insert(name.to_owned(), key);
        Ok(key)
    }

    /// Returns whether a benchmark may have these metrics.
    pub(crate) fn has_room_for<'n>(
        &mut self,
        benchmark: i64,
        names: impl Iterator<Item = &'n String>,
    ) -> StoreResult<bool> {
        let mut new = 0;
        for name in names {
            let known = self.cache.metrics.get(name);
            let has_it = |&metric| self.cache.benchmark_metrics.contains(&(benchmark, metric));
            if known.is_some_and(has_it) {
                continue;
            }
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM metric JOIN benchmark_metric \
                       ON metric = key WHERE name = ?1 AND benchmark = ?2)";
            let is_new: bool = query::value(self.connection, sql, params![name, benchmark])?;
            new += usize::from(is_new);
        }
        if new == 0 {
            return Ok(true);
        }
        let sql = "SELECT count(*) FROM benchmark_metric WHERE benchmark = ?1";
        let known: u32 = query::value(self.connection, sql, [benchmark])?;
        Ok(known as usize + new <= MOST_METRICS)
    }

    /// Returns the key of a metric, and notes that the benchmark has it.
    pub(crate) fn metric_of(&mut self, benchmark: i64, name: &str) -> StoreResult<i64> {
        let metric = self.metric(name)?;
        if self.cache.remember_metric(benchmark, metric) {
            let sql = "INSERT INTO benchmark_metric (benchmark, metric) VALUES (?1, ?2) \
                       ON CONFLICT DO NOTHING";
            query::execute(self.connection, sql, [benchmark, metric])?;
        }
        Ok(metric)
    }
}

/// Returns the key of a session or run, from the cache if it is there.
fn find(
    connection: &Connection,
    cache: &mut HashMap<Id, SuiteKey>,
    sql: &str,
    id: Id,
) -> StoreResult<Option<SuiteKey>> {
    if let Some(found) = cache.get(&id) {
        return Ok(Some(found.clone()));
    }
    let found = query::first(connection, sql, [id.to_string()], |row| {
        let (key, suite) = (row.get(0)?, row.get(1)?);
        Ok(SuiteKey { key, suite })
    })?;
    if let Some(found) = &found {
        cache.insert(id, found.clone());
    }
    Ok(found)
}

/// Returns the key of a row, which is inserted if it is missing.
fn find_or_insert(
    connection: &Connection,
    select: &str,
    insert: &str,
    names: impl Params + Copy,
) -> StoreResult<i64> {
    if let Some(key) = query::first(connection, select, names, |row| Ok(row.get(0)?))? {
        return Ok(key);
    }
    query::execute(connection, insert, names)?;
    Ok(connection.last_insert_rowid())
}
