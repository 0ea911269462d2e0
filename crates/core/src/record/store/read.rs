//! Reads single records, and benchmarks with all their measurements.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rusqlite::{Connection, Params};

use super::assemble::{WantedIterations, assemble};
use super::definitions::definitions;
use super::rows::{
    self, ANNOTATION_COLUMNS, INSTANCE_COLUMNS, RUN_COLUMNS, SESSION_COLUMNS, SUMMARY_COLUMNS,
};
use super::select::Selection;
use super::{Store, StoreError, curated};
use crate::model::{
    Annotation, Id, MetricName, Object, Outcome, Run, Session, Summary, natural_order,
};
use crate::record::{Filter, InstanceData, Iterations, RecordedBenchmark};

pub(super) fn session(connection: &Connection, id: Id) -> Result<Option<Session>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SESSION_COLUMNS} FROM session WHERE id = ?1"
    ))?;
    let mut found = statement.query([id.to_string()])?;
    match found.next()? {
        Some(row) => Ok(Some(rows::read_session(row)?.1)),
        None => Ok(None),
    }
}

pub(super) fn run(connection: &Connection, key: i64) -> Result<Run, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session \
         WHERE run.key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    let Some(row) = found.next()? else {
        return Err(StoreError::damaged("a run has gone"));
    };
    let (_, mut run, _) = rows::read_run(row)?;
    run.metrics = rows::read_run_metrics(connection, key)?;
    Ok(run)
}

/// Returns the session of that key.
pub(super) fn session_of(connection: &Connection, key: i64) -> Result<Session, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SESSION_COLUMNS} FROM session WHERE key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    match found.next()? {
        Some(row) => Ok(rows::read_session(row)?.1),
        None => Err(StoreError::damaged("a session has gone")),
    }
}

/// Returns the row of the instance of that key.
pub(super) fn instance_row(
    connection: &Connection,
    key: i64,
) -> Result<rows::StoredInstanceRow, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
         JOIN benchmark ON benchmark.key = instance.benchmark WHERE instance.key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    match found.next()? {
        Some(row) => rows::read_instance(row),
        None => Err(StoreError::damaged("an instance has gone")),
    }
}

pub(super) fn summaries(
    connection: &Connection,
    key: i64,
    instance: Id,
) -> Result<Vec<Summary>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SUMMARY_COLUMNS} FROM summary JOIN metric ON metric.key = summary.metric \
         WHERE instance = ?1 ORDER BY metric.name, statistic"
    ))?;
    let mut found = statement.query([key])?;
    let mut summaries = Vec::new();
    while let Some(row) = found.next()? {
        summaries.push(rows::read_summary(row, instance)?);
    }
    Ok(summaries)
}

/// Returns the annotations that fulfil a condition, in the order of their insertion.
pub(super) fn annotations(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
) -> Result<Vec<Annotation>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {ANNOTATION_COLUMNS} FROM annotation WHERE {condition} ORDER BY key"
    ))?;
    let mut found = statement.query(parameters)?;
    let mut annotations = Vec::new();
    while let Some(row) = found.next()? {
        annotations.push(rows::read_annotation(row)?);
    }
    Ok(annotations)
}

impl Store {
    /// Calls `visit` with what was recorded of each benchmark that has an instance passing the filter, by
    /// suite and id in [natural order](natural_order). Holds one benchmark's measurements at a time.
    ///
    /// Names and retirements are those of today; epochs, units and void instances are as they were
    /// recorded (`sample::each_benchmark` settles them).
    ///
    /// The filter's metrics choose which values are read; a benchmark or an iteration
    /// without them is visited all the same, because that it has none may be the news.
    ///
    /// # Errors
    /// Whatever `visit` returns; when an entry of the filter fits nothing; when the
    /// store cannot be read.
    pub fn each_recorded<E: From<StoreError>>(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(RecordedBenchmark) -> Result<(), E>,
    ) -> Result<(), E> {
        let wrap = |error: StoreError| E::from(error.at(&self.path));
        // One snapshot, whatever others write meanwhile.
        let snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| wrap(error.into()))?;
        let reader = BenchmarkReader::new(&snapshot, filter).map_err(wrap)?;
        for ((suite, id), keys) in reader.benchmarks().map_err(wrap)? {
            if let Some(data) = reader.benchmark(&keys, suite, id).map_err(wrap)? {
                visit(data)?;
            }
        }
        Ok(())
    }
}

/// What names a benchmark.
type SuiteAndId = (String, String);

struct BenchmarkReader<'c> {
    connection: &'c Connection,
    selection: Selection,
    sessions: HashMap<i64, Arc<Session>>,
    runs: HashMap<i64, (Arc<Run>, i64)>,
    summarised: bool,
    wanted_names: Option<Vec<MetricName>>,
}

impl<'c> BenchmarkReader<'c> {
    fn new(connection: &'c Connection, filter: &Filter) -> Result<Self, StoreError> {
        let selection = Selection::of(connection, filter)?;
        let mut reader = Self {
            connection,
            selection,
            sessions: HashMap::new(),
            runs: HashMap::new(),
            summarised: connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM summary)",
                [],
                |row| row.get(0),
            )?,
            wanted_names: None,
        };
        reader.wanted_names = reader.read_wanted_names()?;
        reader.read_sessions_and_runs()?;
        Ok(reader)
    }

    fn read_sessions_and_runs(&mut self) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {SESSION_COLUMNS} FROM session"))?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if self.selection.has_session(row.get(0)?) {
                let (key, session) = rows::read_session(row)?;
                self.sessions.insert(key, Arc::new(session));
            }
        }
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session"
        ))?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if self.selection.has_run(row.get(0)?) {
                let (key, mut run, session) = rows::read_run(row)?;
                run.metrics = rows::read_run_metrics(self.connection, key)?;
                self.runs.insert(key, (Arc::new(run), session));
            }
        }
        Ok(())
    }

    /// Returns the keys of each benchmark by suite and id, in natural order: several where some were renamed to one.
    fn benchmarks(&self) -> Result<Vec<(SuiteAndId, Vec<i64>)>, StoreError> {
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

    fn benchmark(
        &self,
        keys: &[i64],
        suite: String,
        id: String,
    ) -> Result<Option<RecordedBenchmark>, StoreError> {
        let mut instances: Vec<InstanceData> = Vec::new();
        for &key in keys {
            instances.append(&mut self.recorded(key)?);
        }
        if instances.is_empty() {
            return Ok(None);
        }
        instances.sort_by_key(|it| {
            (
                it.session.started,
                it.session.id,
                it.instance.position,
                it.instance.attempt,
                it.instance.id,
            )
        });
        Ok(Some(RecordedBenchmark {
            suite,
            id,
            instances,
            definitions: definitions(self.connection, &self.selection.curated, keys)?,
        }))
    }

    /// Returns what was recorded under the id of that key, with the metrics' names of now.
    fn recorded(&self, key: i64) -> Result<Vec<InstanceData>, StoreError> {
        let mut instances = self.instances(key)?;
        if instances.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = WantedIterations::Benchmark {
            key,
            condition: &self.selection.on_instance(),
        };
        let mut assembled = assemble(self.connection, wanted, &self.metrics(key)?)?;
        for (key, instance) in &mut instances {
            if let Some(iterations) = assembled.remove(key) {
                instance.iterations = iterations;
                keep_details_of_failures(&mut instance.iterations);
            }
        }
        if self.summarised {
            for (key, instance) in &mut instances {
                instance.summaries = self.summaries(*key, instance.instance.id)?;
            }
        }
        let mut instances: Vec<InstanceData> = instances.into_iter().map(|(_, it)| it).collect();
        if let Some(metrics) = self.selection.curated.metrics(key) {
            let mut runs = BTreeMap::new();
            for instance in &mut instances {
                metrics.apply(instance, &mut runs);
            }
        }
        // Another benchmark may have a metric asked for under the name that this one had.
        if let Some(metrics) = &self.selection.metrics
            && !self.selection.curated.names_nothing()
        {
            for it in &mut instances {
                let asked = |name: &str| metrics.names.contains(name);
                it.iterations.values.retain(|name, _| asked(name));
                it.summaries.retain(|summary| asked(&summary.metric));
            }
        }
        Ok(instances)
    }

    /// Returns the instances of a benchmark by key.
    fn instances(&self, benchmark: i64) -> Result<Vec<(i64, InstanceData)>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
             JOIN benchmark ON benchmark.key = instance.benchmark \
             WHERE instance.benchmark = ?1{} ORDER BY instance.key",
            self.selection.on_instance()
        ))?;
        let mut found = statement.query([benchmark])?;
        let mut instances = Vec::new();
        while let Some(row) = found.next()? {
            let it = rows::read_instance(row)?;
            let (run, session) = self
                .runs
                .get(&it.run)
                .ok_or_else(|| StoreError::damaged("an instance has no run"))?;
            let session = self
                .sessions
                .get(session)
                .ok_or_else(|| StoreError::damaged("a run has no session"))?;
            instances.push((
                it.key,
                InstanceData {
                    session: Arc::clone(session),
                    run: Arc::clone(run),
                    recorded_fingerprint: it.instance.benchmark.fingerprint.clone(),
                    instance: it.instance,
                    end: it.end,
                    iterations: Iterations::default(),
                    summaries: Vec::new(),
                },
            ));
        }
        Ok(instances)
    }

    /// Returns the metrics of a benchmark that are asked for.
    fn metrics(&self, benchmark: i64) -> Result<BTreeMap<i64, MetricName>, StoreError> {
        let mut metrics = metrics_of(self.connection, benchmark)?;
        metrics.retain(|&key, _| self.selection.has_metric(key));
        Ok(metrics)
    }

    fn summaries(&self, key: i64, instance: Id) -> Result<Vec<Summary>, StoreError> {
        let mut all = summaries(self.connection, key, instance)?;
        if let Some(wanted) = &self.wanted_names {
            all.retain(|summary| wanted.contains(&summary.metric));
        }
        Ok(all)
    }

    /// Summaries carry names, so the metrics asked for are wanted by name too.
    fn read_wanted_names(&self) -> Result<Option<Vec<MetricName>>, StoreError> {
        if self.selection.metrics.is_none() {
            return Ok(None);
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, name FROM metric")?;
        let mut found = statement.query([])?;
        let mut names = Vec::new();
        while let Some(row) = found.next()? {
            if self.selection.has_metric(row.get(0)?) {
                names.push(row.get(1)?);
            }
        }
        Ok(Some(names))
    }
}

/// Returns the metrics that a benchmark ever had.
pub(super) fn metrics_of(
    connection: &Connection,
    benchmark: i64,
) -> Result<BTreeMap<i64, MetricName>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT metric.key, metric.name FROM benchmark_metric \
         JOIN metric ON metric.key = benchmark_metric.metric WHERE benchmark = ?1",
    )?;
    let metrics = statement.query_map([benchmark], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(metrics.collect::<Result<_, _>>()?)
}

/// Keeps attributes of failures only, because details of the others are read for some chunks.
fn keep_details_of_failures(iterations: &mut Iterations) {
    for (place, detail) in &mut iterations.details {
        if iterations.outcome[*place] == Outcome::Ok {
            detail.attributes = Object::new();
        }
    }
}
