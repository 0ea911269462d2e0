//! Reads the points of histories.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rusqlite::{Connection, Row};

use super::super::columns::chunk::text;
use super::super::columns::numbers::{read_values, read_whole};
use super::super::curation::curated::{self, CuratedNames};
use super::super::reading::read::metric_names;
use super::super::reading::recorded::BenchmarkReader;
use super::super::reading::rows::from_json;
use super::super::reading::select::Selection;
use super::super::{Store, StoreError, StoreResult, query};
use super::sums::{IS_SOUND, TRIED};
use crate::Filter;
use lapwing_model::{MetricName, Object, Run, Session};

/// The points of the histories that pass a filter.
#[derive(Debug, Default)]
pub struct HistoryPoints {
    /// The runs, in the order in which they were recorded.
    pub runs: Vec<PointRun>,
    /// The benchmarks of which the points say everything that a history needs: all instances have the same fingerprint
    /// and parameters and went well, no iteration failed, and there are samples of all metrics but [`NO_POINTS`](super::NO_POINTS), whose
    /// summaries are left out. Names are as recorded, and nothing is retired.
    pub benchmarks: Vec<BenchmarkPoints>,
}

/// A run of histories.
#[derive(Debug)]
pub struct PointRun {
    /// Its session.
    pub session: Arc<Session>,
    /// The run.
    pub run: Arc<Run>,
    /// Different hosts and environments of its instances, up to 50.
    pub surroundings: Vec<(Option<String>, Object)>,
}

/// The points of one benchmark.
#[derive(Debug, Default, PartialEq)]
pub struct BenchmarkPoints {
    /// Its suite.
    pub suite: String,
    /// Its id.
    pub id: String,
    /// The points of each metric, in the order of the runs.
    pub metrics: BTreeMap<MetricName, Vec<HistoryPoint>>,
    /// The indices of the runs in which it was measured, with or without a value, in order.
    pub tried: Vec<u32>,
}

/// A metric of a benchmark in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryPoint {
    /// The index of the run in [`HistoryPoints::runs`].
    pub run: u32,
    /// Number of instances with a value.
    pub instances: u32,
    /// The mean of their means, in the unit of the run. Planned burn-in is left out.
    pub mean: f64,
    /// The mean of the logarithms of their means; NaN if one is not positive.
    pub mean_log: f64,
}

impl Store {
    /// Returns the points of the histories that pass a filter, of all metrics. Points that are missing are made; a store
    /// that can only be read, and lacks some, has none.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing; when the store cannot be read or written to.
    pub fn history_points(&mut self, filter: &Filter) -> StoreResult<HistoryPoints> {
        let missing = self.read(runs_without_points)?;
        if !missing.is_empty() {
            if self.is_read_only() {
                return Ok(HistoryPoints::default());
            }
            self.write(|writer| writer.make_points(missing))?;
        }
        self.read(|snapshot| read_points(snapshot, filter))
    }
}

fn runs_without_points(connection: &Connection) -> StoreResult<BTreeSet<i64>> {
    let sql = format!(
        "SELECT key FROM run WHERE key NOT IN (SELECT run FROM history_run) \
         UNION SELECT run FROM history_chunk WHERE NOT ({IS_SOUND})"
    );
    Ok(query::column(connection, &sql, [])?.into_iter().collect())
}

fn read_points(connection: &Connection, filter: &Filter) -> StoreResult<HistoryPoints> {
    let selection = Selection::of(connection, filter)?;
    if !selection.takes_all_instances() {
        return Ok(HistoryPoints::default());
    }
    let mut benchmarks = readable(connection, &selection)?;
    let places: HashMap<i64, usize> = benchmarks
        .iter()
        .enumerate()
        .map(|(place, (key, _))| (*key, place))
        .collect();
    let mut points: Vec<BTreeMap<i64, Vec<HistoryPoint>>> = vec![BTreeMap::new(); places.len()];
    let mut run_keys: Vec<i64> = Vec::new();
    let sql = "SELECT run, metric, benchmarks, instances, means, logs FROM history_chunk \
               ORDER BY run, metric";
    query::rows(connection, sql, [], |row| {
        let run: i64 = row.get(0)?;
        if !selection.has_run(run) {
            return Ok(());
        }
        if run_keys.last() != Some(&run) {
            run_keys.push(run);
        }
        let place = u32::try_from(run_keys.len() - 1).unwrap_or(u32::MAX);
        let chunk = Chunk::read(row)?;
        for (at, benchmark) in chunk.benchmarks.iter().enumerate() {
            let Some(of) = places.get(benchmark) else {
                continue;
            };
            let (points, benchmark) = (&mut points[*of], &mut benchmarks[*of].1);
            if benchmark.tried.last() != Some(&place) {
                benchmark.tried.push(place);
            }
            if chunk.metric != TRIED {
                let of_metric = points.entry(chunk.metric).or_default();
                of_metric.push(chunk.point(at, place));
            }
        }
        Ok(())
    })?;
    let names = metric_names(connection, "SELECT key, name FROM metric", [])?;
    for ((_, benchmark), points) in benchmarks.iter_mut().zip(points) {
        let named = points.into_iter();
        let named = named.filter_map(|(key, points)| Some((names.get(&key)?.clone(), points)));
        benchmark.metrics = named.collect();
    }
    let runs = point_runs(connection, selection, &run_keys)?;
    let benchmarks = benchmarks.into_iter().map(|(_, benchmark)| benchmark);
    Ok(HistoryPoints {
        benchmarks: benchmarks.filter(|it| !it.tried.is_empty()).collect(),
        runs,
    })
}

/// A row of `history_chunk`.
struct Chunk {
    metric: i64,
    benchmarks: Vec<i64>,
    instances: Option<Vec<u32>>,
    means: Vec<f64>,
    logs: Option<Vec<f64>>,
}

impl Chunk {
    fn read(row: &Row<'_>) -> StoreResult<Self> {
        let listed = text(row, 2)?.unwrap_or_default();
        let count = listed.bytes().filter(|byte| *byte == b',').count() + 1;
        let numbers = |column: usize| -> StoreResult<Option<Vec<f64>>> {
            let Some(text) = text(row, column)? else {
                return Ok(None);
            };
            let mut values = vec![f64::NAN; count];
            read_values(text, &mut values)?;
            Ok(Some(values))
        };
        let instances = text(row, 3)?;
        Ok(Self {
            metric: row.get(1)?,
            benchmarks: read_whole(listed, count)?,
            instances: instances.map(|it| read_whole(it, count)).transpose()?,
            means: numbers(4)?.ok_or_else(|| StoreError::damaged("points have no means"))?,
            logs: numbers(5)?,
        })
    }

    fn point(&self, at: usize, run: u32) -> HistoryPoint {
        let mean = self.means[at];
        HistoryPoint {
            run,
            instances: self.instances.as_ref().map_or(1, |instances| instances[at]),
            mean,
            mean_log: match &self.logs {
                Some(logs) => logs[at],
                None if mean > 0.0 => mean.ln(),
                None => f64::NAN,
            },
        }
    }
}

/// Returns the selected benchmarks whose points say everything, without points, by suite and id.
fn readable(
    connection: &Connection,
    selection: &Selection,
) -> StoreResult<Vec<(i64, BenchmarkPoints)>> {
    let sql = "SELECT benchmark FROM history_benchmark WHERE NOT is_whole";
    let described: BTreeSet<i64> = query::column(connection, sql, [])?.into_iter().collect();
    let retired: BTreeSet<i64> = if selection.curated.hides {
        let sql = "SELECT DISTINCT benchmark FROM instance \
                   WHERE key IN (SELECT key FROM temp.retired_instance)";
        query::column(connection, sql, [])?.into_iter().collect()
    } else {
        BTreeSet::new()
    };
    let all = curated::benchmarks(connection)?;
    let names = &selection.curated;
    let renamed: BTreeSet<(&str, &str)> = all
        .iter()
        .filter(|(key, ..)| names.renames(*key) > 0)
        .map(|(key, suite, id)| (suite.as_str(), names.id(*key, id)))
        .collect();
    let is_as_recorded = |(key, suite, id): &&(i64, String, String)| {
        selection.has_benchmark(*key)
            && described.contains(key)
            && !retired.contains(key)
            && is_named_as_recorded(names, *key)
            && !renamed.contains(&(suite.as_str(), id.as_str()))
    };
    let readable = all.iter().filter(is_as_recorded);
    let empty = |(key, suite, id): &(i64, String, String)| {
        let benchmark = BenchmarkPoints {
            suite: suite.clone(),
            id: id.clone(),
            ..BenchmarkPoints::default()
        };
        (*key, benchmark)
    };
    Ok(readable.map(empty).collect())
}

fn is_named_as_recorded(names: &CuratedNames, benchmark: i64) -> bool {
    names.renames(benchmark) == 0 && names.metrics(benchmark).is_none()
}

/// Returns the runs of these keys.
fn point_runs(
    connection: &Connection,
    selection: Selection,
    keys: &[i64],
) -> StoreResult<Vec<PointRun>> {
    let mut surroundings: HashMap<i64, Vec<(Option<String>, Object)>> = HashMap::new();
    let sql = "SELECT run, host, environment FROM history_surroundings ORDER BY rowid";
    query::rows(connection, sql, [], |row| {
        let of_run = surroundings.entry(row.get(0)?).or_default();
        of_run.push((row.get(1)?, from_json(row, 2)?));
        Ok(())
    })?;
    let reader = BenchmarkReader::of(connection, selection)?;
    let run = |key: &i64| {
        let (session, run) = reader.run(*key)?;
        Ok(PointRun {
            session,
            run,
            surroundings: surroundings.remove(key).unwrap_or_default(),
        })
    };
    keys.iter().map(run).collect()
}
