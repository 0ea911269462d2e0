//! What goes into the store comes back, whole, once, and with clear words when it cannot.

use std::collections::BTreeMap;

use lapwing_analyse::sample::each_benchmark;
use lapwing_model::{Id, Object, Record, RecordKind};
use lapwing_record::{Filter, Store, StoreError, parse_line, write_line};
use proptest::prelude::*;
use serde_json::{Value, json};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join(".lapwing/lapwing.db")).unwrap();
    (folder, store)
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

fn value(record: &Record) -> Value {
    let mut line = Vec::new();
    write_line(&mut line, record).unwrap();
    serde_json::from_slice(&line).unwrap()
}

fn record(value: &Value) -> Record {
    parse_line(value.to_string().as_bytes()).unwrap()
}

/// Records in an order of their own, since a store may give siblings back in another.
fn sorted(records: &[Record]) -> Vec<String> {
    let mut lines: Vec<String> = records.iter().map(|it| value(it).to_string()).collect();
    lines.sort();
    lines
}

fn id(number: u64) -> Id {
    Id::derived(&[&number.to_le_bytes()])
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        ".{0,12}",
        Just("naïve 🦉 \u{0} \"quoted\"\n".to_owned())
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has finite numbers only", |it| it.is_finite()),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        // Not -0.0: SQLite stores it as 0.0, which equals it.
        Just(0.0),
        Just(0.1 + 0.2),
    ]
    .prop_map(|it| it + 0.0)
}

fn positive() -> impl Strategy<Value = f64> {
    number().prop_map(f64::abs)
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Object> {
    prop::collection::btree_map(text(), json_value(), 0..3)
        .prop_map(|map| map.into_iter().collect())
}

/// Keys that no version knows, so that they cannot collide with known ones.
fn unknown() -> impl Strategy<Value = Object> {
    prop::collection::btree_map("x_[a-z]{1,5}", json_value(), 0..3)
        .prop_map(|map| map.into_iter().collect())
}

fn time() -> impl Strategy<Value = String> {
    (0_i64..4_000_000_000, 0_i32..1_000_000_000)
        .prop_map(|(second, nano)| jiff::Timestamp::new(second, nano).unwrap().to_string())
}

fn object_with(known: Value, more: Object) -> Value {
    let Value::Object(mut known) = known else {
        unreachable!("tests give objects")
    };
    // Absent is absent: a null would be a key that says nothing.
    known.retain(|_, value| !value.is_null());
    known.extend(more);
    Value::Object(known)
}

fn session() -> impl Strategy<Value = Value> {
    (
        (text(), time(), prop::option::of(any::<u64>()), text()),
        (prop::option::of(text()), object(), object(), unknown()),
    )
        .prop_map(|((suite, started, seed, tool), rest)| {
            let (name, attributes, artifacts, more) = rest;
            object_with(
                json!({"v": 1, "kind": "session", "id": id(1), "suite": suite, "started": started,
                    "seed": seed, "tool": tool, "name": name, "attributes": attributes,
                    "artifacts": artifacts}),
                more,
            )
        })
}

fn run() -> impl Strategy<Value = Value> {
    let level = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let metric = prop_oneof![
        Just(json!({"unit": "s", "better": "lower"})),
        Just(json!({"unit": "1/s", "better": "higher"})),
        Just(json!({"unit": ""})),
    ];
    (
        (
            text(),
            prop::collection::btree_map(text(), level, 0..3),
            prop::collection::btree_map(text(), text(), 0..2),
            prop::collection::btree_map(text(), metric, 0..3),
        ),
        (
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(any::<bool>()),
            unknown(),
        ),
        (object(), object(), unknown()),
    )
        .prop_map(|(setting, version, (environment, attributes, more))| {
            let (variant, factors, definitions, metrics) = setting;
            let (name, commit, dirty, version_more) = version;
            let version = object_with(
                json!({"name": name, "commit": commit, "dirty": dirty}),
                version_more,
            );
            object_with(
                json!({"v": 1, "kind": "run", "id": id(2), "session": id(1),
                    "variant": variant, "factors": factors, "definitions": definitions,
                    "version": version, "metrics": metrics, "environment": environment,
                    "attributes": attributes}),
                more,
            )
        })
}

fn instance(number: u64) -> impl Strategy<Value = Value> {
    (
        (
            text(),
            object(),
            prop::collection::vec(text(), 0..3),
            prop::option::of(text()),
            unknown(),
        ),
        (
            any::<u32>(),
            any::<u32>(),
            any::<u32>(),
            prop::option::of(text()),
        ),
        (
            prop::option::of(time()),
            object(),
            object(),
            object(),
            unknown(),
        ),
    )
        .prop_map(move |(benchmark, (block, position, attempt, host), rest)| {
            let (name, params, tags, fingerprint, benchmark_more) = benchmark;
            let (started, environment, job, attributes, more) = rest;
            let benchmark = object_with(
                json!({"id": format!("b{name}"), "params": params, "tags": tags, "fingerprint": fingerprint}),
                benchmark_more,
            );
            object_with(
                json!({"v": 1, "kind": "instance", "id": id(number), "run": id(2),
                    "benchmark": benchmark, "block": block, "position": position,
                    "attempt": attempt, "host": host, "started": started,
                    "environment": environment, "job": job, "attributes": attributes}),
                more,
            )
        })
}

fn iteration(instance: u64, index: u32) -> impl Strategy<Value = Value> {
    (
        (prop::option::of(number()), any::<bool>(), any::<u64>()),
        (0_usize..4, prop::option::of(text())),
        (
            prop::collection::btree_map(text(), positive(), 0..4),
            object(),
            object(),
            unknown(),
        ),
    )
        .prop_map(
            move |((offset, burn_in, loops), (outcome, message), rest)| {
                let (metrics, attributes, artifacts, more) = rest;
                let outcome = ["ok", "failed", "timed_out", "skipped"][outcome];
                object_with(
                    json!({"v": 1, "kind": "iteration", "instance": id(instance), "index": index,
                    "offset": offset, "burn_in": burn_in, "loops": loops, "outcome": outcome,
                    "message": message, "metrics": metrics, "attributes": attributes,
                    "artifacts": artifacts}),
                    more,
                )
            },
        )
}

fn span(instance: u64, index: u32) -> impl Strategy<Value = Value> {
    (
        (
            prop::option::of(any::<u32>()),
            text(),
            text(),
            prop::option::of(text()),
        ),
        (
            prop::collection::vec(text(), 0..3),
            prop::collection::btree_map(text(), any::<i64>(), 0..3),
        ),
        (object(), unknown()),
    )
        .prop_map(
            move |((iteration, category, name, lane), (inputs, events), rest)| {
                let (attributes, more) = rest;
                object_with(
                    json!({"v": 1, "kind": "span", "instance": id(instance),
                        "iteration": iteration, "index": index, "category": category,
                        "name": name, "lane": lane, "inputs": inputs, "events": events,
                        "attributes": attributes}),
                    more,
                )
            },
        )
}

fn rest(instance: u64) -> impl Strategy<Value = Vec<Value>> {
    (
        (
            number(),
            prop::option::of(number()),
            prop::option::of(any::<u64>()),
            text(),
            unknown(),
        ),
        (
            prop::option::of(time()),
            0_usize..5,
            prop::option::of(text()),
            object(),
            unknown(),
        ),
        (
            time(),
            text(),
            object(),
            prop::option::of(text()),
            unknown(),
        ),
    )
        .prop_map(move |(summary, end, annotation)| {
            let (centre, spread, n, statistic, summary_more) = summary;
            let (ended, outcome, message, observed, end_more) = end;
            let (at, by, target, reason, annotation_more) = annotation;
            let outcome = ["ok", "failed", "timed_out", "skipped", "lost"][outcome];
            vec![
                object_with(
                    json!({"v": 1, "kind": "summary", "instance": id(instance), "metric": "rate",
                        "n": n, "centre": centre, "spread": spread, "statistic": statistic}),
                    summary_more,
                ),
                object_with(
                    json!({"v": 1, "kind": "instance_end", "instance": id(instance),
                        "ended": ended, "outcome": outcome, "message": message,
                        "observed": observed}),
                    end_more,
                ),
                object_with(
                    json!({"v": 1, "kind": "annotation", "id": id(99), "at": at, "by": by,
                        "action": "retire", "target": target, "reason": reason}),
                    annotation_more,
                ),
            ]
        })
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    (
        session(),
        run(),
        (instance(3), instance(4)),
        (iteration(3, 0), iteration(3, 1), iteration(4, 7)),
        (span(3, 5), span(3, 2)),
        rest(3),
    )
        .prop_map(|(session, run, (first, second), (a, b, c), (d, e), rest)| {
            let mut values = vec![session, run, first, second, a, b, c, d, e];
            values.extend(rest);
            values.iter().map(record).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn records_come_back_from_the_store_as_they_went_in(records in records()) {
        let (_folder, mut store) = store();
        let appended = store.append(&records).unwrap();
        prop_assert_eq!(appended.total().new, records.len() as u64);
        let back = all(&store);
        prop_assert_eq!(sorted(&back), sorted(&records));

        let again = store.append(&back).unwrap();
        prop_assert_eq!(again.total().new, 0);
        prop_assert_eq!(again.total().already_there, records.len() as u64);
        prop_assert_eq!(sorted(&all(&store)), sorted(&records));
        prop_assert_eq!(store.upkeep().check().unwrap().problems, Vec::<String>::new());
    }
}

fn small() -> Vec<Record> {
    [
        json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
            "started": "2026-11-20T10:00:00Z", "name": "nightly"}),
        json!({"v": 1, "kind": "run", "id": id(2), "session": id(1),
            "metrics": {"wall_time": {"unit": "s", "better": "lower"}}}),
        json!({"v": 1, "kind": "instance", "id": id(3), "run": id(2),
            "benchmark": {"id": "a::join"}}),
        json!({"v": 1, "kind": "iteration", "instance": id(3), "index": 0,
            "metrics": {"wall_time": 1.5}}),
        json!({"v": 1, "kind": "iteration", "instance": id(3), "index": 1,
            "outcome": "failed", "message": "exit code 1"}),
    ]
    .iter()
    .map(record)
    .collect()
}

#[test]
fn the_same_key_with_other_content_is_an_error_that_names_both_and_undoes_everything() {
    let (_folder, mut store) = store();
    store.append(&small()).unwrap();
    let other = record(
        &json!({"v": 1, "kind": "iteration", "instance": id(3), "index": 0,
        "metrics": {"wall_time": 2.5}}),
    );
    let new = record(&json!({"v": 1, "kind": "iteration", "instance": id(3), "index": 2}));
    let error = store.append([&new, &other]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "iteration 0 of instance {} is already in the store with other content: \
             `metrics.wall_time` is 1.5 there and 2.5 here",
            id(3)
        )
    );
    assert_eq!(sorted(&all(&store)), sorted(&small()));
    // What was undone can be done again: nothing of it is remembered.
    assert_eq!(store.append([&new]).unwrap().total().new, 1);
}

#[test]
fn a_child_without_its_parent_is_an_error_that_names_it() {
    let (_folder, mut store) = store();
    let error = store.append(&small()[2..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "instance {} belongs to run {}, which is not known",
            id(3),
            id(2)
        )
    );
    assert_eq!(all(&store), []);
}

#[test]
fn a_benchmark_comes_back_in_columns() {
    let (_folder, mut store) = store();
    store.append(&small()).unwrap();
    let mut found = Vec::new();
    each_benchmark(&store, &Filter::default(), |data| {
        found.push(data);
        Ok::<(), StoreError>(())
    })
    .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].benchmark.id, "a::join");
    let iterations = &found[0].instances[0].iterations;
    assert!(iterations.indices().eq([0, 1]));
    assert_eq!(
        iterations.messages,
        BTreeMap::from([(1, "exit code 1".to_owned())])
    );
    let times = &iterations.values["wall_time"];
    assert!((times[0] - 1.5).abs() < 1e-12 && times[1].is_nan());
    let names: BTreeMap<&str, usize> = iterations
        .values
        .iter()
        .map(|(name, column)| (name.as_str(), column.len()))
        .collect();
    assert_eq!(names, BTreeMap::from([("wall_time", 2)]));
}

#[test]
fn benchmarks_come_in_natural_order() {
    let (_folder, mut store) = store();
    let mut records = small();
    records.truncate(2);
    let ids = ["t[10]", "t[2]", "t[1]", "s"];
    records.extend(ids.iter().zip(100..).map(|(name, number)| {
        record(
            &json!({"v": 1, "kind": "instance", "id": id(number), "run": id(2),
            "benchmark": {"id": name}}),
        )
    }));
    store.append(&records).unwrap();
    let rows = store.catalogue().benchmarks(&Filter::default()).unwrap();
    let listed: Vec<&str> = rows.iter().map(|row| row.benchmark.as_str()).collect();
    let mut visited = Vec::new();
    each_benchmark(&store, &Filter::default(), |data| {
        visited.push(data.benchmark.id);
        Ok::<(), StoreError>(())
    })
    .unwrap();
    assert_eq!(listed, ["s", "t[1]", "t[2]", "t[10]"]);
    assert_eq!(visited, listed);
}

#[test]
fn a_mistyped_name_is_answered_with_what_may_have_been_meant() {
    let (_folder, mut store) = store();
    store.append(&small()).unwrap();
    let filter = Filter {
        benchmarks: vec!["jion".to_owned()],
        ..Filter::default()
    };
    assert_eq!(
        store
            .catalogue()
            .benchmarks(&filter)
            .unwrap_err()
            .to_string(),
        "no benchmark `jion`; did you mean `a::join`?"
    );
    assert_eq!(
        store.catalogue().session("nighly").unwrap_err().to_string(),
        "no session `nighly`; did you mean `nightly`?"
    );
}

#[test]
fn merging_twice_changes_nothing_and_purging_leaves_nothing_behind() {
    let (_folder, mut store) = store();
    let (_other_folder, mut other) = self::store();
    store.append(&small()).unwrap();
    assert_eq!(
        other
            .write(|writer| writer.merge(&store))
            .unwrap()
            .total()
            .new,
        5
    );
    assert_eq!(
        other
            .write(|writer| writer.merge(&store))
            .unwrap()
            .total()
            .new,
        0
    );
    assert_eq!(sorted(&all(&other)), sorted(&small()));

    let nightly = other.catalogue().session("nightly").unwrap();
    let filter = Filter::of_session(nightly.id);
    let purged = other.purge(&filter).unwrap();
    assert_eq!((purged.sessions, purged.runs), (1, 1));
    assert_eq!((purged.instances, purged.iterations), (1, 2));
    assert_eq!(all(&other), []);
    assert_eq!(
        other.upkeep().check().unwrap().problems,
        Vec::<String>::new()
    );
    assert!(
        other
            .upkeep()
            .info()
            .unwrap()
            .counts
            .iter()
            .all(|(_, count)| *count == 0)
    );
}

#[test]
fn a_store_that_vanished_is_noticed_before_anything_is_lost() {
    let (folder, mut store) = store();
    std::fs::remove_dir_all(folder.path().join(".lapwing")).unwrap();
    let error = store.append(&small()).unwrap_err();
    assert!(matches!(error, StoreError::Vanished { .. }), "{error}");
}

#[test]
fn files_that_are_no_store_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(&text, "time,memory\n".repeat(100)).unwrap();
    let error = Store::open(&text).unwrap_err().to_string();
    assert!(
        error.ends_with("text.db is not a Lapwing store: it is no SQLite database"),
        "{error}"
    );

    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .unwrap();
    let error = Store::open(&other).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "other.db is not a Lapwing store: it is an SQLite database of another program"
        ),
        "{error}"
    );

    assert!(matches!(
        Store::open(folder.path()).unwrap_err(),
        StoreError::Directory { .. }
    ));
    assert!(matches!(
        Store::open_existing(&folder.path().join("none.db")).unwrap_err(),
        StoreError::Missing { .. }
    ));

    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer).unwrap());
    rusqlite::Connection::open(&newer)
        .unwrap()
        .execute_batch("UPDATE refinery_schema_history SET version = version + 96")
        .unwrap();
    let error = Store::open(&newer).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "newer.db is a store of version 106, newer than version 10, \
             the newest that this program knows"
        ),
        "{error}"
    );
}

#[test]
fn every_kind_is_counted_by_itself() {
    let (_folder, mut store) = store();
    let appended = store.append(&small()).unwrap();
    let counts: Vec<u64> = RecordKind::ALL
        .iter()
        .map(|&kind| appended.of(kind).new)
        .collect();
    assert_eq!(counts, [1, 1, 1, 2, 0, 0, 0, 0]);
}
