//! `lapwing run --plan` by the real program.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::program;
use crate::program::run;
use insta::assert_snapshot;
use rusqlite::Connection;
use tempfile::TempDir;

const SUITE: &str = r#"
suite = "small"

[defaults]
instances = 4

[benchmark."a.py::sort"]
command = ["true"]
min_time = "60s"

[benchmark."a.py::join"]
command = ["true"]
burn_in = 2

[benchmark.scan]
command = ["true"]
params.size = [1, 2]
tags = ["io"]
"#;

/// As Hail's submit script reads it. The second `join` counts.
const PLAN: &str = "\
- item: a.py::sort
  burn-in-iterations: 0
  mean: 2.5
  cv: 0.1
  config:
  - slowdown: 1.1
    instances: 3
    iterations: 2
  - slowdown: 1.2
    instances: 1
    iterations: 1
- item: join
  burn-in-iterations: 7
  config: [{slowdown: 1.1, instances: 9, iterations: 9}]
- item: join
  burn-in-iterations: 1
  mean: 0.5
  config: [{slowdown: 1.1, instances: 2, iterations: 3}]
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lapwing.toml"), SUITE).unwrap();
    fs::write(folder.path().join("plan.yaml"), PLAN).unwrap();
    folder
}

/// Returns for each benchmark of the latest session how many instances it has, and how many
/// iterations of burn-in and after it in each.
fn measured(folder: &Path) -> Vec<String> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let sql = "SELECT benchmark, count(DISTINCT instance), sum(burn_in), sum(1 - burn_in)
                 FROM iterations
                WHERE session = (SELECT name FROM session ORDER BY rowid DESC LIMIT 1)
                GROUP BY benchmark ORDER BY benchmark";
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        let benchmark: String = row.get(0)?;
        let [instances, burn_in, others]: [i64; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
        assert_eq!((burn_in % instances, others % instances), (0, 0));
        Ok(format!(
            "{benchmark} {instances} × ({} + {})",
            burn_in / instances,
            others / instances
        ))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Returns what a run says before it measures.
fn notes(folder: &Path, arguments: &[&str]) -> String {
    let said = program::output(folder, arguments).stderr;
    let said = String::from_utf8(said).unwrap();
    let (notes, rest) = said.split_once("measuring ").unwrap();
    format!("{notes}measuring {}", rest.lines().next().unwrap())
}

#[test]
fn a_plan_wins_over_the_suite_and_leaves_out_what_it_does_not_name() {
    let folder = folder();
    assert_snapshot!(notes(folder.path(), &["run", "--plan", "plan.yaml", "--seed", "7"]), @"
    note: plan.yaml: `join` stands 2 times, in lines 12, 15: the last one counts
    note: 2 of 4 benchmarks are not in plan.yaml and are not measured: `scan[size=1]`, `scan[size=2]`
    measuring 2 benchmarks, 5 instances, seed 7, order interleaved
    ");
    assert_eq!(
        measured(folder.path()),
        ["a.py::join 2 × (1 + 3)", "a.py::sort 3 × (0 + 2)"]
    );
}

#[test]
fn options_win_over_the_plan() {
    let folder = folder();
    let numbers = |more: &[&str]| {
        let arguments = [&["run", "-q", "--plan", "plan.yaml"], more].concat();
        run(folder.path(), &arguments);
        measured(folder.path())
    };
    assert_eq!(
        numbers(&["--instances", "1"]),
        ["a.py::join 1 × (1 + 3)", "a.py::sort 1 × (0 + 2)"]
    );
    assert_eq!(
        numbers(&["--iterations", "4", "-b", "sort"]),
        ["a.py::sort 3 × (0 + 4)"]
    );
    assert_eq!(
        numbers(&["--burn-in", "2", "-b", "join"]),
        ["a.py::join 2 × (2 + 3)"]
    );
}

#[test]
fn a_dry_run_shows_the_planned_numbers_and_their_cost() {
    let folder = folder();
    let arguments = ["run", "--plan", "plan.yaml", "--dry-run", "--seed", "7"];
    assert_snapshot!(run(folder.path(), &arguments), @"
    5 instances, at least 14 iterations, seed 7; about 19.0 s

     benchmark   instances  iterations  expected
     a.py::sort          3       0 + 2    15.0 s
     a.py::join          2       1 + 3    4.00 s

    note: the order of the 5 instances is not listed: `--full`
    note: plan.yaml: `join` stands 2 times, in lines 12, 15: the last one counts
    note: 2 of 4 benchmarks are not in plan.yaml and are not measured: `scan[size=1]`, `scan[size=2]`
    exit 0
    ");
    // What was measured here counts more than what the plan says.
    run(folder.path(), &["run", "-q", "-b", "join"]);
    let again = run(folder.path(), &[&arguments[..], &["--full"]].concat());
    assert!(
        !again.contains("0.500 s") && again.contains("5.00 s"),
        "{again}"
    );
}

#[test]
fn what_a_plan_names_in_vain_is_told() {
    let folder = folder();
    let plan = |text: &str| fs::write(folder.path().join("other.yaml"), text).unwrap();
    let entry = |item: &str| {
        format!(
            "- {{item: '{item}', burn_in: 1, config: [{{slowdown: 1.1, instances: 1, iterations: 1}}]}}\n"
        )
    };
    let arguments = ["run", "--plan", "other.yaml", "--seed", "7"];
    plan(
        &[
            "a.py::sort",
            "sort",
            "jion",
            "scan[size=3]",
            "b.py::scan[size=1]",
        ]
        .map(entry)
        .concat(),
    );
    assert_snapshot!(notes(folder.path(), &arguments), @"
    note: `sort` in other.yaml is left aside: another entry names the same benchmark
    note: other.yaml names 2 benchmarks that the suite `small` does not have: `jion`, `scan[size=3]`; did you mean `a.py::join` for `jion`?
    note: 2 of 4 benchmarks are not in other.yaml and are not measured: `a.py::join`, `scan[size=2]`
    measuring 2 benchmarks × 1 instance × (1 + 1) iterations, seed 7, order interleaved
    ");
    plan(
        &["a.py::srot", "x", "y", "z", "1", "2", "3"]
            .map(entry)
            .concat(),
    );
    assert_snapshot!(run(folder.path(), &arguments), @"
    error: other.yaml names no benchmark of the suite `small`: `a.py::srot`, `x`, `y`, `z`, `1` and 2 more
      hint: did you mean `a.py::sort` for `a.py::srot`?
    exit 2
    ");
    plan(&["x", "y"].map(entry).concat());
    assert_snapshot!(run(folder.path(), &arguments), @"
    error: other.yaml names no benchmark of the suite `small`: `x`, `y`
      hint: `lapwing run --dry-run` without --plan lists what it has
    exit 2
    ");
    let chosen = ["run", "--plan", "plan.yaml", "--tag", "io"];
    assert_snapshot!(run(folder.path(), &chosen), @"
    note: plan.yaml: `join` stands 2 times, in lines 12, 15: the last one counts
    error: plan.yaml names none of `scan[size=1]`, `scan[size=2]`
      hint: choose others with --benchmark or --tag, or leave --plan out
    exit 2
    ");
    fs::write(
        folder.path().join("lapwing.toml"),
        "[benchmark.'a::t']\ncommand = 'true'\n[benchmark.'b::t']\ncommand = 'true'\n",
    )
    .unwrap();
    plan(&entry("t"));
    assert_snapshot!(run(folder.path(), &arguments), @"
    error: `t` in other.yaml could be any of `a::t`, `b::t`: write the whole id
    exit 2
    ");
}

#[test]
fn a_plan_that_is_none_is_refused_before_anything_is_measured() {
    let folder = folder();
    let refused = |text: &str| {
        fs::write(folder.path().join("plan.yaml"), text).unwrap();
        run(folder.path(), &["run", "--plan", "plan.yaml"])
    };
    assert_snapshot!(refused(&PLAN.replace("instances: 3", "instances: 0")), @"
    error: plan.yaml:7: entry 1 (`a.py::sort`): `instances` must be 1 or more
      hint: an entry has `item`, `burn_in` (or `burn-in-iterations`) and `config`, a list such as `[{slowdown: 1.1, instances: 10, iterations: 5}]`; `mean` (seconds) and `cv` may be missing
    exit 2
    ");
    assert_snapshot!(refused("sort: 5\n"), @"
    error: plan.yaml:1: a plan is a list of entries, not a table
      hint: write one entry for each benchmark: `- {item: test_join, burn_in: 1, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}`
    exit 2
    ");
    assert_snapshot!(refused("- item: [\n"), @"
    error: plan.yaml:1:9: unclosed bracket '['
      hint: write one entry for each benchmark: `- {item: test_join, burn_in: 1, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}`
    exit 2
    ");
    assert_snapshot!(refused(""), @"
    error: plan.yaml plans nothing: it has no entry
      hint: write one entry for each benchmark: `- {item: test_join, burn_in: 1, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}`
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["run", "--plan", "none.yaml"]), @"
    error: cannot read none.yaml: No such file or directory (os error 2)
      hint: check its name; docs/plan.md says what a plan is
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["run", "--plan", "plan.yaml", "--resume"]), @"
    error: the argument '--plan <FILE>' cannot be used with '--resume [<SESSION>]'

    Usage: lapwing run --plan <FILE> [SUITE] [-- <COMMAND>...]

    For more information, try '--help'.
    exit 2
    ");
    assert!(!folder.path().join(".lapwing").exists());
}

#[test]
fn more_than_can_be_measured_is_refused_with_file_line_key_and_limit() {
    let folder = folder();
    let huge = PLAN.replace("instances: 3", "instances: 300000000");
    fs::write(folder.path().join("huge.yaml"), huge).unwrap();
    let refused = |arguments: &[&str]| {
        let said = run(folder.path(), arguments);
        let lines = said
            .lines()
            .filter(|it| !it.contains("hint") && !it.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(refused(&["run", "--plan", "huge.yaml", "--dry-run"]), @"
    error: huge.yaml:7: entry 1 (`a.py::sort`): `instances` must be at most 100000, not 300000000
    exit 2
    ");
    assert_snapshot!(refused(&["run", "--plan", "huge.yaml"]), @"
    error: huge.yaml:7: entry 1 (`a.py::sort`): `instances` must be at most 100000, not 300000000
    exit 2
    ");
    assert_snapshot!(refused(&["run", "--dry-run", "-n", "300000000"]), @"
    error: invalid value '300000000' for '--instances <N>': write a whole number from 1 to 100,000
    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(refused(&["run", "--dry-run", "--burn-in", "300000000"]), @"
    error: invalid value '300000000' for '--burn-in <N>': at most 1,000,000
    For more information, try '--help'.
    exit 2
    ");
    let suite = SUITE.replace("instances = 4", "instances = 300000000");
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    assert_snapshot!(refused(&["run", "--dry-run"]), @"
    error: lapwing.toml:5: `instances` must be at most 100000, not 300000000
    exit 2
    ");
}

#[test]
fn commands_are_planned_by_their_text_or_their_name() {
    let folder = folder();
    let plan = r#"[
        {"item": "true", "burn_in": 0, "config": [{"slowdown": 1.1, "instances": 2, "iterations": 1}]},
        {"item": "nothing", "burn_in": 2, "config": [{"slowdown": 1.1, "instances": 1, "iterations": 3}]}
    ]"#;
    fs::write(folder.path().join("plan.json"), plan).unwrap();
    let quiet = ["run", "-q", "--plan", "plan.json"];
    run(folder.path(), &[&quiet[..], &["--", "true"]].concat());
    assert_eq!(measured(folder.path()), ["true 2 × (0 + 1)"]);
    let both = ["-c", "sh -c :", "-c", "true", "--command-name", "nothing"];
    run(folder.path(), &[&quiet[..], &both].concat());
    assert_eq!(
        measured(folder.path()),
        ["nothing 1 × (2 + 3)", "true 2 × (0 + 1)"]
    );
    let other = ["run", "--plan", "plan.json", "--", "sh", "-c", ":"];
    assert_snapshot!(run(folder.path(), &other), @"
    error: plan.json names no benchmark of the command line: `true`, `nothing`
      hint: a command is called by its text or by its --command-name: `sh -c :`
    exit 2
    ");
}

#[test]
fn an_interrupted_session_goes_on_by_its_plan_without_the_file() {
    let folder = folder();
    let suite = SUITE.replace("[\"true\"]", "[\"sleep\", \"0.05\"]");
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["run", "--plan", "plan.yaml"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_iterations(folder.path(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(folder.path().join("plan.yaml")).unwrap();
    let resumed = run(folder.path(), &["run", "-q", "--resume"]);
    assert!(resumed.ends_with("exit 0"), "{resumed}");
    let store = Connection::open(folder.path().join(".lapwing/lapwing.db")).unwrap();
    let sql = "SELECT benchmark, count(*) FROM instances WHERE outcome = 'ok' GROUP BY benchmark ORDER BY 1";
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let complete: Vec<(String, i64)> = rows.unwrap().map(Result::unwrap).collect();
    assert_eq!(
        complete,
        [("a.py::join".to_owned(), 2), ("a.py::sort".to_owned(), 3)]
    );
}

/// Waits until the record files of the inbox have that many iterations.
fn wait_for_iterations(folder: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let inbox = fs::read_dir(folder.join(".lapwing/inbox"));
        let found: usize = inbox
            .into_iter()
            .flatten()
            .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
            .map(|text| text.matches("\"kind\":\"iteration\"").count())
            .sum();
        if found >= count {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("no {count} iterations after a minute");
}
