use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{Filter, Mark, Store, parse_line};
use lapwing_model::{Iteration, Object, Outcome, Record};

fn id(number: u64) -> Id {
    Id::derived(&[&number.to_le_bytes()])
}

fn store_with_instances(path: &Path, instances: u64) -> Store {
    let mut store = Store::open(path).unwrap();
    let mut lines = vec![
        json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
            "started": "2026-11-20T10:00:00Z"}),
        json!({"v": 1, "kind": "run", "id": id(2), "session": id(1)}),
    ];
    for number in 0..instances {
        lines.push(
            json!({"v": 1, "kind": "instance", "id": id(100 + number), "run": id(2),
            "benchmark": {"id": "b"}}),
        );
    }
    let records: Vec<Record> = lines
        .iter()
        .map(|line| parse_line(line.to_string().as_bytes()).unwrap())
        .collect();
    store.append(&records).unwrap();
    store
}

fn put(store: &mut Store, instance: Id, columns: IterationColumns) -> StoreResult<()> {
    store.write(|writer| writer.put_columns(instance, columns))
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

#[test]
fn columns_come_back_as_the_iterations_that_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_with_instances(&folder.path().join("lapwing.db"), 1);
    let time = |k: u32| if k == 9 { f64::NAN } else { f64::from(k) / 7.0 };
    let mut attributes = Object::new();
    attributes.insert("note".to_owned(), json!("x"));
    let mark = Mark {
        outcome: Outcome::Failed,
        message: Some("exit code 1".to_owned()),
        attributes: attributes.clone(),
    };
    let columns = IterationColumns {
        first: 0,
        count: 200,
        burn_in: (0..200).map(|k| k < 2).collect(),
        loops: vec![3; 200],
        offsets: (0..200).map(f64::from).collect(),
        values: BTreeMap::from([
            ("none".to_owned(), vec![f64::NAN; 200]),
            ("time".to_owned(), (0..200).map(time).collect()),
        ]),
        marks: BTreeMap::from([(9, mark.clone()), (199, mark.clone())]),
    };
    put(&mut store, id(100), columns).unwrap();
    let expected: Vec<Iteration> = (0..200_u32)
        .map(|k| {
            let marked = k == 9 || k == 199;
            let values = [("time".to_owned(), time(k))];
            Iteration {
                instance: id(100),
                index: k,
                offset: Some(f64::from(k)),
                burn_in: k < 2,
                loops: 3,
                outcome: if marked { Outcome::Failed } else { Outcome::Ok },
                message: marked.then(|| "exit code 1".to_owned()),
                metrics: values.into_iter().filter(|(_, it)| !it.is_nan()).collect(),
                attributes: if marked {
                    attributes.clone()
                } else {
                    Object::new()
                },
                artifacts: Object::new(),
                extra: Object::new(),
            }
        })
        .collect();
    assert_eq!(stored(&store), expected);
    let records: Vec<Record> = expected.into_iter().map(Record::Iteration).collect();
    assert_eq!(store.append(&records).unwrap().total().already_there, 200);
    assert_eq!(
        store.upkeep().check().unwrap().problems,
        Vec::<String>::new()
    );
}

#[test]
fn columns_may_come_in_parts_and_in_turn_with_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_with_instances(&folder.path().join("lapwing.db"), 2);
    let failed = Mark {
        outcome: Outcome::Failed,
        message: Some("exit code 1".to_owned()),
        attributes: Object::new(),
    };
    let part = |first: u32, count: u32| IterationColumns {
        first,
        count: count as usize,
        values: BTreeMap::from([(
            "time".to_owned(),
            (first..first + count).map(f64::from).collect(),
        )]),
        // The last of the part.
        marks: BTreeMap::from([(count - 1, failed.clone())]),
        ..IterationColumns::default()
    };
    store
        .write(|writer| {
            writer.put_columns(id(100), part(0, 150))?;
            writer.put_columns(id(101), part(0, 3))?;
            writer.put_columns(id(100), part(150, 2))?;
            writer.put_columns(id(101), part(3, 1))
        })
        .unwrap();
    let expected = |instance: u64, count: u32, failures: [u32; 2]| {
        (0..count).map(move |index| {
            let failed = failures.contains(&index);
            Iteration {
                instance: id(instance),
                index,
                offset: None,
                burn_in: false,
                loops: 1,
                outcome: if failed { Outcome::Failed } else { Outcome::Ok },
                message: failed.then(|| "exit code 1".to_owned()),
                metrics: BTreeMap::from([("time".to_owned(), f64::from(index))]),
                attributes: Object::new(),
                artifacts: Object::new(),
                extra: Object::new(),
            }
        })
    };
    let expected: Vec<Iteration> = expected(100, 152, [149, 151])
        .chain(expected(101, 4, [2, 3]))
        .collect();
    assert_eq!(stored(&store), expected);
    let again = store.write(|writer| writer.put_columns(id(100), part(151, 2)));
    assert!(
        again
            .unwrap_err()
            .to_string()
            .ends_with("an instance just made has iterations from 151 on")
    );
}

#[test]
fn columns_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_with_instances(&folder.path().join("lapwing.db"), 1);
    let one = |value: f64, count: usize| IterationColumns {
        count,
        values: BTreeMap::from([("time".to_owned(), vec![value])]),
        ..IterationColumns::default()
    };
    assert_eq!(
        put(&mut store, id(100), one(f64::INFINITY, 1))
            .unwrap_err()
            .to_string(),
        format!(
            "iteration 0 of instance {}: `time` is not a finite number",
            id(100)
        )
    );
    assert!(
        put(&mut store, id(100), one(1.0, 2))
            .unwrap_err()
            .to_string()
            .ends_with("columns of different lengths were given for 2 iterations")
    );
    assert_eq!(stored(&store), []);
    put(&mut store, id(100), one(1.0, 1)).unwrap();
    assert!(
        put(&mut store, id(100), one(1.0, 1))
            .unwrap_err()
            .to_string()
            .ends_with("an instance just made has iterations from 0 on")
    );
}

#[test]
fn a_benchmark_has_a_bounded_number_of_metrics_and_refuses_the_iteration_with_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_with_instances(&folder.path().join("lapwing.db"), 2);
    let iteration = |index: u32, names: std::ops::Range<u32>| {
        let metrics: Object = names.map(|it| (format!("m{it}"), json!(1.5))).collect();
        let line = json!({"v": 1, "kind": "iteration", "instance": id(100), "index": index,
            "metrics": metrics});
        parse_line(line.to_string().as_bytes()).unwrap()
    };
    let refused: Vec<String> = store
        .write(|writer| {
            let all = [
                iteration(0, 0..600),
                iteration(1, 600..1_001),
                iteration(2, 600..1_000),
                iteration(3, 1_000..1_001),
                iteration(4, 0..1_000),
            ];
            let put = all.iter().map(|it| writer.put(it));
            let refused = put.filter_map(|it| it.err().map(|error| error.to_string()));
            Ok::<_, StoreError>(refused.collect())
        })
        .unwrap();
    let why = "the benchmark has more than 1,000 metrics; is a number part of their names?";
    let expected = |index| format!("iteration {index} of instance {}: {why}", id(100));
    assert_eq!(refused, [expected(1), expected(3)]);
    let indices: Vec<u32> = stored(&store).iter().map(|it| it.index).collect();
    assert_eq!(indices, [0, 2, 4]);
    let columns = IterationColumns {
        count: 1,
        values: BTreeMap::from([("other".to_owned(), vec![1.0])]),
        ..IterationColumns::default()
    };
    let error = put(&mut store, id(101), columns).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("iteration 0 and more of instance {}: {why}", id(101))
    );
}

/// Returns how long this thread has been at work, whatever else the machine does.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// `cargo test --release -p lapwing-record --lib a_million -- --ignored --nocapture`
#[test]
#[ignore = "measures; says nothing in a debug build"]
fn a_million_samples_go_in_and_come_out() {
    const INSTANCES: u64 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lapwing.db");
    let mut store = store_with_instances(&path, INSTANCES);
    let columns: Vec<IterationColumns> = (0..INSTANCES)
        .map(|number| IterationColumns {
            count: 100,
            values: BTreeMap::from([(
                "time".to_owned(),
                (0..100_u64)
                    .map(|k| f64::from(u32::try_from(number * 100 + k).unwrap()).sqrt() / 1e4)
                    .collect(),
            )]),
            ..IterationColumns::default()
        })
        .collect();
    let before = processor_time();
    let mut put = before;
    store
        .write(|writer| {
            for (number, columns) in (0..).zip(columns) {
                writer.put_columns(id(100 + number), columns)?;
            }
            put = processor_time();
            Ok::<(), StoreError>(())
        })
        .unwrap();
    let committed = processor_time();
    let mut samples = 0;
    store
        .each_recorded(&Filter::default(), |data| {
            samples += data
                .instances
                .iter()
                .map(|it| it.iterations.values["time"].len())
                .sum::<usize>();
            Ok::<(), StoreError>(())
        })
        .unwrap();
    let read = processor_time();
    assert_eq!(samples, 1_000_000);
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!(
        "put {:?}, commit {:?}, read {:?}, {bytes} bytes",
        put - before,
        committed - put,
        read - committed
    );
}
