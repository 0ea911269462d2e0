//! What became of the metrics of one benchmark.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::{Connection, params_from_iter};

use super::super::reading::read::metrics_of;
use super::super::{StoreResult, query};
use super::curated::condition;
use crate::annotations::{AnnotationOrder, NameHistory};
use crate::{InstanceData, Retirement};
use lapwing_model::{Conversion, Id, MetricName, Run};

/// What became of the metrics of one benchmark.
#[derive(Debug)]
pub(crate) struct CuratedMetrics {
    names: NameHistory,
    retired: Vec<RetiredMetric>,
    /// The recorded names of metrics of which nothing is left.
    gone: BTreeSet<MetricName>,
}

/// A retirement of a metric, and when it was said.
#[derive(Debug, PartialEq)]
pub(crate) struct RetiredMetric {
    said: AnnotationOrder,
    retirement: Retirement,
}

impl RetiredMetric {
    pub(crate) fn new(said: AnnotationOrder, retirement: &Retirement) -> Self {
        let retirement = retirement.clone();
        Self { said, retirement }
    }
}

impl CuratedMetrics {
    /// Returns what became of the metrics of the benchmark of that key.
    pub(crate) fn of(
        connection: &Connection,
        benchmark: i64,
        names: NameHistory,
        retired: Vec<RetiredMetric>,
        some_are_hidden: bool,
    ) -> StoreResult<Self> {
        let mut curated = Self {
            names,
            retired,
            gone: BTreeSet::new(),
        };
        if curated.retired.is_empty() {
            return Ok(curated);
        }
        for (metric, name) in metrics_of(connection, benchmark)? {
            let of_metric = curated.retirements(&name);
            if !of_metric.is_empty()
                && !has_others(connection, benchmark, metric, &of_metric, some_are_hidden)?
            {
                curated.gone.insert(name);
            }
        }
        Ok(curated)
    }

    /// Returns the name that a metric has now; `None` where nothing of it is left.
    pub(crate) fn now<'c>(&'c self, recorded: &'c str) -> Option<&'c str> {
        (!self.gone.contains(recorded)).then(|| self.last_name(recorded))
    }

    /// Returns the name that a metric has now, whether or not anything of it is left.
    pub(crate) fn last_name<'c>(&'c self, recorded: &'c str) -> &'c str {
        self.names.all("", recorded).pop().unwrap_or(recorded)
    }

    /// Returns whether something of a metric is retired, or may be.
    pub(crate) fn retires(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Returns the retirements of a metric.
    pub(crate) fn retirements(&self, recorded: &str) -> Vec<&Retirement> {
        let all = self.retired.iter().filter(|one| self.is_of(one, recorded));
        all.map(|one| &one.retirement).collect()
    }

    /// Returns whether a metric once had this name, and has another one now.
    pub(crate) fn was_called(&self, recorded: &str, name: &str) -> bool {
        let names = self.names.all("", recorded);
        names
            .split_last()
            .is_some_and(|(_, former)| former.contains(&name))
    }

    /// Takes away the values that are retired, and gives the others to the names of now.
    ///
    /// Where an iteration has a value under the new name as well, that one stays.
    pub(crate) fn apply(&self, instance: &mut InstanceData, runs: &mut BTreeMap<Id, Arc<Run>>) {
        let mut covering: Vec<&RetiredMetric> = self.retired.iter().collect();
        covering.retain(|one| one.retirement.covers(instance));
        let retired = |name: &str| covering.iter().any(|one| self.is_of(one, name));
        let (mut own, mut others) = (BTreeMap::new(), Vec::new());
        for (name, column) in std::mem::take(&mut instance.iterations.values) {
            if retired(&name) {
                continue;
            }
            let now = self.last_name(&name);
            match conversion(&instance.run, &name, now).filter(|_| now != name) {
                Some(conversion) => others.push((now.to_owned(), conversion, column)),
                None => {
                    own.insert(name, column);
                }
            }
        }
        let summaries = &mut instance.summaries;
        summaries.retain(|summary| !retired(&summary.metric));
        for (now, conversion, column) in others {
            let known = own
                .entry(now)
                .or_insert_with(|| vec![f64::NAN; column.len()]);
            for (kept, value) in known.iter_mut().zip(column) {
                if kept.is_nan() {
                    *kept = conversion.of(value);
                }
            }
        }
        instance.iterations.values = own;
        for summary in &mut instance.summaries {
            let now = self.last_name(&summary.metric);
            if let Some(conversion) = conversion(&instance.run, &summary.metric, now) {
                summary.metric = now.to_owned();
                summary.centre = conversion.of(summary.centre);
                summary.spread = summary.spread.map(|spread| conversion.of(spread));
            }
        }
        if !self.names.is_empty() {
            let run = runs
                .entry(instance.run.id)
                .or_insert_with(|| Arc::new(self.renamed(&instance.run)));
            instance.run = Arc::clone(run);
        }
    }

    /// Returns a run that tells unit and direction of metrics under their names of now.
    fn renamed(&self, whole: &Run) -> Run {
        let mut run = whole.clone();
        for (name, metric) in std::mem::take(&mut run.metrics) {
            let now = self.last_name(&name);
            if now != name && conversion(whole, &name, now).is_some() {
                run.metrics.entry(now.to_owned()).or_insert(metric);
            } else {
                run.metrics.insert(name, metric);
            }
        }
        run
    }

    /// Returns whether a retirement is of a metric, under whichever of the names that it had then.
    fn is_of(&self, one: &RetiredMetric, recorded: &str) -> bool {
        let names = self.names.until("", recorded, one.said);
        let metric = one.retirement.metric.as_deref();
        metric.is_some_and(|metric| names.contains(&metric))
    }
}

/// Returns how values under a metric's old name become values under its new one, by the units in their run;
/// `None` if these are of different quantities, which stay separate.
fn conversion(run: &Run, old: &str, new: &str) -> Option<Conversion> {
    let unit = |name: &str| run.metrics.get(name).map(|it| it.unit.as_str());
    match (unit(old), unit(new)) {
        (Some(old), Some(new)) if !old.is_empty() && !new.is_empty() => {
            Conversion::between(old, new)
        }
        (Some(_) | None, Some(_) | None) => Some(Conversion::NONE),
    }
}

/// Returns whether anything of a metric is not retired.
fn has_others(
    connection: &Connection,
    benchmark: i64,
    metric: i64,
    retirements: &[&Retirement],
    some_are_hidden: bool,
) -> StoreResult<bool> {
    let mut sql = format!(
        "SELECT EXISTS (SELECT 1 FROM instance JOIN run ON run.key = instance.run \
           JOIN session ON session.key = run.session \
          WHERE instance.benchmark = {benchmark} \
            AND (EXISTS (SELECT 1 FROM series WHERE series.metric = {metric} \
                          AND series.instance = instance.key) \
              OR EXISTS (SELECT 1 FROM summary WHERE summary.metric = {metric} \
                          AND summary.instance = instance.key))"
    );
    if some_are_hidden {
        sql.push_str(" AND instance.key NOT IN (SELECT key FROM temp.retired_instance)");
    }
    let mut parameters = Vec::new();
    for retirement in retirements {
        let (condition, more) = condition(retirement);
        sql.push_str(&format!(" AND NOT {condition}"));
        parameters.extend(more);
    }
    sql.push(')');
    query::value(connection, &sql, params_from_iter(parameters))
}
