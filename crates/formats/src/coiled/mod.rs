//! Coiled's benchmark database: SQLite, one row for each test that was run.

mod columns;
mod identity;
mod pairs;
mod row;
mod setting;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::coiled::identity::ids_of;
use crate::coiled::pairs::{distinct, joined};
use crate::coiled::row::{MeasuredRow, measured};
use crate::shared::detect::has_table;
use crate::shared::intake::{Intake, SessionDraft};
use crate::shared::reading::database::{Database, DatabaseRow};
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};

use lapwing_model::text::plural;

pub(super) const FORMAT: Format = Format {
    is_database: true,
    ..Format::new(
        "coiled",
        "Coiled's benchmark database (SQLite)",
        looks_like,
        read,
    )
};

/// The table of all tests, and the one in which tests of TPC-H have a second row.
const TABLES: [&str; 2] = ["test_run", "tpch_run"];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    TABLES
        .iter()
        .any(|table| has_table(head, table))
        .then_some("it is an SQLite database with `test_run` or `tpch_run`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
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
    let tests = without_doubles(tests.unwrap_or_default(), "row", sink);
    let queries = without_doubles(queries.unwrap_or_default(), "tpch_run's row", sink);
    let executions = joined(tests, queries);
    if executions.is_empty() {
        return Err(source.without_results());
    }
    sink.notes().left("id", "merging gives rows new ones");
    let mut sessions: BTreeMap<String, Vec<MeasuredRow>> = BTreeMap::new();
    let mut infinite: BTreeMap<&str, u64> = BTreeMap::new();
    for execution in executions {
        let number = execution.number();
        match measured(execution) {
            Ok(measured) => {
                sink.notes()
                    .kept_all(&measured.unknown, "attributes of the instance");
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
        let values = plural(count, "value", "values");
        let what = format!("{count} {values} of {column}");
        sink.notes().left(&what, "they are infinite");
    }
    let start = |rows: &[MeasuredRow]| rows.iter().filter_map(|row| row.draft.started).min();
    let mut sessions: Vec<(String, Vec<MeasuredRow>)> = sessions.into_iter().collect();
    // They are in the order of their ids.
    sessions.sort_by_cached_key(|(_, rows)| start(rows));
    for (session, mut rows) in sessions {
        let started = start(&rows);
        // Not as they lie in the file: merging databases puts them in another order.
        rows.sort_by(|one, other| one.order().cmp(&other.order()));
        let draft = SessionDraft {
            key: session.clone(),
            // Not the file's: the same session may stand in several databases.
            identity: Some(Sha256::digest(b"session_id").into()),
            started,
            name: Some(session),
            ..SessionDraft::of("coiled benchmarks")
        };
        let mut intake = Intake::begin(source, &digest, sink, draft)?;
        let ids = ids_of(intake.session(), &rows);
        for (row, id) in rows.into_iter().zip(ids) {
            let mut draft = row.draft;
            draft.id = Some(id);
            let run = intake.run(row.run)?;
            intake.instance(row.number, run, draft)?;
        }
        intake.finish()?;
    }
    Ok(())
}

/// Leaves out what Coiled's merge has doubled: rows that are alike in everything but their id.
fn without_doubles(
    rows: Vec<DatabaseRow>,
    word: &str,
    sink: &mut Sink<'_, '_>,
) -> Vec<DatabaseRow> {
    let (rows, doubled) = distinct(rows);
    for number in doubled {
        sink.notes().left(
            &format!("{word} {number}"),
            "another row is alike in everything but its id",
        );
    }
    rows
}

#[cfg(test)]
mod tests;
