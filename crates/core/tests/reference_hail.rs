//! Imports a large Hail file and compares it, value by value, with what Hail itself read from it.
//!
//! The files are not part of the repository: they lie in `../shared/data` beside it, or
//! where `$LAPWING_REFERENCE_DATA` says.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::print_stderr, reason = "a test that did nothing must say so")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use lapwing_core::model::Outcome;
use lapwing_core::record::import::{BadLines, EachRun, ImportOptions, Source, import};
use lapwing_core::record::{Filter, InstanceData, Store, StoreError};
use serde_json::Value;

fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("LAPWING_REFERENCE_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    if folder.join("hail/benchmarks.jsonl.gz").is_file() {
        return Some(folder.join("hail"));
    }
    eprintln!(
        "reference data not found in {}, skipped: set LAPWING_REFERENCE_DATA",
        folder.display()
    );
    None
}

/// A number as its bits, so that equal means equal.
fn bits(value: Option<f64>) -> Option<u64> {
    value.map(f64::to_bits)
}

fn theirs(iteration: &Value) -> (bool, bool, bool, Option<u64>, Option<u64>) {
    (
        iteration["is_burn_in"].as_bool().unwrap(),
        iteration["timed_out"].as_bool().unwrap(),
        !iteration["failure"].is_null(),
        bits(iteration["time"].as_f64()),
        bits(iteration["task_memory"].as_f64()),
    )
}

fn ours(it: &InstanceData, k: usize) -> (bool, bool, bool, Option<u64>, Option<u64>) {
    let outcome = it.iterations.outcome[k];
    let value = |name: &str| {
        let column = it.iterations.values.get(name)?;
        (!column[k].is_nan()).then_some(column[k])
    };
    (
        it.iterations.burn_in[k],
        outcome == Outcome::TimedOut,
        outcome != Outcome::Ok,
        bits(value("wall_time")),
        bits(value("task_memory")),
    )
}

#[test]
fn a_hail_file_gives_what_hail_itself_reads_from_it() {
    let Some(folder) = reference() else { return };
    let place = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place.path().join("lapwing.db")).unwrap();
    let source = Source::open(&folder.join("benchmarks.jsonl.gz"), place.path()).unwrap();
    let options = ImportOptions {
        format: None,
        suite: None,
        each_run: EachRun::Iteration,
        bad_lines: BadLines::Refuse,
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let imported = import(&mut store, &source, &options).unwrap();
    assert_eq!(imported.format.name, "hail");
    let counts = store.info().unwrap().counts;
    assert_eq!(counts[3], ("instances", 782));
    assert_eq!(counts[4], ("iterations", 61_828));

    let again = import(&mut store, &source, &options).unwrap();
    assert_eq!(again.appended.total().new, 0);

    let mut iterations: BTreeMap<Vec<String>, Vec<_>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    store
        .each_benchmark(&Filter::default(), |data| {
            names.insert(data.benchmark.id.rsplit("::").next().unwrap().to_owned());
            for it in &data.instances {
                let key = instance_key(
                    &data.benchmark.id,
                    &Value::Object(it.instance.job.clone()),
                    it.instance.started.unwrap(),
                );
                let all = (0..it.iterations.len()).map(|k| ours(it, k)).collect();
                assert!(
                    iterations.insert(key.clone(), all).is_none(),
                    "twice: {key:?}"
                );
            }
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!(names.len(), 13);

    let file = std::fs::File::open(folder.join("imported.jsonl.gz")).unwrap();
    let mut compared = 0;
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let id = format!(
            "{}::{}",
            row["path"].as_str().unwrap(),
            row["name"].as_str().unwrap()
        );
        for instance in row["instances"].as_array().unwrap() {
            let start = instance["start"].as_str().unwrap().parse().unwrap();
            let key = instance_key(&id, instance, start);
            let expected: Vec<_> = instance["iterations"]
                .as_array()
                .unwrap()
                .iter()
                .map(theirs)
                .collect();
            compared += expected.len();
            assert_eq!(iterations.remove(&key), Some(expected), "{key:?}");
        }
    }
    assert_eq!(compared, 61_828);
    // Hail loses instances without iterations; we keep them.
    assert!(iterations.values().all(Vec::is_empty), "left over");
}

fn instance_key(id: &str, ids: &Value, start: jiff::Timestamp) -> Vec<String> {
    let mut key = vec![id.to_owned(), start.to_string()];
    for name in ["batch_id", "job_id", "attempt_id"] {
        key.push(match &ids[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
    }
    key
}
