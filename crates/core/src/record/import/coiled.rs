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
    let mut infinite: BTreeMap<&str, u64> = BTreeMap::new();
    for (test, query) in pairs {
        let number = test.number;
        match measured(test, query) {
            Ok(measured) => {
                for column in &measured.unknown {
                    sink.notes().kept(column, "attributes of the instance");
                }
                for column in &measured.infinite {
                    *infinite.entry(*column).or_default() += 1;
                }
                sessions
                    .entry(measured.session.clone())
                    .or_default()
                    .push(measured);
            }
            Err(reason) => sink.bad(BadLine::new(number, reason)),
        }
    }
    for (column, count) in infinite {
        let values = if count == 1 { "value" } else { "values" };
        let what = format!("{count} {values} of {column}");
        sink.notes().left(&what, "they are infinite");
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
    let mut taken: BTreeSet<Id> = BTreeSet::new();
    let mut alike: BTreeSet<[u8; 32]> = BTreeSet::new();
    // Their merge doubles rows: what is alike in everything but its number is one.
    let (rows, doubled): (Vec<Measured>, Vec<Measured>) =
        rows.into_iter().partition(|row| alike.insert(row.content));
    for row in doubled {
        intake.notes().left(
            &format!("row {}", row.number),
            "another row is alike in everything but its id",
        );
    }
    let mut at_once: BTreeMap<String, usize> = BTreeMap::new();
    for time in rows.iter().filter_map(|row| row.time.clone()) {
        *at_once.entry(time).or_default() += 1;
    }
    for row in rows {
        let alone = row.time.as_ref().is_none_or(|time| at_once[time] == 1);
        let known = choose_id(&mut intake, session, &row, alone, &taken)?;
        if let Some(name) = known.other_name {
            intake.notes().left(
                &format!("the name of row {}, which is there as {name}", row.number),
                "the row is in the store under another one",
            );
        }
        taken.insert(known.id);
        let mut draft = row.draft;
        draft.id = Some(known.id);
        let run = intake.run(row.run)?;
        intake.instance(row.number, run, draft)?;
    }
    intake.finish()
}

/// The id of a row.
struct Chosen {
    id: Id,
    /// The name under which the store has it, where that is another one.
    other_name: Option<String>,
}

/// Returns the id by which a row is known, whatever database it stands in.
///
/// That is its session and time alone, so that a row is found again after one of their migrations
/// gave it another name. Where several rows of a database have the same time, they are not the same,
/// and the name is part of the id; a row that the store has from a database where it was alone keeps
/// the id that it got there.
fn choose_id(
    intake: &mut Intake<'_, '_, '_>,
    session: Id,
    row: &Measured,
    alone: bool,
    taken: &BTreeSet<Id>,
) -> Result<Chosen, ImportError> {
    let id = |parts: &[&[u8]]| {
        let mut all: Vec<&[u8]> = vec![b"coiled instance", session.as_bytes()];
        all.extend_from_slice(parts);
        Id::derived(&all)
    };
    let plain = |id| Chosen {
        id,
        other_name: None,
    };
    let by_content = id(&[&row.content]);
    let Some(time) = &row.time else {
        return Ok(plain(by_content));
    };
    let name = &row.draft.benchmark.id;
    let by_name = id(&[time.as_bytes(), name.as_bytes()]);
    let by_time = id(&[time.as_bytes()]);
    for known in [by_content, by_name] {
        if !taken.contains(&known) && intake.stored_instance(known)?.is_some() {
            return Ok(plain(known));
        }
    }
    let stored = match taken.contains(&by_time) {
        true => None,
        false => intake.stored_instance(by_time)?,
    };
    Ok(match stored {
        Some(stored) if stored.benchmark == *name => plain(by_time),
        Some(stored) if alone && row.agrees_with(&stored.values) => Chosen {
            id: by_time,
            other_name: Some(stored.benchmark),
        },
        None if alone => plain(by_time),
        Some(_) | None if !taken.contains(&by_name) => plain(by_name),
        Some(_) | None => plain(by_content),
    })
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
