//! Many processes that put overlapping histories into one store at once: nothing is doubled and
//! nothing lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::program::{output, run};

/// Databases of Coiled's of which one has rows of the other, under other numbers.
const DATABASES: [&str; 2] = ["benchmark.db", "old.db"];

/// How many processes are at work at once.
const WRITERS: usize = 16;

/// Returns a folder with the databases, and a store made of each and of parts of them.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/coiled");
    for name in DATABASES {
        fs::copy(fixtures.join(name), folder.path().join(name)).unwrap();
    }
    // What a part of the databases has, and what people said of it.
    let part = folder.path().join("part-of-benchmark.db");
    fs::copy(folder.path().join("benchmark.db"), &part).unwrap();
    rusqlite::Connection::open(&part)
        .unwrap()
        .execute_batch("DELETE FROM test_run WHERE id % 2 = 0; UPDATE test_run SET id = id + 500")
        .unwrap();
    for (store, source) in [
        ("one", "benchmark.db"),
        ("two", "old.db"),
        ("three", "part-of-benchmark.db"),
    ] {
        said(
            folder.path(),
            &["--store", &format!("{store}.store"), "import", source],
        );
    }
    for (number, what) in [
        ("one", "benchmarks/test_sum.py::*"),
        ("two", "benchmarks/*"),
    ] {
        let arguments = ["db", "retire", what, "--by", "ada", "--reason", "why"];
        said(
            folder.path(),
            &[&["--store", &format!("{number}.store")], &arguments[..]].concat(),
        );
    }
    folder
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert!(said.ends_with("exit 0"), "{arguments:?}: {said}");
    said
}

/// What is in a store: its records but for what the first file to come says of itself.
fn records(folder: &Path, store: &str) -> BTreeSet<String> {
    let out = output(folder, &["--store", store, "export", "--to", "record"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let records: Vec<String> = text
        .lines()
        .map(|line| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            if record["kind"] == "session" {
                record["attributes"] = serde_json::Value::Null;
                record["started"] = serde_json::Value::Null;
            }
            record.to_string()
        })
        .collect();
    let all: BTreeSet<String> = records.iter().cloned().collect();
    assert_eq!(all.len(), records.len(), "nothing is there twice");
    all
}

/// The ways in which things come into a store.
fn ways() -> Vec<Vec<&'static str>> {
    let imports = ["benchmark.db", "old.db", "part-of-benchmark.db"];
    let stores = ["one.store", "two.store", "three.store"];
    let imports = imports.iter().map(|file| vec!["import", file]);
    let merges = stores.iter().map(|store| vec!["db", "merge", store]);
    imports.chain(merges).collect()
}

#[test]
fn sixteen_writers_at_once_double_nothing_and_lose_nothing() {
    let folder = prepared();
    let folder = folder.path();
    for way in ways() {
        said(folder, &[&["--store", "in-turn.store"], &way[..]].concat());
    }
    let all = ways();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let way = &all[writer % all.len()];
            scope.spawn(move || said(folder, &[&["--store", "at-once.store"], &way[..]].concat()));
        }
    });
    assert_eq!(
        records(folder, "at-once.store"),
        records(folder, "in-turn.store")
    );
    said(folder, &["--store", "at-once.store", "db", "check"]);
}

#[test]
fn merging_the_same_store_twice_changes_nothing() {
    let folder = prepared();
    let folder = folder.path();
    for store in ["one.store", "two.store", "three.store"] {
        said(folder, &["--store", "all.store", "db", "merge", store]);
    }
    let before = records(folder, "all.store");
    for store in ["three.store", "one.store", "two.store", "one.store"] {
        let said = said(folder, &["--store", "all.store", "db", "merge", store]);
        assert!(said.contains(": 0 records new, "), "{said}");
    }
    assert_eq!(records(folder, "all.store"), before);
    // The other way round the same comes of it.
    for store in ["two.store", "three.store", "one.store"] {
        said(
            folder,
            &["--store", "other-way.store", "db", "merge", store],
        );
    }
    assert_eq!(records(folder, "other-way.store"), before);
}

#[test]
fn what_many_people_say_at_once_is_all_kept() {
    let folder = prepared();
    let folder = folder.path();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let by = format!("writer {writer}");
                let why = [
                    "--by",
                    &by,
                    "--reason",
                    "why",
                    "--where",
                    "until=2026-12-01",
                ];
                let retire = ["--store", "one.store", "db", "retire", "benchmarks/*"];
                said(folder, &[&retire[..], &why].concat())
            });
        }
    });
    let annotations = [
        "--store",
        "one.store",
        "db",
        "annotations",
        "--format",
        "csv",
    ];
    let list = said(folder, &annotations);
    for writer in 0..WRITERS {
        assert!(
            list.contains(&format!(",writer {writer},retire,")),
            "{list}"
        );
    }
    assert_eq!(
        list.lines().filter(|line| line.contains(",true,")).count(),
        WRITERS + 1
    );
}
