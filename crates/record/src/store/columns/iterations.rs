//! Puts iterations: columns of an importer at once, records in large pieces.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::reading::assemble::{WantedIterations, assemble};
use super::super::reading::read;
use super::super::writing::keys::{InstanceKey, KeyMap};
use super::super::writing::write::child_key;
use super::super::{StoreError, StoreResult, Writer};
use super::chunk::{ChunkExtent, NewSeries, divide};
use crate::{IterationColumns, Iterations};
use lapwing_model::{Id, Iteration, LONGEST_LINE, RecordKind, too_long, too_many_metrics};

/// The number of iterations to buffer, so that they are stored in large pieces.
const HELD: usize = 4_096;

/// The number of instances of which a chunk is kept for comparison.
const COMPARED: usize = 64;

/// New iterations that are not in the store yet, by key of their instance.
#[derive(Debug, Default)]
pub(crate) struct HeldIterations {
    /// Those of each by index.
    instances: BTreeMap<i64, (InstanceKey, Vec<Iteration>)>,
    count: usize,
}

impl HeldIterations {
    fn get(&self, instance: i64, index: u32) -> Option<&Iteration> {
        let held = &self.instances.get(&instance)?.1;
        let place = held.binary_search_by_key(&index, |it| it.index).ok()?;
        held.get(place)
    }

    fn hold(&mut self, parent: InstanceKey, iteration: Iteration) {
        let (_, held) = self
            .instances
            .entry(parent.key)
            .or_insert_with(|| (parent, Vec::with_capacity(1)));
        let place = held.partition_point(|it| it.index < iteration.index);
        held.insert(place, iteration);
        self.count += 1;
    }
}

/// Stored iterations for comparison with new ones: the last chunk of each instance.
#[derive(Debug, Default)]
pub(crate) struct ComparedIterations {
    chunks: KeyMap<i64, BTreeMap<u32, Iteration>>,
}

impl ComparedIterations {
    /// Returns an iteration that is in the store.
    fn get(
        &mut self,
        connection: &Connection,
        parent: InstanceKey,
        instance: Id,
        index: u32,
    ) -> StoreResult<Option<&Iteration>> {
        let known = self.chunks.get(&parent.key);
        if !known.is_some_and(|chunk| chunk.contains_key(&index)) {
            if self.chunks.len() >= COMPARED {
                self.chunks.clear();
            }
            let chunk = read_chunk(connection, parent, instance, index)?;
            self.chunks.insert(parent.key, chunk);
        }
        let known = self.chunks.get(&parent.key);
        Ok(known.and_then(|chunk| chunk.get(&index)))
    }
}

impl Writer<'_> {
    /// Puts iterations of an instance that was created in this transaction: all of them, or
    /// the next part.
    ///
    /// # Errors
    /// If a value is infinite, the instance is missing or already has one of the iterations,
    /// or the store cannot be written to.
    pub fn put_columns(&mut self, instance: Id, mut columns: IterationColumns) -> StoreResult<()> {
        self.cleaner.clean_columns(&mut columns);
        let written = self.write_columns(instance, columns);
        written.map_err(|error| error.at(self.path))
    }

    fn write_columns(&mut self, instance: Id, columns: IterationColumns) -> StoreResult<()> {
        let first = columns.first;
        let parent = self.parent_instance(RecordKind::Iteration, instance, || {
            format!("{first} and more")
        })?;
        let mut iterations = columns.complete()?;
        iterations.fail_impossible_values();
        refuse_columns(instance, &iterations)?;
        if !self.has_room_for(parent.benchmark, iterations.values.keys())? {
            let key = child_key(format_args!("{first} and more"), instance);
            let kind = RecordKind::Iteration;
            return Err(StoreError::refused(kind, key, too_many_metrics()));
        }
        let Some(last) = iterations.indices().last() else {
            return Ok(());
        };
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        if stored.has_any(first, last) || self.held_iterations.instances.contains_key(&parent.key) {
            return Err(StoreError::damaged(format!(
                "an instance just made has iterations from {first} on"
            )));
        }
        self.write_iterations(parent, &iterations)?;
        self.chunks.flush()?;
        self.appended
            .count_new(RecordKind::Iteration, iterations.len() as u64);
        Ok(())
    }

    pub(crate) fn put_iteration(&mut self, iteration: &Iteration) -> StoreResult<()> {
        let (instance, index) = (iteration.instance, iteration.index);
        let parent = self.parent_instance(RecordKind::Iteration, instance, || index.to_string())?;
        let (kind, key) = (RecordKind::Iteration, || child_key(index, instance));
        if let Some(held) = self.held_iterations.get(parent.key, index) {
            return self
                .appended
                .same(self.cleaner, kind, key(), Some(held), iteration);
        }
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        if stored.contains(index) {
            self.write_held_instances()?;
            let compared = &mut self.compared;
            let stored = compared.get(self.connection, parent, instance, index)?;
            return self
                .appended
                .same(self.cleaner, kind, key(), stored, iteration);
        }
        if !self.has_metrics(parent.benchmark, iteration.metrics.keys()) {
            if !self.has_room_for(parent.benchmark, iteration.metrics.keys())? {
                return Err(StoreError::refused(kind, key(), too_many_metrics()));
            }
            for name in iteration.metrics.keys() {
                self.metric_of(parent.benchmark, name)?;
            }
        }
        self.held_iterations.hold(parent, iteration.clone());
        self.appended.count_new(RecordKind::Iteration, 1);
        if self.held_iterations.count >= HELD {
            self.write_held_iterations()?;
        }
        Ok(())
    }

    /// Writes the buffered iterations.
    pub(crate) fn write_held_iterations(&mut self) -> StoreResult<()> {
        let held = std::mem::take(&mut self.held_iterations);
        for (parent, iterations) in held.instances.into_values() {
            self.write_iterations(parent, &Iterations::from_records(iterations))?;
        }
        self.chunks.flush()
    }

    /// Writes new iterations of an instance in chunks.
    fn write_iterations(
        &mut self,
        parent: InstanceKey,
        iterations: &Iterations,
    ) -> StoreResult<()> {
        let mut all_series = Vec::with_capacity(iterations.values.len());
        let mut metrics = Vec::with_capacity(iterations.values.len());
        for (name, column) in &iterations.values {
            if column.iter().any(|value| !value.is_nan()) {
                let metric = self.metric_of(parent.benchmark, name)?;
                metrics.push((metric, name));
                all_series.push(NewSeries::new(metric, column)?);
            }
        }
        for range in divide(iterations.len(), &all_series) {
            let first = iterations.index(range.start);
            self.chunks.chunk(parent.key, iterations, &range)?;
            for series in &all_series {
                self.chunks.series(parent.key, first, series, &range)?;
            }
        }
        self.points
            .add_iterations(self.connection, parent, iterations, &metrics)?;
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        let mut indices = iterations.indices().peekable();
        while let Some(first) = indices.next() {
            let mut last = first;
            while let Some(next) = indices.next_if(|next| last + 1 == *next) {
                last = next;
            }
            stored.insert_run(first, last);
        }
        Ok(())
    }
}

/// Refuses what no reader of a line would take.
fn refuse_columns(instance: Id, iterations: &Iterations) -> StoreResult<()> {
    let infinite = |column: &[f64]| column.iter().position(|value| value.is_infinite());
    let mut offsets = iterations.offset.iter();
    let offsets = offsets.position(|value| value.is_infinite());
    let offsets = offsets.map(|place| (place, "offset"));
    let mut values = iterations.values.iter();
    let values = values.find_map(|(name, column)| Some((infinite(column)?, name.as_str())));
    let refused = |place: usize, why: String| {
        let key = child_key(iterations.index(place), instance);
        StoreError::refused(RecordKind::Iteration, key, why)
    };
    if let Some((place, metric)) = values.or(offsets) {
        return Err(refused(place, format!("`{metric}` is not a finite number")));
    }
    // Names and numbers of all metrics, beside what a single one says.
    let metrics: usize = iterations.values.keys().map(|name| 40 + name.len()).sum();
    let long = |length: usize| length + metrics > LONGEST_LINE / 8;
    let mut messages = iterations.messages.iter();
    let message = messages.find(|(_, text)| long(text.len()));
    match message.map(|(place, _)| *place).or(long(0).then_some(0)) {
        Some(place) => Err(refused(place, too_long())),
        None => Ok(()),
    }
}

/// Returns the iterations of the chunk that has an index.
fn read_chunk(
    connection: &Connection,
    parent: InstanceKey,
    instance: Id,
    index: u32,
) -> StoreResult<BTreeMap<u32, Iteration>> {
    let mut statement = connection.prepare_cached(
        "SELECT first, count, idx FROM chunk WHERE instance = ?1 AND first <= ?2 \
         ORDER BY first DESC",
    )?;
    let mut found = statement.query([parent.key, i64::from(index)])?;
    while let Some(row) = found.next()? {
        let extent = ChunkExtent::read(row, 0)?;
        if extent.contains(index) {
            let wanted = WantedIterations::of_chunk(parent.key, extent.first);
            let metrics = read::metrics_of(connection, parent.benchmark)?;
            let chunks = assemble(connection, &wanted, &metrics)?.into_values();
            let records = chunks.flat_map(|chunk| chunk.into_records(instance));
            return Ok(records.map(|record| (record.index, record)).collect());
        }
    }
    Ok(BTreeMap::new())
}

#[cfg(test)]
mod tests;
