//! Measurements as they are to be seen, with what people said of them: the one place between
//! the tables and their readers.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params_from_iter};

use super::super::reading::rows::time_text;
use super::super::{StoreResult, query};
use super::curated_metrics::{CuratedMetrics, RetiredMetric};
use super::trust::regarded;
use crate::annotations::NameHistory;
use crate::{Remark, Retired, Retirement};

/// Benchmarks with a new id, instances that are excluded, and renamed or retired
/// metrics. A store without such annotations costs one question.
#[derive(Debug, Default)]
pub(crate) struct CuratedNames {
    /// The ids of renamed benchmarks, by key: the recorded one first, the present one last.
    ids: BTreeMap<i64, Vec<String>>,
    /// What became of metrics, by the key of the benchmark.
    metrics: BTreeMap<i64, CuratedMetrics>,
    /// Whether `temp.retired_instance` names instances to exclude.
    pub(crate) hides: bool,
}

impl CuratedNames {
    /// Returns how the measurements of a store are to be seen.
    pub(crate) fn of(connection: &Connection, retired: Retired) -> StoreResult<Self> {
        let sql = "SELECT EXISTS (SELECT 1 FROM annotation WHERE action IN ('rename', 'retire'))";
        if !query::value::<bool>(connection, sql, [])? {
            return Ok(Self::default());
        }
        let remarks = remarks(connection)?;
        let benchmarks = benchmarks(connection)?;
        let names = NameHistory::of(&remarks);
        let mut curated = Self::default();
        let retirements: Vec<(&Remark, &Retirement)> = remarks
            .iter()
            .filter(|_| retired == Retired::LeaveOut)
            .filter_map(|remark| Some((remark, remark.active()?.retirement()?)))
            .collect();
        // Instances first: a metric may be left in none but these.
        let whole = retirements.iter().filter(|(_, it)| it.metric.is_none());
        let mut instances: Vec<(i64, &Retirement)> = Vec::new();
        for (remark, retirement) in whole {
            let about = benchmarks
                .iter()
                .filter(|(_, suite, id)| remark.is_about(&names, suite, id));
            instances.extend(about.map(|(key, _, _)| (*key, *retirement)));
        }
        if !instances.is_empty() {
            hide(connection, &instances)?;
            curated.hides = true;
        }
        for (key, suite, id) in &benchmarks {
            let ids = names.all(suite, id);
            let renames = NameHistory::of_metrics(&remarks, suite, &ids);
            let metrics: Vec<RetiredMetric> = retirements
                .iter()
                .filter(|(remark, it)| it.metric.is_some() && remark.is_about(&names, suite, id))
                .map(|(remark, it)| RetiredMetric::new(remark.said(), it))
                .collect();
            if !renames.is_empty() || !metrics.is_empty() {
                let hidden = curated.hides;
                let metrics = CuratedMetrics::of(connection, *key, renames, metrics, hidden)?;
                curated.metrics.insert(*key, metrics);
            }
            if ids.len() > 1 {
                let ids = ids.into_iter().map(str::to_owned).collect();
                curated.ids.insert(*key, ids);
            }
        }
        Ok(curated)
    }

    /// Returns whether every name is as recorded, apart from excluded instances.
    pub(crate) fn names_nothing(&self) -> bool {
        self.ids.is_empty() && self.metrics.is_empty()
    }

    /// Returns the id that a benchmark has now.
    pub(crate) fn id<'c>(&'c self, key: i64, recorded: &'c str) -> &'c str {
        let ids = self.ids.get(&key).and_then(|ids| ids.last());
        ids.map_or(recorded, String::as_str)
    }

    /// Returns how often a benchmark was renamed.
    pub(crate) fn renames(&self, key: i64) -> usize {
        self.ids.get(&key).map_or(0, |ids| ids.len() - 1)
    }

    /// Returns the ids that renamed benchmarks once had, by key.
    pub(crate) fn former_ids(&self) -> Vec<(i64, String)> {
        let renamed = self.ids.iter();
        let former = renamed.filter_map(|(key, ids)| Some((*key, ids.split_last()?.1)));
        former
            .flat_map(|(key, ids)| ids.iter().map(move |id| (key, id.clone())))
            .collect()
    }

    /// Returns what became of metrics, by the key of the benchmark.
    pub(crate) fn all_metrics(&self) -> impl Iterator<Item = (i64, &CuratedMetrics)> {
        self.metrics.iter().map(|(key, metrics)| (*key, metrics))
    }

    /// Returns what became of the metrics of a benchmark, where anything did.
    pub(crate) fn metrics(&self, key: i64) -> Option<&CuratedMetrics> {
        self.metrics.get(&key)
    }

    /// Returns the name that a metric of a benchmark has now; `None` where all of it is retired.
    pub(crate) fn metric<'c>(&'c self, key: i64, recorded: &'c str) -> Option<&'c str> {
        match self.metrics.get(&key) {
            None => Some(recorded),
            Some(metrics) => metrics.now(recorded),
        }
    }

    /// Returns the names that the metrics of a benchmark have now.
    pub(crate) fn metrics_now(&self, key: i64, recorded: Vec<String>) -> Vec<String> {
        if !self.metrics.contains_key(&key) {
            return recorded;
        }
        let now = recorded.iter().filter_map(|name| self.metric(key, name));
        let now: BTreeSet<&str> = now.collect();
        now.into_iter().map(str::to_owned).collect()
    }
}

/// Returns all annotations that are not left out ([`Store::honour`](crate::Store::honour)), and which of them hold.
pub(crate) fn remarks(connection: &Connection) -> StoreResult<Vec<Remark>> {
    Ok(Remark::all(regarded(connection)?))
}

/// Returns key, suite and recorded id of every benchmark.
pub(crate) fn benchmarks(connection: &Connection) -> StoreResult<Vec<(i64, String, String)>> {
    let sql = "SELECT key, suite, id FROM benchmark ORDER BY suite, id";
    query::rows(connection, sql, [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })
}

/// Names the instances that are retired, in a temporary table.
fn hide(connection: &Connection, retirements: &[(i64, &Retirement)]) -> StoreResult<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS retired_instance (key INTEGER PRIMARY KEY); \
         DELETE FROM temp.retired_instance;",
    )?;
    for (benchmark, retirement) in retirements {
        let (condition, parameters) = condition(retirement);
        let all = std::iter::once(benchmark.to_string()).chain(parameters);
        let sql = format!(
            "INSERT OR IGNORE INTO temp.retired_instance (key) \
             SELECT instance.key FROM instance JOIN run ON run.key = instance.run \
               JOIN session ON session.key = run.session \
              WHERE instance.benchmark = CAST(? AS INTEGER) AND {condition}"
        );
        query::execute(connection, &sql, params_from_iter(all))?;
    }
    Ok(())
}

/// Returns a condition on `instance`, `run` and `session`, with its parameters.
pub(crate) fn condition(retirement: &Retirement) -> (String, Vec<String>) {
    // Times are text of one length, so that they sort.
    let mut condition = "(coalesce(instance.started, session.started) < ?".to_owned();
    let mut parameters = vec![time_text(retirement.before)];
    if let Some(version) = &retirement.version {
        condition.push_str(
            " AND (coalesce(run.version = ?, 0) \
             OR coalesce(substr(run.\"commit\", 1, length(?)) = ?, 0))",
        );
        parameters.extend([version.clone(), version.clone(), version.clone()]);
    }
    condition.push(')');
    (condition, parameters)
}
