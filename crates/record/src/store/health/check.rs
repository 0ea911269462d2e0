//! Detection of damage.

use rusqlite::{Connection, Row};

use super::super::columns::chunk::{CHUNK_COLUMNS, text};
use super::super::columns::numbers::read_values;
use super::super::columns::span_columns::decode;
use super::super::writing::checksum::{
    CHUNK_IS_SOUND, DETAIL_IS_SOUND, SERIES_IS_SOUND, SPANS_ARE_SOUND,
};
use super::super::writing::indices::IterationIndices;
use super::super::{StoreError, StoreResult, StoreUpkeep, query};
use crate::Iterations;
use lapwing_model::Id;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The checks.
    pub checks: Vec<&'static str>,
    /// The problems; empty when the store is sound.
    pub problems: Vec<String>,
    /// Whether SQLite itself cannot read all of the file, so that nothing beyond was looked at.
    pub unreadable: bool,
}

/// What must hold beyond what SQLite checks by itself: a question that counts offenders.
const INVARIANTS: [(&str, &str); 5] = [
    (
        "iterations without their instance",
        "SELECT coalesce(sum(count), 0) FROM chunk \
         WHERE instance NOT IN (SELECT key FROM instance)",
    ),
    (
        "series of values without their chunk of iterations",
        "SELECT count(*) FROM series WHERE NOT EXISTS (SELECT 1 FROM chunk \
         WHERE chunk.instance = series.instance AND chunk.first = series.first)",
    ),
    (
        "values of unknown metrics",
        "SELECT count(*) FROM (SELECT DISTINCT metric FROM series \
         WHERE metric NOT IN (SELECT key FROM metric))",
    ),
    (
        "metrics that a benchmark has and its list lacks",
        "SELECT count(*) FROM (SELECT DISTINCT instance.benchmark, series.metric FROM series \
         JOIN instance ON instance.key = series.instance \
         EXCEPT SELECT benchmark, metric FROM benchmark_metric)",
    ),
    (
        "instances whose benchmark is of another suite than their session",
        "SELECT count(*) FROM instance JOIN benchmark ON benchmark.key = instance.benchmark \
         JOIN run ON run.key = instance.run JOIN session ON session.key = run.session \
         WHERE session.suite <> benchmark.suite",
    ),
];

impl StoreUpkeep<'_> {
    /// Detects damage: SQLite's own checks, then the invariants of the tables.
    ///
    /// # Errors
    /// When the store cannot be read at all.
    pub fn check(&self) -> StoreResult<CheckReport> {
        self.store.read(find_problems)
    }
}

fn find_problems(snapshot: &Connection) -> StoreResult<CheckReport> {
    let mut report = CheckReport {
        checks: vec!["the file's structure", "references between tables"],
        problems: Vec::new(),
        unreadable: false,
    };
    report.problems = query::column(snapshot, "PRAGMA integrity_check(20)", [])?;
    report.problems.retain(|text| text != "ok");
    // What SQLite cannot follow, a rescue names.
    if !report.problems.is_empty() {
        report.unreadable = true;
        return Ok(report);
    }
    report.problems = query::rows(snapshot, "PRAGMA foreign_key_check", [], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!(
            "a row of `{table}` refers to a `{parent}` that is missing"
        ))
    })?;
    for (what, sql) in INVARIANTS {
        let offenders: i64 = query::value(snapshot, sql, [])?;
        report.checks.push(what);
        if offenders > 0 {
            report.problems.push(format!("{offenders} {what}"));
        }
    }
    let what = "checksums and contents of iterations, values and spans";
    report.checks.push(what);
    for row in damaged_rows(snapshot)? {
        report.problems.push(row.describe(snapshot)?);
    }
    Ok(report)
}

/// A row that is not what was written, or cannot have been.
#[derive(Debug)]
pub(crate) struct DamagedRow {
    /// The key of its instance.
    pub(crate) instance: i64,
    /// What it holds: `iterations 0 to 99`.
    pub(crate) what: String,
    /// How many records that is.
    pub(crate) records: u64,
    /// What is wrong with it.
    pub(crate) why: String,
    /// The statement that deletes it.
    pub(crate) deletion: String,
}

impl DamagedRow {
    /// Returns what is damaged, of which instance, and why.
    pub(crate) fn describe(&self, connection: &Connection) -> StoreResult<String> {
        let name = instance_name(connection, self.instance)?;
        Ok(format!("{} of {name}: {}", self.what, self.why))
    }
}

/// Returns the name of an instance: its id, benchmark and session, as far as they are known.
pub(crate) fn instance_name(connection: &Connection, key: i64) -> StoreResult<String> {
    let sql = "SELECT instance.id, benchmark.id, coalesce(session.name, session.id) FROM instance \
               LEFT JOIN benchmark ON benchmark.key = instance.benchmark \
               LEFT JOIN run ON run.key = instance.run \
               LEFT JOIN session ON session.key = run.session WHERE instance.key = ?1";
    let name = query::first(connection, sql, [key], |row| {
        let part = |column| row.get::<_, Option<String>>(column);
        Ok((part(0)?, part(1)?, part(2)?))
    })?;
    let (id, benchmark, session) = name.unwrap_or_default();
    let unknown = || "unknown".to_owned();
    Ok(format!(
        "instance {} (benchmark `{}`, session `{}`)",
        id.unwrap_or_else(|| format!("number {key}")),
        benchmark.unwrap_or_else(unknown),
        session.unwrap_or_else(unknown)
    ))
}

/// Reads every row with values: checksums, numbers, outcomes, the count of each, every index once.
pub(crate) fn damaged_rows(connection: &Connection) -> StoreResult<Vec<DamagedRow>> {
    let mut damaged = Vec::new();
    let sql = format!(
        "SELECT instance, {CHUNK_COLUMNS}, detail, {CHUNK_IS_SOUND} AND {DETAIL_IS_SOUND}, rowid \
         FROM chunk ORDER BY instance, first"
    );
    let mut current = (0, IterationIndices::default());
    query::rows(connection, &sql, [], |row| {
        damaged.extend(damaged_chunk(row, &mut current)?);
        Ok(())
    })?;
    let sql = format!(
        "SELECT series.instance, chunk.count, vals, {SERIES_IS_SOUND}, series.metric, series.first, \
         metric.name FROM series LEFT JOIN metric ON metric.key = series.metric \
         JOIN chunk ON chunk.instance = series.instance AND chunk.first = series.first"
    );
    query::rows(connection, &sql, [], |row| {
        damaged.extend(damaged_values(row)?);
        Ok(())
    })?;
    let sql =
        format!("SELECT instance, data, {SPANS_ARE_SOUND}, spans, chunk, rowid FROM span_chunk");
    query::rows(connection, &sql, [], |row| {
        damaged.extend(damaged_spans(row)?);
        Ok(())
    })?;
    Ok(damaged)
}

/// Returns what is wrong with a chunk; `current` are the indices of the same instance that were met before.
fn damaged_chunk(
    row: &Row<'_>,
    current: &mut (i64, IterationIndices),
) -> StoreResult<Option<DamagedRow>> {
    let instance: i64 = row.get(0)?;
    if current.0 != instance {
        *current = (instance, IterationIndices::default());
    }
    let mut iterations = Iterations::default();
    let why = match iterations.push_chunk(row, 1) {
        Err(error) => Some(without_path(&error)),
        Ok(_) => {
            let mut indices = iterations.indices();
            let twice = indices.find(|index| !current.1.insert(*index));
            twice.map(|index| format!("iteration {index} is there twice"))
        }
    };
    let Some(why) = why else {
        return Ok(None);
    };
    let (first, count, rowid): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(11)?);
    Ok(Some(DamagedRow {
        instance,
        what: format!("iterations {first} to {}", first.saturating_add(count - 1)),
        // A chunk has no more, whatever a damaged one says.
        records: count.clamp(1, 256).unsigned_abs(),
        why,
        deletion: format!(
            "DELETE FROM chunk WHERE rowid = {rowid}; \
             DELETE FROM series WHERE instance = {instance} AND first = {first} \
               AND metric IN (SELECT key FROM metric);"
        ),
    }))
}

fn damaged_values(row: &Row<'_>) -> StoreResult<Option<DamagedRow>> {
    let count = row.get::<_, i64>(1)?.clamp(0, 256);
    let mut values = vec![0.0; usize::try_from(count).unwrap_or(0)];
    let read = text(row, 2).and_then(|vals| read_values(vals.unwrap_or_default(), &mut values));
    let why = match (read, row.get::<_, bool>(3)?) {
        (Err(error), _) => without_path(&error),
        (Ok(()), false) => "the values have changed".to_owned(),
        (Ok(()), true) => return Ok(None),
    };
    let (instance, metric, first): (i64, i64, i64) = (row.get(0)?, row.get(4)?, row.get(5)?);
    let name: Option<String> = row.get(6)?;
    Ok(Some(DamagedRow {
        instance,
        what: format!(
            "values of `{}` of iterations {first} to {}",
            name.unwrap_or_else(|| "unknown".to_owned()),
            first + count - 1
        ),
        records: 0,
        why,
        deletion: format!(
            "DELETE FROM series WHERE metric = {metric} AND instance = {instance} \
             AND first = {first};"
        ),
    }))
}

fn damaged_spans(row: &Row<'_>) -> StoreResult<Option<DamagedRow>> {
    let data: Vec<u8> = row.get(1)?;
    // Any id will do: they are read to see whether they can be.
    let decoded = decode(&data, Id::derived(&[b"checked"]));
    let why = match (decoded, row.get::<_, bool>(2)?) {
        (Err(error), _) => error,
        (Ok(_), false) => "the spans have changed".to_owned(),
        (Ok(_), true) => return Ok(None),
    };
    let (spans, chunk, rowid): (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
    Ok(Some(DamagedRow {
        instance: row.get(0)?,
        what: format!("spans (part {chunk})"),
        records: spans.clamp(1, 8_192).unsigned_abs(),
        why,
        deletion: format!("DELETE FROM span_chunk WHERE rowid = {rowid};"),
    }))
}

/// Returns what is damaged, without the path, which the report already has.
fn without_path(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
