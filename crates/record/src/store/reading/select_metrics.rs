//! Which metrics a filter asks for, whatever they were called when they were recorded.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::super::curation::curated::CuratedNames;
use super::super::{StoreResult, query};
use super::select::{alternatives, positions};
use crate::Filter;

/// The metrics that a filter asks for.
#[derive(Debug, Default)]
pub(crate) struct ChosenMetrics {
    /// Their keys; where metrics were renamed also those under which they were recorded.
    pub(crate) keys: BTreeSet<i64>,
    /// Their names of now.
    pub(crate) names: BTreeSet<String>,
    /// The benchmarks that have one of them; `None` where the tables list them.
    pub(crate) benchmarks: Option<BTreeSet<i64>>,
}

/// Returns the metrics that a filter asks for; `None` where it asks for none.
pub(crate) fn choose_metrics(
    connection: &Connection,
    curated: &CuratedNames,
    filter: &Filter,
) -> StoreResult<Option<ChosenMetrics>> {
    if filter.metrics.is_empty() {
        return Ok(None);
    }
    if !curated.names_nothing() {
        return choose_curated_metrics(connection, curated, filter).map(Some);
    }
    let sql = "SELECT key, name FROM metric WHERE key IN (SELECT metric FROM benchmark_metric) \
               OR key IN (SELECT metric FROM run_metric)";
    let known: Vec<(i64, String)> =
        query::rows(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let fits = alternatives("metric", &filter.metrics, |text| {
        let found = positions(&known, |(_, name)| name == text);
        (found, known.iter().map(|(_, name)| name.clone()).collect())
    })?;
    Ok(Some(ChosenMetrics {
        names: fits.iter().map(|&at| known[at].1.clone()).collect(),
        keys: fits.into_iter().map(|at| known[at].0).collect(),
        benchmarks: None,
    }))
}

/// The same where metrics of some benchmarks have other names by now, or are retired.
fn choose_curated_metrics(
    connection: &Connection,
    curated: &CuratedNames,
    filter: &Filter,
) -> StoreResult<ChosenMetrics> {
    let sql = "SELECT benchmark_metric.benchmark, metric.key, metric.name FROM benchmark_metric \
               JOIN metric ON metric.key = benchmark_metric.metric";
    let known = query::rows(connection, sql, [], |row| {
        let (benchmark, recorded): (i64, String) = (row.get(0)?, row.get(2)?);
        let now = curated.metric(benchmark, &recorded).map(str::to_owned);
        let metric: i64 = row.get(1)?;
        Ok(now.map(|now| (benchmark, metric, recorded, now)))
    })?;
    let known: Vec<(i64, i64, String, String)> = known.into_iter().flatten().collect();
    let fits = alternatives("metric", &filter.metrics, |text| {
        let mut found = positions(&known, |(_, _, _, now)| now == text);
        if found.is_empty() {
            let was_called = |benchmark: i64, recorded: &str| {
                let metrics = curated.metrics(benchmark);
                metrics.is_some_and(|metrics| metrics.was_called(recorded, text))
            };
            let was = positions(&known, |(key, _, recorded, _)| was_called(*key, recorded));
            let names: BTreeSet<&String> = was.iter().map(|&at| &known[at].3).collect();
            found = positions(&known, |(_, _, _, now)| names.contains(now));
        }
        (
            found,
            known.iter().map(|(_, _, _, now)| now.clone()).collect(),
        )
    })?;
    let mut chosen = ChosenMetrics {
        benchmarks: Some(BTreeSet::new()),
        ..ChosenMetrics::default()
    };
    for at in fits {
        let (benchmark, metric, _, now) = &known[at];
        chosen.keys.insert(*metric);
        chosen.names.insert(now.clone());
        chosen.benchmarks.get_or_insert_default().insert(*benchmark);
    }
    Ok(chosen)
}
