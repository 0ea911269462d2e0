//! `lapwing compare --clean burn_in=auto` by the real program: where sides that warm up differently get
//! steady, and which of their instances are asked.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use lapwing_testing::report_entry;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;
use crate::program::run;

/// Benchmarks with the values of an instance.
type Instances = Vec<(String, Vec<f64>)>;

/// So many iterations, slow before `slow`, with some noise without a period.
fn warming_up(slow: usize, iterations: usize) -> Vec<f64> {
    let noise = |at: usize| f64::from(u32::try_from((at * at * 7 + at * 3) % 31).unwrap());
    (0..iterations)
        .map(|at| (if at < slow { 2.0 } else { 1.0 }) * (1.0 + 0.01 * noise(at) / 31.0))
        .collect()
}

/// Never the same for long.
fn drifting() -> Vec<f64> {
    let step = |at: usize| f64::from(u32::try_from(at).unwrap());
    (0..60).map(|at| 1.0 + 0.03 * step(at)).collect()
}

/// The record of a session: each run a variant, with the instances of its benchmarks.
fn record(number: u32, suite: &str, runs: &[(&str, Instances)]) -> String {
    let mut lines = RecordLines::after(number * 10_000);
    let started = format!("2026-11-{:02}T10:00:00Z", 10 + number);
    let more = json!({"suite": suite, "name": format!("s{number}")});
    let session = lines.session(&started, more);
    for (variant, instances) in runs {
        let run = lines.run(&session, json!({"variant": variant}));
        for (position, (benchmark, values)) in instances.iter().enumerate() {
            let instance = lines.instance(&run, benchmark, json!({"position": position}));
            for (index, value) in values.iter().enumerate() {
                lines.iteration(&instance, index, json!({"metrics": {"wall_time": value}}));
            }
            lines.instance_end(&instance);
        }
    }
    lines.text
}

/// Several instances alike.
fn many(count: usize, benchmark: &str, values: &[f64]) -> Instances {
    vec![(benchmark.to_owned(), values.to_vec()); count]
}

fn written(place: &Path, name: &str, number: u32, suite: &str, runs: &[(&str, Instances)]) {
    fs::write(place.join(name), record(number, suite, runs)).unwrap();
}

/// Returns what the program says, what it says besides, and its exit code.
fn output(place: &Path, arguments: &[&str]) -> (String, String, i32) {
    let output = program::output(place, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code().unwrap(),
    )
}

fn json(place: &Path, arguments: &[&str]) -> Value {
    let text = output(place, &[arguments, &["--format", "json"]].concat()).0;
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_largest_start_of_all_sides_holds_however_they_are_stored() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    // Ten times as many instances of the side that is steady at once: pooled, it would decide.
    let quick = many(30, "x", &warming_up(0, 60));
    let slow = many(3, "x", &warming_up(20, 60));
    written(place, "old.jsonl", 1, "s", &[("old", quick.clone())]);
    written(place, "new.jsonl", 2, "s", &[("new", slow.clone())]);
    written(place, "other.jsonl", 3, "t", &[("other", slow.clone())]);
    written(
        place,
        "both.jsonl",
        4,
        "s",
        &[("old", quick), ("new", slow)],
    );
    run(place, &["import", "both.jsonl"]);
    let auto = ["--clean", "burn_in=auto", "--suite", "none", "--audit"];
    for sides in [
        ["variant:old", "variant:new"],
        ["old.jsonl", "new.jsonl"],
        ["variant:old", "file:new.jsonl"],
        // Matched by id alone.
        ["old.jsonl", "other.jsonl"],
    ] {
        let answer = json(place, &[&["compare"], sides.as_slice(), &auto].concat());
        let row = &answer["comparisons"][0];
        assert_eq!(row["reason"], "all_equal", "{sides:?}: {row}");
        assert_eq!(row["candidate_iterations"], 3 * 39, "{sides:?}: {row}");
        let benchmarks = answer["audit"]["benchmarks"].as_array().unwrap();
        let mut audited: Vec<String> = benchmarks
            .iter()
            .map(|it| format!("{} {}", it["side"], it["burn_in"]["first_steady"]))
            .collect();
        audited.sort();
        let named = sides.map(|it| it.rsplit(':').next().unwrap());
        let mut expected = named.map(|name| format!("\"{name}\" 21"));
        expected.sort();
        assert_eq!(audited, expected);
    }
}

#[test]
fn a_side_that_never_gets_steady_is_not_judged_and_said_to_be_so() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let steady = many(6, "x", &warming_up(3, 60));
    let runs = [("base", steady), ("drifts", many(6, "x", &drifting()))];
    written(place, "both.jsonl", 1, "s", &runs);
    run(place, &["import", "both.jsonl"]);
    let compare = [
        "compare",
        "base",
        "drifts",
        "--clean",
        "burn_in=auto",
        "--suite",
        "none",
    ];
    assert_snapshot!(output(place, &compare).0, @"
    drifts against base: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval  verdict       baseline  candidate  instances  note
     x                           ? no verdict    1.00 s          –      6 / 0  drifts never reaches a steady state

    excluded from 720 iterations: 24 burn-in, 360 never steady (`--audit` shows which)
    ");
    let gate = [compare.as_slice(), &["--fail-on", "regression"]].concat();
    assert_eq!(output(place, &gate).2, 1);
    let row = json(place, &compare)["comparisons"][0].clone();
    assert_eq!(
        (&row["verdict"], &row["reason"]),
        (&"inconclusive".into(), &"never_steady".into())
    );
}

#[test]
fn an_instance_that_crashed_in_its_warm_up_decides_nothing() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let whole = many(6, "x", &warming_up(20, 60));
    let crashed = many(1, "x", &warming_up(20, 4));
    let runs = [
        ("base", whole.clone()),
        ("crashes", [whole, crashed].concat()),
    ];
    written(place, "both.jsonl", 1, "s", &runs);
    run(place, &["import", "both.jsonl"]);
    let compare = [
        "compare",
        "base",
        "crashes",
        "--clean",
        "burn_in=auto",
        "--suite",
        "none",
        "--audit",
    ];
    assert_snapshot!(output(place, &compare).0, @"
    crashes against base: no regression found, 1 equal   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict              baseline  candidate  instances
     x          1.00×  [1.00, 1.00]  = equal in all runs    1.00 s     1.00 s      6 / 6

    Exclusions, step by step:

     left          benchmarks  instances  iterations
     recorded               1         13         724
     known                  1         13         724
     past burn-in           1         12         468
     not failed             1         12         468
     not outlying           1         12         468
     steady                 1         12         468
     viable                 1         12         468

    Exclusions by benchmark:

     benchmark     burn-in     iterations left  excluded
     x in base     21 (found)       234 of 360  126 burn-in
     x in crashes  21 (found)       234 of 364  130 burn-in
    ");
    assert_snapshot!(output(place, &["burn-in", "--suite", "none"]).0, @"
    x is steady from iteration 21 on; burn-in takes 51 % of the measured time

     benchmark  class                    steady from  planned  instances    cost  bias
     x          12 warm-up, 1 too short  21                 0         13  41.2 s  +33 % → 0 %

    steady from: the first iteration after burn-in, counted from 0; cost: burn-in
    per instance
    bias: distance of the mean from the steady level, with burn-in → without it
    note: instances ignored for having fewer than half the iterations of the
    longest: x (1 of 13 instances)
    note: the planned burn-in is too short: x (0 → 21); --update-suite writes these
    to the suite, -o to a file for --clean burn_in_file=FILE
    ");
    let row = json(place, &["burn-in", "--suite", "none"])["benchmarks"][0].clone();
    assert_eq!(row["not_used"], 1);
    assert_eq!(
        row["classes"],
        serde_json::json!({"too_short": 1, "warm_up": 12})
    );
}

#[test]
fn a_start_that_had_to_be_shortened_is_told_where_it_is_used() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    // Half as long as the longest, and so asked: three quarters of it are 22.
    let runs = many(5, "x", &warming_up(25, 60));
    let half = many(1, "x", &warming_up(25, 30));
    written(
        place,
        "it.jsonl",
        1,
        "s",
        &[("base", [runs, half].concat())],
    );
    run(place, &["import", "it.jsonl"]);
    let noise = [
        "variability",
        "--clean",
        "burn_in=auto",
        "--suite",
        "none",
        "--audit",
    ];
    let text = output(place, &noise).0;
    let told = text.lines().find(|line| line.contains("wants")).unwrap();
    assert_snapshot!(told.trim(), @"x          22 (found; wants 26)       198 of 330  132 burn-in");
    let audit = json(place, &noise)["audit"]["benchmarks"][0].clone();
    assert_eq!(
        (
            &audit["burn_in"]["first_steady"],
            &audit["burn_in"]["wanted"]
        ),
        (&22.into(), &26.into())
    );
    run(
        place,
        &[
            "report",
            "--clean",
            "burn_in=auto",
            "--suite",
            "none",
            "-o",
            "site",
        ],
    );
    let page = report_entry(&place.join("site"), "burn-in").to_string();
    assert!(page.contains("22 (wants 26)"), "{page}");
    let none = ["burn-in", "--suite", "none", "--max-cost", "0 iterations"];
    let headline = output(place, &none).0.lines().next().unwrap().to_owned();
    assert_snapshot!(headline, @"x is judged from iteration 0 on, because a limit shortened its burn-in; it is steady from 26; burn-in takes no time");
}

#[test]
fn filters_hold_for_files_too() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let steady = || many(3, "x", &warming_up(0, 20));
    written(
        place,
        "old.jsonl",
        1,
        "s",
        &[("a", steady()), ("b", steady())],
    );
    written(place, "new.jsonl", 2, "s", &[("a", steady())]);
    let rows = |more: &[&str]| {
        let sides = ["compare", "old.jsonl", "new.jsonl", "--suite", "none"];
        let answer = json(place, &[&sides, more].concat());
        let rows = answer["comparisons"].as_array().unwrap().clone();
        let setting = |row: &Value| row["setting"].as_str().map(str::to_owned);
        rows.iter().map(setting).collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), [Some("b".to_owned()), Some("a".to_owned())]);
    assert_eq!(rows(&["--where", "variant=a"]), [None]);
    let fails = |more: &[&str]| {
        let sides = ["compare", "old.jsonl", "new.jsonl", "--suite", "none"];
        output(place, &[&sides, more].concat()).1
    };
    assert_snapshot!(fails(&["--where", "variant=b"]), @"
    error: nothing in new.jsonl passes variant=b
      hint: available: variant:a, session:s2
    ");
    assert_snapshot!(fails(&["--where", "session=s1"]), @"
    error: nothing in new.jsonl passes session=s1
      hint: available: variant:a, session:s2
    ");
    assert_snapshot!(fails(&["--where", "suite=s", "--where", "since=2027-01-01"]), @"
    error: nothing in old.jsonl passes since=2027-01-01T00:00:00Z
      hint: available: variant:b, variant:a, session:s1
    ");
    assert_snapshot!(fails(&["--where", "variant=a", "--where", "version=9"]), @"
    error: nothing in old.jsonl passes version=9
      hint: available: variant:b, variant:a, session:s1
    ");
    assert_snapshot!(fails(&["--where", "run=0193ff"]), @"
    error: nothing in old.jsonl passes run=0193ff
      hint: available: variant:b, variant:a, session:s1
    ");
    assert_snapshot!(fails(&["--where", "session=s2", "--where", "variant=b"]), @"
    error: nothing in old.jsonl passes session=s2
      hint: available: variant:b, variant:a, session:s1
    ");
}

#[test]
fn a_third_side_takes_nothing_from_the_comparison_of_two() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let steady = || many(3, "x", &warming_up(0, 20));
    written(place, "one.jsonl", 1, "s", &[("a", steady())]);
    written(place, "two.jsonl", 2, "s", &[("b", steady())]);
    written(
        place,
        "three.jsonl",
        3,
        "s",
        &[("a", steady()), ("b", steady())],
    );
    let sides = [
        "compare",
        "one.jsonl",
        "two.jsonl",
        "three.jsonl",
        "--suite",
        "none",
    ];
    let answer = json(place, &sides);
    let rows = answer["comparisons"].as_array().unwrap();
    let rows: Vec<String> = rows
        .iter()
        .map(|it| format!("{} {}: {}", it["candidate"], it["setting"], it["verdict"]))
        .collect();
    assert_snapshot!(rows.join("\n"), @r#"
    "three.jsonl" "b": "not_measured"
    "two.jsonl" null: "equivalent"
    "three.jsonl" "a": "equivalent"
    "#);
    // Every iteration is counted once.
    assert_eq!(answer["audit"]["funnel"][0]["iterations"], 4 * 3 * 20);
}

#[test]
fn burn_in_that_one_plan_left_to_judging_is_found_for_every_side() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let slow = record(1, "s", &[("old", many(3, "x", &warming_up(20, 60)))]);
    let plan =
        r#""tool":"t","attributes":{"plan":{"cases":[{"benchmark":{"id":"x"},"burn_in":"auto"}]}}"#;
    fs::write(place.join("old.jsonl"), slow.replace(r#""tool":"t""#, plan)).unwrap();
    let quick = [("new", many(3, "x", &warming_up(5, 60)))];
    written(place, "new.jsonl", 2, "s", &quick);
    let first_steady = |sides: [&str; 2]| {
        let arguments = [
            &["compare"],
            sides.as_slice(),
            &["--suite", "none", "--audit"],
        ]
        .concat();
        let answer = json(place, &arguments);
        let audited = answer["audit"]["benchmarks"].as_array().unwrap();
        let first = |it: &Value| it["burn_in"]["first_steady"].as_u64();
        audited.iter().map(first).collect::<Vec<_>>()
    };
    assert_eq!(
        first_steady(["old.jsonl", "new.jsonl"]),
        [Some(21), Some(21)]
    );
    assert_eq!(
        first_steady(["new.jsonl", "old.jsonl"]),
        [Some(21), Some(21)]
    );
    run(place, &["import", "new.jsonl"]);
    assert_eq!(
        first_steady(["variant:new", "old.jsonl"]),
        [Some(21), Some(21)]
    );
    // Without such a plan nothing is looked for.
    written(place, "third.jsonl", 3, "s", &quick);
    assert_eq!(first_steady(["new.jsonl", "third.jsonl"]), [None, None]);
}

#[test]
fn a_burn_in_costs_iterations_where_the_metric_is_no_time() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let text = record(1, "s", &[("base", many(3, "x", &warming_up(20, 60)))]);
    let text = text
        .replace("wall_time", "memory")
        .replace(r#""unit":"s""#, r#""unit":"B""#);
    fs::write(place.join("it.jsonl"), text).unwrap();
    run(place, &["import", "it.jsonl"]);
    run(
        place,
        &[
            "report",
            "--suite",
            "none",
            "--clean",
            "burn_in=auto",
            "-o",
            "site",
        ],
    );
    let page = report_entry(&place.join("site"), "burn-in").to_string();
    assert!(
        page.contains(r#""cost":[21.0],"cost_text":["21 iterations"]"#),
        "{page}"
    );
}

#[test]
fn what_never_gets_steady_is_named_by_every_command_that_analyses_it() {
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    let mut instances = many(6, "steady", &warming_up(0, 60));
    instances.extend(many(6, "drifts", &drifting()));
    written(place, "one.jsonl", 1, "s", &[("default", instances)]);
    run(place, &["import", "one.jsonl"]);
    let named = "drifts never reaches a steady state";
    for command in [
        vec!["variability"],
        vec!["mds"],
        vec!["plan", "--slowdown", "20%"],
    ] {
        let (out, told, _code) = output(place, &command);
        assert!(format!("{out}{told}").contains(named), "{out}{told}");
        let auto = [command, vec!["--clean", "burn_in=auto"]].concat();
        let (out, told, _code) = output(place, &auto);
        let excluded = "not analysed: drifts (never reaches a steady state)";
        assert!(out.contains(excluded), "{out}{told}");
        assert!(!format!("{out}{told}").contains(named), "{out}{told}");
    }
}
