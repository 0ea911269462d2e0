//! Spans, in pieces per instance.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::super::health::compare::differences;
use super::super::reading::rows;
use super::super::reading::select::Selection;
use super::super::writing::appended::RecordCount;
use super::super::writing::checksum::SPANS_ARE_SOUND;
use super::super::{Store, StoreCatalogue, StoreError, StoreResult, query};
use super::span_columns::{decode, encode};
use crate::Filter;
use crate::private::RecordCleaner;
use lapwing_model::{Id, RecordKind, Span};

/// An instance that has spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHead {
    /// The instance.
    pub instance: Id,
    /// Its benchmark.
    pub benchmark: String,
    /// The name or commit of the version.
    pub version: Option<String>,
    /// The variant.
    pub variant: String,
    /// When the session started.
    pub started: Timestamp,
    /// Number of spans.
    pub spans: u64,
}

impl StoreCatalogue<'_> {
    /// Returns the instances that have spans and pass a filter, the newest session last. Metrics of the filter do not
    /// count.
    ///
    /// # Errors
    /// When an entry of the filter fits nothing, or the store cannot be read.
    pub fn traces(&self, filter: &Filter) -> StoreResult<Vec<TraceHead>> {
        self.select_rows(filter, |selection| {
            let sql = format!(
                "SELECT instance.id, benchmark.id, run.version, run.\"commit\", run.variant, session.started, \
                 sum(span_chunk.spans), benchmark.key FROM span_chunk JOIN instance ON instance.key = span_chunk.instance \
                 JOIN benchmark ON benchmark.key = instance.benchmark JOIN run ON run.key = instance.run \
                 JOIN session ON session.key = run.session WHERE TRUE{} \
                 GROUP BY instance.key ORDER BY session.started, instance.key",
                selection.on_instance()
            );
            (sql, |row: &Row<'_>, selection: &Selection| {
                let (name, commit): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
                let recorded: String = row.get(1)?;
                let spans: i64 = row.get(6)?;
                Ok(TraceHead {
                    instance: rows::parsed(row, 0)?,
                    benchmark: selection.curated.id(row.get(7)?, &recorded).to_owned(),
                    version: name.or(commit),
                    variant: row.get(4)?,
                    started: rows::parsed(row, 5)?,
                    spans: spans.unsigned_abs(),
                })
            })
        })
    }
}

impl Store {
    /// Shows the spans of an instance, in the order in which they were stored.
    ///
    /// # Errors
    /// When there is no such instance, or the store cannot be read.
    pub fn each_span(&self, instance: Id, mut see: impl FnMut(&Span)) -> StoreResult<()> {
        self.read(|connection| {
            let sql = "SELECT key FROM instance WHERE id = ?1";
            let key = query::value(connection, sql, [instance.to_string()])?;
            pieces(connection, key, instance, 0, u32::MAX, |spans| {
                spans.iter().for_each(&mut see);
            })
        })
    }
}

/// Appends the spans of one instance; those already present change nothing.
pub(crate) fn append(
    connection: &Connection,
    key: i64,
    instance: Id,
    spans: Vec<Span>,
    cleaner: &RecordCleaner,
) -> StoreResult<RecordCount> {
    let mut count = RecordCount::default();
    let (first, last) = range(&spans);
    let stored = overlapping(connection, key, instance, first, last)?.into_iter();
    let stored: BTreeMap<u32, Span> = stored.map(|span| (span.index, span)).collect();
    let mut fresh: Vec<Span> = Vec::with_capacity(spans.len());
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for span in spans {
        let place = places.get(&span.index).map(|place| &fresh[*place]);
        match stored.get(&span.index).or(place) {
            None => {
                places.insert(span.index, fresh.len());
                fresh.push(span);
                count.new += 1;
            }
            Some(stored) if *stored == span || cleaner.cleaned(stored).as_ref() == Some(&span) => {
                count.already_there += 1;
            }
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
pub(crate) fn all(connection: &Connection, key: i64, instance: Id) -> StoreResult<Vec<Span>> {
    let mut spans = overlapping(connection, key, instance, 0, u32::MAX)?;
    spans.sort_by_key(|span| span.index);
    Ok(spans)
}

fn range(spans: &[Span]) -> (u32, u32) {
    let indices = || spans.iter().map(|span| span.index);
    (indices().min().unwrap_or(0), indices().max().unwrap_or(0))
}

fn insert(connection: &Connection, key: i64, spans: &[Span]) -> StoreResult<()> {
    let (first, last) = range(spans);
    let data = encode(spans).map_err(|error| StoreError::damaged(error.to_string()))?;
    let sql = "INSERT INTO span_chunk (instance, chunk, first, last, spans, data, checksum) \
         SELECT ?1, next, ?2, ?3, ?4, ?5, lapwing_checksum(?1, next, ?2, ?3, ?4, ?5) \
         FROM (SELECT coalesce(max(chunk) + 1, 0) AS next FROM span_chunk WHERE instance = ?1)";
    let count = (spans.len() as u64).cast_signed();
    query::execute(connection, sql, params![key, first, last, count, data]).map(drop)
}

fn overlapping(
    connection: &Connection,
    key: i64,
    instance: Id,
    first: u32,
    last: u32,
) -> StoreResult<Vec<Span>> {
    let mut all = Vec::new();
    pieces(connection, key, instance, first, last, |spans| {
        all.extend(spans)
    })?;
    Ok(all)
}

/// Hands over the spans of each piece that has any of these indices.
fn pieces(
    connection: &Connection,
    key: i64,
    instance: Id,
    first: u32,
    last: u32,
    mut take: impl FnMut(Vec<Span>),
) -> StoreResult<()> {
    let sql = format!(
        "SELECT data, {SPANS_ARE_SOUND} FROM span_chunk \
         WHERE instance = ?1 AND first <= ?3 AND last >= ?2 ORDER BY chunk"
    );
    let damaged = |why: String| StoreError::damaged(format!("spans of instance {instance}{why}"));
    query::rows(connection, &sql, params![key, first, last], |row| {
        let data: Vec<u8> = row.get(0)?;
        if !row.get::<_, bool>(1)? {
            return Err(damaged(" have changed".to_owned()));
        }
        take(decode(&data, instance).map_err(|why| damaged(format!(": {why}")))?);
        Ok(())
    })?;
    Ok(())
}
