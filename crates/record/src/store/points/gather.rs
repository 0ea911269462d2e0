//! Makes the points of runs while these are written.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};

use super::super::reading::recorded::BenchmarkReader;
use super::super::reading::rows::filled_text;
use super::super::reading::select::Selection;
use super::super::{StoreResult, Writer, query};
use super::sums::{RunPoints, are_fine, went_well};
use crate::store::keys::{InstanceKey, KeyMap};
use crate::{InstanceData, Iterations};
use lapwing_model::{Instance, InstanceEnd, MetricName, Summary};

/// The number of points to hold before those of earlier runs are written.
const HELD: usize = 200_000;

/// Metrics whose summaries have no points: hyperfine states the means of them, and they are no history unless asked for.
pub const NO_POINTS: [&str; 2] = ["user_time", "system_time"];

/// The points of the runs that are made in a transaction.
#[derive(Debug, Default)]
pub(crate) struct PointGatherer {
    runs: BTreeMap<i64, RunPoints>,
    /// The number of points that were added since some were written.
    held: usize,
    /// Run and benchmark of the instances of these runs that have no iterations yet.
    empty: KeyMap<i64, (i64, i64)>,
    /// Other runs, which have no points any more.
    missing: BTreeSet<i64>,
    definitions: KnownDefinitions,
}

impl PointGatherer {
    /// Notes a run that was made.
    pub(crate) fn begin(&mut self, run: i64) {
        self.runs.insert(run, RunPoints::default());
    }

    /// Notes an instance that was made.
    pub(crate) fn add_instance(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        instance: &Instance,
    ) -> StoreResult<()> {
        if !self.runs.contains_key(&key.run) {
            return self.forget(connection, key.run);
        }
        self.empty.insert(key.key, (key.run, key.benchmark));
        self.describe(connection, key, instance)
    }

    /// Notes what surrounds an instance, and how its benchmark is defined.
    fn describe(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        instance: &Instance,
    ) -> StoreResult<()> {
        if let Some(points) = self.runs.get_mut(&key.run) {
            let environment = filled_text(&instance.environment)?;
            points.surround(instance.host.as_deref(), environment.as_deref());
        }
        let benchmark = &instance.benchmark;
        let params = filled_text(&benchmark.params)?;
        let definition = (benchmark.fingerprint.clone(), params);
        self.definitions.note(connection, key.benchmark, definition)
    }

    /// Notes iterations that were written.
    pub(crate) fn add_iterations(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        iterations: &Iterations,
        metrics: &[(i64, &MetricName)],
    ) -> StoreResult<()> {
        let is_empty = self.empty.remove(&key.key).is_some();
        if !are_fine(iterations) {
            return self.definitions.read_whole(connection, key.benchmark);
        }
        let Some(points) = self.runs.get_mut(&key.run).filter(|_| is_empty) else {
            return self.forget(connection, key.run);
        };
        let before = points.len();
        points.add(key.benchmark, iterations, metrics);
        self.held += points.len() - before;
        if self.held > HELD {
            self.write_all_but(connection, Some(key.run))?;
        }
        Ok(())
    }

    /// Notes the end of an instance.
    pub(crate) fn add_end(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        end: &InstanceEnd,
    ) -> StoreResult<()> {
        if went_well(end) {
            return Ok(());
        }
        self.definitions.read_whole(connection, key.benchmark)
    }

    /// Notes that a benchmark has a result of a metric without samples.
    pub(crate) fn add_summary(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        metric: &str,
    ) -> StoreResult<()> {
        if NO_POINTS.contains(&metric) {
            return Ok(());
        }
        self.definitions.read_whole(connection, key.benchmark)
    }

    /// Adds an instance with all that was recorded of it.
    fn add_recorded(
        &mut self,
        connection: &Connection,
        key: InstanceKey,
        recorded: &InstanceData,
        metrics: &BTreeMap<MetricName, i64>,
    ) -> StoreResult<()> {
        self.describe(connection, key, &recorded.instance)?;
        let is_well = recorded.end.as_ref().is_none_or(went_well);
        let has_none = |summary: &Summary| NO_POINTS.contains(&&*summary.metric);
        let has_samples = recorded.summaries.iter().all(has_none);
        if !is_well || !has_samples || !are_fine(&recorded.iterations) {
            return self.definitions.read_whole(connection, key.benchmark);
        }
        let names = recorded.iterations.values.keys();
        let names = names.filter_map(|name| Some((*metrics.get(name)?, name)));
        if let Some(points) = self.runs.get_mut(&key.run) {
            points.add(
                key.benchmark,
                &recorded.iterations,
                &names.collect::<Vec<_>>(),
            );
        }
        Ok(())
    }

    /// Deletes the points of a run.
    fn forget(&mut self, connection: &Connection, run: i64) -> StoreResult<()> {
        self.runs.remove(&run);
        if self.missing.insert(run) {
            forget(connection, "SELECT ?1", [run])?;
        }
        Ok(())
    }

    /// Writes all points.
    pub(crate) fn write(&mut self, connection: &Connection) -> StoreResult<()> {
        for (run, benchmark) in std::mem::take(&mut self.empty).into_values() {
            if let Some(points) = self.runs.get_mut(&run) {
                points.try_in_vain(benchmark);
            }
        }
        self.write_all_but(connection, None)
    }

    fn write_all_but(&mut self, connection: &Connection, current: Option<i64>) -> StoreResult<()> {
        let mut kept = BTreeMap::new();
        for (run, points) in std::mem::take(&mut self.runs) {
            if Some(run) == current {
                kept.insert(run, points);
            } else {
                points.write(connection, run)?;
            }
        }
        self.runs = kept;
        self.held = 0;
        Ok(())
    }
}

/// The definition of each benchmark, as far as its instances have the same.
#[derive(Debug, Default)]
struct KnownDefinitions {
    /// `None` for those of which everything has to be read.
    known: KeyMap<i64, Option<BenchmarkDefinition>>,
}

/// Fingerprint and parameters.
type BenchmarkDefinition = (Option<String>, Option<String>);

impl KnownDefinitions {
    /// Notes a definition; of a benchmark with several ones everything has to be read.
    fn note(
        &mut self,
        connection: &Connection,
        benchmark: i64,
        definition: BenchmarkDefinition,
    ) -> StoreResult<()> {
        match self.of(connection, benchmark)? {
            Some(Some(known)) if *known == definition => Ok(()),
            Some(None) => Ok(()),
            Some(Some(_)) => self.read_whole(connection, benchmark),
            None => {
                let sql = "INSERT INTO history_benchmark (benchmark, fingerprint, params, is_whole) \
                           VALUES (?1, ?2, ?3, 0)";
                let (fingerprint, params) = &definition;
                query::execute(connection, sql, params![benchmark, fingerprint, params])?;
                self.known.insert(benchmark, Some(definition));
                Ok(())
            }
        }
    }

    /// Returns the definition of a benchmark, if there is one yet.
    fn of(
        &mut self,
        connection: &Connection,
        benchmark: i64,
    ) -> StoreResult<Option<&Option<BenchmarkDefinition>>> {
        match self.known.entry(benchmark) {
            Entry::Occupied(known) => Ok(Some(known.into_mut())),
            Entry::Vacant(place) => {
                let sql = "SELECT fingerprint, params, is_whole FROM history_benchmark \
                           WHERE benchmark = ?1";
                let stored = query::first(connection, sql, [benchmark], |row| {
                    let is_whole: bool = row.get(2)?;
                    Ok((!is_whole).then_some((row.get(0)?, row.get(1)?)))
                });
                Ok(stored?.map(|stored| &*place.insert(stored)))
            }
        }
    }

    /// Notes that everything has to be read of a benchmark.
    fn read_whole(&mut self, connection: &Connection, benchmark: i64) -> StoreResult<()> {
        if matches!(self.known.get(&benchmark), Some(None)) {
            return Ok(());
        }
        let sql = "INSERT INTO history_benchmark (benchmark, is_whole) VALUES (?1, 1) \
                   ON CONFLICT (benchmark) DO UPDATE SET is_whole = 1";
        query::execute(connection, sql, [benchmark])?;
        self.known.insert(benchmark, None);
        Ok(())
    }
}

/// Deletes the points of the runs that a query returns.
pub(crate) fn forget(
    connection: &Connection,
    runs: &str,
    parameters: impl rusqlite::Params + Copy,
) -> StoreResult<()> {
    for table in ["history_run", "history_chunk", "history_surroundings"] {
        let sql = format!("DELETE FROM {table} WHERE run IN ({runs})");
        query::execute(connection, &sql, parameters)?;
    }
    Ok(())
}

impl Writer<'_> {
    /// Makes the points of these runs, which have none.
    pub(super) fn make_points(&mut self, runs: BTreeSet<i64>) -> StoreResult<()> {
        let connection = self.connection;
        let mut gatherer = PointGatherer::default();
        for run in &runs {
            forget(connection, "SELECT ?1", [*run])?;
            gatherer.begin(*run);
        }
        let reader = BenchmarkReader::of(connection, Selection::of_runs(connection, runs)?)?;
        let metrics = "SELECT name, key FROM metric";
        let metrics = query::rows(connection, metrics, [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let metrics: BTreeMap<MetricName, i64> = metrics.into_iter().collect();
        reader.each_instance(|key, recorded| {
            gatherer.add_recorded(connection, key, &recorded, &metrics)
        })?;
        gatherer.write(connection)
    }
}
