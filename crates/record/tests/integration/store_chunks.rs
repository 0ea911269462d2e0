//! Iterations come back as they were put, in whatever order and however many at a time.

use std::collections::BTreeMap;

use lapwing_analyse::sample::{each_batch, each_benchmark};
use lapwing_model::{Id, Iteration, Outcome, Record, RecordKind};
use lapwing_record::{Filter, Store, StoreError, parse_line};
use proptest::prelude::*;
use serde_json::json;

const INSTANCES: u64 = 3;

fn id(number: u64) -> Id {
    Id::derived(&[&number.to_le_bytes()])
}

fn instance(number: u64) -> Id {
    id(100 + number)
}

/// A session, a run and its instances: two of one benchmark, the others of another.
fn parents() -> Vec<Record> {
    let mut lines = vec![
        json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
            "started": "2026-11-20T10:00:00Z"}),
        json!({"v": 1, "kind": "run", "id": id(2), "session": id(1)}),
    ];
    for number in 0..INSTANCES {
        let benchmark = format!("benchmark {}", number / 2);
        lines.push(
            json!({"v": 1, "kind": "instance", "id": instance(number), "run": id(2),
            "benchmark": {"id": benchmark}, "position": number}),
        );
    }
    lines
        .iter()
        .map(|line| parse_line(line.to_string().as_bytes()).unwrap())
        .collect()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has finite numbers only", |it| it.is_finite()),
        Just(-0.0),
        Just(5e-324),
        0.0..1.0,
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        Just("naïve 🦉 \u{0} \"quoted\"\n[1,2]".to_owned())
    ]
}

prop_compose! {
    fn iteration()(
        (offset, burn_in, loops) in (prop::option::of(number()), any::<bool>(),
            prop_oneof![Just(1), any::<u64>()]),
        outcome in prop_oneof![4 => Just(0_usize), 1 => 1_usize..4],
        message in prop::option::weighted(0.2, text()),
        metrics in prop::collection::btree_map("[a-e]", number(), 0..5),
        (printed, artifact, more) in (prop::option::weighted(0.2, text()),
            prop::option::weighted(0.1, text()), prop::option::weighted(0.1, any::<i64>())),
    ) -> Iteration {
        let one = |name: &str, value: Option<serde_json::Value>| {
            value.into_iter().map(|value| (name.to_owned(), value)).collect()
        };
        Iteration {
            instance: id(0),
            index: 0,
            offset,
            burn_in,
            loops,
            outcome: Outcome::ALL[outcome],
            message,
            metrics,
            attributes: one("stdout", printed.map(Into::into)),
            artifacts: one("log", artifact.map(Into::into)),
            extra: one("later", more.map(Into::into)),
        }
    }
}

/// Plain ones many times over, so that there are several chunks, among some that are not.
fn iterations() -> impl Strategy<Value = Vec<Iteration>> {
    let index = prop_oneof![3 => 0_u32..300, 1 => any::<u32>()];
    let keys = prop::collection::btree_set((0..INSTANCES, index), 0..400);
    let contents = prop::collection::vec(iteration(), 1..12);
    (keys, contents)
        .prop_map(|(keys, contents)| {
            let contents = contents.iter().cycle();
            keys.into_iter()
                .zip(contents)
                .map(|((number, index), content)| Iteration {
                    instance: instance(number),
                    index,
                    ..content.clone()
                })
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn by_key(iterations: impl IntoIterator<Item = Iteration>) -> BTreeMap<(Id, u32), Iteration> {
    iterations
        .into_iter()
        .map(|it| ((it.instance, it.index), it))
        .collect()
}

fn stored(store: &Store) -> Vec<Iteration> {
    let mut iterations = Vec::new();
    store
        .scan(&Filter::default(), |record| {
            if let Record::Iteration(iteration) = record {
                iterations.push(iteration);
            }
            Ok::<(), StoreError>(())
        })
        .unwrap();
    iterations
}

/// Equal to the last bit, which `==` does not ask of a negative zero.
fn bits(iteration: &Iteration) -> Vec<Option<u64>> {
    std::iter::once(iteration.offset)
        .chain(iteration.metrics.values().copied().map(Some))
        .map(|number| number.map(f64::to_bits))
        .collect()
}

/// What `each_benchmark` gives must be what `scan` gives.
fn assert_same_in_columns(store: &Store, expected: &BTreeMap<(Id, u32), Iteration>) {
    let mut seen = 0;
    each_benchmark(store, &Filter::default(), |data| {
        for it in &data.instances {
            let columns = &it.iterations;
            assert!(columns.indices().is_sorted_by(|left, right| left < right));
            for (place, index) in columns.indices().enumerate() {
                seen += 1;
                let one = &expected[&(it.instance.id, index)];
                assert_eq!(columns.burn_in[place], one.burn_in);
                assert_eq!(columns.outcome[place], one.outcome);
                assert_eq!(columns.offset[place].is_nan(), one.offset.is_none());
                assert_eq!(columns.messages.get(&place), one.message.as_ref());
                let mut artifacts = columns.artifacts().filter(|(at, _)| *at == place);
                let artifacts = artifacts.next().map(|(_, all)| all.clone());
                assert_eq!(artifacts.unwrap_or_default(), one.artifacts);
                for (name, column) in &columns.values {
                    let value = one.metrics.get(name).copied();
                    assert_eq!(
                        Some(column[place])
                            .filter(|value| !value.is_nan())
                            .map(f64::to_bits),
                        value.map(f64::to_bits)
                    );
                }
                assert!(one.metrics.keys().all(|it| columns.values.contains_key(it)));
            }
        }
        Ok::<(), StoreError>(())
    })
    .unwrap();
    assert_eq!(seen, expected.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn iterations_come_back_whatever_the_order_and_the_batches(
        iterations in iterations(),
        batches in prop::collection::vec(1_usize..200, 1..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
        store.append(&parents()).unwrap();
        let records: Vec<Record> = iterations.iter().cloned().map(Record::Iteration).collect();
        let mut rest = &records[..];
        for batch in batches.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(rest.len().min(*batch));
            let count = store.append(now).unwrap().of(RecordKind::Iteration);
            prop_assert_eq!(count.new, now.len() as u64);
            rest = later;
        }

        let expected = by_key(iterations);
        let back = by_key(stored(&store));
        prop_assert_eq!(&back, &expected);
        for (key, iteration) in &expected {
            prop_assert_eq!(bits(&back[key]), bits(iteration));
        }
        assert_same_in_columns(&store, &expected);
        prop_assert_eq!(store.upkeep().check().unwrap().problems, Vec::<String>::new());

        let again = store.append(&records).unwrap().of(RecordKind::Iteration);
        prop_assert_eq!((again.new, again.already_there), (0, records.len() as u64));
        prop_assert_eq!(by_key(stored(&store)), expected);
    }
}

fn plain(index: u32, value: f64) -> Record {
    let line = json!({"v": 1, "kind": "iteration", "instance": instance(0), "index": index,
        "metrics": {"wall_time": value}});
    parse_line(line.to_string().as_bytes()).unwrap()
}

#[test]
fn an_iteration_given_twice_in_one_transaction_is_there_already_or_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    store.append(&parents()).unwrap();
    let (one, same, other) = (plain(4, 1.5), plain(4, 1.5), plain(4, 2.5));
    let error = store.append([&one, &other]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "iteration 4 of instance {} is already in the store with other content: \
             `metrics.wall_time` is 1.5 there and 2.5 here",
            instance(0)
        )
    );
    assert_eq!(stored(&store), []);
    let count = store
        .append([&one, &same])
        .unwrap()
        .of(RecordKind::Iteration);
    assert_eq!((count.new, count.already_there), (1, 1));
}

#[test]
fn a_conflict_with_what_was_written_earlier_in_the_same_transaction_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    store.append(&parents()).unwrap();
    // More than are held back.
    let many: Vec<Record> = (0..10_000).map(|index| plain(index, 1.0)).collect();
    let error = store
        .append(many.iter().chain([&plain(7, 2.0)]))
        .unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    let count = store.append(many.iter().chain([&plain(7, 1.0)])).unwrap();
    assert_eq!(count.of(RecordKind::Iteration).already_there, 1);
    assert_eq!(stored(&store).len(), many.len());
}

#[test]
fn an_iteration_of_an_instance_that_was_just_made_is_compared_with_what_was_written() {
    let many: Vec<Record> = (0..10_000).map(|index| plain(index, 1.0)).collect();
    let with = |last: Record| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
        let records = [parents(), many.clone(), vec![last]].concat();
        store.append(&records).map(|count| count.total())
    };
    let same = with(plain(7, 1.0)).unwrap();
    assert_eq!((same.new, same.already_there), (10_005, 1));
    let error = with(plain(7, 2.0)).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
}

#[test]
fn instances_and_their_ends_come_back_however_many_are_put_together() {
    let of = |kind: &str, more: serde_json::Value| {
        let mut line = json!({"v": 1, "kind": kind});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        parse_line(line.to_string().as_bytes()).unwrap()
    };
    // Derived ids are in no order. Some end at once, some later, some twice, some never.
    let mut records = parents();
    for number in 10..310_u64 {
        let benchmark = format!("benchmark {}", number % 7);
        records.push(of(
            "instance",
            json!({"id": instance(number), "run": id(2), "benchmark": {"id": benchmark}, "position": number}),
        ));
        records.push(of(
            "iteration",
            json!({"instance": instance(number), "index": 0, "metrics": {"wall_time": number}}),
        ));
        for late in [0, 3, 100] {
            if number % 5 != 0 && number >= 10 + late && number % 3 != late % 3 {
                let end = json!({"instance": instance(number - late), "outcome": "failed", "message": "m"});
                records.push(of("instance_end", end));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut together = Store::open(&folder.path().join("together.db")).unwrap();
    let mut one_by_one = Store::open(&folder.path().join("one_by_one.db")).unwrap();
    let counted = together.append(&records).unwrap();
    for record in &records {
        one_by_one.append([record]).unwrap();
    }
    let singly = one_by_one.append(&records).unwrap();
    assert_eq!(singly.total().new, 0);
    assert_eq!(
        counted.total().new + counted.total().already_there,
        records.len() as u64
    );
    assert!(counted.of(RecordKind::InstanceEnd).already_there > 0);
    let all = |store: &Store| {
        let mut all = Vec::new();
        let scanned = store.scan(&Filter::default(), |record| {
            all.push(record);
            Ok::<(), StoreError>(())
        });
        scanned.unwrap();
        all
    };
    assert_eq!(all(&together), all(&one_by_one));
    assert_eq!(all(&together).len() as u64, counted.total().new);
    let again = together.append(&records).unwrap().total();
    assert_eq!((again.new, again.already_there), (0, records.len() as u64));
    assert_eq!(
        together.upkeep().check().unwrap().problems,
        Vec::<String>::new()
    );
}

#[test]
fn a_check_finds_chunks_that_no_program_of_ours_writes() {
    let problems = |damage: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lapwing.db");
        let mut store = Store::open(&path).unwrap();
        store.append(&parents()).unwrap();
        let many: Vec<Record> = (0..3).map(|index| plain(index, 1.0)).collect();
        store.append(&many).unwrap();
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(damage)
            .unwrap();
        store.upkeep().check().unwrap().problems
    };
    assert_eq!(problems(""), Vec::<String>::new());
    let of = |what: &str, why: &str| {
        let (instance, session) = (instance(0), id(1));
        format!(
            "{what} of instance {instance} (benchmark `benchmark 0`, session `{session}`): {why}"
        )
    };
    assert_eq!(
        problems("UPDATE chunk SET count = 4"),
        [
            of("iterations 0 to 3", "a chunk of iterations has changed"),
            of(
                "values of `wall_time` of iterations 0 to 3",
                "an array has too few entries: [1.0,1.0,1.0]"
            )
        ]
    );
    assert_eq!(
        problems("UPDATE chunk SET outcome = '{\"1\":\"good\"}'"),
        [of(
            "iterations 0 to 2",
            "column `outcome` is unreadable: unknown variant `good`, expected one of `ok`, \
             `failed`, `timed_out`, `skipped` at line 1 column 11"
        )]
    );
    assert_eq!(
        problems("UPDATE chunk SET burn_in = '[0,1]'"),
        [of(
            "iterations 0 to 2",
            "an array has 2 entries in place of 3: [0,1]"
        )]
    );
    assert_eq!(
        problems("UPDATE chunk SET burn_in = '[0,1,1]'"),
        [of("iterations 0 to 2", "a chunk of iterations has changed")]
    );
    assert_eq!(
        problems("UPDATE series SET vals = '[1.0,2.0,1.0]'"),
        [of(
            "values of `wall_time` of iterations 0 to 2",
            "the values have changed"
        )]
    );
    assert_eq!(
        problems("DELETE FROM chunk"),
        ["1 series of values without their chunk of iterations"]
    );
    assert_eq!(
        problems("UPDATE chunk SET instance = 77; UPDATE series SET instance = 77"),
        [
            "3 iterations without their instance",
            "iterations 0 to 2 of instance number 77 (benchmark `unknown`, session `unknown`): a chunk of iterations has changed",
            "values of `wall_time` of iterations 0 to 2 of instance number 77 (benchmark `unknown`, session `unknown`): the values have changed"
        ]
    );
    assert_eq!(
        problems("UPDATE series SET metric = 77"),
        [
            "1 values of unknown metrics".to_owned(),
            "1 metrics that a benchmark has and its list lacks".to_owned(),
            of(
                "values of `unknown` of iterations 0 to 2",
                "the values have changed"
            )
        ]
    );
}

#[test]
fn a_chunk_that_cannot_be_read_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lapwing.db");
    let mut store = Store::open(&path).unwrap();
    store.append(&parents()).unwrap();
    store.append([&plain(0, 1.0)]).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE series SET vals = '[one]'")
        .unwrap();
    let error =
        each_benchmark(&store, &Filter::default(), |_| Ok::<(), StoreError>(())).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("lapwing.db is damaged: `one` stands where a number should"),
        "{error}"
    );
}

#[test]
fn batches_are_all_benchmarks_in_order_and_end_with_the_first_error() {
    let lines = [
        json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
            "started": "2026-11-20T10:00:00Z"}),
        json!({"v": 1, "kind": "run", "id": id(2), "session": id(1)}),
    ];
    let instances = (0..100_u32).map(|number| {
        json!({"v": 1, "kind": "instance", "id": instance(u64::from(number)), "run": id(2),
            "benchmark": {"id": format!("benchmark {number}")}, "position": number})
    });
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("lapwing.db")).unwrap();
    let lines = lines.into_iter().chain(instances);
    let records: Vec<Record> = lines
        .map(|line| parse_line(line.to_string().as_bytes()).unwrap())
        .collect();
    store.append(&records).unwrap();
    let mut one_by_one = Vec::new();
    each_benchmark(&store, &Filter::default(), |data| {
        one_by_one.push(data);
        Ok::<(), StoreError>(())
    })
    .unwrap();
    let mut batches = Vec::new();
    each_batch(&store, &Filter::default(), |batch| {
        batches.push(batch);
        Ok::<(), StoreError>(())
    })
    .unwrap();
    assert!(batches.len() > 2);
    assert_eq!(batches.concat(), one_by_one);
    let mut calls = 0;
    let error = each_batch(&store, &Filter::default(), |_| {
        calls += 1;
        Err(WorkFailed(None))
    });
    assert!(matches!(error, Err(WorkFailed(None))));
    assert_eq!(calls, 1);
}

/// An error of the work on a batch, or of reading.
#[derive(Debug)]
struct WorkFailed(Option<StoreError>);

impl From<StoreError> for WorkFailed {
    fn from(error: StoreError) -> Self {
        Self(Some(error))
    }
}
