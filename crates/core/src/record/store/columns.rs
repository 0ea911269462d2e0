//! Whole columns of iterations without the detour of a record for each.

use std::collections::BTreeMap;
use std::ops::Range;

use super::chunk::{NewChunk, divide};
use super::rows::Detail;
use super::write::child_key;
use super::{StoreError, Writer};
use crate::model::{Id, Outcome, RecordKind};
use crate::record::{IterationColumns, Mark};

impl Writer<'_> {
    /// Puts all iterations of an instance that was made in this transaction.
    ///
    /// # Errors
    /// When a value is infinite, the instance is missing or has iterations already, or
    /// the store cannot be written to.
    pub(crate) fn put_columns(
        &mut self,
        instance: Id,
        columns: IterationColumns,
    ) -> Result<(), StoreError> {
        self.write_columns(instance, columns)
            .map_err(|error| error.at(self.path))
    }

    fn write_columns(
        &mut self,
        instance: Id,
        mut columns: IterationColumns,
    ) -> Result<(), StoreError> {
        let parent =
            self.parent_instance(RecordKind::Iteration, instance, || "0 and more".to_owned())?;
        refuse_infinite(instance, &columns)?;
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        if !stored.is_empty() || self.held_iterations.has(parent.key) {
            return Err(StoreError::damaged("an instance just made has iterations"));
        }
        let Some(last) = last_index(&columns)? else {
            return Ok(());
        };
        stored.insert_run(0, last);
        let mut metrics = Vec::with_capacity(columns.values.len());
        for (name, column) in &columns.values {
            if column.iter().any(|value| !value.is_nan()) {
                metrics.push((self.metric_of(parent.benchmark, name)?, column));
            }
        }
        let mut marks = std::mem::take(&mut columns.marks);
        for range in divide(columns.count) {
            // Every place fits, because the last one does.
            let first = u32::try_from(range.start).unwrap_or(last);
            let later = u32::try_from(range.end)
                .map_or_else(|_too_large| BTreeMap::new(), |end| marks.split_off(&end));
            let mut marked = std::mem::replace(&mut marks, later);
            let chunk = NewChunk {
                first,
                count: range.len(),
                offsets: part(&columns.offsets, &range),
                burn_in: part(&columns.burn_in, &range),
                loops: part(&columns.loops, &range),
                details: take_details(&mut marked, first),
                outcomes: placed(&marked, first)
                    .filter(|(_, mark)| mark.outcome != Outcome::Ok)
                    .map(|(place, mark)| (place, mark.outcome))
                    .collect(),
                messages: placed(&marked, first)
                    .filter_map(|(place, mark)| Some((place, mark.message.as_deref()?)))
                    .collect(),
                ..NewChunk::default()
            };
            self.chunks.chunk(parent.key, &chunk)?;
            for (metric, column) in &metrics {
                self.chunks
                    .series(*metric, parent.key, first, part(column, &range))?;
            }
        }
        self.appended
            .count_new(RecordKind::Iteration, columns.count as u64);
        Ok(())
    }
}

/// Returns the last index, if there is any iteration; refuses columns that do not agree.
fn last_index(columns: &IterationColumns) -> Result<Option<u32>, StoreError> {
    let count = columns.count;
    let usual_or_whole = |length: usize| length == 0 || length == count;
    let agree = usual_or_whole(columns.offsets.len())
        && usual_or_whole(columns.burn_in.len())
        && usual_or_whole(columns.loops.len())
        && columns.values.values().all(|column| column.len() == count)
        && columns.marks.keys().all(|&index| (index as usize) < count);
    if !agree {
        return Err(StoreError::damaged(format!(
            "columns of different lengths were given for {count} iterations"
        )));
    }
    match count.checked_sub(1).map(u32::try_from) {
        None => Ok(None),
        Some(Ok(last)) => Ok(Some(last)),
        Some(Err(_)) => Err(StoreError::damaged(format!(
            "{count} iterations are more than an instance can have"
        ))),
    }
}

fn refuse_infinite(instance: Id, columns: &IterationColumns) -> Result<(), StoreError> {
    let infinite = |column: &[f64]| column.iter().position(|value| value.is_infinite());
    let offsets = infinite(&columns.offsets).map(|place| (place, "offset"));
    let mut values = columns.values.iter();
    let values = values.find_map(|(name, column)| Some((infinite(column)?, name.as_str())));
    match values.or(offsets) {
        None => Ok(()),
        Some((place, metric)) => Err(StoreError::NotFinite {
            kind: RecordKind::Iteration,
            key: child_key(place, instance),
            metric: metric.to_owned(),
        }),
    }
}

/// Returns the part of a column; an empty column stays empty.
fn part<'c, T>(column: &'c [T], range: &Range<usize>) -> &'c [T] {
    column.get(range.clone()).unwrap_or_default()
}

/// Returns marks by place in the chunk that begins at index `first`.
fn placed(marks: &BTreeMap<u32, Mark>, first: u32) -> impl Iterator<Item = (usize, &Mark)> {
    marks
        .iter()
        .map(move |(index, mark)| (index.saturating_sub(first) as usize, mark))
}

fn take_details(marks: &mut BTreeMap<u32, Mark>, first: u32) -> BTreeMap<usize, Detail> {
    marks
        .iter_mut()
        .filter(|(_, mark)| !mark.attributes.is_empty())
        .map(|(index, mark)| {
            let detail = Detail {
                attributes: std::mem::take(&mut mark.attributes),
                ..Detail::default()
            };
            (index.saturating_sub(first) as usize, detail)
        })
        .collect()
}
