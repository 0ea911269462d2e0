//! Detection of damage.

use rusqlite::Connection;

use super::chunk::{CHUNK_COLUMNS, text};
use super::indices::IterationIndices;
use super::numbers::read_values;
use super::{StoreError, StoreUpkeep};
use crate::record::Iterations;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The checks.
    pub checks: Vec<&'static str>,
    /// The problems; empty when the store is sound.
    pub problems: Vec<String>,
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
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        self.store.read(find_problems)
    }
}

fn find_problems(snapshot: &Connection) -> Result<CheckReport, StoreError> {
    let mut report = CheckReport {
        checks: vec!["the file's structure", "references between tables"],
        problems: Vec::new(),
    };
    let mut statement = snapshot.prepare("PRAGMA integrity_check(20)")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let text: String = row.get(0)?;
        if text != "ok" {
            report.problems.push(text);
        }
    }
    let mut statement = snapshot.prepare("PRAGMA foreign_key_check")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        report.problems.push(format!(
            "a row of `{table}` refers to a `{parent}` that is missing"
        ));
    }
    for (what, sql) in INVARIANTS {
        let offenders: i64 = snapshot.query_row(sql, [], |row| row.get(0))?;
        report.note(what, offenders.unsigned_abs(), None);
    }
    check_chunks(snapshot, &mut report)?;
    check_series(snapshot, &mut report)?;
    Ok(report)
}

impl CheckReport {
    fn note(&mut self, what: &'static str, offenders: u64, example: Option<String>) {
        self.checks.push(what);
        if offenders > 0 {
            let example = example.map_or_else(String::new, |it| format!(", as in {it}"));
            self.problems.push(format!("{offenders} {what}{example}"));
        }
    }
}

/// Offenders that are found by reading, with the first of them.
#[derive(Default)]
struct CheckOffenders {
    count: u64,
    example: Option<String>,
}

impl CheckOffenders {
    fn add(&mut self, instance: i64, why: &str) {
        self.count += 1;
        self.example
            .get_or_insert_with(|| format!("instance number {instance}: {why}"));
    }
}

/// Reads every chunk: numbers, outcomes, the count of each, every index once.
fn check_chunks(connection: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let (mut unreadable, mut twice) = (CheckOffenders::default(), CheckOffenders::default());
    let mut current = (0, IterationIndices::default());
    let mut statement = connection.prepare(&format!(
        "SELECT instance, {CHUNK_COLUMNS}, detail FROM chunk ORDER BY instance, first"
    ))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let instance: i64 = row.get(0)?;
        if current.0 != instance {
            current = (instance, IterationIndices::default());
        }
        let mut iterations = Iterations::default();
        match iterations.push_chunk(row, 1) {
            Err(error) => unreadable.add(instance, &what(&error)),
            Ok(_) => {
                for index in iterations.index {
                    if !current.1.insert(index) {
                        twice.add(instance, &format!("iteration {index}"));
                    }
                }
            }
        }
    }
    report.note(
        "chunks of iterations that cannot be read",
        unreadable.count,
        unreadable.example,
    );
    report.note(
        "iterations that are there twice",
        twice.count,
        twice.example,
    );
    Ok(())
}

/// Reads every series: numbers or null, as many as its chunk has iterations.
fn check_series(connection: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut unreadable = CheckOffenders::default();
    let mut statement = connection.prepare(
        "SELECT series.instance, chunk.count, vals FROM series JOIN chunk \
         ON chunk.instance = series.instance AND chunk.first = series.first",
    )?;
    let mut found = statement.query([])?;
    let mut values = Vec::new();
    while let Some(row) = found.next()? {
        let count: u32 = row.get(1)?;
        values.resize(count as usize, 0.0);
        let vals = text(row, 2)?.unwrap_or_default();
        if let Err(error) = read_values(vals, &mut values) {
            unreadable.add(row.get(0)?, &what(&error));
        }
    }
    report.note(
        "series of values that cannot be read or do not fit their chunk",
        unreadable.count,
        unreadable.example,
    );
    Ok(())
}

/// Returns what is damaged, without the path, which the report already has.
fn what(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
