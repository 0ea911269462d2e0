//! The line with which every import ends, and what is recognised without its usual signs.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

/// Runs the program in a folder; returns everything that it says, standard output first.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    format!(
        "{}{}exit {}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap()
    )
}

const BROKEN: &str = "\
running 2 tests
test bool/cut_a ... Criterion.rs ERROR: error: Failed to access file \"base/sample.json\"
test bool/cut_b ... bench:         512 ns/iter (+/- 9)
";

#[test]
fn names_and_results_add_up_in_text_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("bench.txt"), BROKEN).unwrap();
    assert_snapshot!(run(folder, &["import", "bench.txt"]), @"
    bench.txt: 1 instance, 1 summary imported; the source kept no samples
    detected libtest: it has a line `test … ... bench:`
    stored in .lapwing/lapwing.db as session `bench` of suite `libtest`
    note: found 2 names, 1 result; without a result: bool/cut_a (line 2)
    exit 0
    ");
    // A copy without the first line is another file.
    let (_, rest) = BROKEN.split_once('\n').unwrap();
    fs::write(folder.join("other.txt"), rest).unwrap();
    assert_snapshot!(run(folder, &["import", "bench.txt", "other.txt"]), @"
    2 files (2 libtest): 1 instance, 1 summary imported; the source kept no samples; 1 instance was already in the store

     file       format   result
     bench.txt  libtest  nothing new, everything is already in the store
     other.txt  libtest  1 instance, 1 summary imported; the source kept no samples

    stored in .lapwing/lapwing.db as 2 sessions
    note: found 2 names, 2 results; without a result: bool/cut_a (bench.txt:2 and 1
    more)
    exit 0
    ");
    let json = run(
        folder,
        &["import", "bench.txt", "other.txt", "--format", "json"],
    );
    let json: Value = serde_json::from_str(json.trim_end_matches("exit 0")).unwrap();
    assert_snapshot!(
        format!("{} {} {:#}", json["names"], json["results"], json["without_result"]),
        @r#"
    2 2 [
      {
        "file": "bench.txt",
        "line": 2,
        "name": "bool/cut_a",
        "why": "its result is missing"
      },
      {
        "file": "other.txt",
        "line": 1,
        "name": "bool/cut_a",
        "why": "its result is missing"
      }
    ]
    "#
    );
}

#[test]
fn a_measurement_without_its_name_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let samples = r#"{"sampling_mode":"Flat","iters":[1.0,1.0],"times":[10.0,11.0]}"#;
    let name = r#"{"group_id":"whole","full_id":"whole","directory_name":"whole","title":"whole"}"#;
    for (path, text) in [
        ("whole/new/sample.json", samples),
        ("whole/new/benchmark.json", name),
        ("nameless/new/sample.json", samples),
    ] {
        let path = folder.join("target/criterion").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let said = run(folder, &["import", "target/criterion", "--dry-run"]);
    assert_snapshot!(said, @"
    target/criterion: 1 instance, 2 iterations would be imported
    detected criterion: it has folders with `benchmark.json` and `sample.json`
    skipped because it follows from the benchmark's name: directory_name
    note: found 2 names, 1 result; without a result: nameless/new (it has no
    `benchmark.json`)
    exit 0
    ");
}

#[test]
fn what_is_not_recognised_is_told_by_what_it_resembles() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lacks = r#"{"results": [{"command": "a", "times_in_seconds": [1.0]}], "times": []}"#;
    fs::write(folder.join("lacks.json"), lacks.replace("results", "data")).unwrap();
    fs::write(folder.join("reads.json"), r#"[{"name": "a", "value": 1}]"#).unwrap();
    let said = ["lacks.json", "reads.json"].map(|name| run(folder, &["import", name]));
    assert_snapshot!(said.join("\n\n"), @"
    error: lacks.json is in none of the formats that can be imported: it looks like hyperfine, but `results` is missing
      nothing was imported from this file
      hint: `lapwing import --help` lists the formats
    exit 2

    error: reads.json is in none of the formats that can be imported: it does not look like github-action, but 1 result can be read as that
      nothing was imported from this file
      hint: if it is that, import it with --from github-action
    exit 2
    ");
}

#[test]
fn what_is_skipped_with_keep_going_is_counted_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let pytest = r#"{"machine_info": {}, "commit_info": {}, "benchmarks": [
        {"fullname": "a", "stats": {"data": [1.0, 2.0]}},
        {"fullname": "b"},
        {"fullname": "c", "stats": {"mean": null}}]}"#;
    let go = "pkg: x\nBenchmarkA-8 100 1100 ns/op\nBenchmarkB-8 100\nBenchmarkC-8 100 abc ns/op\n";
    let action = r#"[{"name": "a", "value": 1, "unit": "ns"}, {"name": "b", "unit": "ns"},
        {"name": "c", "value": -5, "unit": "ns"}]"#;
    let libtest = "test a ... bench: 1,000 ns/iter (+/- 9)test b ... bench: 512 ns/iter (+/- 9)\n\
        test c ... bench: fast ns/iter (+/- 9)\n";
    let csv = "test,seconds\na,1.5\nb,fast\nc,-1\n";
    for (name, text) in [
        ("pytest.json", pytest),
        ("go.txt", go),
        ("action.json", action),
        ("libtest.txt", libtest),
        ("table.csv", csv),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let told = run(folder, &["import", "--keep-going", name]);
        let account = told.split_once("note: found ").unwrap().1;
        let account = account.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(account.starts_with("3 names, "), "{name}: {told}");
    }
}
