//! Histories of tools that keep no samples by default: one value per run is enough.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::reference_data;
use serde_json::{Value, json};

use crate::nights_fixture::findings;
use crate::program::{output, run};

const RUNS: u32 = 30;

/// The seconds of a night: 60 % more since the 16th.
fn seconds(night: u32) -> f64 {
    let factor = if night < 15 { 1.0 } else { 1.6 };
    0.01 * factor * (1.0 + f64::from(night * 7 % 11) / 1000.0)
}

fn date(night: u32) -> String {
    format!("2026-09-{:02}T02:00:00Z", night + 1)
}

fn commit(night: u32) -> String {
    format!("{:08x}", 0x0101_0101 * (night + 1)).repeat(5)
}

/// Writes `data.js` of github-action-benchmark.
fn github_action(folder: &Path) {
    let entries = (0..RUNS).map(|night| {
        let value = (seconds(night) * 1e9).round();
        let bench = json!({"name": "it", "value": value, "range": "± 12000", "unit": "ns/iter"});
        json!({
            "commit": {"id": commit(night), "timestamp": date(night), "message": "m", "url": ""},
            "date": 1_788_000_000_000_u64 + 86_400_000 * u64::from(night), "tool": "cargo", "benches": [bench],
        })
    });
    let entries: Vec<Value> = entries.collect();
    let data = json!({"lastUpdate": 0, "repoUrl": "", "entries": {"Bench": entries}});
    fs::write(
        folder.join("data.js"),
        format!("window.BENCHMARK_DATA = {data}"),
    )
    .unwrap();
}

/// Writes results of `pytest --benchmark-autosave`.
fn pytest_benchmark(folder: &Path) {
    for night in 0..RUNS {
        let mean = seconds(night);
        let stats = json!({
            "min": mean * 0.97, "max": mean * 1.1, "mean": mean * 1.01, "stddev": mean * 0.02, "rounds": 80,
            "median": mean, "iqr": mean * 0.02, "q1": mean * 0.99, "q3": mean * 1.01, "iterations": 1,
        });
        let data = json!({
            "machine_info": {"node": "box"}, "datetime": date(night), "version": "5.1.0",
            "commit_info": {"id": commit(night), "time": date(night), "dirty": false, "branch": "main"},
            "benchmarks": [{"name": "test_it", "fullname": "test_a.py::test_it", "params": null, "stats": stats}],
        });
        fs::write(folder.join(format!("{night:04}.json")), data.to_string()).unwrap();
    }
}

/// Writes results of `asv run` without samples; the oldest one failed.
fn asv(folder: &Path) {
    let machine = folder.join("box");
    fs::create_dir(&machine).unwrap();
    for night in 0..RUNS {
        let value = (night > 0).then(|| seconds(night));
        let data = json!({
            "commit_hash": commit(night), "env_name": "env", "date": 1_788_000_000_000_u64 + 86_400_000 * u64::from(night),
            "params": {"machine": "box", "python": "3.11"}, "python": "3.11", "requirements": {}, "env_vars": {},
            "result_columns": ["result", "params", "version", "started_at", "duration"],
            "results": {"time_it": [[value], [], "1", 1_788_000_000_000_u64, 1.0]}, "durations": {}, "version": 2,
        });
        fs::write(
            machine.join(format!("{}-env.json", &commit(night)[..8])),
            data.to_string(),
        )
        .unwrap();
    }
}

#[test]
fn what_tools_keep_by_default_is_searched() {
    let found = |write: fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("results");
        fs::create_dir(&results).unwrap();
        write(&results);
        let read = run(folder.path(), &["import", "results"]);
        assert!(read.ends_with("exit 0"), "{read}");
        run(folder.path(), &["detect", "--fail-on", "regression"])
    };
    assert_snapshot!(found(github_action), @"
    1 new regression   (1 history, 30 runs, FDR 5 %)

     benchmark   before    after  change                 since       verdict       id
     it         10.0 ms  16.1 ms  1.600× [1.596, 1.604]  1010101010  ✗ regression  a3af8af3

    note: 0f0f0f0f0f..1010101010, 2026-09-16
    next: `lapwing triage acknowledge a3af8af3` marks it as known, `lapwing report`
    writes pages with the histories
    exit 1
    ");
    assert_snapshot!(found(pytest_benchmark), @"
    1 new regression   (1 history, 30 runs, FDR 5 %)

     benchmark            before    after  change                 since       verdict       id
     test_a.py::test_it  10.0 ms  16.1 ms  1.600× [1.596, 1.604]  1010101010  ✗ regression  ea116487

    note: 0f0f0f0f0f..1010101010, 2026-09-16
    next: `lapwing triage acknowledge ea116487` marks it as known, `lapwing report`
    writes pages with the histories
    exit 1
    ");
    assert_snapshot!(found(asv), @"
    1 new regression   (1 history, 30 runs, FDR 5 %)

     benchmark       before    after  change                 since       verdict       id
     time_it (env)  10.1 ms  16.1 ms  1.600× [1.596, 1.604]  1010101010  ✗ regression  beefaa89

    note: 0f0f0f0f0f..1010101010, 2026-09-13
    next: `lapwing triage acknowledge beefaa89` marks it as known, `lapwing report`
    writes pages with the histories
    exit 1
    ");
}

/// Medians of 581 commits in 106 series, each in an older environment that ended and a newer one, which are variants
/// with a history each. asv's own detector (0.6.6, `asv.step_detect.detect_steps` on the values by date) finds 419 steps
/// in 202 of the 212 histories, and 308 in all 106 series of both environments in a row, among them the steps from one
/// environment to the other.
#[test]
fn scipys_public_history_is_searched() {
    let Some(archive) = reference_data("A_history/scipy_asv_atom.tar.xz") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let unpacked = std::process::Command::new("tar")
        .arg("-xf")
        .arg(&archive)
        .current_dir(path)
        .status();
    assert!(unpacked.unwrap().success());
    let read = run(path, &["import", "."]);
    assert!(read.contains("55,166 summaries imported"), "{read}");
    let answer = output(path, &["detect", "--full", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let with_values = answer["series"].as_array().unwrap().iter();
    let with_values = with_values.filter(|it| it["metric"] == "wall_time" && it["runs"] != 0);
    let mut series: Vec<String> = Vec::new();
    for finding in findings(&answer) {
        series.push(format!("{} {}", finding["benchmark"], finding["variant"]));
    }
    series.sort();
    series.dedup();
    let mut benchmarks: Vec<Value> = findings(&answer)
        .iter()
        .map(|it| it["benchmark"].clone())
        .collect();
    benchmarks.sort_by_key(Value::to_string);
    benchmarks.dedup();
    let untested = answer["untested"].as_array().unwrap();
    let untested: Vec<(&Value, &Value)> = untested
        .iter()
        .map(|it| (&it["state"], &it["histories"]))
        .collect();
    let counts = [with_values.count(), series.len(), benchmarks.len()];
    // All 212 histories with a value were searched, 179 have a change, and 101 of the 106 series of both environments.
    assert_eq!(counts, [212, 179, 101]);
    assert_eq!(answer["tested"], 106);
    let expected = json!([["not_measured", 108], ["never_usable", 2]]);
    assert_eq!(json!(untested), expected);
}

/// Writes a history of Go without changes, as github-action-benchmark keeps it.
fn quiet_history_of_go(folder: &Path) {
    let benches = |night: u32| {
        let of = |name: &str, value: f64| {
            let value = value * (1.0 + f64::from(night * 7 % 11) / 1000.0);
            json!({"name": name, "value": value, "unit": "ns/op", "extra": "5000 times\n8 procs"})
        };
        [of("BenchmarkFib10", 320.0), of("BenchmarkFib20", 40_000.0)]
    };
    let entries = (0..15).map(|night| {
        json!({
            "commit": {"id": commit(night), "timestamp": date(night), "message": "m", "url": ""},
            "date": 1_788_000_000_000_u64 + 86_400_000 * u64::from(night), "tool": "go", "benches": benches(night),
        })
    });
    let entries: Vec<Value> = entries.collect();
    let data = json!({"lastUpdate": 0, "repoUrl": "", "entries": {"Go Benchmark": entries}});
    fs::write(
        folder.join("data.js"),
        format!("window.BENCHMARK_DATA = {data}"),
    )
    .unwrap();
}

#[test]
fn the_output_of_a_tool_is_the_newest_run_of_the_history_of_github_action_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    quiet_history_of_go(path);
    let gate = ["--fail-on", "suspected", "--smallest-effect", "50%"];
    let files = ["data.js", "output.txt"];
    for (time, found, exit) in [
        (558.0, "no confirmed change, 1 suspected", "exit 1"),
        (321.0, "no change found", "exit 0"),
        (450.0, "no change found", "exit 0"),
    ] {
        let output = format!(
            "goos: linux\npkg: x/y\nBenchmarkFib10-8\t5000000\t{time} ns/op\nBenchmarkFib20-8\t30000\t40100 ns/op\nPASS\n"
        );
        fs::write(path.join("output.txt"), output).unwrap();
        let told = run(path, &[&["detect"], &files[..], &gate].concat());
        assert!(
            told.starts_with(&format!("{found}   (2 histories, 16 runs")) && told.ends_with(exit),
            "{told}"
        );
        assert_eq!(run(path, &[&files[..], &gate].concat()), told);
    }
    let note = run(
        path,
        &[
            "data.js",
            "output.txt",
            "--fail-on-alert",
            "--alert-threshold",
            "150%",
        ],
    );
    let line = "\n`lapwing detect data.js output.txt --fail-on suspected --smallest-effect 50%`";
    assert!(note.contains(line) && note.ends_with("exit 0"), "{note}");
}

#[test]
fn an_output_that_is_imported_continues_the_history_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    quiet_history_of_go(path);
    let write = |time: f64, name: &str| {
        let line = format!("pkg: x/y\nBenchmark{name}-8\t5000000\t{time} ns/op\nPASS\n");
        fs::write(path.join("output.txt"), line).unwrap();
    };
    run(path, &["import", "data.js"]);
    write(558.0, "Fib10");
    let imported = run(path, &["import", "output.txt"]);
    assert!(
        imported.contains("continue the history `Go Benchmark`"),
        "{imported}"
    );
    let told = run(path, &["detect", "--fail-on", "suspected"]);
    assert!(
        told.starts_with("no confirmed change, 1 suspected") && told.ends_with("exit 1"),
        "{told}"
    );
    write(558.0, "Other");
    let apart = run(path, &["import", "output.txt"]);
    assert!(!apart.contains("continue the history"), "{apart}");
    let listed = run(path, &["list", "--format", "csv", "--fields", "suite"]);
    assert!(listed.contains("go\n"), "{listed}");
}

#[test]
fn an_output_that_shares_nothing_with_the_history_passes_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    quiet_history_of_go(path);
    for line in [
        "BenchmarkOther-8\t5000000\t558 ns/op",
        "BenchmarkFib10-8\t5000000\t558 widgets",
    ] {
        fs::write(path.join("output.txt"), format!("{line}\nPASS\n")).unwrap();
        let told = run(
            path,
            &["detect", "data.js", "output.txt", "--fail-on", "suspected"],
        );
        let refused = "output.txt does not continue the history `Go Benchmark`";
        assert!(told.contains(refused) && told.ends_with("exit 2"), "{told}");
    }
}
