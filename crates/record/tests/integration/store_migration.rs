//! A store of the first version holds the same after it was migrated.

use std::path::Path;

use lapwing_model::{Id, Record};
use lapwing_record::{Filter, Store, StoreError, parse_line};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

const FIRST: &str = include_str!("../../src/store/migrations/V1__first.sql");

/// Tables that are the same in both versions, parents first.
const UNCHANGED: [&str; 10] = [
    "session",
    "run",
    "benchmark",
    "metric",
    "run_metric",
    "benchmark_metric",
    "instance",
    "span_chunk",
    "summary",
    "annotation",
];

fn id(number: u64) -> Id {
    Id::derived(&[&number.to_le_bytes()])
}

/// All kinds of records; iterations with and without gaps, more than fit one chunk.
fn records() -> Vec<Record> {
    let mut lines = vec![
        json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
            "started": "2026-11-20T10:00:00Z", "name": "nightly", "seed": u64::MAX}),
        json!({"v": 1, "kind": "run", "id": id(2), "session": id(1), "variant": "fast",
            "version": {"name": "1.2"},
            "metrics": {"wall_time": {"unit": "s", "better": "lower"}}}),
        json!({"v": 1, "kind": "instance", "id": id(3), "run": id(2), "host": "h",
            "benchmark": {"id": "many", "tags": ["x"], "params": {"n": 1}}}),
        json!({"v": 1, "kind": "instance", "id": id(4), "run": id(2),
            "benchmark": {"id": "odd"}}),
        json!({"v": 1, "kind": "instance", "id": id(5), "run": id(2),
            "benchmark": {"id": "none"}}),
        json!({"v": 1, "kind": "span", "instance": id(3), "iteration": 1, "index": 0,
            "category": "step", "name": "x", "inputs": [], "events": {"start": 5}}),
        json!({"v": 1, "kind": "summary", "instance": id(5), "metric": "rate", "n": 3,
            "centre": 1.5, "spread": 0.25, "statistic": "mean"}),
        json!({"v": 1, "kind": "instance_end", "instance": id(3), "outcome": "ok"}),
        json!({"v": 1, "kind": "annotation", "id": id(9), "by": "me", "action": "retire",
            "at": "2026-11-20T11:00:00Z", "target": {"benchmark": "odd"}}),
    ];
    for index in 0..200_u32 {
        let time = 0.1 + f64::from(index) / 3.0;
        lines.push(
            json!({"v": 1, "kind": "iteration", "instance": id(3), "index": index,
            "burn_in": index < 3, "metrics": {"wall_time": time, "peak_memory": 1e9 + time}}),
        );
    }
    lines.extend([
        json!({"v": 1, "kind": "iteration", "instance": id(4), "index": 3, "offset": 0.1 + 0.2,
            "loops": u64::MAX, "metrics": {"a \"b\"": 5e-324, "wall_time": 1.0 / 3.0}}),
        json!({"v": 1, "kind": "iteration", "instance": id(4), "index": 7, "outcome": "failed",
            "message": "naïve 🦉 \u{0} \"quoted\"\n", "attributes": {"stdout": "x\ny", "n": [1, 2.5]}}),
        json!({"v": 1, "kind": "iteration", "instance": id(4), "index": 8, "outcome": "ok",
            "metrics": {"a \"b\"": f64::MAX}, "artifacts": {"log": "l.txt"}, "later": {"x": 1}}),
        json!({"v": 1, "kind": "iteration", "instance": id(4), "index": u32::MAX,
            "outcome": "timed_out", "offset": 7.0, "metrics": {"wall_time": 1e-7}}),
    ]);
    lines
        .iter()
        .map(|line| parse_line(line.to_string().as_bytes()).unwrap())
        .collect()
}

/// Makes a store of the first version as its program would have: what has not changed
/// since is copied from a new store, iterations and values go row by row. The history is as
/// refinery 0.10 wrote it.
fn make_first_version(path: &Path, records: &[Record]) {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("template.db");
    let mut store = Store::open(&template).unwrap();
    store.append(records).unwrap();
    drop(store);

    let connection = Connection::open(path).unwrap();
    connection.execute_batch(FIRST).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA application_id = 0x4C415057; PRAGMA journal_mode = wal; \
             ATTACH '{}' AS template; DELETE FROM metric; \
             CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY, \
               name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255)); \
             INSERT INTO refinery_schema_history VALUES \
               (1, 'first', '2026-11-25T23:00:32.885429476Z', '396582800778057071');",
            template.display()
        ))
        .unwrap();
    for table in UNCHANGED {
        let columns = match table {
            "span_chunk" => "instance, chunk, first, last, spans, data",
            _other => "*",
        };
        connection
            .execute_batch(&format!(
                "INSERT INTO main.{table} SELECT {columns} FROM template.{table}"
            ))
            .unwrap();
    }
    for record in records {
        if let Record::Iteration(it) = record {
            let mut detail = serde_json::Map::new();
            for (name, object) in [
                ("attributes", &it.attributes),
                ("artifacts", &it.artifacts),
                ("extra", &it.extra),
            ] {
                if !object.is_empty() {
                    detail.insert(name.to_owned(), serde_json::to_value(object).unwrap());
                }
            }
            let detail = (!detail.is_empty()).then(|| Value::Object(detail).to_string());
            connection
                .execute(
                    "INSERT INTO iteration SELECT key, ?2, ?3, ?4, ?5, ?6, ?7, ?8 \
                     FROM instance WHERE id = ?1",
                    params![
                        it.instance.to_string(),
                        it.index,
                        it.offset,
                        it.burn_in,
                        it.loops.cast_signed(),
                        it.outcome.name(),
                        it.message,
                        detail
                    ],
                )
                .unwrap();
            for (name, value) in &it.metrics {
                connection
                    .execute(
                        "INSERT INTO value SELECT metric.key, instance.key, ?3, ?4 \
                         FROM metric, instance WHERE metric.name = ?1 AND instance.id = ?2",
                        params![name, it.instance.to_string(), it.index, value],
                    )
                    .unwrap();
            }
        }
    }
}

fn all(store: &Store) -> Vec<Record> {
    let mut records = Vec::new();
    store
        .scan(&Filter::default(), |record| {
            records.push(record);
            Ok::<(), StoreError>(())
        })
        .unwrap();
    records
}

fn sorted(records: &[Record]) -> Vec<String> {
    let mut lines: Vec<String> = records.iter().map(|it| format!("{it:?}")).collect();
    lines.sort();
    lines
}

/// Returns the rows of a view, every column as SQL would write it.
fn view(path: &Path, name: &str, order: &str) -> Vec<Vec<String>> {
    let connection = Connection::open(path).unwrap();
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT * FROM {name}"))
        .unwrap()
        .column_names()
        // Its numbers were rounded to 15 digits.
        .filter(|column| *column != "metrics")
        .map(|column| format!("'{column}: ' || quote(\"{column}\")"))
        .collect();
    let mut statement = connection
        .prepare(&format!(
            "SELECT {} FROM {name} ORDER BY {order}",
            columns.join(", ")
        ))
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            (0..columns.len()).map(|column| row.get(column)).collect()
        })
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_store_of_the_first_version_holds_the_same_after_its_migration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let records = records();
    make_first_version(&path, &records);
    let views = || {
        (
            view(&path, "iterations", "instance, \"index\""),
            view(&path, "instances", "instance"),
        )
    };
    let before = views();
    assert_eq!((before.0.len(), before.1.len()), (204, 3));

    let mut store = Store::open(&path).unwrap();
    assert_eq!(sorted(&all(&store)), sorted(&records));
    assert_eq!(store.upkeep().info().unwrap().version, 10);
    assert_eq!(
        store.upkeep().check().unwrap().problems,
        Vec::<String>::new()
    );
    assert_eq!(store.append(&records).unwrap().total().new, 0);
    assert_eq!(views(), before);
    let connection = Connection::open(&path).unwrap();
    let metrics: String = connection
        .query_row(
            "SELECT metrics FROM iterations WHERE benchmark = 'odd' AND \"index\" = 3",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(
        metrics,
        r#"{"wall_time":0.3333333333333333,"a \"b\"":5e-324}"#
    );
}

#[test]
fn a_store_with_other_tables_is_not_migrated_and_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    make_first_version(&path, &records());
    let connection = Connection::open(&path).unwrap();
    // Something that a migration would make.
    connection
        .execute_batch("CREATE TABLE series (x INTEGER)")
        .unwrap();
    let count = |table: &str| -> i64 {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get(0)
            })
            .unwrap()
    };
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("its table `series` is not one that this program makes"),
        "{error}"
    );
    assert_eq!(count("iteration"), 204);
    assert_eq!(count("refinery_schema_history"), 1);

    connection.execute_batch("DROP TABLE series").unwrap();
    assert_eq!(all(&Store::open(&path).unwrap()).len(), records().len());
}

#[test]
fn an_older_store_that_cannot_be_written_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    make_first_version(&path, &records());
    let error = Store::open_read_only(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "old.db is a store of version 1; it must be brought to version 10 first, \
             and it is read-only"
        ),
        "{error}"
    );
}

#[test]
fn a_migration_leaves_the_history_as_refinery_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    make_first_version(&path, &records());
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT version || ' ' || name || ' ' || checksum FROM refinery_schema_history \
             WHERE applied_on GLOB '20??-??-??T??:??:??.*Z' ORDER BY version",
        )
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    let rows: Vec<String> = rows.collect::<Result<_, _>>().unwrap();
    // These are from a store that refinery made; it refuses others.
    assert_eq!(
        rows,
        [
            "1 first 396582800778057071",
            "2 chunks 5179899090348827350",
            "3 remotes 3107815274611140793",
            "4 remote_addresses 3694821766064324488",
            "5 checksums 6953224159429438459",
            "6 span_columns 12719123605022238146",
            "7 opened_sessions 4485525441601867369",
            "8 host_salt 16625489463465404158",
            "9 trusted_annotations 7049080812343312335",
            "10 history_points 2903606569107844865",
        ]
    );
}

#[test]
fn a_store_of_other_migrations_is_not_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    make_first_version(&path, &records());
    let connection = Connection::open(&path).unwrap();
    for (change, told) in [
        (
            "checksum = '1'",
            "migration 1 (`first`) is not one of this program",
        ),
        (
            "name = 'other'",
            "migration 1 (`other`) is not one of this program",
        ),
        (
            "version = 2",
            "table `iteration` is not one that this program makes",
        ),
    ] {
        connection
            .execute_batch(&format!("UPDATE refinery_schema_history SET {change}"))
            .unwrap();
        let error = Store::open(&path).unwrap_err().to_string();
        let expected = format!("old.db is damaged: its {told}");
        assert!(error.ends_with(&expected), "{error}");
    }
}
