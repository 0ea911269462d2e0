//! A chunk: a row of the store with some iterations of one instance in columns.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use super::super::reading::rows::filled_text;
use super::super::writing::batch::{RowBatch, text as text_value};
use super::super::writing::checksum;
use super::super::{StoreError, StoreResult};
use super::numbers::{
    ValuesText, flags_text, loops_text, read_flags, read_values, read_whole, values_text,
    whole_text,
};
use crate::{Column, IterationDetail, Iterations};
use lapwing_model::Outcome;

/// Iterations in a chunk at most: picking one out of the text, as the views do, stays cheap.
const MOST: usize = 128;

/// The longest text of a row's values.
///
/// SQLite moves what is over a quarter of a page into pages of its own, where most of the
/// room would be wasted. Stores that version 1 made have pages of 8 KiB, newer ones larger.
const LONGEST: usize = 1_980;

/// Values of one metric that are to be written.
#[derive(Debug)]
pub(crate) struct NewSeries<'a> {
    metric: i64,
    /// NaN where an iteration has none.
    values: &'a [f64],
    text: ValuesText,
}

impl<'a> NewSeries<'a> {
    /// Returns the values of a metric, made ready for writing.
    pub(crate) fn new(metric: i64, values: &'a [f64]) -> StoreResult<Self> {
        Ok(Self {
            metric,
            values,
            text: ValuesText::of(values)?,
        })
    }
}

/// Returns how `count` iterations with these values are divided into chunks.
pub(crate) fn divide(count: usize, series: &[NewSeries<'_>]) -> Vec<Range<usize>> {
    let mut chunks = Vec::with_capacity(count.div_ceil(MOST));
    let mut from = 0;
    while from < count {
        let reaches = series.iter().map(|it| it.text.reach(from, LONGEST));
        let to = reaches.fold(count.min(from + MOST), usize::min);
        chunks.push(from..to);
        from = to;
    }
    chunks
}

/// Writes chunks and their values.
pub(crate) struct ChunkWriter<'t> {
    connection: &'t Connection,
    chunks: RowBatch<11>,
    series: RowBatch<5>,
}

impl<'t> ChunkWriter<'t> {
    pub(crate) fn new(connection: &'t Connection) -> Self {
        Self {
            connection,
            chunks: RowBatch::new(
                "chunk (instance, first, count, idx, \"offset\", burn_in, loops, \
                 outcome, message, detail, checksum)",
            ),
            series: RowBatch::new("series (metric, instance, first, vals, checksum)"),
        }
    }

    /// Writes what is not in the tables yet.
    pub(crate) fn flush(&mut self) -> StoreResult<()> {
        self.chunks.write(self.connection)?;
        self.series.write(self.connection)
    }

    /// Writes the iterations of a range as one chunk, without their values.
    pub(crate) fn chunk(
        &mut self,
        instance: i64,
        iterations: &Iterations,
        range: &Range<usize>,
    ) -> StoreResult<()> {
        if range.is_empty() {
            return Ok(());
        }
        let (first, last) = (
            iterations.index(range.start),
            iterations.index(range.end - 1),
        );
        let index = if (last - first) as usize + 1 == range.len() {
            None
        } else {
            let index = range.clone().map(|at| iterations.index(at));
            Some(whole_text(&index.collect::<Vec<u32>>())?)
        };
        let outcomes = range.clone().map(|at| iterations.outcome[at]).enumerate();
        let outcomes = outcomes.filter(|(_, outcome)| *outcome != Outcome::Ok);
        let mut row = [
            Value::Integer(instance),
            Value::Integer(first.into()),
            Value::Integer(i64::try_from(range.len()).unwrap_or(i64::MAX)),
            text_value(index),
            text_value(values_text(&unusual(&iterations.offset, range, |it| {
                it.is_nan()
            }))?),
            text_value(flags_text(&unusual(&iterations.burn_in, range, |it| !it))),
            text_value(loops_text(&unusual(&iterations.loops, range, |it| {
                it == 1
            }))?),
            text_value(filled_text(
                &outcomes.collect::<BTreeMap<usize, Outcome>>(),
            )?),
            text_value(filled_text(&part(&iterations.messages, range))?),
            text_value(filled_text(&part(&iterations.details, range))?),
            Value::Null,
        ];
        let of = |values: &[Value]| i64::from(checksum::of(values.iter().map(ValueRef::from)));
        row[10] = Value::Integer(of(&row[..9]) | (of(&row[9..10]) << 32));
        self.chunks.push(self.connection, row)
    }

    /// Writes the part of a metric's values that belongs to the chunk of that first index,
    /// if there is any.
    pub(crate) fn series(
        &mut self,
        instance: i64,
        first: u32,
        series: &NewSeries<'_>,
        part: &Range<usize>,
    ) -> StoreResult<()> {
        let values = series.values.get(part.clone()).unwrap_or_default();
        if values.iter().all(|value| value.is_nan()) {
            return Ok(());
        }
        let mut row = [
            Value::Integer(series.metric),
            Value::Integer(instance),
            Value::Integer(first.into()),
            Value::Text(series.text.array(part)),
            Value::Null,
        ];
        row[4] = Value::Integer(checksum::of(row[..4].iter().map(ValueRef::from)).into());
        self.series.push(self.connection, row)
    }
}

/// The columns of `chunk` that `Iterations::push_chunk` reads, apart from the detail and from
/// whether the row is sound.
pub(crate) const CHUNK_COLUMNS: &str =
    "first, count, idx, \"offset\", burn_in, loops, chunk.outcome, chunk.message";

/// Which iterations a chunk has.
#[derive(Debug)]
pub(crate) struct ChunkExtent {
    /// The index of the first.
    pub(crate) first: u32,
    /// How many there are.
    pub(crate) count: usize,
    listed: Option<Vec<u32>>,
}

impl ChunkExtent {
    /// Reads the columns `first`, `count` and `idx`, which begin at `column`.
    pub(crate) fn read(row: &Row<'_>, column: usize) -> StoreResult<Self> {
        let first: u32 = row.get(column)?;
        let count: u32 = row.get(column + 1)?;
        let count = count as usize;
        let listed = text(row, column + 2)?
            .map(|text| read_whole::<u32>(text, count))
            .transpose()?;
        if let Some(listed) = &listed
            && (listed.first() != Some(&first) || !listed.is_sorted_by(|left, right| left < right))
        {
            return Err(StoreError::damaged(format!(
                "the indices of a chunk do not increase from its first, {first}"
            )));
        }
        Ok(Self {
            first,
            count,
            listed,
        })
    }

    /// Returns the first and the last index when they come without gaps.
    pub(crate) fn run(&self) -> Option<(u32, u32)> {
        let last = u32::try_from(self.count.checked_sub(1)?).ok()?;
        match self.listed {
            Some(_) => None,
            None => Some((self.first, self.first.checked_add(last)?)),
        }
    }

    /// Returns the indices.
    pub(crate) fn indices(&self) -> StoreResult<Vec<u32>> {
        match (&self.listed, self.run()) {
            (Some(listed), _) => Ok(listed.clone()),
            (None, Some((first, last))) => Ok((first..=last).collect()),
            (None, None) => Err(StoreError::damaged(format!(
                "a chunk has {} iterations from {} on",
                self.count, self.first
            ))),
        }
    }

    /// Returns whether an index is among them.
    pub(crate) fn contains(&self, index: u32) -> bool {
        match &self.listed {
            Some(listed) => listed.binary_search(&index).is_ok(),
            None => index
                .checked_sub(self.first)
                .is_some_and(|place| (place as usize) < self.count),
        }
    }
}

impl Iterations {
    /// Appends a row of `chunk`: its `CHUNK_COLUMNS`, its detail, and whether it is as it was written, from
    /// `column` on.
    pub(crate) fn push_chunk(&mut self, row: &Row<'_>, column: usize) -> StoreResult<ChunkExtent> {
        let extent = ChunkExtent::read(row, column)?;
        let start = self.len();
        let end = start + extent.count;
        self.push_indices(extent.indices()?);
        if let Some(text) = text(row, column + 3)? {
            let mut offsets = vec![f64::NAN; extent.count];
            read_values(text, &mut offsets)?;
            self.offset.extend(offsets);
        }
        self.offset.resize(end, f64::NAN);
        match text(row, column + 4)? {
            Some(text) => self.burn_in.extend(read_flags(text, extent.count)?),
            None => self.burn_in.resize(end, false),
        }
        match text(row, column + 5)? {
            Some(text) => self.loops.extend(read_whole::<u64>(text, extent.count)?),
            None => self.loops.resize(end, 1),
        }
        self.outcome.resize(end, Outcome::Ok);
        for (place, outcome) in sparse::<Outcome>(row, column + 6, extent.count)? {
            self.outcome.set(start + place, outcome);
        }
        for (place, message) in sparse::<String>(row, column + 7, extent.count)? {
            self.messages.insert(start + place, message);
        }
        for (place, detail) in sparse::<IterationDetail>(row, column + 8, extent.count)? {
            self.details.insert(start + place, detail);
        }
        if !row.get::<_, bool>(column + 9)? {
            return Err(StoreError::damaged("a chunk of iterations has changed"));
        }
        Ok(extent)
    }
}

/// Returns the text in a column, if it has one.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> StoreResult<Option<&'r str>> {
    row.get_ref(column)?
        .as_str_or_null()
        .map_err(|error| StoreError::damaged(error.to_string()))
}

/// Returns the entries of a range; none where all are usual, as they nearly always are.
fn unusual<T: Copy>(
    column: &Column<T>,
    range: &Range<usize>,
    is_usual: impl Fn(T) -> bool,
) -> Vec<T> {
    let entries = range.clone().map(|at| column[at]);
    if entries.clone().all(is_usual) {
        return Vec::new();
    }
    entries.collect()
}

/// Returns the entries of a range, by place in it.
fn part<'e, T>(entries: &'e BTreeMap<usize, T>, range: &Range<usize>) -> BTreeMap<usize, &'e T> {
    entries
        .range(range.clone())
        .map(|(place, entry)| (place - range.start, entry))
        .collect()
}

fn sparse<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    count: usize,
) -> StoreResult<BTreeMap<usize, T>> {
    let Some(text) = text(row, column)? else {
        return Ok(BTreeMap::new());
    };
    let name = row.as_ref().column_name(column).unwrap_or("?");
    let entries: BTreeMap<usize, T> = serde_json::from_str(text)
        .map_err(|error| StoreError::damaged(format!("column `{name}` is unreadable: {error}")))?;
    match entries.keys().next_back() {
        Some(place) if *place >= count => Err(StoreError::damaged(format!(
            "column `{name}` speaks of place {place} of {count}"
        ))),
        Some(_) | None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_neither_too_many_iterations_nor_too_long_a_text() {
        let divided = |count: usize, value: f64| {
            let values = vec![value; count];
            let series = [NewSeries::new(1, &values).unwrap()];
            divide(count, &series)
                .into_iter()
                .map(|part| (part.end, series[0].text.array(&part).len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(divided(0, 1.0), []);
        assert_eq!(divided(300, 1.0), [(128, 513), (256, 513), (300, 177)]);
        assert_eq!(divided(100, 0.123_456_789_012_345_6), [(100, 1_901)]);
        let long = -1.234_567_890_123_456_7e-300;
        assert_eq!(divided(100, long), [(79, 1_976), (100, 526)]);
        assert_eq!(divide(300, &[]), [0..128, 128..256, 256..300]);
    }
}
