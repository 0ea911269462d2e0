//! Coiled's benchmark database: SQLite, one row for each test that was run.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use memchr::memmem;
use sha2::{Digest, Sha256};

use super::coiled_database::{Database, Row, identity, is_sqlite};
use super::coiled_row::{Measured, measured};
use super::intake::{Intake, SessionDraft};
use super::sink::Sink;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::Id;

pub(super) const FORMAT: Format = Format {
    name: "coiled",
    about: "Coiled's benchmark database, SQLite",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

/// The table of all tests, and the one in which tests of TPC-H have a second row.
const TABLES: [&str; 2] = ["test_run", "tpch_run"];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let has_table = |table: &str| {
        let makes = [format!("TABLE {table}"), format!("TABLE \"{table}\"")];
        makes
            .iter()
            .any(|text| memmem::find(head, text.as_bytes()).is_some())
    };
    (is_sqlite(head) && TABLES.into_iter().any(has_table))
        .then_some("it is an SQLite database with `test_run` or `tpch_run`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let database = Database::open(source)?;
    let [tests, queries] = TABLES.map(|table| database.rows(table));
    let (tests, queries) = (tests?, queries?);
    if tests.is_none() && queries.is_none() {
        return Err(ImportError::Database {
            name: source.name().to_owned(),
            reason: "it has neither of the tables `test_run` and `tpch_run`".to_owned(),
        });
    }
    let pairs = joined(tests.unwrap_or_default(), queries.unwrap_or_default());
    if pairs.is_empty() {
        return Err(ImportError::NoResults {
            name: source.name().to_owned(),
        });
    }
    sink.notes().left("id", "merging gives rows new ones");
    let mut sessions: BTreeMap<String, Vec<Measured>> = BTreeMap::new();
    for (test, query) in pairs {
        let number = test.number;
        match measured(test, query) {
            Ok(measured) => {
                for column in &measured.unknown {
                    sink.notes().kept(column, "attributes of the instance");
                }
                sessions
                    .entry(measured.session.clone())
                    .or_default()
                    .push(measured);
            }
            Err(reason) => sink.bad(BadLine::new(number, reason)),
        }
    }
    let mut sessions: Vec<(Option<Timestamp>, String, Vec<Measured>)> = sessions
        .into_iter()
        .map(|(id, mut rows)| {
            // Not as they lie in the file: merging databases puts them in another order.
            rows.sort_by(|one, other| one.order().cmp(&other.order()));
            let started = rows.iter().filter_map(|it| it.draft.started).min();
            (started, id, rows)
        })
        .collect();
    sessions.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    for (started, session, rows) in sessions {
        take_session(source, &digest, options, sink, started, &session, rows)?;
    }
    Ok(())
}

fn take_session(
    source: &Source,
    digest: &[u8; 32],
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
    started: Option<Timestamp>,
    session: &str,
    rows: Vec<Measured>,
) -> Result<(), ImportError> {
    let draft = SessionDraft {
        key: session.to_owned(),
        // Not the file's: the same session may stand in several databases.
        identity: Some(Sha256::digest(b"session_id").into()),
        started,
        tool: "coiled benchmarks".to_owned(),
        name: Some(session.to_owned()),
        ..SessionDraft::default()
    };
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, draft)?;
    let session = intake.session();
    let mut taken: BTreeMap<Id, [u8; 32]> = BTreeMap::new();
    let mut alike: BTreeSet<[u8; 32]> = BTreeSet::new();
    for row in rows {
        // Their merge doubles rows: what is alike in everything but its number is one.
        if !alike.insert(row.content) {
            intake.notes().left(
                &format!("row {}", row.number),
                "another row is alike in everything but its id",
            );
            continue;
        }
        let id = |parts: &[&[u8]]| {
            let mut all: Vec<&[u8]> = vec![b"coiled instance", session.as_bytes()];
            all.extend_from_slice(parts);
            Id::derived(&all)
        };
        let mut draft = row.draft;
        let by_time = row.time.as_deref().map(|time| id(&[time.as_bytes()]));
        let chosen = match by_time {
            Some(id) if !taken.contains_key(&id) => id,
            Some(_) | None => id(&[&row.content]),
        };
        taken.insert(chosen, row.content);
        draft.id = Some(chosen);
        let run = intake.run(row.run)?;
        intake.instance(row.number, run, draft)?;
    }
    intake.finish()
}

/// Joins the rows that the same execution has in both tables.
fn joined(tests: Vec<Row>, queries: Vec<Row>) -> Vec<(Row, Option<Row>)> {
    let key = |row: &Row| {
        ["session_id", "path", "name"].map(|column| row.cells.get(column).map(identity))
    };
    let mut waiting: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for query in queries {
        waiting.entry(key(&query)).or_default().push(query);
    }
    let mut pairs: Vec<(Row, Option<Row>)> = Vec::with_capacity(tests.len());
    for test in tests {
        let query = waiting.get_mut(&key(&test)).and_then(|others| {
            let same = |other: &Row| other.cells.get("start") == test.cells.get("start");
            let at = others
                .iter()
                .position(same)
                .or_else(|| others.iter().position(|other| overlap(&test, other)))?;
            Some(others.remove(at))
        });
        pairs.push((test, query));
    }
    pairs.extend(waiting.into_values().flatten().map(|query| (query, None)));
    pairs
}

/// Returns whether two rows may be of the same time: each has its own stopwatch.
fn overlap(one: &Row, other: &Row) -> bool {
    let time = |row: &Row, column: &str| super::coiled_row::time(row.cells.get(column)?).ok();
    let span = |row: &Row| Some((time(row, "start")?, time(row, "end")?));
    match (span(one), span(other)) {
        (Some((from, to)), Some((start, end))) => from <= end && start <= to,
        (None, _) | (_, None) => true,
    }
}

#[cfg(test)]
mod tests;
