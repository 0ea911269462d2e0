//! `lapwing time`: statements of Python.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// Returns the records of the store of that kind.
fn records(folder: &Path, kind: &str) -> Vec<Value> {
    let exported = output(folder, &["export", "--to", "record"]);
    let text = String::from_utf8(exported.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|it: &Value| it["kind"] == kind).collect()
}

#[test]
fn each_value_is_the_time_of_an_execution_and_each_instance_a_process() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // Each process appends its number once, when the setup of its first loop runs.
    let setup = "import os, sys; sys.modules.get('seen') or open('pids', 'a').write(f'{os.getpid()}\\n'); sys.modules['seen'] = sys";
    let arguments = [
        "time",
        "time.sleep(0.002)",
        "--setup",
        "import time",
        "-s",
        setup,
        "-n",
        "3",
        "-i",
        "2",
        "--loops",
        "4",
    ];
    let done = output(path, &arguments);
    assert!(done.status.success(), "{done:?}");
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(
        told.contains("1 benchmark × 3 instances × (1 + 2) iterations"),
        "{told}"
    );
    let pids = fs::read_to_string(path.join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 3, "{pids}");
    let instances = records(path, "instance");
    assert!(
        instances
            .iter()
            .all(|it| it["benchmark"]["id"] == "time.sleep(0.002)")
    );
    let all = records(path, "iteration");
    assert_eq!(all.len(), 9);
    for iteration in all {
        assert_eq!(iteration["loops"], 4);
        let metrics = iteration["metrics"].as_object().unwrap();
        let seconds = metrics["wall_time"].as_f64().unwrap();
        assert!(
            metrics.len() == 1 && (0.002..1.0).contains(&seconds),
            "{iteration}"
        );
    }
}

#[test]
fn the_first_value_of_a_process_is_cold_after_one_that_failed_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let setup = "import os; os.path.exists('seen') or (open('seen', 'w').close(), os._exit(3))";
    let arguments = [
        "time", "pass", "-s", setup, "-n", "1", "-i", "2", "--loops", "4",
    ];
    let told = run(path, &arguments);
    let all = records(path, "iteration");
    let flags = all.iter().map(|it| {
        let outcome = it["outcome"].as_str().unwrap();
        (outcome, it["burn_in"].as_bool().unwrap())
    });
    let flags: Vec<(&str, bool)> = flags.collect();
    let wanted = [("failed", true), ("ok", true), ("ok", false), ("ok", false)];
    assert_eq!(flags, wanted, "{told}");
}

#[test]
fn several_statements_are_compared_with_loops_of_their_own() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let setup = "import time";
    let arguments = [
        "time",
        "time.sleep(0.001)",
        "time.sleep(0.02)",
        "-s",
        setup,
        "-n",
        "3",
        "-i",
        "1",
        "-w",
        "0",
        "--seed",
        "1",
    ];
    let done = output(path, &arguments);
    assert!(done.status.success(), "{done:?}");
    let instances = records(path, "instance");
    let id = |iteration: &Value| {
        let mut own = instances.iter();
        let instance = own.find(|it| it["id"] == iteration["instance"]).unwrap();
        instance["benchmark"]["id"].as_str().unwrap().to_owned()
    };
    let all = records(path, "iteration");
    let mut loops: Vec<(String, u64)> = all
        .iter()
        .map(|it| (id(it), it["loops"].as_u64().unwrap_or(1)))
        .collect();
    loops.sort();
    loops.dedup();
    // One number per statement for all instances; a loop takes a tenth of a second at least.
    assert_eq!(loops.len(), 2, "{loops:?}");
    assert!(loops[0].1 > loops[1].1 && loops[1].1 >= 3, "{loops:?}");
}

#[test]
fn the_length_of_the_loop_does_not_change_what_is_measured() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (setup, loops) in [("x = 1", "10"), ("x = 1", "20"), ("x = 2", "10")] {
        let arguments = [
            "time", "x + 1", "-s", setup, "-n", "1", "-i", "1", "-w", "0", "--loops", loops,
        ];
        assert!(output(path, &arguments).status.success());
    }
    let instances = records(path, "instance");
    let fingerprints: Vec<&Value> = instances
        .iter()
        .map(|it| &it["benchmark"]["fingerprint"])
        .collect();
    assert_eq!(fingerprints[0], fingerprints[1]);
    assert_ne!(fingerprints[0], fingerprints[2]);
    let runs = records(path, "run");
    let python = runs[0]["environment"]["python"].as_str().unwrap();
    assert!(python.starts_with("CPython 3."), "{python}");
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    insta::assert_snapshot!(run(path, &["time", "sorted(x)"]), @"
    error: `sorted(x)` cannot be measured: NameError: name 'x' is not defined
      hint: define names with --setup 'NAME = …'
    exit 2
    ");
    insta::assert_snapshot!(run(path, &["time", "1 +"]), @"
    error: `1 +` cannot be measured: SyntaxError: invalid syntax
    exit 2
    ");
    insta::assert_snapshot!(run(path, &["time", "1", "--python", "./nowhere"]), @"
    error: Python cannot be started: no such command: `./nowhere`
      hint: name the interpreter with --python
    exit 2
    ");
    insta::assert_snapshot!(run(path, &["time", " "]), @"
    error: a statement to measure is empty
    exit 2
    ");
    insta::assert_snapshot!(run(path, &["time", "import os; os._exit(0)"]), @"
    error: `import os; os._exit(0)` cannot be measured: it ends Python, or hides what is printed
    exit 2
    ");
    assert!(!path.join(".lapwing").exists());
}

#[test]
fn a_statement_of_several_lines_has_a_name_of_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let statement = "for i in range(3):\n    i += 1";
    let arguments = [
        "time", statement, "-s", "a = 1", "-s", "b = a", "-n", "1", "-i", "1", "--loops", "2",
    ];
    assert!(output(path, &arguments).status.success());
    let instances = records(path, "instance");
    assert_eq!(instances[0]["benchmark"]["id"], "for i in range(3): i += 1");
}

#[test]
fn a_dry_run_executes_nothing() {
    let folder = TempDir::new().unwrap();
    let told = run(
        folder.path(),
        &["time", "open('made', 'w')", "--dry-run", "--seed", "7"],
    );
    insta::assert_snapshot!(told, @"
    5 instances, at least 30 iterations, seed 7; expected time unknown: no earlier measurements

        benchmark          variant  instance  iterations  expected
     1  open('made', 'w')  default         1       1 + 5         –
     2  open('made', 'w')  default         2       1 + 5         –
     3  open('made', 'w')  default         3       1 + 5         –
     4  open('made', 'w')  default         4       1 + 5         –
     5  open('made', 'w')  default         5       1 + 5         –
    exit 0
    ");
    assert!(!folder.path().join("made").exists());
}

#[test]
fn what_a_statement_prints_does_not_disturb() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let arguments = [
        "time",
        "print('{\"wall_time\": 9}')",
        "-n",
        "1",
        "-i",
        "2",
        "--loops",
        "3",
    ];
    assert!(output(path, &arguments).status.success());
    let all = records(path, "iteration");
    assert!(
        all.iter()
            .all(|it| it["metrics"]["wall_time"].as_f64().unwrap() < 1.0),
        "{all:?}"
    );
}
