//! What importers need besides putting records: a run whose metrics become known with
//! its instances.

use std::collections::BTreeMap;

use rusqlite::params;

use super::rows::better_text;
use super::{StoreError, Writer};
use crate::model::{Id, Metric, MetricName};

impl Writer<'_> {
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
