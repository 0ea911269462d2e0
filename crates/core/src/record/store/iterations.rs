//! Puts iterations that come one by one: holds them back, compares those that are there.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use super::assemble::{WantedIterations, assemble};
use super::cache::InstanceKey;
use super::chunk::{ChunkExtent, NewChunk, NewSeries, divide};
use super::read;
use super::rows::detail_of;
use super::write::child_key;
use super::{StoreError, Writer};
use crate::model::{Id, Iteration, Outcome, RecordKind};

/// Iterations to hold back, so that they are stored in large pieces.
const HELD: usize = 4_096;

/// Instances of which to remember a chunk that was compared with.
const COMPARED: usize = 64;

/// Iterations that are not in the store yet and wait to be written.
#[derive(Debug, Default)]
pub(super) struct HeldIterations {
    instances: BTreeMap<i64, HeldInstance>,
    count: usize,
}

#[derive(Debug)]
struct HeldInstance {
    benchmark: i64,
    iterations: BTreeMap<u32, Iteration>,
}

impl HeldIterations {
    /// Returns whether any iteration of an instance waits.
    pub(super) fn has(&self, instance: i64) -> bool {
        self.instances.contains_key(&instance)
    }

    fn get(&self, instance: i64, index: u32) -> Option<&Iteration> {
        self.instances.get(&instance)?.iterations.get(&index)
    }

    fn hold(&mut self, parent: InstanceKey, iteration: Iteration) {
        self.instances
            .entry(parent.key)
            .or_insert_with(|| HeldInstance {
                benchmark: parent.benchmark,
                iterations: BTreeMap::new(),
            })
            .iterations
            .insert(iteration.index, iteration);
        self.count += 1;
    }
}

/// Stored iterations that new ones were compared with: the last chunk of each instance.
#[derive(Debug, Default)]
pub(super) struct ComparedIterations {
    chunks: HashMap<i64, BTreeMap<u32, Iteration>>,
}

impl ComparedIterations {
    /// Returns an iteration that is in the store.
    fn get(
        &mut self,
        connection: &Connection,
        parent: InstanceKey,
        instance: Id,
        index: u32,
    ) -> Result<Option<&Iteration>, StoreError> {
        let known = self.chunks.get(&parent.key);
        if !known.is_some_and(|chunk| chunk.contains_key(&index)) {
            if self.chunks.len() >= COMPARED {
                self.chunks.clear();
            }
            let chunk = read_chunk(connection, parent, instance, index)?;
            self.chunks.insert(parent.key, chunk);
        }
        Ok(self
            .chunks
            .get(&parent.key)
            .and_then(|chunk| chunk.get(&index)))
    }
}

impl Writer<'_> {
    pub(super) fn put_iteration(&mut self, iteration: &Iteration) -> Result<(), StoreError> {
        let (instance, index) = (iteration.instance, iteration.index);
        let parent = self.parent_instance(RecordKind::Iteration, instance, || index.to_string())?;
        refuse_infinite(iteration)?;
        if let Some(held) = self.held_iterations.get(parent.key, index) {
            let key = child_key(index, instance);
            return self
                .appended
                .same(RecordKind::Iteration, key, Some(held), iteration);
        }
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        if stored.contains(index) {
            let stored = self
                .compared
                .get(self.connection, parent, instance, index)?;
            let key = child_key(index, instance);
            return self
                .appended
                .same(RecordKind::Iteration, key, stored, iteration);
        }
        self.held_iterations.hold(parent, iteration.clone());
        self.appended.count_new(RecordKind::Iteration, 1);
        if self.held_iterations.count >= HELD {
            self.write_held_iterations()?;
        }
        Ok(())
    }

    /// Writes the iterations that are held back, each instance's by index.
    pub(super) fn write_held_iterations(&mut self) -> Result<(), StoreError> {
        let held = std::mem::take(&mut self.held_iterations);
        for (instance, held) in held.instances {
            let iterations: Vec<Iteration> = held.iterations.into_values().collect();
            let columns = columns_of(&iterations);
            let mut all_series = Vec::with_capacity(columns.len());
            for (name, column) in &columns {
                let metric = self.metric_of(held.benchmark, name)?;
                all_series.push(NewSeries::new(metric, column)?);
            }
            for range in divide(iterations.len(), &all_series) {
                let Some(first) = self.write_chunk(instance, &iterations[range.clone()])? else {
                    continue;
                };
                for series in &all_series {
                    self.chunks.series(instance, first, series, &range)?;
                }
            }
        }
        Ok(())
    }

    /// Writes some iterations of an instance, by index, as one chunk; returns the first
    /// index, if there is any.
    fn write_chunk(
        &mut self,
        instance: i64,
        iterations: &[Iteration],
    ) -> Result<Option<u32>, StoreError> {
        let (Some(first), Some(last)) = (iterations.first(), iterations.last()) else {
            return Ok(None);
        };
        let indices: Vec<u32> = iterations.iter().map(|it| it.index).collect();
        let without_gaps = (last.index - first.index) as usize + 1 == iterations.len();
        let offsets = iterations.iter().map(|it| it.offset.unwrap_or(f64::NAN));
        let placed = || iterations.iter().enumerate();
        let chunk = NewChunk {
            first: first.index,
            count: iterations.len(),
            indices: (!without_gaps).then_some(&indices),
            offsets: &offsets.collect::<Vec<_>>(),
            burn_in: &iterations.iter().map(|it| it.burn_in).collect::<Vec<_>>(),
            loops: &iterations.iter().map(|it| it.loops).collect::<Vec<_>>(),
            outcomes: placed()
                .filter(|(_, it)| it.outcome != Outcome::Ok)
                .map(|(place, it)| (place, it.outcome))
                .collect(),
            messages: placed()
                .filter_map(|(place, it)| Some((place, it.message.as_deref()?)))
                .collect(),
            details: placed()
                .filter_map(|(place, it)| Some((place, detail_of(it)?)))
                .collect(),
        };
        self.chunks.chunk(instance, &chunk)?;
        let stored = self.stored_indices.of(self.connection, instance)?;
        if without_gaps {
            stored.insert_run(first.index, last.index);
        } else {
            for index in indices {
                stored.insert(index);
            }
        }
        Ok(Some(first.index))
    }
}

/// Returns the values of each metric; NaN where an iteration has none.
fn columns_of(iterations: &[Iteration]) -> BTreeMap<&str, Vec<f64>> {
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (place, iteration) in iterations.iter().enumerate() {
        for (name, &value) in &iteration.metrics {
            let column = columns
                .entry(name)
                .or_insert_with(|| vec![f64::NAN; iterations.len()]);
            column[place] = value;
        }
    }
    columns
}

fn refuse_infinite(iteration: &Iteration) -> Result<(), StoreError> {
    let offset = iteration.offset.filter(|offset| !offset.is_finite());
    let value = iteration.metrics.iter().find(|(_, it)| !it.is_finite());
    let metric = match (value, offset) {
        (Some((name, _)), _) => name.clone(),
        (None, Some(_)) => "offset".to_owned(),
        (None, None) => return Ok(()),
    };
    Err(StoreError::NotFinite {
        kind: RecordKind::Iteration,
        key: child_key(iteration.index, iteration.instance),
        metric,
    })
}

/// Returns the iterations of the chunk that has an index.
fn read_chunk(
    connection: &Connection,
    parent: InstanceKey,
    instance: Id,
    index: u32,
) -> Result<BTreeMap<u32, Iteration>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT first, count, idx FROM chunk WHERE instance = ?1 AND first <= ?2 \
         ORDER BY first DESC",
    )?;
    let mut found = statement.query([parent.key, i64::from(index)])?;
    while let Some(row) = found.next()? {
        let extent = ChunkExtent::read(row, 0)?;
        if extent.contains(index) {
            let wanted = WantedIterations::Chunk {
                instance: parent.key,
                first: extent.first,
            };
            let metrics = read::metrics_of(connection, parent.benchmark)?;
            let chunks = assemble(connection, wanted, &metrics)?.into_values();
            return Ok(chunks
                .flat_map(|chunk| chunk.into_iterations(instance))
                .map(|iteration| (iteration.index, iteration))
                .collect());
        }
    }
    Ok(BTreeMap::new())
}
