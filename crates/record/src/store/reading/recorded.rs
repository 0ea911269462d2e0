//! Reads benchmarks with all their measurements.
//!
//! The instances of a benchmark lie between those of all the others, a few per page, so benchmarks are read in
//! batches: each page is read once per batch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::Peekable;
use std::sync::Arc;

use rusqlite::Connection;

use super::super::curation::curated;
use super::super::writing::definitions::definitions;
use super::super::writing::keys::InstanceKey;
use super::super::{Store, StoreError, StoreResult, query};
use super::assemble::{WantedIterations, assemble};
use super::read::{metric_names, metrics_of, summaries};
use super::rows::{self, INSTANCE_COLUMNS, RUN_COLUMNS, SESSION_COLUMNS};
use super::select::Selection;
use crate::{Filter, InstanceData, Iterations, RecordedBenchmark};
use lapwing_model::{Id, MetricName, Object, Outcome, Run, Session, Summary, natural_order};

/// A batch has at most so many instances, unless it is a single benchmark.
const MOST_INSTANCES: i64 = 1 << 15;
/// A batch has about so many values at most, unless it is a single benchmark.
const MOST_VALUES: i64 = 1 << 19;

impl Store {
    /// Calls `visit` with what was recorded of each benchmark that has an instance passing the filter, by
    /// suite and id in [natural order](natural_order). Holds the measurements of a few benchmarks at a time.
    ///
    /// Names and retirements are those of today; epochs, units and void instances are as they were
    /// recorded (`sample::each_benchmark` settles them).
    ///
    /// The filter's metrics choose which values are read; a benchmark or an iteration
    /// without them is visited all the same, because that it has none may be the news.
    ///
    /// # Errors
    /// The errors of `visit`; when an entry of the filter fits nothing; when the
    /// store cannot be read.
    pub fn each_recorded<E: From<StoreError>>(
        &self,
        filter: &Filter,
        visit: impl FnMut(RecordedBenchmark) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_recorded_but(&BTreeSet::new(), filter, visit)
    }

    /// Does the same as [`Store::each_recorded`] without these benchmarks, by suite and id.
    ///
    /// # Errors
    /// As [`Store::each_recorded`].
    pub fn each_recorded_but<E: From<StoreError>>(
        &self,
        known: &BTreeSet<(String, String)>,
        filter: &Filter,
        visit: impl FnMut(RecordedBenchmark) -> Result<(), E>,
    ) -> Result<(), E> {
        self.visit(visit, |snapshot, visit| {
            let reader = BenchmarkReader::of(snapshot, Selection::of(snapshot, filter)?)?;
            let benchmarks = reader.benchmarks()?.into_iter();
            let mut benchmarks = benchmarks.filter(|it| !known.contains(&it.0)).peekable();
            while benchmarks.peek().is_some() {
                let batch = reader.batch(&mut benchmarks)?;
                reader.read(batch)?.into_iter().try_for_each(&mut *visit)?;
            }
            Ok(())
        })
    }
}

/// A benchmark's suite and id.
type SuiteAndId = (String, String);

/// A benchmark to read, with its keys: several where some were renamed to one.
type WantedBenchmark = (SuiteAndId, Vec<i64>);

/// Benchmarks that are read together, because their metrics are the same.
struct Batch {
    benchmarks: Vec<WantedBenchmark>,
    metrics: BTreeMap<i64, MetricName>,
}

struct AboutSize {
    instances: i64,
    /// As many in each instance as in the one recorded last.
    iterations: i64,
}

pub(crate) struct BenchmarkReader<'c> {
    connection: &'c Connection,
    selection: Selection,
    sessions: HashMap<i64, Arc<Session>>,
    runs: HashMap<i64, (Arc<Run>, i64)>,
    summarised: bool,
    wanted_names: Option<Vec<MetricName>>,
}

impl<'c> BenchmarkReader<'c> {
    /// Returns the reader of what is selected.
    pub(crate) fn of(connection: &'c Connection, selection: Selection) -> StoreResult<Self> {
        let mut reader = Self {
            connection,
            selection,
            sessions: HashMap::new(),
            runs: HashMap::new(),
            summarised: query::value(connection, "SELECT EXISTS (SELECT 1 FROM summary)", [])?,
            wanted_names: None,
        };
        reader.wanted_names = reader.read_wanted_names()?;
        reader.read_sessions_and_runs()?;
        Ok(reader)
    }

    /// Returns a selected run and its session.
    pub(crate) fn run(&self, key: i64) -> StoreResult<(Arc<Session>, Arc<Run>)> {
        let run = self.runs.get(&key);
        let (run, session) = run.ok_or_else(|| StoreError::damaged("an instance has no run"))?;
        let session = self.sessions.get(session);
        let session = session.ok_or_else(|| StoreError::damaged("a run has no session"))?;
        Ok((Arc::clone(session), Arc::clone(run)))
    }

    /// Calls `visit` with each selected instance, by benchmark.
    pub(crate) fn each_instance(
        &self,
        mut visit: impl FnMut(InstanceKey, InstanceData) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let mut benchmarks = self.benchmarks()?.into_iter().peekable();
        while benchmarks.peek().is_some() {
            let batch = self.batch(&mut benchmarks)?;
            let keys = batch.benchmarks.iter().flat_map(|(_, keys)| keys);
            let keys: Vec<i64> = keys.copied().collect();
            for (key, instance) in self.recorded(&keys, &batch.metrics)? {
                visit(key, instance)?;
            }
        }
        Ok(())
    }

    fn read_sessions_and_runs(&mut self) -> StoreResult<()> {
        let sql = format!("SELECT {SESSION_COLUMNS} FROM session");
        query::rows(self.connection, &sql, [], |row| {
            if self.selection.has_session(row.get(0)?) {
                let (key, session) = rows::read_session(row)?;
                self.sessions.insert(key, Arc::new(session));
            }
            Ok(())
        })?;
        let sql =
            format!("SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session");
        query::rows(self.connection, &sql, [], |row| {
            if self.selection.has_run(row.get(0)?) {
                let (key, mut run, session) = rows::read_run(row)?;
                run.metrics = rows::read_run_metrics(self.connection, key)?;
                self.runs.insert(key, (Arc::new(run), session));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Returns each benchmark by suite and id, in natural order.
    fn benchmarks(&self) -> StoreResult<Vec<WantedBenchmark>> {
        let mut benchmarks: BTreeMap<SuiteAndId, Vec<i64>> = BTreeMap::new();
        for (key, suite, recorded) in curated::benchmarks(self.connection)? {
            if self.selection.has_benchmark(key) {
                let id = self.selection.curated.id(key, &recorded).to_owned();
                benchmarks.entry((suite, id)).or_default().push(key);
            }
        }
        let mut benchmarks: Vec<_> = benchmarks.into_iter().collect();
        benchmarks.sort_by(|((suite, id), _), ((other_suite, other), _)| {
            natural_order(suite, other_suite).then_with(|| natural_order(id, other))
        });
        Ok(benchmarks)
    }

    /// Takes as many benchmarks as are read together.
    fn batch(
        &self,
        benchmarks: &mut Peekable<impl Iterator<Item = WantedBenchmark>>,
    ) -> StoreResult<Batch> {
        let mut batch = Batch {
            benchmarks: Vec::new(),
            metrics: BTreeMap::new(),
        };
        let (mut instances, mut iterations) = (0, 0);
        while let Some((_, keys)) = benchmarks.peek() {
            let mut metrics = BTreeMap::new();
            for &key in keys {
                metrics.append(&mut self.metrics(key)?);
                let size = self.size(key)?;
                instances += size.instances;
                iterations += size.iterations;
            }
            let columns = 1 + i64::try_from(metrics.len()).unwrap_or(i64::MAX - 1);
            let values = iterations.saturating_mul(columns);
            let is_full = instances > MOST_INSTANCES || values > MOST_VALUES;
            if !batch.benchmarks.is_empty() && (is_full || metrics != batch.metrics) {
                break;
            }
            batch.metrics = metrics;
            batch.benchmarks.extend(benchmarks.next());
        }
        Ok(batch)
    }

    /// Returns about how much was recorded under the id of that key.
    fn size(&self, key: i64) -> StoreResult<AboutSize> {
        let sql = "SELECT count(*), \
                   (SELECT sum(count) FROM chunk WHERE chunk.instance = max(instance.key)) \
                   FROM instance WHERE benchmark = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([key], |row| {
            let instances: i64 = row.get(0)?;
            let each: Option<i64> = row.get(1)?;
            Ok(AboutSize {
                instances,
                iterations: instances.saturating_mul(each.unwrap_or(0)),
            })
        })?)
    }

    /// Returns what was recorded of the benchmarks of a batch that have an instance.
    fn read(&self, batch: Batch) -> StoreResult<Vec<RecordedBenchmark>> {
        let keys = batch.benchmarks.iter().flat_map(|(_, keys)| keys);
        let keys: Vec<i64> = keys.copied().collect();
        let mut recorded: HashMap<i64, Vec<InstanceData>> = HashMap::new();
        for (key, instance) in self.recorded(&keys, &batch.metrics)? {
            recorded.entry(key.benchmark).or_default().push(instance);
        }
        for (benchmark, instances) in &mut recorded {
            self.rename_metrics(*benchmark, instances);
        }
        let mut benchmarks = Vec::with_capacity(batch.benchmarks.len());
        for ((suite, id), keys) in batch.benchmarks {
            let of_keys = keys.iter().filter_map(|key| recorded.remove(key));
            let mut instances: Vec<InstanceData> = of_keys.flatten().collect();
            if instances.is_empty() {
                continue;
            }
            instances.sort_by_key(|data| {
                let (session, instance) = (&data.session, &data.instance);
                let place = (instance.position, instance.attempt, instance.id);
                (session.started, session.id, place)
            });
            benchmarks.push(RecordedBenchmark {
                suite,
                id,
                instances,
                definitions: definitions(self.connection, &self.selection.curated, &keys)?,
            });
        }
        Ok(benchmarks)
    }

    /// Returns what was recorded under the ids of these keys.
    fn recorded(
        &self,
        benchmarks: &[i64],
        metrics: &BTreeMap<i64, MetricName>,
    ) -> StoreResult<Vec<(InstanceKey, InstanceData)>> {
        self.fill_batch(benchmarks)?;
        let mut instances = self.instances()?;
        let mut assembled = if instances.is_empty() {
            BTreeMap::new()
        } else {
            assemble(self.connection, &WantedIterations::of_batch(), metrics)?
        };
        for (InstanceKey { key, .. }, instance) in &mut instances {
            if let Some(iterations) = assembled.remove(key) {
                instance.iterations = iterations;
                keep_details_of_failures(&mut instance.iterations);
            }
            if self.summarised {
                instance.summaries = self.summaries(*key, instance.instance.id)?;
            }
        }
        Ok(instances)
    }

    fn rename_metrics(&self, benchmark: i64, instances: &mut [InstanceData]) {
        if let Some(metrics) = self.selection.curated.metrics(benchmark) {
            let mut runs = BTreeMap::new();
            for instance in instances.iter_mut() {
                metrics.apply(instance, &mut runs);
            }
        }
        // Another benchmark may have a metric asked for under the name that this one had.
        if let Some(metrics) = &self.selection.metrics
            && !self.selection.curated.names_nothing()
        {
            for instance in instances {
                let asked = |name: &str| metrics.names.contains(name);
                instance.iterations.values.retain(|name, _| asked(name));
                instance.summaries.retain(|summary| asked(&summary.metric));
            }
        }
    }

    /// Fills the temporary table `batch` with the selected instances of these benchmarks.
    fn fill_batch(&self, benchmarks: &[i64]) -> StoreResult<()> {
        self.connection.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS batch \
             (key INTEGER PRIMARY KEY, benchmark INTEGER NOT NULL); \
             DELETE FROM temp.batch;",
        )?;
        for key in benchmarks {
            let sql = "INSERT INTO temp.batch (key, benchmark) \
                       SELECT key, benchmark FROM instance WHERE benchmark = ?1";
            query::execute(self.connection, sql, [key])?;
        }
        let condition = self.selection.on_instance();
        if !condition.is_empty() {
            // CROSS JOIN keeps SQLite from swapping the loops.
            let sql = format!(
                "DELETE FROM temp.batch WHERE key NOT IN (SELECT batch.key FROM temp.batch \
                 CROSS JOIN instance ON instance.key = batch.key WHERE TRUE{condition})"
            );
            query::execute(self.connection, &sql, [])?;
        }
        Ok(())
    }

    /// Returns the instances of the batch in the order of their keys, without their iterations.
    fn instances(&self) -> StoreResult<Vec<(InstanceKey, InstanceData)>> {
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS}, batch.benchmark FROM temp.batch \
             CROSS JOIN instance ON instance.key = batch.key \
             JOIN run ON run.key = instance.run \
             JOIN benchmark ON benchmark.key = instance.benchmark ORDER BY batch.key",
        );
        query::rows(self.connection, &sql, [], |row| {
            let stored = rows::read_instance(row)?;
            let (session, run) = self.run(stored.run)?;
            let data = InstanceData {
                session,
                run,
                recorded_fingerprint: stored.instance.benchmark.fingerprint.clone(),
                instance: stored.instance,
                end: stored.end,
                iterations: Iterations::default(),
                summaries: Vec::new(),
            };
            let key = InstanceKey {
                key: stored.key,
                run: stored.run,
                benchmark: row.get("benchmark")?,
            };
            Ok((key, data))
        })
    }

    /// Returns the metrics of a benchmark that are asked for.
    fn metrics(&self, benchmark: i64) -> StoreResult<BTreeMap<i64, MetricName>> {
        let mut metrics = metrics_of(self.connection, benchmark)?;
        metrics.retain(|&key, _| self.selection.has_metric(key));
        Ok(metrics)
    }

    fn summaries(&self, key: i64, instance: Id) -> StoreResult<Vec<Summary>> {
        let mut all = summaries(self.connection, key, instance)?;
        if let Some(wanted) = &self.wanted_names {
            all.retain(|summary| wanted.contains(&summary.metric));
        }
        Ok(all)
    }

    /// Summaries carry names, so the metrics asked for are wanted by name too.
    fn read_wanted_names(&self) -> StoreResult<Option<Vec<MetricName>>> {
        if self.selection.metrics.is_none() {
            return Ok(None);
        }
        let mut names = metric_names(self.connection, "SELECT key, name FROM metric", [])?;
        names.retain(|&key, _| self.selection.has_metric(key));
        Ok(Some(names.into_values().collect()))
    }
}

/// Keeps attributes of failures only, because details of the others are read for some chunks.
fn keep_details_of_failures(iterations: &mut Iterations) {
    for (place, detail) in &mut iterations.details {
        if iterations.outcome[*place] == Outcome::Ok {
            detail.attributes = Object::new();
        }
    }
}
