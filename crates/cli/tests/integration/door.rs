//! `lapwing FILE…`, without a command.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::nights_fixture::{Nights, nights};
use crate::program::{output, run};
use crate::trace::TRACE;

const SLOWER: Nights = |night| Some(if night < 25 { 1.0 } else { 1.2 });

/// Returns the answer of `lapwing` with these arguments, and its exit code.
fn answer(folder: &Path, words: &[&str]) -> (Value, Option<i32>) {
    let done = output(folder, &[words, &["--format", "json"]].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (answer, done.status.code())
}

/// Writes a result of hyperfine.
fn write_result(folder: &Path, name: &str, level: f64) {
    let times: Vec<f64> = (0..10)
        .map(|at| level * (1.0 + 0.003 * f64::from(at * 7 % 10)))
        .collect();
    let result = json!({"results": [{"command": "render", "times": times, "exit_codes": vec![0; 10], "mean": level,
        "stddev": null, "median": level, "min": level, "max": level, "user": 0.1, "system": 0.0}]});
    fs::write(folder.join(name), result.to_string()).unwrap();
}

#[test]
fn the_command_is_the_one_that_fits_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(
        path.join("history.jsonl"),
        nights(0..40, &[("parse", SLOWER)]),
    )
    .unwrap();
    fs::write(path.join("trace.log"), TRACE).unwrap();
    fs::write(
        path.join("suite.toml"),
        "[benchmark.sleep]\ncommand = \"true\"\n",
    )
    .unwrap();
    fs::create_dir(path.join("nights")).unwrap();
    for night in 0..20_u32 {
        let level = 0.1 + 1e-5 * f64::from(night * 7 % 20);
        write_result(
            path,
            &format!("nights/2026-09-{:02}.json", night + 1),
            level,
        );
    }
    write_result(path, "old.json", 0.1);
    write_result(path, "new.json", 0.2);
    write_result(path, "newer.json", 0.3);
    let kinds = [
        &["history.jsonl"][..],
        &["nights"],
        &["nights/*.json"],
        &["old.json"],
        &["old.json", "new.json"],
        &["old.json", "new.json", "newer.json"],
        &["trace.log"],
        &["trace.log", "trace.log"],
        &["suite.toml"],
        &["--color", "never", "old.json"],
    ]
    .map(|files| {
        let (answer, code) = answer(path, files);
        let kind = answer["answer"].as_str().unwrap_or_default();
        format!("{}: {kind}, {}", files.join(" "), code.unwrap_or(-1))
    });
    assert_snapshot!(kinds.join("\n"), @"
    history.jsonl: detect, 0
    nights: detect, 0
    nights/*.json: detect, 0
    old.json: session, 0
    old.json new.json: compare, 0
    old.json new.json newer.json: compare, 0
    trace.log: trace, 0
    trace.log trace.log: trace-compare, 0
    suite.toml: dry-run, 0
    --color never old.json: session, 0
    ");
    assert!(!path.join(".lapwing").exists());
}

#[test]
fn files_get_the_answer_that_a_store_with_them_gets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let benchmarks: [(&str, Nights); 2] = [("parse", SLOWER), ("render", |_| Some(1.0))];
    fs::write(path.join("history.jsonl"), nights(0..40, &benchmarks)).unwrap();
    let gated = &["history.jsonl", "--fail-on", "regression"];
    let (door, code) = answer(path, gated);
    let (files, files_code) = answer(path, &[&["detect"], &gated[..]].concat());
    let imported = run(path, &["import", "history.jsonl"]);
    assert!(imported.ends_with("exit 0"), "{imported}");
    let (stored, stored_code) = answer(path, &["detect", "--fail-on", "regression"]);
    assert_eq!([code, files_code, stored_code], [Some(1); 3]);
    for field in ["headline", "verdict", "changes", "tested"] {
        assert!(!stored[field].is_null(), "{field}");
        assert_eq!(door[field], stored[field]);
        assert_eq!(files[field], stored[field]);
    }
    let next = door["next"][0]["command"].as_str();
    assert_eq!(next, Some("lapwing import history.jsonl"));
    // A store by its path is one, too.
    let (by_path, _) = answer(path, &[".lapwing/lapwing.db"]);
    assert_eq!(by_path["headline"], stored["headline"]);
}

#[test]
fn what_is_no_file_and_no_command_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("test.py"), "print('hello')\n").unwrap();
    let told = [
        run(path, &["resuls.json"]),
        run(path, &["detct"]),
        run(path, &["old.json", "new.json"]),
        run(path, &["test.py"]),
        run(path, &["detect", "nights/"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    error: there is no file resuls.json
    exit 2
    error: unrecognized subcommand 'detct'

      tip: some similar subcommands exist: 'bisect', 'detect'

    Usage: lapwing [OPTIONS] <COMMAND>
           lapwing [OPTIONS] FILE…

    For more information, try '--help'.
    exit 2
    error: there is no file old.json
    exit 2
    error: test.py is in none of the formats that can be imported: record, hail, pytest-benchmark, pyperf, asv, conbench, amun, google-benchmark, jmh, benchmarkdotnet, criterion, hyperfine, earthkit, dask, wfcommons, otlp, chrome-trace, parsl, coiled, github-action, bmf, catch2, junit, vitest, gungraun, benchmarktools, lnt, criterion-text, catch2-text, asv-text, benchmarkjs, divan, libtest, rebar, go, runs, csv
      nothing was imported from this file
      hint: if it is a program, `lapwing run -- python3 test.py` measures it
    exit 2
    error: there is no file nights/
    exit 2
    ");
}
