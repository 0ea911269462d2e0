//! The metrics of the store, for `lapwing list metrics`.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;

use super::super::{MetricRow, StoreCatalogue, StoreResult};
use super::catalogue::count;
use super::rows::from_json;
use super::select::Selection;
use crate::Filter;

/// A row of a metric: as a whole, or of one benchmark.
struct MetricPart {
    metric: String,
    units: Vec<String>,
    better: Vec<String>,
    benchmarks: BenchmarkCount,
    summaries: u64,
}

/// The benchmarks that have a metric.
enum BenchmarkCount {
    Number(u64),
    /// One of them; suite and id of now.
    One(String, String),
}

/// The units and directions that runs declare.
const DECLARED: &str = "(SELECT json_group_array(unit) FROM (SELECT DISTINCT unit FROM run_metric \
       WHERE run_metric.metric = metric.key AND unit <> '' ORDER BY unit)), \
     (SELECT json_group_array(better) FROM (SELECT DISTINCT better \
        FROM run_metric WHERE run_metric.metric = metric.key \
         AND better IS NOT NULL ORDER BY better))";

impl StoreCatalogue<'_> {
    /// Returns the metrics of the benchmarks that pass the filter, by name.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn metrics(&self, filter: &Filter) -> StoreResult<Vec<MetricRow>> {
        let parts = self.select_rows(filter, |selection| {
            let condition = selection.on_instance();
            let sql = if selection.curated.names_nothing() {
                whole(&condition)
            } else {
                by_benchmark(&condition)
            };
            (sql, read)
        })?;
        let mut found: BTreeMap<String, (MetricRow, BTreeSet<(String, String)>)> = BTreeMap::new();
        for part in parts.into_iter().flatten() {
            let (row, benchmarks) = found.entry(part.metric.clone()).or_insert_with(|| {
                let row = MetricRow {
                    metric: part.metric,
                    units: Vec::new(),
                    better: Vec::new(),
                    benchmarks: 0,
                    summaries: 0,
                };
                (row, BTreeSet::new())
            });
            row.summaries += part.summaries;
            for (known, new) in [(&mut row.units, part.units), (&mut row.better, part.better)] {
                known.extend(new);
                known.sort();
                known.dedup();
            }
            match part.benchmarks {
                BenchmarkCount::Number(number) => row.benchmarks = number,
                BenchmarkCount::One(suite, id) => {
                    benchmarks.insert((suite, id));
                    row.benchmarks = benchmarks.len() as u64;
                }
            }
        }
        Ok(found.into_values().map(|(row, _)| row).collect())
    }
}

fn whole(condition: &str) -> String {
    format!(
        "SELECT metric.name, {DECLARED}, coalesce(summarised.summaries, 0), metric.key, count(*), \
                NULL, NULL, NULL \
           FROM benchmark_metric JOIN metric ON metric.key = benchmark_metric.metric \
           LEFT JOIN (SELECT summary.metric AS metric, count(*) AS summaries \
                        FROM summary JOIN instance ON instance.key = summary.instance \
                       WHERE 1{condition} GROUP BY summary.metric) AS summarised \
             ON summarised.metric = metric.key \
          WHERE benchmark_metric.benchmark IN \
                (SELECT instance.benchmark FROM instance WHERE 1{condition}) \
          GROUP BY metric.key"
    )
}

/// The same for each benchmark, since a metric may have another name in each.
fn by_benchmark(condition: &str) -> String {
    format!(
        "SELECT metric.name, {DECLARED}, \
                (SELECT count(*) FROM summary JOIN instance ON instance.key = summary.instance \
                  WHERE summary.metric = metric.key AND instance.benchmark = benchmark.key\
                        {condition}), \
                metric.key, 1, benchmark.key, benchmark.suite, benchmark.id \
           FROM benchmark_metric JOIN metric ON metric.key = benchmark_metric.metric \
           JOIN benchmark ON benchmark.key = benchmark_metric.benchmark \
          WHERE benchmark_metric.benchmark IN \
                (SELECT instance.benchmark FROM instance WHERE 1{condition})"
    )
}

/// Returns nothing for a metric that is not asked for, or of which all is retired.
fn read(row: &Row<'_>, selection: &Selection) -> StoreResult<Option<MetricPart>> {
    let recorded: String = row.get(0)?;
    let benchmark: Option<i64> = row.get(6)?;
    let (metric, benchmarks) = match benchmark {
        None if selection.has_metric(row.get(4)?) => {
            (recorded, BenchmarkCount::Number(count(row, 5)?))
        }
        None => return Ok(None),
        Some(key) => {
            let Some(now) = selection.curated.metric(key, &recorded) else {
                return Ok(None);
            };
            let asked = selection.metrics.as_ref();
            if asked.is_some_and(|asked| !asked.names.contains(now)) {
                return Ok(None);
            }
            let id: String = row.get(8)?;
            let id = selection.curated.id(key, &id).to_owned();
            (now.to_owned(), BenchmarkCount::One(row.get(7)?, id))
        }
    };
    Ok(Some(MetricPart {
        metric,
        units: from_json(row, 1)?,
        better: from_json(row, 2)?,
        benchmarks,
        summaries: count(row, 3)?,
    }))
}
