//! What importers and shared histories need besides putting records: a run whose metrics become
//! known with its instances, and a session that began earlier.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;

use super::rows::better_text;
use super::{StoreError, Writer, read};
use crate::model::{Id, Metric, MetricName, Record, Run};

impl Writer<'_> {
    /// Lets an imported session begin no later than that.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn let_begin(&mut self, session: Id, started: Timestamp) -> Result<(), StoreError> {
        self.begin_no_later(session, started)
            .map_err(|error| error.at(self.path))
    }

    /// Returns whether a run of that id is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_run(&mut self, id: Id) -> Result<bool, StoreError> {
        let found = self.find_run(id);
        found
            .map(|key| key.is_some())
            .map_err(|error| error.at(self.path))
    }

    /// Adds metrics to a run that is in the store; those that it has stay as they are.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn add_metrics(
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
