//! Counts of the store's contents, for `lapwing list`.

use std::cmp::Ordering;

use jiff::Timestamp;
use rusqlite::Row;
use serde::Serialize;

use super::super::{Store, StoreResult, query};
use super::rows::{from_json, parsed};
use super::select::{RUN_HEAD_COLUMNS, Selection, read_run_head};
use crate::{Filter, RunHead};
use lapwing_model::natural_order;

/// A benchmark in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BenchmarkRow {
    /// The suite that it belongs to.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// Its tags, as the latest instance with any had them.
    pub tags: Vec<String>,
    /// How many instances were measured.
    pub instances: u64,
    /// How many iterations, burn-in included.
    pub iterations: u64,
    /// How many of them failed or timed out.
    pub failures: u64,
    /// How many summaries of sources that kept no samples.
    pub summaries: u64,
    /// The metrics that it has.
    pub metrics: Vec<String>,
    /// When its latest instance ended, or else began.
    pub last_measured: Timestamp,
}

/// A session in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// Its suite.
    pub suite: String,
    /// When it started.
    pub started: Timestamp,
    /// The program that measured.
    pub tool: String,
    /// How many runs it has.
    pub runs: u64,
    /// How many instances.
    pub instances: u64,
    /// How many iterations.
    pub iterations: u64,
    /// How many summaries of sources that kept no samples.
    pub summaries: u64,
    /// How many instances have no end: under way, or cut short.
    pub unfinished: u64,
}

/// A run in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// The run.
    #[serde(flatten)]
    pub head: RunHead,
    /// How many instances it has.
    pub instances: u64,
    /// How many iterations.
    pub iterations: u64,
    /// How many summaries of sources that kept no samples.
    pub summaries: u64,
}

/// A metric in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetricRow {
    /// Its name.
    pub metric: String,
    /// Its units, as runs declare them; more than one when they disagree.
    pub units: Vec<String>,
    /// Its directions, as runs declare them.
    pub better: Vec<String>,
    /// How many benchmarks have it.
    pub benchmarks: u64,
    /// How many summaries there are of it, by sources that kept no samples.
    pub summaries: u64,
}

/// Whether the end of an instance declares all of its iterations invalid.
const VOID: &str = "json_type(instance.observed, '$.void') = 'text'";

/// Lists what the store holds ([`Store::catalogue`]).
#[derive(Debug, Clone, Copy)]
pub struct StoreCatalogue<'s> {
    pub(crate) store: &'s Store,
}

impl StoreCatalogue<'_> {
    /// Returns the benchmarks that have an instance passing the filter, by suite and id in [natural
    /// order](natural_order). A metric in the filter asks for the benchmarks that have it.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn benchmarks(&self, filter: &Filter) -> StoreResult<Vec<BenchmarkRow>> {
        let rows = self.select_rows(filter, |selection| {
            let sql = format!(
                "WITH counted AS (\
                   SELECT instance.key AS key, instance.benchmark AS benchmark, \
                          instance.tags AS tags, session.started AS started, \
                          coalesce(instance.ended, instance.started, session.started) AS measured, \
                          coalesce(sum(chunk.count), 0) AS iterations, \
                          max(coalesce(sum(CASE WHEN {VOID} THEN chunk.count WHEN chunk.outcome IS NOT NULL THEN \
                            (SELECT count(*) FROM json_each(chunk.outcome) \
                              WHERE value IN ('failed', 'timed_out')) END), 0), \
                            coalesce(instance.outcome IN ('failed', 'timed_out'), 0)) AS failures, \
                          {SUMMARIES} AS summaries \
                     FROM instance JOIN run ON run.key = instance.run \
                     JOIN session ON session.key = run.session \
                     LEFT JOIN chunk ON chunk.instance = instance.key \
                    WHERE 1{condition}{metrics} GROUP BY instance.key) \
                 SELECT benchmark.suite, benchmark.id, \
                        substr(max(CASE WHEN tags IS NOT NULL THEN printf('%-40s', started) || tags END), 41), \
                        count(*), sum(iterations), \
                        sum(failures), \
                        (SELECT json_group_array(name) FROM (SELECT metric.name AS name \
                           FROM benchmark_metric JOIN metric \
                             ON metric.key = benchmark_metric.metric \
                          WHERE benchmark_metric.benchmark = benchmark.key ORDER BY name)), \
                        max(measured), sum(summaries), benchmark.key \
                   FROM counted JOIN benchmark ON benchmark.key = counted.benchmark \
                  GROUP BY benchmark.key",
                condition = selection.on_instance(),
                metrics = selection.on_metrics(),
            );
            (sql, move |row: &Row<'_>, selection: &Selection| {
                let (key, recorded): (i64, String) = (row.get(9)?, row.get(1)?);
                let metrics: Vec<String> = from_json(row, 6)?;
                let metrics = selection.curated.metrics_now(key, metrics);
                Ok(BenchmarkRow {
                    suite: row.get(0)?,
                    benchmark: selection.curated.id(key, &recorded).to_owned(),
                    tags: from_json(row, 2)?,
                    instances: count(row, 3)?,
                    iterations: count(row, 4)?,
                    failures: count(row, 5)?,
                    metrics,
                    last_measured: parsed(row, 7)?,
                    summaries: count(row, 8)?,
                })
            })
        })?;
        Ok(joined(rows))
    }

    /// Returns the sessions that pass the filter, latest first.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn sessions(&self, filter: &Filter) -> StoreResult<Vec<SessionRow>> {
        let only_sessions = asks_for_no_instances(filter) && filter.runs.is_none();
        let rows = self.select_rows(filter, |selection| {
            let sql = format!(
                "SELECT session.id, session.name, session.suite, session.started, session.tool, \
                        count(DISTINCT run.key), count(instance.key), \
                        coalesce(sum((SELECT sum(chunk.count) FROM chunk \
                           WHERE chunk.instance = instance.key)), 0), \
                        coalesce(sum(instance.key IS NOT NULL AND instance.outcome IS NULL), 0), \
                        session.key, coalesce(sum({SUMMARIES}), 0) \
                   FROM session LEFT JOIN run ON run.session = session.key \
                   LEFT JOIN instance ON instance.run = run.key{condition}{metrics} \
                  GROUP BY session.key ORDER BY session.started DESC, session.key DESC",
                condition = selection.on_instance(),
                metrics = selection.on_metrics(),
            );
            (sql, move |row: &Row<'_>, selection: &Selection| {
                let session = SessionRow {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    suite: row.get(2)?,
                    started: parsed(row, 3)?,
                    tool: row.get(4)?,
                    runs: count(row, 5)?,
                    instances: count(row, 6)?,
                    iterations: count(row, 7)?,
                    unfinished: count(row, 8)?,
                    summaries: count(row, 10)?,
                };
                let passes = selection.has_session(row.get(9)?);
                Ok((passes && (only_sessions || session.instances > 0)).then_some(session))
            })
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the runs that pass the filter, latest session first.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn runs(&self, filter: &Filter) -> StoreResult<Vec<RunRow>> {
        let all_runs = asks_for_no_instances(filter);
        let rows = self.select_rows(filter, |selection| {
            let sql = format!(
                "SELECT {RUN_HEAD_COLUMNS}, count(instance.key), \
                        coalesce(sum((SELECT sum(chunk.count) FROM chunk \
                           WHERE chunk.instance = instance.key)), 0), \
                        coalesce(sum({SUMMARIES}), 0), run.key \
                   FROM run JOIN session ON session.key = run.session \
                   LEFT JOIN instance ON instance.run = run.key{condition}{metrics} \
                  GROUP BY run.key ORDER BY session.started DESC, run.key DESC",
                condition = selection.on_instance(),
                metrics = selection.on_metrics(),
            );
            (sql, move |row: &Row<'_>, selection: &Selection| {
                let run = RunRow {
                    head: read_run_head(row)?,
                    instances: count(row, 14)?,
                    iterations: count(row, 15)?,
                    summaries: count(row, 16)?,
                };
                let passes = selection.has_run(row.get(17)?);
                Ok((passes && (all_runs || run.instances > 0)).then_some(run))
            })
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Checks that every entry of a filter fits something, without reading measurements.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn check_filter(&self, filter: &Filter) -> StoreResult<()> {
        self.store
            .read(|snapshot| Selection::of(snapshot, filter).map(drop))
    }

    pub(crate) fn select_rows<T, F: Fn(&Row<'_>, &Selection) -> StoreResult<T>>(
        &self,
        filter: &Filter,
        question: impl FnOnce(&Selection) -> (String, F),
    ) -> StoreResult<Vec<T>> {
        self.store.read(|snapshot| {
            let selection = Selection::of(snapshot, filter)?;
            let (sql, read) = question(&selection);
            query::rows(snapshot, &sql, [], |row| read(row, &selection))
        })
    }
}

/// Compares by suite and id, as people count.
fn in_order(one: &BenchmarkRow, other: &BenchmarkRow) -> Ordering {
    natural_order(&one.suite, &other.suite)
        .then_with(|| natural_order(&one.benchmark, &other.benchmark))
}

/// Sorts the rows, and joins those of one benchmark that had several ids.
fn joined(mut rows: Vec<BenchmarkRow>) -> Vec<BenchmarkRow> {
    rows.sort_by(in_order);
    let mut all: Vec<BenchmarkRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match all.last_mut() {
            Some(known) if in_order(known, &row).is_eq() => {
                known.instances += row.instances;
                known.iterations += row.iterations;
                known.failures += row.failures;
                known.summaries += row.summaries;
                known.metrics.extend(row.metrics);
                known.metrics.sort();
                known.metrics.dedup();
                if row.last_measured > known.last_measured {
                    known.last_measured = row.last_measured;
                    if !row.tags.is_empty() {
                        known.tags = row.tags;
                    }
                } else if known.tags.is_empty() {
                    known.tags = row.tags;
                }
            }
            Some(_) | None => all.push(row),
        }
    }
    all
}

/// How many summaries an instance has.
const SUMMARIES: &str = "(SELECT count(*) FROM summary WHERE summary.instance = instance.key)";

/// Returns whether also a run without an instance passes.
fn asks_for_no_instances(filter: &Filter) -> bool {
    filter.benchmarks.is_empty()
        && filter.tags.is_empty()
        && filter.metrics.is_empty()
        && filter.hosts.is_empty()
        && filter.outcomes.is_empty()
}

pub(crate) fn count(row: &Row<'_>, column: usize) -> StoreResult<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}
