//! Measurements that are excluded because they are retired.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params_from_iter};

use super::super::curation::curated::condition;
use super::super::{StoreCatalogue, StoreResult, query};
use super::read::metrics_of;
use super::select::Selection;
use crate::{Filter, Retirement};
use lapwing_model::MetricName;

/// The number of measurements that are excluded because they are retired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Instances that are excluded entirely.
    pub instances: u64,
    /// Excluded metrics, by current name, with the number of other instances that have them.
    pub metrics: BTreeMap<MetricName, u64>,
}

impl LeftOut {
    /// Adds the counts of another store.
    pub fn add(&mut self, other: Self) {
        self.instances += other.instances;
        for (metric, instances) in other.metrics {
            *self.metrics.entry(metric).or_default() += instances;
        }
    }
}

impl StoreCatalogue<'_> {
    /// Returns how much of the filtered measurements is excluded because it is retired.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn left_out(&self, filter: &Filter) -> StoreResult<LeftOut> {
        self.store.read(|snapshot| {
            let mut selection = Selection::of(snapshot, filter)?;
            let metrics = metrics(snapshot, &selection)?;
            let instances = if std::mem::take(&mut selection.curated.hides) {
                instances(snapshot, &selection)?
            } else {
                0
            };
            Ok(LeftOut { instances, metrics })
        })
    }
}

/// Returns how many of the instances that are hidden otherwise pass.
fn instances(connection: &Connection, otherwise: &Selection) -> StoreResult<u64> {
    let sql = format!(
        "SELECT count(*) FROM instance \
          WHERE instance.key IN (SELECT key FROM temp.retired_instance){}{}",
        otherwise.on_instance(),
        otherwise.on_metrics()
    );
    let count: i64 = query::value(connection, &sql, [])?;
    Ok(count.cast_unsigned())
}

/// Returns the metrics asked for of which something is retired, and in how many instances that pass.
fn metrics(
    connection: &Connection,
    selection: &Selection,
) -> StoreResult<BTreeMap<MetricName, u64>> {
    let mut found: BTreeMap<MetricName, BTreeSet<i64>> = BTreeMap::new();
    for (benchmark, curated) in selection.curated.all_metrics() {
        if !curated.retires() || !selection.has_benchmark(benchmark) {
            continue;
        }
        for (metric, recorded) in metrics_of(connection, benchmark)? {
            let now = curated.last_name(&recorded);
            let asked = selection.metrics.as_ref();
            if asked.is_some_and(|asked| !asked.names.contains(now)) {
                continue;
            }
            let retirements = curated.retirements(&recorded);
            if !retirements.is_empty() {
                let known = found.entry(now.to_owned()).or_default();
                let (condition, of) = (selection.on_instance(), (benchmark, metric));
                known.extend(having(connection, of, &retirements, &condition)?);
            }
        }
    }
    let counts = found
        .into_iter()
        .map(|(metric, instances)| (metric, instances.len() as u64));
    Ok(counts.filter(|(_, instances)| *instances > 0).collect())
}

/// Returns the instances of a benchmark that have a metric which is retired there.
fn having(
    connection: &Connection,
    (benchmark, metric): (i64, i64),
    retirements: &[&Retirement],
    on_instance: &str,
) -> StoreResult<Vec<i64>> {
    let (conditions, parameters): (Vec<String>, Vec<Vec<String>>) =
        retirements.iter().map(|it| condition(it)).unzip();
    let sql = format!(
        "SELECT instance.key FROM instance JOIN run ON run.key = instance.run \
           JOIN session ON session.key = run.session \
          WHERE instance.benchmark = {benchmark}{on_instance} \
            AND (EXISTS (SELECT 1 FROM series WHERE series.metric = {metric} \
                          AND series.instance = instance.key) \
              OR EXISTS (SELECT 1 FROM summary WHERE summary.metric = {metric} \
                          AND summary.instance = instance.key)) \
            AND ({})",
        conditions.join(" OR ")
    );
    query::column(connection, &sql, params_from_iter(parameters.concat()))
}
