//! Checksums of the rows that hold what was measured: chunks, their values, and spans.
//!
//! SQLite notices damage to the structure of its pages, and not that a digit has become another one.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

/// Whether a row of `chunk` is as it was written, but for its detail. The detail, which not every
/// reader reads, has the upper half of the checksum to itself.
pub(crate) const CHUNK_IS_SOUND: &str = "(chunk.checksum & 4294967295) = lapwing_checksum(\
     chunk.instance, chunk.first, chunk.count, chunk.idx, chunk.\"offset\", chunk.burn_in, \
     chunk.loops, chunk.outcome, chunk.message)";

/// Whether the detail of a row of `chunk` is as it was written.
pub(crate) const DETAIL_IS_SOUND: &str =
    "(chunk.checksum >> 32 & 4294967295) = lapwing_checksum(chunk.detail)";

/// Whether a row of `series` is as it was written.
pub(crate) const SERIES_IS_SOUND: &str = "series.checksum = \
     lapwing_checksum(series.metric, series.instance, series.first, series.vals)";

/// Whether a row of `span_chunk` is as it was written.
pub(crate) const SPANS_ARE_SOUND: &str = "span_chunk.checksum = lapwing_checksum(\
     span_chunk.instance, span_chunk.chunk, span_chunk.first, span_chunk.last, span_chunk.spans, \
     span_chunk.data)";

/// Lends SQLite the function `lapwing_checksum`: the CRC-32 of its arguments, each with its type and
/// its length.
pub(crate) fn lend(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lapwing_checksum", -1, flags, |context| {
        Ok(i64::from(of_arguments(context)))
    })
}

fn of_arguments(context: &Context<'_>) -> u32 {
    of((0..context.len()).map(|place| context.get_raw(place)))
}

/// Returns what `lapwing_checksum` returns of these arguments.
pub(crate) fn of<'v>(values: impl IntoIterator<Item = ValueRef<'v>>) -> u32 {
    const USUAL_LENGTH: usize = 256;
    // All at once: most values are shorter than what the hash takes in one step.
    let mut all = Vec::with_capacity(USUAL_LENGTH);
    for value in values {
        let mut bytes = |kind: u8, bytes: &[u8]| {
            all.push(kind);
            all.extend((bytes.len() as u64).to_le_bytes());
            all.extend(bytes);
        };
        match value {
            ValueRef::Null => bytes(0, &[]),
            ValueRef::Integer(number) => bytes(1, &number.to_le_bytes()),
            ValueRef::Real(number) => bytes(2, &number.to_le_bytes()),
            ValueRef::Text(text) => bytes(3, text),
            ValueRef::Blob(blob) => bytes(4, blob),
        }
    }
    crc32fast::hash(&all)
}
