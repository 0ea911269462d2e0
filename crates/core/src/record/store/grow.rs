//! What importers and shared histories need besides putting records: a run whose metrics become
//! known with its instances, a session that began earlier, instances that are known by another id.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;

use super::rows::better_text;
use super::{StoreError, Writer, read};
use crate::model::{Id, Instance, Metric, MetricName, Record, Run};

/// What the store has of a session whose instances have one iteration each.
#[derive(Debug, Default)]
pub(crate) struct StoredSession {
    /// Its runs.
    pub(crate) runs: BTreeMap<Id, Run>,
    /// Its instances, as they were recorded.
    pub(crate) instances: BTreeMap<Id, StoredInstance>,
}

/// What the store has of an instance of one iteration.
#[derive(Debug)]
pub(crate) struct StoredInstance {
    /// The instance.
    pub(crate) instance: Instance,
    /// When it ended.
    pub(crate) ended: Option<Timestamp>,
    /// The values of the first iteration.
    pub(crate) values: BTreeMap<MetricName, f64>,
}

const RUNS: &str = "SELECT run.key FROM run JOIN session ON session.key = run.session \
                     WHERE session.id = ?1";

const INSTANCES: &str = "SELECT instance.key FROM instance JOIN run ON run.key = instance.run \
                           JOIN session ON session.key = run.session WHERE session.id = ?1";

const VALUES: &str = "SELECT metric.name, series.vals FROM instance \
       JOIN benchmark_metric ON benchmark_metric.benchmark = instance.benchmark \
       JOIN metric ON metric.key = benchmark_metric.metric \
       JOIN series ON series.metric = metric.key AND series.instance = instance.key AND first = 0 \
      WHERE instance.key = ?1";

impl Writer<'_> {
    /// Returns what the store has of a session from before this transaction.
    pub(crate) fn stored_session(&mut self, id: Id) -> Result<StoredSession, StoreError> {
        self.read_stored(id).map_err(|error| error.at(self.path))
    }

    fn read_stored(&self, id: Id) -> Result<StoredSession, StoreError> {
        let mut stored = StoredSession::default();
        for key in self.keys_of(RUNS, id)? {
            let run = read::run(self.connection, key)?;
            stored.runs.insert(run.id, run);
        }
        for key in self.keys_of(INSTANCES, id)? {
            let row = self.instance_row(key)?;
            let found = StoredInstance {
                ended: row.end.and_then(|end| end.ended),
                values: self.first_values(key)?,
                instance: row.instance,
            };
            stored.instances.insert(found.instance.id, found);
        }
        Ok(stored)
    }

    fn keys_of(&self, sql: &str, session: Id) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let keys = statement.query_map([session.to_string()], |row| row.get(0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    fn first_values(&self, instance: i64) -> Result<BTreeMap<MetricName, f64>, StoreError> {
        let mut statement = self.connection.prepare_cached(VALUES)?;
        let mut rows = statement.query([instance])?;
        let mut values = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let column: Vec<Option<f64>> = super::rows::from_json(row, 1)?;
            if let Some(value) = column.first().copied().flatten() {
                values.insert(row.get(0)?, value);
            }
        }
        Ok(values)
    }

    /// Lets an imported session begin no later than that.
    pub(crate) fn let_begin(&mut self, session: Id, started: Timestamp) -> Result<(), StoreError> {
        self.begin_no_later(session, started)
            .map_err(|error| error.at(self.path))
    }

    /// Returns whether a run of that id is in the store.
    pub(crate) fn has_run(&mut self, id: Id) -> Result<bool, StoreError> {
        let found = self.find_run(id);
        found
            .map(|key| key.is_some())
            .map_err(|error| error.at(self.path))
    }

    /// Adds metrics to a run that is in the store; those that it has stay as they are.
    pub(crate) fn add_metrics(
        &mut self,
        run: Id,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> Result<(), StoreError> {
        self.insert_metrics(run, metrics)
            .map_err(|error| error.at(self.path))
    }

    /// Puts one record as [`Writer::put`] does; of a run that has got more metrics since, or had
    /// fewer then, the store has those of both afterwards.
    pub(crate) fn put_or_grow(&mut self, record: &Record) -> Result<(), StoreError> {
        match record {
            Record::Run(run) => {
                let grown = self.with_all_metrics(run);
                match grown.map_err(|error| error.at(self.path))? {
                    Some(grown) => {
                        self.add_metrics(grown.id, &grown.metrics)?;
                        self.put(&Record::Run(grown))
                    }
                    None => self.put(record),
                }
            }
            Record::Session(_)
            | Record::Instance(_)
            | Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_)
            | Record::Annotation(_) => self.put(record),
        }
    }

    /// Returns the run with the metrics that the store has of it, too; `None` where that is no
    /// news to either.
    fn with_all_metrics(&mut self, run: &Run) -> Result<Option<Run>, StoreError> {
        let Some(found) = self.find_run(run.id)? else {
            return Ok(None);
        };
        let stored = read::run(self.connection, found.key)?;
        if stored.metrics == run.metrics {
            return Ok(None);
        }
        let mut grown = run.clone();
        for (name, metric) in stored.metrics {
            grown.metrics.entry(name).or_insert(metric);
        }
        Ok(Some(grown))
    }

    fn insert_metrics(
        &mut self,
        run: Id,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> Result<(), StoreError> {
        let Some(run) = self.find_run(run)? else {
            return Err(StoreError::damaged("a run just made has gone"));
        };
        for (name, metric) in metrics {
            let key = self.metric(name)?;
            self.connection
                .prepare_cached(
                    "INSERT INTO run_metric (run, metric, unit, better) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![
                    run.key,
                    key,
                    metric.unit,
                    better_text(metric.better)
                ])?;
        }
        Ok(())
    }
}
