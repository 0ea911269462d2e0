//! What the program makes of benchmarks that changed, by the real program.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, record_id};
use serde_json::{Value, json};

use crate::program::{output, run};

/// Sessions: each with the version (behind an `@` its date), the benchmark, its fingerprint (behind a space its
/// parameter), and values of instances.
fn measured(sessions: &[(&str, &str, Option<&str>, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = RecordLines::default();
    for (day, (version, name, fingerprint, values)) in (1_u32..).zip(sessions) {
        let started = format!("2026-01-0{day}T10:00:00Z");
        let session = lines.session(&started, json!({"id": record_id(0, day)}));
        let version = match version.split_once('@') {
            Some((name, date)) => json!({"name": name, "date": date}),
            None => json!({"name": version}),
        };
        let run = lines.run(
            &session,
            json!({"id": record_id(1, day), "version": version}),
        );
        let benchmark = match fingerprint.map(|text| text.split_once(' ').ok_or(text)) {
            None => json!({"id": name}),
            Some(Err(fingerprint)) => json!({"id": name, "fingerprint": fingerprint}),
            Some(Ok((fingerprint, n))) => {
                let n: Value = serde_json::from_str(n).unwrap();
                json!({"id": name, "fingerprint": fingerprint, "params": {"n": n}})
            }
        };
        for (number, value) in (1..).zip(values.split(' ')) {
            let id = record_id(2, 10 * day + number);
            let more = json!({"id": id, "benchmark": benchmark});
            let instance = lines.instance(&run, name, more);
            let value: f64 = value.parse().unwrap();
            lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("all.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "all.jsonl"]);
    folder
}

#[test]
fn a_benchmark_that_changed_is_no_regression() {
    let folder = measured(&[
        ("v1", "f.py::test_x", Some("aa"), "1.0 1.1 1.2 1.1"),
        ("v2", "f.py::test_x", Some("bb"), "2.0 2.1 2.2 2.1"),
    ]);
    let folder = folder.path();
    let compare = ["compare", "version:v1", "version:v2"];
    assert_snapshot!(run(folder, &compare), @"
    v2 against v1: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark     ratio  interval  verdict       baseline  candidate  instances  note
     f.py::test_x                   ? no verdict    1.10 s     2.10 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)
    exit 3
    ");
    let out = output(
        folder,
        &[
            &compare[..],
            &["--format", "json", "--fail-on", "regression"],
        ]
        .concat(),
    );
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let row = &json["comparisons"][0];
    assert_eq!(row["verdict"], "inconclusive");
    assert_eq!(row["reason"], "other_benchmark");
    assert_eq!(row["ratio"], serde_json::Value::Null);
}

#[test]
fn instances_of_an_earlier_epoch_are_left_out_and_said_so() {
    let folder = measured(&[
        ("v1", "f.py::test_x", None, "9.0 9.1 9.2"),
        ("v1", "f.py::test_x", Some("aa"), "9.0 9.1 9.2"),
        ("v1", "f.py::test_x", Some("bb"), "1.0 1.1 1.2 1.1"),
        ("v2", "f.py::test_x", Some("bb"), "1.0 1.1 1.2 1.1"),
        ("v2", "f.py::test_x", None, "1.0"),
    ]);
    let folder = folder.path();
    assert_snapshot!(run(folder, &["compare", "version:v1", "version:v2"]), @"
    v2 against v1: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark     ratio  interval      verdict      baseline  candidate  instances  note
     f.py::test_x  0.98×  [0.87, 1.11]  ? undecided    1.10 s     1.08 s      4 / 5  needs about 96 instances per side

    note: f.py::test_x: the sides are from different sessions, so a change of the
    machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side
    note: f.py::test_x: the instances fall into groups, and with fewer than 10 per
    side the interval may be too narrow
    note: f.py::test_x: 6 instances of an earlier epoch are excluded: the benchmark
    itself has changed since
    note: 1 more note (`--full` shows all)
    exit 0
    ");
    assert_snapshot!(run(folder, &["variability", "--settings", "each"]), @"
    1 benchmark, none with enough measurements: noise between instances needs two instances and two iterations

     benchmark     setting   value  cv of all  between instances  within  sample
     f.py::test_x  v2       1.08 s      6.9 %                  –       –   5 × 1
     f.py::test_x  v1       1.10 s      6.4 %                  –       –   4 × 1

    f.py::test_x (v2) falls into two groups: 2 instances around 1.00 s and 3 around
    1.13 s (1.13×); no known attribute of the instances explains it
    note: 6 instances of an earlier epoch are excluded: the benchmark itself has
    changed since
    exit 0
    ");
}

#[test]
fn a_backfill_of_old_versions_does_not_bring_back_what_the_benchmark_was() {
    let folder = measured(&[
        ("v3@2026-03-01", "x", Some("new"), "2.0 2.1 2.2 2.1"),
        ("v4@2026-04-01", "x", Some("new"), "2.0 2.1 2.2 2.1"),
        ("v1@2026-01-01", "x", Some("old 1"), "1.0 1.1 1.2"),
        ("v2@2026-02-01", "x", Some("old 1"), "1.0 1.1 1.2"),
    ]);
    let folder = folder.path();
    // What is judged together is what the benchmark is today.
    assert_snapshot!(run(folder, &["burn-in"]), @"
    x has too few iterations, so its planned burn-in applies; burn-in takes no time

     benchmark  class      steady from  planned  instances  cost  bias
     x          too short  0 (planned)        0          8   0 s  –

    steady from: the first iteration after burn-in, counted from 0; cost: burn-in
    per instance
    bias: distance of the mean from the steady level, with burn-in → without it
    note: too few iterations: x (1 iteration); needs at least 20 per instance,
    burn-in included
    note: 6 instances of an earlier epoch are excluded: the benchmark itself has changed since
    exit 0
    ");
    assert_snapshot!(run(folder, &["variability", "--settings", "pooled"]), @"
    1 benchmark, none with enough measurements: noise between instances needs two instances and two iterations

     benchmark   value  cv of all  between instances  within  sample
     x          2.10 s      3.4 %                  –       –   8 × 1

    note: 6 instances of an earlier epoch are excluded: the benchmark itself has
    changed since
    exit 0
    ");
    // A side that is chosen has its own newest epoch, and sides of different epochs are not compared.
    assert_snapshot!(compared(folder, ["v1", "v2"], &[]), @" x          1.00×  [0.81, 1.23]  ? undecided    1.10 s     1.10 s      3 / 3  needs about 105 instances per side");
    assert_snapshot!(compared(folder, ["v2", "v3"], &[]), @" x                           ? no verdict    1.10 s     2.10 s      3 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
}

#[test]
fn a_renamed_test_has_another_source_and_means_the_same() {
    let folder = measured(&[
        ("v1", "f.py::test_x", Some("aa"), "1.0 1.1 1.2 1.1"),
        ("v2", "f.py::test_new", Some("bb"), "1.0 1.1 1.2 1.1"),
    ]);
    let folder = folder.path();
    let rename = ["db", "rename", "f.py::test_x", "f.py::test_new"];
    let why = ["--by", "ada", "--reason", "it has a better name"];
    run(folder, &[rename, why].concat());
    assert_snapshot!(run(folder, &["compare", "version:v1", "version:v2"]), @"
    v2 against v1: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark       ratio  interval      verdict      baseline  candidate  instances  note
     f.py::test_new  1.00×  [0.88, 1.14]  ? undecided    1.10 s     1.10 s      4 / 4  needs about 94 instances per side

    note: f.py::test_new: the sides are from different sessions, so a change of the
    machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side
    note: measured anew with as many instances as a row needs, it is decided with a
    probability of 80 %
    exit 0
    ");
}

/// The lines of a comparison's table and of its suites.
fn compared(folder: &Path, sides: [&str; 2], more: &[&str]) -> String {
    let sides = sides.map(|side| format!("version:{side}"));
    let said = run(folder, &[&["compare", &sides[0], &sides[1]], more].concat());
    let is_row = |line: &str| line.starts_with(' ') && !line.starts_with(" benchmark ");
    let told = |line: &&str| line.contains('×') || is_row(line);
    said.lines()
        .filter(told)
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn rename(folder: &Path, [old, new]: [&str; 2]) {
    let why = ["--by", "ada", "--reason", "a better name"];
    run(folder, &[&["db", "rename", old, new][..], &why].concat());
}

const ONE: &str = "1.0 1.01 1.02 1.01";
const THREE: &str = "3.0 3.01 3.02 3.01";

#[test]
fn epochs_are_told_by_all_sessions_not_by_those_that_are_compared() {
    // It changed, and only then it was renamed.
    let folder = measured(&[
        ("v1", "x", Some("f0"), ONE),
        ("v2", "x", Some("f1"), THREE),
        ("v3", "x[d]", Some("f2"), THREE),
    ]);
    rename(folder.path(), ["x", "x[d]"]);
    assert_snapshot!(compared(folder.path(), ["v1", "v3"], &[]), @" x[d]                        ? no verdict    1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
    assert_snapshot!(compared(folder.path(), ["v2", "v3"], &[]), @" x[d]       1.000×  [0.995, 1.005]  = no change within these sessions, at most 0.48 %    3.01 s     3.01 s      4 / 4");
    // It was renamed, and only then it changed.
    let folder = measured(&[
        ("v1", "x", Some("f1"), ONE),
        ("v2", "x[d]", Some("f2"), ONE),
        ("v3", "x[d]", Some("f3"), THREE),
    ]);
    rename(folder.path(), ["x", "x[d]"]);
    assert_snapshot!(compared(folder.path(), ["v1", "v3"], &[]), @" x[d]                        ? no verdict    1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
    // Without a fingerprint it is what it was before.
    let folder = measured(&[
        ("v1", "x", Some("f1"), ONE),
        ("v2", "x", None, ONE),
        ("v3", "x", Some("f3"), THREE),
    ]);
    assert_snapshot!(compared(folder.path(), ["v2", "v3"], &[]), @" x                           ? no verdict    1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
}

#[test]
fn a_change_is_seen_though_the_old_id_is_measured_besides() {
    let folder = measured(&[
        ("v1", "x", Some("f1"), ONE),
        ("v1", "y", Some("f2"), ONE),
        ("v2", "x", Some("f1"), ONE),
        ("v3", "y", Some("f3"), THREE),
    ]);
    rename(folder.path(), ["x", "y"]);
    assert_snapshot!(compared(folder.path(), ["v2", "v3"], &[]), @" y                           ? no verdict    1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
    assert_snapshot!(compared(folder.path(), ["v1", "v2"], &[]), @" y          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.3 %   1.010 s     1.01 s      8 / 4");
}

#[test]
fn the_same_id_with_another_parameter_is_another_benchmark() {
    let folder = measured(&[
        ("v1", "f.py::test_x[small]", Some("aa 10000"), ONE),
        ("v2", "f.py::test_x[small]", Some("aa 1e4"), ONE),
        ("v3", "f.py::test_x[small]", Some("aa 1000000"), THREE),
    ]);
    let folder = folder.path();
    assert_snapshot!(compared(folder, ["v1", "v2"], &[]), @" f.py::test_x[small]  1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.5 %    1.01 s     1.01 s      4 / 4");
    assert_snapshot!(compared(folder, ["v2", "v3"], &[]), @" f.py::test_x[small]                   ? no verdict    1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)");
    // So it is in two files.
    let small = measured(&[("v1", "f.py::test_x[small]", Some("aa 1e4"), ONE)]);
    let large = measured(&[("v2", "f.py::test_x[small]", Some("aa 1000000"), THREE)]);
    let [small, large] =
        [small, large].map(|it| fs::read_to_string(it.path().join("all.jsonl")).unwrap());
    fs::write(folder.join("small.jsonl"), small).unwrap();
    // Another file has ids of its own.
    fs::write(
        folder.join("large.jsonl"),
        large.replace("01930000-", "01940000-"),
    )
    .unwrap();
    let said = run(folder, &["compare", "small.jsonl", "large.jsonl"]);
    assert!(said.contains("the benchmark itself changed"), "{said}");
}

#[test]
fn a_suite_s_mean_is_of_benchmarks_that_have_a_ratio() {
    let folder = measured(&[
        ("v1", "a", Some("f1"), ONE),
        ("v1", "b", Some("g"), ONE),
        ("v1", "c", Some("h"), ONE),
        ("v2", "a", Some("f2"), THREE),
        ("v2", "b", Some("g"), ONE),
        ("v2", "c", Some("h"), ONE),
    ]);
    assert_snapshot!(compared(folder.path(), ["v1", "v2"], &[]), @"
     a                               ? no verdict                                        1.01 s     3.01 s      4 / 4  the benchmark itself changed between the sides (fingerprint or parameters differ)
     b          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.4 %    1.01 s     1.01 s      4 / 4
     c          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.4 %    1.01 s     1.01 s      4 / 4
    suite: 1.000× [0.991, 1.009] within these sessions, the geometric mean of 2
    ");
}

#[test]
fn what_is_retired_is_compared_when_asked_for() {
    let folder = measured(&[("v1", "x", None, ONE), ("v2", "x", None, ONE)]);
    let folder = folder.path();
    let why = ["--by", "ada", "--reason", "wrong data"];
    run(
        folder,
        &[&["db", "retire", "x", "--where", "version=v1"][..], &why].concat(),
    );
    assert_snapshot!(compared(folder, ["v1", "v2"], &[]), @" x                           – not measured         –     1.01 s      0 / 4  only in the candidate");
    assert_snapshot!(compared(folder, ["v1", "v2"], &["--where", "retired=yes"]), @" x          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.5 %    1.01 s     1.01 s      4 / 4");
}

#[test]
fn a_dry_run_knows_what_was_measured_under_another_name() {
    let folder = measured(&[("v1", "x", None, ONE)]);
    let folder = folder.path();
    rename(folder, ["x", "y"]);
    let suite = "suite = \"s\"\n[benchmark.x]\ncommand = \"true\"\ninstances = 2\niterations = 3\nburn_in = 0\n";
    fs::write(folder.join("lapwing.toml"), suite).unwrap();
    let said = run(folder, &["run", "--dry-run", "--seed", "1"]);
    assert_snapshot!(said.lines().next().unwrap(), @"2 instances, at least 6 iterations, seed 1; about 6.06 s");
}
