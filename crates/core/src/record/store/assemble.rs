//! Puts the iterations of instances together again from their chunks.

use std::collections::BTreeMap;

use rusqlite::{Connection, params_from_iter};

use super::StoreError;
use super::chunk::{CHUNK_COLUMNS, ChunkColumns, reorder, text};
use super::numbers::read_values;
use crate::model::{Id, Iteration, MetricName};

/// Which iterations to read.
#[derive(Debug, Clone, Copy)]
pub(super) enum WantedIterations<'s> {
    /// Those of all instances of a benchmark that fulfil a condition (beginning with
    /// ` AND`). Of details only those are read that belong to chunks with failures or artifacts.
    Benchmark {
        /// The benchmark's key.
        key: i64,
        /// The condition.
        condition: &'s str,
    },
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

impl WantedIterations<'_> {
    fn condition(&self) -> String {
        match self {
            Self::Benchmark { condition, .. } => format!("instance.benchmark = ?1{condition}"),
            Self::Instance(_) => "instance.key = ?1".to_owned(),
            Self::Chunk { .. } => "instance.key = ?1 AND first = ?2".to_owned(),
        }
    }

    fn parameters(&self) -> Vec<i64> {
        match *self {
            Self::Benchmark { key, .. } => vec![key],
            Self::Instance(instance) => vec![instance],
            Self::Chunk { instance, first } => vec![instance, i64::from(first)],
        }
    }

    fn detail(&self) -> &'static str {
        match self {
            Self::Benchmark { .. } => {
                "CASE WHEN chunk.outcome IS NOT NULL OR instr(detail, '\"artifacts\"') THEN detail END"
            }
            Self::Instance(_) | Self::Chunk { .. } => "detail",
        }
    }
}

/// The iterations of one instance, by index.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AssembledIterations {
    /// What there is besides values.
    pub(super) columns: ChunkColumns,
    /// The values of each metric; NaN where an iteration has none.
    pub(super) values: BTreeMap<MetricName, Vec<f64>>,
    /// The first index of each chunk, and where it begins and ends in the columns.
    chunks: Vec<(u32, usize, usize)>,
}

/// Returns the iterations wanted with their values, by the instance's key; instances
/// without iterations are missing.
pub(super) fn assemble(
    connection: &Connection,
    wanted: WantedIterations<'_>,
    metrics: &BTreeMap<i64, MetricName>,
) -> Result<BTreeMap<i64, AssembledIterations>, StoreError> {
    let mut instances: BTreeMap<i64, AssembledIterations> = BTreeMap::new();
    // CROSS JOIN keeps SQLite from turning the loops round.
    let mut statement = connection.prepare_cached(&format!(
        "SELECT chunk.instance, {CHUNK_COLUMNS}, {} FROM instance \
         CROSS JOIN chunk ON chunk.instance = instance.key WHERE {} ORDER BY instance.key, first",
        wanted.detail(),
        wanted.condition()
    ))?;
    let mut found = statement.query(params_from_iter(wanted.parameters()))?;
    while let Some(row) = found.next()? {
        let instance = instances.entry(row.get(0)?).or_default();
        let start = instance.columns.len();
        let extent = instance.columns.push(row, 1)?;
        let end = instance.columns.len();
        instance.chunks.push((extent.first, start, end));
    }
    for (metric, name) in metrics {
        fill_values(connection, wanted, *metric, name, &mut instances)?;
    }
    for instance in instances.values_mut() {
        instance.sort()?;
    }
    Ok(instances)
}

fn fill_values(
    connection: &Connection,
    wanted: WantedIterations<'_>,
    metric: i64,
    name: &MetricName,
    instances: &mut BTreeMap<i64, AssembledIterations>,
) -> Result<(), StoreError> {
    let mut parameters = wanted.parameters();
    parameters.push(metric);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT series.instance, first, vals FROM instance \
         CROSS JOIN series ON series.metric = ?{} AND series.instance = instance.key \
         WHERE {} ORDER BY instance.key, first",
        parameters.len(),
        wanted.condition()
    ))?;
    let mut found = statement.query(params_from_iter(parameters))?;
    let mut row = found.next()?;
    while let Some(current) = row {
        let key: i64 = current.get(0)?;
        let instance = instances
            .get_mut(&key)
            .ok_or_else(|| StoreError::damaged("values have no iterations"))?;
        let mut column = vec![f64::NAN; instance.columns.len()];
        let mut chunks = instance.chunks.iter();
        while let Some(current) = row {
            if current.get::<_, i64>(0)? != key {
                break;
            }
            let first: u32 = current.get(1)?;
            let (_, start, end) = chunks
                .find(|(known, _, _)| *known == first)
                .ok_or_else(|| StoreError::damaged("values have no iterations"))?;
            let vals = text(current, 2)?.unwrap_or_default();
            read_values(vals, &mut column[*start..*end])?;
            row = found.next()?;
        }
        instance.values.insert(name.clone(), column);
    }
    Ok(())
}

impl AssembledIterations {
    /// Sorts by index: chunks of iterations that came out of order overlap.
    fn sort(&mut self) -> Result<(), StoreError> {
        let increases = |indices: &[u32]| indices.is_sorted_by(|left, right| left < right);
        if increases(&self.columns.index) {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&place| self.columns.index[place]);
        self.columns.reorder(&order);
        for column in self.values.values_mut() {
            reorder(column, &order);
        }
        if !increases(&self.columns.index) {
            return Err(StoreError::damaged("an iteration is there twice"));
        }
        Ok(())
    }

    /// Returns them as records.
    pub(super) fn into_iterations(mut self, instance: Id) -> impl Iterator<Item = Iteration> {
        (0..self.columns.len()).map(move |place| {
            let detail = self.columns.details.remove(&place).unwrap_or_default();
            let metrics = self.values.iter();
            Iteration {
                instance,
                index: self.columns.index[place],
                offset: Some(self.columns.offset[place]).filter(|offset| !offset.is_nan()),
                burn_in: self.columns.burn_in[place],
                loops: self.columns.loops[place],
                outcome: self.columns.outcome[place],
                message: self.columns.messages.remove(&place),
                metrics: metrics
                    .filter(|(_, column)| !column[place].is_nan())
                    .map(|(name, column)| (name.clone(), column[place]))
                    .collect(),
                attributes: detail.attributes,
                artifacts: detail.artifacts,
                extra: detail.extra,
            }
        })
    }
}
