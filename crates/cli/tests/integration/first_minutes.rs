//! What people type first: options they know from other tools, two files, the last results once more.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use std::process::Output;

use tempfile::TempDir;

use crate::program::{output, run};

/// Results of hyperfine: the times of the runs of one command.
fn results_of_hyperfine(times: &[f64]) -> String {
    let mean = lapwing_stats::mean(times).unwrap();
    serde_json::json!({"results": [{
        "command": "sort data", "mean": mean, "stddev": 0.01, "median": mean, "user": 0.1, "system": 0.1,
        "min": times[0], "max": times[0], "times": times, "exit_codes": vec![0; times.len()],
    }]})
    .to_string()
}

#[test]
fn options_of_hyperfine_mean_the_same() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let done = output(
        path,
        &[
            "run",
            "-r",
            "6",
            "-n",
            "3",
            "-w",
            "2",
            "-p",
            "true",
            "-N",
            "-L",
            "level",
            "1,x y",
            "-P",
            "n",
            "1",
            "2",
            "--export",
            "out.json",
            "--export",
            "out.md",
            "--export",
            "out.csv",
            "-c",
            "echo '{level}' {n}",
        ],
    );
    assert!(done.status.success(), "{done:?}");
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(
        told.contains("4 benchmarks × 3 instances × (2 + 2) iterations"),
        "{told}"
    );
    let rows: serde_json::Value =
        serde_json::from_slice(&fs::read(path.join("out.json")).unwrap()).unwrap();
    let rows = rows["results"].as_array().unwrap().iter();
    let ids: Vec<&str> = rows
        .filter(|it| it["metric"] == "wall_time")
        .map(|it| it["benchmark"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["echo 1 1", "echo 1 2", "echo 'x y' 1", "echo 'x y' 2"]
    );
    let markdown = fs::read_to_string(path.join("out.md")).unwrap();
    assert!(
        markdown.contains("| echo 1 1 |") || markdown.contains("|  echo 1 1 |"),
        "{markdown}"
    );
    assert!(markdown.contains("3 instances × 2"), "{markdown}");
    assert!(
        fs::read_to_string(path.join("out.csv"))
            .unwrap()
            .starts_with("benchmark,variant,metric,")
    );
    assert_eq!(
        fs::read_to_string(path.join(".lapwing/.gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn letters_that_mean_something_else_here_are_explained() {
    let folder = TempDir::new().unwrap();
    let said = |arguments: &[&str]| run(folder.path(), &[&["run"], arguments].concat());
    let name = said(&["-n", "sorting", "--", "true"]);
    assert!(
        name.contains("here `lapwing run --command-name sorting -- true`"),
        "{name}"
    );
    let ignore = said(&["-i", "false"]);
    assert!(
        ignore.contains("here `lapwing run -f false`") && ignore.ends_with("exit 0"),
        "{ignore}"
    );
    let unused = said(&["-L", "size", "1,2", "-c", "true"]);
    assert!(
        unused.contains("`size` is in no command: write `{size}`"),
        "{unused}"
    );
    let twice = said(&["-L", "a", "1", "-P", "a", "1", "2", "-c", "echo {a}"]);
    assert!(twice.contains("parameter `a` is given twice"), "{twice}");
}

#[test]
fn a_session_is_shown_again_as_it_was() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let first = output(
        path,
        &["run", "--name", "one", "-n", "3", "-i", "2", "--", "true"],
    );
    run(path, &["run", "-n", "3", "-i", "1", "--", "false"]);
    let again = output(path, &["show", "one"]);
    let results = |done: Output| {
        let told = String::from_utf8(done.stdout).unwrap();
        let (results, next) = told.split_once("next: ").unwrap();
        assert!(next.contains("`lapwing report` shows more"), "{next}");
        results.to_owned()
    };
    assert_eq!(results(again), results(first));
    let latest = run(path, &["show"]);
    assert!(
        latest.contains("false") && latest.contains("exit 3"),
        "{latest}"
    );
    let none = run(path, &["show", "unknown"]);
    assert!(none.contains("no session"), "{none}");
    // A session without a plan.
    fs::write(path.join("a.json"), results_of_hyperfine(&[0.5, 0.25])).unwrap();
    run(path, &["import", "a.json"]);
    let list = output(path, &["list", "sessions", "--format", "csv"]);
    let list = String::from_utf8(list.stdout).unwrap();
    let row = list.lines().find(|it| it.contains("hyperfine")).unwrap();
    let id = row.split(',').find(|it| it.len() == 36).unwrap();
    let imported = run(path, &["show", id]);
    assert!(
        imported.contains("sort data") && imported.contains("375 ms"),
        "{imported}"
    );
}

#[test]
fn two_files_are_judged_by_themselves_and_several_per_side_have_a_verdict() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for run in 0..4 {
        let shift = f64::from(run) * 0.001;
        let times = |first: f64| [first + shift, first + 0.002, first + 0.001];
        fs::write(
            path.join(format!("old-{run}.json")),
            results_of_hyperfine(&times(0.1)),
        )
        .unwrap();
        fs::write(
            path.join(format!("new-{run}.json")),
            results_of_hyperfine(&times(0.2)),
        )
        .unwrap();
    }
    let two = run(path, &["compare", "old-0.json", "new-0.json"]);
    assert!(
        two.contains("≈1.99×")
            && two.contains("1 slower in these files (one run each; another may differ)"),
        "{two}"
    );
    assert!(two.contains("others may differ"), "{two}");
    let json = output(
        path,
        &["compare", "old-0.json", "new-0.json", "--format", "json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let row = &json["comparisons"][0];
    // The ratio that the text shows, without a judged interval.
    assert_eq!(row["ratio"], row["descriptive_ratio"]);
    assert!(row["lower"].is_null());
    let near = |key: &str, expected: f64| {
        let value = row[key].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-3, "{key}: {value}");
    };
    near("descriptive_ratio", 0.201 / 0.101);
    assert!(row["descriptive_lower"].as_f64().unwrap() < 1.99);
    let several = run(
        path,
        &["compare", "old-*.json", "new-*.json", "--export", "out.md"],
    );
    assert!(
        several.contains("✗ regression") && !several.contains('≈'),
        "{several}"
    );
    assert!(
        fs::read_to_string(path.join("out.md"))
            .unwrap()
            .contains("**✗ regression**")
    );
    let runs = run(
        path,
        &[
            "compare",
            "old-0.json",
            "new-0.json",
            "--each-run",
            "instance",
        ],
    );
    assert!(runs.contains("✗ regression"), "{runs}");
    let none = run(path, &["compare", "gone-*.json", "new-0.json"]);
    assert!(
        none.contains("gone-*.json") && none.contains("exit 2"),
        "{none}"
    );
}

#[test]
fn a_suite_for_what_the_folder_has_can_be_measured_at_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("bench")).unwrap();
    let program = path.join("bench/count.sh");
    fs::write(&program, "#!/bin/sh\nseq 10 >/dev/null\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let said = run(path, &["init"]);
    insta::assert_snapshot!(said, @"
    wrote lapwing.toml: 1 benchmark: count
    next: `lapwing run` measures it, `lapwing run --dry-run` shows the plan
    exit 0
    ");
    let measured = run(path, &["run", "-n", "3", "-i", "1"]);
    assert!(
        measured.contains(" count  ") && measured.ends_with("exit 0"),
        "{measured}"
    );
    assert!(run(path, &["init"]).contains("lapwing.toml exists already"));
}

#[test]
fn two_benchmarks_of_a_session_are_compared() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(
        path,
        &[
            "run",
            "-n",
            "5",
            "-i",
            "1",
            "-w",
            "0",
            "-c",
            "sleep 0.01",
            "-c",
            "sleep 0.2",
            "-c",
            "sleep 0.015",
        ],
    );
    let sides = ["benchmark:sleep 0.01", "benchmark:sleep 0.2"];
    let arguments = [
        "compare",
        sides[0],
        sides[1],
        "--metric",
        "wall_time",
        "--format",
        "json",
    ];
    let done = output(path, &arguments);
    assert!(done.status.success(), "{done:?}");
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let [only] = &answer["comparisons"].as_array().unwrap()[..] else {
        panic!("one comparison: {answer}");
    };
    assert_eq!(only["verdict"], "regression", "{only}");
    let ratio = only["ratio"].as_f64().unwrap();
    assert!(ratio > 1.0, "{ratio}");
    let refused = output(path, &["compare", "benchmark:sleep", sides[1]]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("could be several benchmarks"), "{told}");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn hosts_that_cannot_be_pairs_are_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for name in ["a", "b"] {
        let once = ["run", "-n", "5", "-i", "1", "-w", "0", "--name", name];
        run(path, &[&once[..], &["-c", "sleep 0.01"]].concat());
    }
    let told = run(
        path,
        &[
            "compare",
            "session:a",
            "session:b",
            "--pair-hosts",
            "--metric",
            "wall_time",
        ],
    );
    assert!(
        told.replace('\n', " ").contains("--pair-hosts needs three hosts that both sides share, and 1 comparison has fewer: it is compared as without it"),
        "{told}"
    );
}
