//! Copies of one database, of which each has other rows: each measurement is one instance.

use std::collections::BTreeSet;

use super::super::testing::options;
use crate::model::{Instance, Record, RecordKind};
use crate::record::import::{BadLines, Imported, Source, import};
use crate::record::{Filter, Store, StoreError};

const SESSIONS: [&str; 2] = ["s1", "s2"];

/// An execution of `tpch/test_dask.py::NAME`.
#[derive(Debug, Clone, Copy)]
struct Execution {
    session: &'static str,
    name: &'static str,
    /// The second of the day when it began; nothing where it never did.
    second: Option<u32>,
    scale: u32,
    /// How much later the stopwatch of `tpch_run` began, and how much earlier it ended, in
    /// microseconds.
    gap: u32,
}

/// How long an execution takes, in seconds.
fn length(execution: Execution) -> u32 {
    execution.scale / 10 + 1
}

fn clock(microseconds: u64) -> String {
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!(
        "2026-01-01 {hours:02}:{minutes:02}:{:02}.{rest:06}",
        seconds % 60
    )
}

/// Start, end and duration, with that much cut off at either end.
fn times(execution: Execution, gap: u32) -> (Option<String>, Option<String>, Option<f64>) {
    let Some(second) = execution.second else {
        return (None, None, None);
    };
    let start = u64::from(second) * 1_000_000 + u64::from(gap);
    let end = u64::from(second + length(execution)) * 1_000_000 - u64::from(gap);
    let duration = f64::from(length(execution)) - 2.0 * f64::from(gap) / 1e6;
    (Some(clock(start)), Some(clock(end)), Some(duration))
}

fn outcome(execution: Execution) -> &'static str {
    match execution.second {
        Some(_) => "passed",
        None => "failed",
    }
}

/// Makes a copy in which each table has the rows of these executions.
fn copy(
    folder: &tempfile::TempDir,
    name: &str,
    tests: &[Execution],
    queries: &[Execution],
) -> Source {
    let path = folder.path().join(name);
    let connection = rusqlite::Connection::open(&path).expect("a database");
    connection
        .execute_batch(
            "CREATE TABLE test_run (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT, path TEXT, \
             setup_outcome TEXT, coiled_runtime_version TEXT, python_version TEXT, start TEXT, \
             \"end\" TEXT, duration FLOAT, peak_memory FLOAT, compute_time FLOAT); \
             CREATE TABLE tpch_run (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT, path TEXT, \
             setup_outcome TEXT, python_version TEXT, start TEXT, \"end\" TEXT, duration FLOAT, \
             peak_memory FLOAT, scale INTEGER, query INTEGER, local BOOLEAN, n_workers INTEGER)",
        )
        .expect("SQL");
    for execution in tests {
        let (start, end, duration) = times(*execution, 0);
        connection
            .execute(
                "INSERT INTO test_run VALUES (NULL, ?1, ?2, 'tpch/test_dask.py', ?3, 'AB_p2p', \
                 '3.12.4.final.0', ?4, ?5, ?6, ?7, ?7)",
                rusqlite::params![
                    execution.session,
                    execution.name,
                    outcome(*execution),
                    start,
                    end,
                    duration,
                    duration.map(|_| f64::from(execution.scale))
                ],
            )
            .expect("SQL");
    }
    for execution in queries {
        let (start, end, duration) = times(*execution, execution.gap);
        connection
            .execute(
                "INSERT INTO tpch_run VALUES (NULL, ?1, ?2, 'tpch/test_dask.py', ?3, \
                 '3.12.4.final.0', ?4, ?5, ?6, ?7, ?8, 1, 0, 16)",
                rusqlite::params![
                    execution.session,
                    execution.name,
                    outcome(*execution),
                    start,
                    end,
                    duration,
                    duration.map(|_| f64::from(execution.scale)),
                    execution.scale
                ],
            )
            .expect("SQL");
    }
    drop(connection);
    Source::open(&path, folder.path()).expect("it is there")
}

fn open(folder: &tempfile::TempDir, name: &str) -> Store {
    Store::open(&folder.path().join(name)).expect("a store")
}

fn take(store: &mut Store, source: &Source) -> Imported {
    import(store, source, &options(BadLines::Refuse)).expect("good")
}

fn instances(store: &Store) -> Vec<Instance> {
    let mut all = Vec::new();
    let keep = |record| -> Result<(), StoreError> {
        if let Record::Instance(instance) = record {
            all.push(instance);
        }
        Ok(())
    };
    store.scan(&Filter::default(), keep).expect("a scan");
    all
}

/// The instances by benchmark and minute, sorted.
fn listed(store: &Store) -> Vec<String> {
    let mut all: Vec<String> = instances(store)
        .iter()
        .map(|it| {
            let started = it.started.map(|at| at.to_string());
            let minute = started.map_or_else(|| "never".to_owned(), |at| at[11..16].to_owned());
            format!("{} {minute}", it.benchmark.id)
        })
        .collect();
    all.sort();
    all
}

/// What the import left out but for the ids.
fn left(imported: &Imported) -> String {
    let notes = imported.notes.iter().filter(|note| note.what != ["id"]);
    let texts = notes.map(|note| format!("{}: {}", note.why, note.what.join(", ")));
    texts.collect::<Vec<_>>().join("\n")
}

/// Two sessions in which a test runs at two scales, one after the other; beside it another one
/// that overlaps, as with several workers; one that never began; and one that is run again.
fn executions(gap: u32) -> Vec<Execution> {
    let run = |session, name, second, scale| Execution {
        session,
        name,
        second,
        scale,
        gap,
    };
    let of_session = |(session, from): (&'static str, u32)| {
        [
            run(session, "test_query_1", Some(from), 10),
            run(session, "test_query_1", Some(from + 60), 100),
            run(session, "test_query_2", Some(from + 1), 100),
            run(session, "test_query_3", None, 100),
            run(session, "test_query_4", Some(from + 120), 100),
            // Again, right after it ended.
            run(session, "test_query_4", Some(from + 131), 100),
        ]
    };
    let sessions = SESSIONS.into_iter().zip([0, 3600]);
    sessions.flat_map(of_session).collect()
}

#[test]
fn copies_with_one_table_or_both_give_each_execution_once_in_whatever_order() {
    for gap in [0, 150, 400_000] {
        let folder = tempfile::tempdir().expect("a folder");
        let all = executions(gap);
        let copies = [
            ("tests.db", &all[..], &[][..]),
            ("queries.db", &[], &all),
            ("both.db", &all, &all),
            // Of the first session `test_run` has been cleared, of the second both are there.
            ("later.db", &all[all.len() / 2..], &all),
        ]
        .map(|(name, tests, queries)| copy(&folder, name, tests, queries));
        for first in 0..4 {
            for second in 0..4 {
                let mut store = open(&folder, &format!("{first}-{second}.st"));
                for at in [first, second, 3 - first, first] {
                    take(&mut store, &copies[at]);
                }
                let instances = instances(&store);
                let distinct: BTreeSet<_> = instances
                    .iter()
                    .map(|it| (it.run, it.benchmark.id.clone(), it.started))
                    .collect();
                let counts = (instances.len(), distinct.len());
                let order = [first, second];
                assert_eq!(counts, (all.len(), all.len()), "{order:?}, {gap} µs");
            }
        }
    }
}

#[test]
fn a_copy_that_says_more_than_the_first_one_says_what_it_could_not_give() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = executions(150);
    let tests = copy(&folder, "tests.db", &all, &[]);
    let queries = copy(&folder, "queries.db", &[], &all);
    let both = copy(&folder, "both.db", &all, &all);

    let mut store = open(&folder, "tests.st");
    assert_eq!(left(&take(&mut store, &tests)), "");
    insta::assert_snapshot!(left(&take(&mut store, &both)), @"the store has the rows from a copy that said less (to have it all, purge their sessions and import the copies anew, the one that says the most first): local, n_workers, query, scale of 12 rows in 2 sessions (s1, s2)");
    assert_eq!(
        left(&take(&mut store, &queries)),
        left(&take(&mut store, &both))
    );
    assert_eq!(left(&take(&mut store, &tests)), "");

    // What it says to do is the way out.
    let sessions = SESSIONS.map(str::to_owned).to_vec();
    let purge = crate::sample::SampleFilter {
        runs: crate::sample::RunFilter {
            sessions,
            ..Default::default()
        },
        ..Default::default()
    };
    let purge = purge.resolve(&store).expect("sessions");
    store.purge(&purge).expect("a purge");
    for source in [&both, &tests, &queries] {
        assert_eq!(left(&take(&mut store, source)), "");
    }
    insta::assert_snapshot!(listed(&store).join("\n"), @"
    tpch/test_dask.py::test_query_1[scale=100] 00:01
    tpch/test_dask.py::test_query_1[scale=100] 01:01
    tpch/test_dask.py::test_query_1[scale=10] 00:00
    tpch/test_dask.py::test_query_1[scale=10] 01:00
    tpch/test_dask.py::test_query_2[scale=100] 00:00
    tpch/test_dask.py::test_query_2[scale=100] 01:00
    tpch/test_dask.py::test_query_3[scale=100] never
    tpch/test_dask.py::test_query_3[scale=100] never
    tpch/test_dask.py::test_query_4[scale=100] 00:02
    tpch/test_dask.py::test_query_4[scale=100] 00:02
    tpch/test_dask.py::test_query_4[scale=100] 01:02
    tpch/test_dask.py::test_query_4[scale=100] 01:02
    ");

    let mut store = open(&folder, "queries.st");
    take(&mut store, &queries);
    insta::assert_snapshot!(left(&take(&mut store, &both)), @"the store has the rows from a copy that said less (to have it all, purge their sessions and import the copies anew, the one that says the most first): coiled_runtime_version, compute_time of 12 rows in 2 sessions (s1, s2)");
    assert_eq!(
        left(&take(&mut store, &tests)),
        left(&take(&mut store, &both))
    );
}

#[test]
fn a_row_of_the_same_test_at_another_time_is_another_instance() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = executions(150);
    let of_test = all.iter().filter(|it| it.name == "test_query_4");
    let again: Vec<Execution> = of_test.copied().collect();
    let (one, both, other) = (&again[..1], &again[..2], &again[1..2]);
    let none: &[Execution] = &[];
    // The last two have nothing in common.
    for (number, first, then) in [
        (1, [one, none], [none, both]),
        (2, [none, one], [both, none]),
        (3, [one, none], [none, other]),
    ] {
        let [first, then] = [("first", first), ("then", then)].map(|(name, rows)| {
            let name = format!("{name}-{number}.db");
            copy(&folder, &name, rows[0], rows[1])
        });
        let mut store = open(&folder, &format!("{number}.st"));
        take(&mut store, &first);
        let appended = take(&mut store, &then).appended;
        assert_eq!(appended.of(RecordKind::Instance).new, 1, "{number}");
        assert_eq!(instances(&store).len(), 2, "{number}");
    }
}

#[test]
fn what_merging_stores_has_doubled_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = executions(150);
    let queries = copy(&folder, "queries.db", &[], &all);
    let both = copy(&folder, "both.db", &all, &all);
    let (mut one, mut other) = (open(&folder, "one.st"), open(&folder, "other.st"));
    take(&mut one, &queries);
    take(&mut other, &both);
    other.merge(&one).expect("other instances");
    insta::assert_snapshot!(left(&take(&mut other, &both)), @"the store has them twice, which merging stores can do (to have them once, purge their sessions and import the copies anew): 12 rows in 2 sessions (s1, s2)");
    // But for the two that have no time.
    insta::assert_snapshot!(left(&take(&mut other, &queries)), @"the store has them twice, which merging stores can do (to have them once, purge their sessions and import the copies anew): 10 rows in 2 sessions (s1, s2)");
}

#[test]
fn a_row_of_tpch_run_is_found_by_its_time_when_it_has_got_another_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [executions(150)[0]];
    let renamed = [Execution {
        name: "test_query_01",
        ..all[0]
    }];
    let both = copy(&folder, "both.db", &all, &all);
    let later = copy(&folder, "later.db", &[], &renamed);
    let mut store = open(&folder, "one.st");
    take(&mut store, &both);
    insta::assert_snapshot!(left(&take(&mut store, &later)), @"the store has them under other names: the name of 1 row (tpch/test_dask.py::test_query_01[scale=10] is there as tpch/test_dask.py::test_query_1[scale=10])");
    assert_eq!(instances(&store).len(), 1);

    // And the other way round.
    let mut store = open(&folder, "two.st");
    take(&mut store, &later);
    take(&mut store, &both);
    assert_eq!(instances(&store).len(), 1);
}

#[test]
fn rows_that_a_merge_has_doubled_in_either_table_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = executions(150);
    let twice = [&all[..], &all[..]].concat();
    let copies = [
        ("both.db", &twice[..], &twice[..]),
        ("one.db", &all, &twice),
        ("queries.db", &[], &twice),
    ];
    let mut store = open(&folder, "one.st");
    for (name, tests, queries) in copies {
        let source = copy(&folder, name, tests, queries);
        let imported = take(&mut store, &source);
        let doubled = imported
            .notes
            .iter()
            .find(|note| note.why.starts_with("another row is alike"));
        let doubled = doubled.expect("a note");
        assert!(
            doubled.what.contains(&"tpch_run's row 13".to_owned()),
            "{doubled:?}"
        );
        assert_eq!(instances(&store).len(), all.len(), "{name}");
    }
}
