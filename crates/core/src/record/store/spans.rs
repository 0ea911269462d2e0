//! Spans, in compressed pieces per instance.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::{Connection, params};

use super::StoreError;
use super::appended::RecordCount;
use super::compare::differences;
use super::rows::json_text;
use crate::model::{Id, RecordKind, Span};

/// Appends the spans of one instance; those already present change nothing.
pub(super) fn append(
    connection: &Connection,
    key: i64,
    instance: Id,
    spans: Vec<Span>,
) -> Result<RecordCount, StoreError> {
    let mut count = RecordCount::default();
    let (first, last) = range(&spans);
    let mut known: BTreeMap<u32, Span> = BTreeMap::new();
    for span in overlapping(connection, key, instance, first, last)? {
        known.insert(span.index, span);
    }
    let mut fresh = Vec::with_capacity(spans.len());
    for span in spans {
        match known.get(&span.index) {
            None => {
                known.insert(span.index, span.clone());
                fresh.push(span);
                count.new += 1;
            }
            Some(stored) if *stored == span => count.already_there += 1,
            Some(stored) => {
                return Err(StoreError::Conflict {
                    kind: RecordKind::Span,
                    key: format!("{} of instance {instance}", span.index),
                    differences: differences(stored, &span),
                });
            }
        }
    }
    if !fresh.is_empty() {
        insert(connection, key, &fresh)?;
    }
    Ok(count)
}

/// Returns the spans of an instance, by index.
pub(super) fn all(
    connection: &Connection,
    key: i64,
    instance: Id,
) -> Result<Vec<Span>, StoreError> {
    let mut spans = overlapping(connection, key, instance, 0, u32::MAX)?;
    spans.sort_by_key(|span| span.index);
    Ok(spans)
}

fn range(spans: &[Span]) -> (u32, u32) {
    let first = spans.iter().map(|span| span.index).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.index).max().unwrap_or(0);
    (first, last)
}

fn insert(connection: &Connection, key: i64, spans: &[Span]) -> Result<(), StoreError> {
    let (first, last) = range(spans);
    // The row already has the instance; its id would only take space.
    let mut values = Vec::with_capacity(spans.len());
    for span in spans {
        let mut value =
            serde_json::to_value(span).map_err(|error| StoreError::damaged(error.to_string()))?;
        if let Some(object) = value.as_object_mut() {
            object.remove("instance");
        }
        values.push(value);
    }
    let text = json_text(&values)?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let data = encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish())
        .map_err(|error| StoreError::damaged(error.to_string()))?;
    connection
        .prepare_cached(
            "INSERT INTO span_chunk (instance, chunk, first, last, spans, data) VALUES (?1, \
             (SELECT coalesce(max(chunk) + 1, 0) FROM span_chunk WHERE instance = ?1), \
             ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            key,
            first,
            last,
            i64::try_from(spans.len()).unwrap_or(i64::MAX),
            data
        ])?;
    Ok(())
}

fn overlapping(
    connection: &Connection,
    key: i64,
    instance: Id,
    first: u32,
    last: u32,
) -> Result<Vec<Span>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT data FROM span_chunk WHERE instance = ?1 AND first <= ?3 AND last >= ?2 \
         ORDER BY chunk",
    )?;
    let mut rows = statement.query(params![key, first, last])?;
    let mut spans = Vec::new();
    while let Some(row) = rows.next()? {
        let data: Vec<u8> = row.get(0)?;
        spans.extend(decode(&data, instance)?);
    }
    Ok(spans)
}

fn decode(data: &[u8], instance: Id) -> Result<Vec<Span>, StoreError> {
    let unreadable =
        |why: String| StoreError::damaged(format!("spans of instance {instance}: {why}"));
    let mut text = Vec::new();
    ZlibDecoder::new(data)
        .read_to_end(&mut text)
        .map_err(|error| unreadable(error.to_string()))?;
    let mut values: Vec<serde_json::Value> =
        serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let id = serde_json::Value::String(instance.to_string());
    values
        .iter_mut()
        .map(|value| {
            if let Some(object) = value.as_object_mut() {
                object.insert("instance".to_owned(), id.clone());
            }
            serde_json::from_value(value.take()).map_err(|error| unreadable(error.to_string()))
        })
        .collect()
}
