//! The integer keys of records, and the cache of a writer for them.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, params};

use super::super::{StoreError, StoreResult, Writer, query};
use lapwing_model::{Id, MOST_METRICS, MetricName};

/// A map from keys of rows, of which there are as many as results: this hash takes a third of the time of that of the
/// standard library, and has a random seed as well.
pub(crate) type KeyMap<K, V> = HashMap<K, V, RandomState>;

/// Integer keys by id. Valid until another connection writes.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    pub(crate) sessions: KeyMap<Id, SuiteKey>,
    pub(crate) runs: KeyMap<Id, SuiteKey>,
    pub(crate) instances: KeyMap<Id, InstanceKey>,
    pub(crate) newest: Option<NewestInstance>,
    pub(crate) metrics: KeyMap<MetricName, i64>,
    pub(crate) benchmarks: KeyMap<(String, String), i64>,
    pub(crate) benchmark_metrics: HashSet<(i64, i64), RandomState>,
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

/// The largest key and the largest id of all instances, so that most new ones need not be looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewestInstance {
    key: i64,
    /// Empty where there is no instance.
    id: String,
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
        let text = id.to_string();
        if self.newest_instance()?.id < text {
            return Ok(None);
        }
        self.write_held_instances()?;
        let sql = "SELECT key, run, benchmark FROM instance WHERE id = ?1";
        let found = query::first(self.connection, sql, [text], |row| {
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

    /// Returns the key that SQLite will give to an instance with this id, which is new.
    pub(crate) fn new_instance(&mut self, id: &str) -> StoreResult<i64> {
        let newest = self.newest_instance()?;
        let no_key = || StoreError::damaged("an instance has the largest key that there is");
        newest.key = newest.key.checked_add(1).ok_or_else(no_key)?;
        if *newest.id < *id {
            id.clone_into(&mut newest.id);
        }
        Ok(newest.key)
    }

    /// Holds the row of the instance with the newest key until there are more.
    pub(crate) fn hold_instance(&mut self, row: [Value; 22]) -> StoreResult<()> {
        self.instances.push(self.connection, row)?;
        self.check_newest_key()
    }

    /// Returns the row of an instance that is not in its table yet.
    pub(crate) fn held_instance(&mut self, key: i64) -> StoreResult<Option<&mut [Value; 22]>> {
        let later = usize::try_from(self.newest_instance()?.key - key).ok();
        Ok(later.and_then(|later| self.instances.row(later)))
    }

    /// Writes the instances that are not in their table yet.
    pub(crate) fn write_held_instances(&mut self) -> StoreResult<()> {
        if self.instances.is_empty() {
            return Ok(());
        }
        self.instances.write(self.connection)?;
        self.check_newest_key()
    }

    /// Checks that SQLite has given the newest instance its key, once it is in its table.
    fn check_newest_key(&mut self) -> StoreResult<()> {
        let given = self.connection.last_insert_rowid();
        if self.instances.is_empty() && self.newest_instance()?.key != given {
            return Err(StoreError::damaged("an instance was given another key"));
        }
        Ok(())
    }

    fn newest_instance(&mut self) -> StoreResult<&mut NewestInstance> {
        let newest = match self.cache.newest.take() {
            Some(known) => known,
            None => {
                let sql = "SELECT (SELECT coalesce(max(key), 0) FROM instance), \
                           (SELECT coalesce(max(id), '') FROM instance)";
                let newest = query::first(self.connection, sql, [], |row| {
                    let (key, id) = (row.get(0)?, row.get(1)?);
                    Ok(NewestInstance { key, id })
                })?;
                newest.unwrap_or_default()
            }
        };
        Ok(self.cache.newest.insert(newest))
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

    /// Returns whether a benchmark is known to have these metrics.
    pub(crate) fn has_metrics<'n>(
        &self,
        benchmark: i64,
        mut names: impl Iterator<Item = &'n String>,
    ) -> bool {
        let has_it = |&metric| self.cache.benchmark_metrics.contains(&(benchmark, metric));
        names.all(|name| self.cache.metrics.get(name).is_some_and(has_it))
    }

    /// Returns whether a benchmark may have these metrics.
    pub(crate) fn has_room_for<'n>(
        &mut self,
        benchmark: i64,
        names: impl Iterator<Item = &'n String>,
    ) -> StoreResult<bool> {
        let mut new = 0;
        for name in names {
            if self.has_metrics(benchmark, std::iter::once(name)) {
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
    cache: &mut KeyMap<Id, SuiteKey>,
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
