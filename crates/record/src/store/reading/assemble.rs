//! Assembles the iterations of instances from their chunks.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Connection, params_from_iter};

use super::super::StoreError;
use super::super::columns::chunk::{CHUNK_COLUMNS, text};
use super::super::columns::numbers::read_values;
use super::super::writing::checksum::{CHUNK_IS_SOUND, DETAIL_IS_SOUND, SERIES_IS_SOUND};
use crate::Iterations;
use lapwing_model::MetricName;

/// Which iterations to read.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum WantedIterations {
    /// Those of the instances in the temporary table `batch`. Of details only those are read that
    /// belong to chunks with failures or artifacts.
    Batch,
    /// Those of one instance.
    Instance(i64),
    /// Those of one chunk.
    Chunk {
        /// The instance's key.
        instance: i64,
        /// The chunk's first index.
        first: u32,
    },
}

impl WantedIterations {
    /// Returns where to find the keys of the instances.
    fn source(self) -> &'static str {
        match self {
            Self::Batch => "temp.batch",
            Self::Instance(_) | Self::Chunk { .. } => "instance",
        }
    }

    fn condition(self) -> &'static str {
        match self {
            Self::Batch => "TRUE",
            Self::Instance(_) => "wanted.key = ?1",
            Self::Chunk { .. } => "wanted.key = ?1 AND first = ?2",
        }
    }

    fn parameters(self) -> Vec<i64> {
        match self {
            Self::Batch => Vec::new(),
            Self::Instance(instance) => vec![instance],
            Self::Chunk { instance, first } => vec![instance, i64::from(first)],
        }
    }

    fn is_sound(self) -> String {
        match self {
            Self::Batch => CHUNK_IS_SOUND.to_owned(),
            Self::Instance(_) | Self::Chunk { .. } => {
                format!("{CHUNK_IS_SOUND} AND {DETAIL_IS_SOUND}")
            }
        }
    }

    fn detail(self) -> &'static str {
        match self {
            Self::Batch => {
                "CASE WHEN chunk.outcome IS NOT NULL OR instr(detail, '\"artifacts\"') THEN detail END"
            }
            Self::Instance(_) | Self::Chunk { .. } => "detail",
        }
    }
}

/// The first index of a chunk, and its range in the columns of its instance.
type ChunkPlace = (u32, Range<usize>);

/// Returns the iterations wanted with their values, by the instance's key; instances
/// without iterations are missing.
pub(in crate::store) fn assemble(
    connection: &Connection,
    wanted: WantedIterations,
    metrics: &BTreeMap<i64, MetricName>,
) -> Result<BTreeMap<i64, Iterations>, StoreError> {
    let mut instances: BTreeMap<i64, (Iterations, Vec<ChunkPlace>)> = BTreeMap::new();
    // CROSS JOIN keeps SQLite from swapping the loops.
    let mut statement = connection.prepare_cached(&format!(
        "SELECT chunk.instance, {CHUNK_COLUMNS}, {}, {} FROM {} AS wanted \
         CROSS JOIN chunk ON chunk.instance = wanted.key WHERE {} ORDER BY wanted.key, first",
        wanted.detail(),
        wanted.is_sound(),
        wanted.source(),
        wanted.condition()
    ))?;
    let mut found = statement.query(params_from_iter(wanted.parameters()))?;
    while let Some(row) = found.next()? {
        let (iterations, chunks) = instances.entry(row.get(0)?).or_default();
        let start = iterations.len();
        let extent = iterations.push_chunk(row, 1)?;
        chunks.push((extent.first, start..iterations.len()));
    }
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
    wanted: WantedIterations,
    metric: i64,
    name: &MetricName,
    instances: &mut BTreeMap<i64, (Iterations, Vec<ChunkPlace>)>,
) -> Result<(), StoreError> {
    let mut parameters = wanted.parameters();
    parameters.push(metric);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT series.instance, first, vals, {SERIES_IS_SOUND} FROM {} AS wanted \
         CROSS JOIN series ON series.metric = ?{} AND series.instance = wanted.key \
         WHERE {} ORDER BY wanted.key, first",
        wanted.source(),
        parameters.len(),
        wanted.condition()
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
