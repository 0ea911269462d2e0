//! Assembles the iterations of instances from their chunks.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Connection, params_from_iter};

use super::super::columns::chunk::{CHUNK_COLUMNS, text};
use super::super::columns::numbers::read_values;
use super::super::writing::checksum::{CHUNK_IS_SOUND, DETAIL_IS_SOUND, SERIES_IS_SOUND};
use super::super::{StoreError, StoreResult, query};
use crate::Iterations;
use lapwing_model::MetricName;

/// Which iterations to read.
#[derive(Debug)]
pub(crate) struct WantedIterations {
    /// Table of the keys of the instances.
    source: &'static str,
    condition: &'static str,
    parameters: Vec<i64>,
    /// Whether all details are read; else only those of chunks with failures or artifacts.
    all_details: bool,
}

impl WantedIterations {
    /// Returns those of the instances in the temporary table `batch`, without the details of most.
    pub(crate) fn of_batch() -> Self {
        Self {
            source: "temp.batch",
            condition: "TRUE",
            parameters: Vec::new(),
            all_details: false,
        }
    }

    /// Returns those of one instance.
    pub(crate) fn of_instance(instance: i64) -> Self {
        Self {
            source: "instance",
            condition: "wanted.key = ?1",
            parameters: vec![instance],
            all_details: true,
        }
    }

    /// Returns those of the instances with these keys.
    pub(crate) fn of_keys((first, last): (i64, i64)) -> Self {
        Self {
            condition: "wanted.key BETWEEN ?1 AND ?2",
            parameters: vec![first, last],
            ..Self::of_instance(first)
        }
    }

    /// Returns those of one chunk, which is known by its first index.
    pub(crate) fn of_chunk(instance: i64, first: u32) -> Self {
        Self {
            condition: "wanted.key = ?1 AND first = ?2",
            parameters: vec![instance, i64::from(first)],
            ..Self::of_instance(instance)
        }
    }
}

/// The first index of a chunk, and its range in the columns of its instance.
type ChunkPlace = (u32, Range<usize>);

/// Returns the iterations wanted with their values, by the instance's key; instances
/// without iterations are missing.
pub(crate) fn assemble(
    connection: &Connection,
    wanted: &WantedIterations,
    metrics: &BTreeMap<i64, MetricName>,
) -> StoreResult<BTreeMap<i64, Iterations>> {
    let mut instances: BTreeMap<i64, (Iterations, Vec<ChunkPlace>)> = BTreeMap::new();
    let (detail, is_sound) = if wanted.all_details {
        ("detail", format!("{CHUNK_IS_SOUND} AND {DETAIL_IS_SOUND}"))
    } else {
        let detail =
            "CASE WHEN chunk.outcome IS NOT NULL OR instr(detail, '\"artifacts\"') THEN detail END";
        (detail, CHUNK_IS_SOUND.to_owned())
    };
    // CROSS JOIN keeps SQLite from swapping the loops.
    let sql = format!(
        "SELECT chunk.instance, {CHUNK_COLUMNS}, {detail}, {is_sound} FROM {} AS wanted \
         CROSS JOIN chunk ON chunk.instance = wanted.key WHERE {} ORDER BY wanted.key, first",
        wanted.source, wanted.condition
    );
    query::rows(
        connection,
        &sql,
        params_from_iter(&wanted.parameters),
        |row| {
            let (iterations, chunks) = instances.entry(row.get(0)?).or_default();
            let start = iterations.len();
            let extent = iterations.push_chunk(row, 1)?;
            chunks.push((extent.first, start..iterations.len()));
            Ok(())
        },
    )?;
    for (metric, name) in metrics {
        fill_values(connection, wanted, *metric, name, &mut instances)?;
    }
    let assembled = instances.into_iter().map(|(key, (mut iterations, _))| {
        // Chunks of iterations that came out of order overlap.
        if iterations.sort() {
            iterations.shrink();
            iterations.fail_impossible_values();
            Ok((key, iterations))
        } else {
            Err(StoreError::damaged("an iteration is there twice"))
        }
    });
    assembled.collect()
}

fn fill_values(
    connection: &Connection,
    wanted: &WantedIterations,
    metric: i64,
    name: &MetricName,
    instances: &mut BTreeMap<i64, (Iterations, Vec<ChunkPlace>)>,
) -> StoreResult<()> {
    let parameters = [&wanted.parameters[..], &[metric]].concat();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT series.instance, first, vals, {SERIES_IS_SOUND} FROM {} AS wanted \
         CROSS JOIN series ON series.metric = ?{} AND series.instance = wanted.key \
         WHERE {} ORDER BY wanted.key, first",
        wanted.source,
        parameters.len(),
        wanted.condition
    ))?;
    let mut found = statement.query(params_from_iter(parameters))?;
    let mut row = found.next()?;
    while let Some(current) = row {
        let key: i64 = current.get(0)?;
        let (iterations, chunks) = instances
            .get_mut(&key)
            .ok_or_else(|| StoreError::damaged("values have no iterations"))?;
        let mut column = vec![f64::NAN; iterations.len()];
        let mut chunks = chunks.iter();
        while let Some(current) = row {
            if current.get::<_, i64>(0)? != key {
                break;
            }
            let first: u32 = current.get(1)?;
            let (_, range) = chunks
                .find(|(known, _)| *known == first)
                .ok_or_else(|| StoreError::damaged("values have no iterations"))?;
            let vals = text(current, 2)?.unwrap_or_default();
            read_values(vals, &mut column[range.clone()])?;
            if !current.get::<_, bool>(3)? {
                let why = format!("values of `{name}` have changed");
                return Err(StoreError::damaged(why));
            }
            row = found.next()?;
        }
        iterations.values.insert(name.clone(), column);
    }
    Ok(())
}
