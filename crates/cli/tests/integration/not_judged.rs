//! What cannot be judged is named with its reason by every command that looks at benchmarks one by one.

use crate::program::run;
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A few values near a centre.
fn around(centre: f64, seed: u32) -> [f64; 4] {
    [0, 1, 2, 3].map(|k| centre * (1.0 + f64::from((seed * 7 + k * 3) % 11) / 500.0))
}

/// A benchmark that can be judged, the kinds that cannot, and two of times that nobody has.
fn store() -> TempDir {
    let mut all = Records::default();
    let run = all.run(1, "1.0");
    for position in 0..6 {
        let mut instance = |id: &str, values: &[f64]| {
            all.instance(&run, id, position, "node3", "wall_time", values);
        };
        let idle = if position < 2 { 0.0 } else { 1.0 };
        instance("sort", &around(1.0, position));
        instance("zeros", &[0.0; 4]);
        instance("idle", &around(idle, position));
        instance("broken", &[f64::NAN; 3]);
        instance("empty", &[]);
        instance("immense", &around(1e300, position));
        instance("minute", &around(1e-300, position));
    }
    holding(&all.0.text)
}

#[test]
fn every_command_names_what_it_does_not_judge_and_why() {
    let folder = store();
    let line = |arguments: &[&str]| {
        let answer = run(folder.path(), arguments).replace('\n', " ");
        assert!(answer.ends_with("exit 0"), "{answer}");
        let (_, rest) = answer.split_once("not analysed: ").expect(&answer);
        let ends = ["next: `lapwing plan", "excluded from", "exit 0"].map(|it| rest.find(it));
        let end = ends.into_iter().flatten().min().unwrap();
        rest[..end].trim_end().to_owned()
    };
    let all = [
        line(&["mds", "--closed-form"]),
        line(&["variability"]),
        line(&["burn-in"]),
    ];
    assert_snapshot!(all.join("\n"), @"
    broken (no iteration succeeded); empty (no iteration was recorded); idle (an instance has a mean of zero, so ratios are undefined); zeros (all values are zero, so ratios are undefined)
    broken (no iteration succeeded); empty (no iteration was recorded); idle (an instance has a mean of zero, so ratios are undefined); zeros (all values are zero, so ratios are undefined)
    broken (no iteration succeeded); empty (no iteration was recorded)
    ");
}

#[test]
fn data_have_it_under_not_judged() {
    let folder = store();
    let reasons = |command: &str| {
        let answer = run(folder.path(), &[command, "--format", "json"]);
        let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
        let rows = answer["not_judged"].as_array().unwrap().iter();
        let rows: Vec<String> = rows.map(Value::to_string).collect();
        rows.join("\n")
    };
    assert_snapshot!(reasons("mds"), @r#"
    {"benchmark":"broken","metric":"wall_time","reason":"no iteration succeeded","setting":"1.0","suite":"joins"}
    {"benchmark":"empty","metric":"wall_time","reason":"no iteration was recorded","setting":"1.0","suite":"joins"}
    {"benchmark":"idle","metric":"wall_time","reason":"an instance has a mean of zero, so ratios are undefined","setting":"1.0","suite":"joins"}
    {"benchmark":"zeros","metric":"wall_time","reason":"all values are zero, so ratios are undefined","setting":"1.0","suite":"joins"}
    "#);
    assert_eq!(reasons("mds"), reasons("variability"));
    assert_snapshot!(reasons("burn-in"), @r#"
    {"benchmark":"broken","metric":"wall_time","reason":"no iteration succeeded","setting":null,"suite":"joins"}
    {"benchmark":"empty","metric":"wall_time","reason":"no iteration was recorded","setting":null,"suite":"joins"}
    "#);
}

#[test]
fn where_nothing_can_be_judged_the_exit_code_says_so() {
    let folder = store();
    for command in ["mds", "variability", "burn-in"] {
        for format in ["text", "json"] {
            let arguments = [command, "-b", "broken", "-b", "empty", "--format", format];
            let answer = run(folder.path(), &arguments);
            let reason = "broken (no iteration succeeded)";
            assert!(answer.contains(reason), "{answer}");
            assert!(answer.ends_with("exit 3"), "{answer}");
        }
    }
    assert_snapshot!(run(folder.path(), &["variability", "-b", "zeros"]), @"
    error: no usable values: zeros (all values are zero, so ratios are undefined)
      hint: `lapwing list metrics` shows what else was measured (--metric)
    exit 3
    ");
    assert_snapshot!(run(folder.path(), &["burn-in", "-b", "zeros"]), @"
    zeros has no values above zero, so its planned burn-in applies

     benchmark  class         steady from  planned  instances         cost  bias
     zeros      not positive  1 (planned)        1          6  1 iteration  –

    steady from: the first iteration after burn-in, counted from 0; cost: burn-in
    per instance
    bias: distance of the mean from the steady level, with burn-in → without it
    note: instances with values that are not above zero are excluded: zeros
    exit 0
    ");
}

#[test]
fn times_beyond_every_unit_have_few_digits_and_the_same_noise() {
    let folder = store();
    let arguments = ["variability", "-b", "immense", "-b", "minute", "-b", "sort"];
    assert_snapshot!(run(folder.path(), &arguments), @"
    none of 3 benchmarks varies by more than 5 % between instances

     benchmark        value  cv of all  between instances               within  sample
     immense     1.01e300 s     0.61 %                0 %  0.74 % [0.53–1.2 %]   6 × 3
     sort            1.01 s     0.61 %                0 %  0.74 % [0.53–1.2 %]   6 × 3
     minute     1.01e−300 s     0.61 %                0 %  0.74 % [0.53–1.2 %]   6 × 3

    measure more iterations for narrower intervals: the instances hardly differ

    excluded from 72 iterations: 18 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn nothing_counts_of_an_instance_whose_end_makes_it_void() {
    let mut all = Records::default();
    for (day, seconds) in [(1, 1.0), (2, 0.001)] {
        let run = all.run(day, &format!("{day}.0"));
        for position in 0..4 {
            let values = around(seconds, position);
            all.instance(&run, "sort", position, "node3", "wall_time", &values);
            if day == 2 {
                let last: Value = serde_json::from_str(all.0.text.lines().last().unwrap()).unwrap();
                let end = json!({
                    "v": 1, "kind": "instance_end", "instance": last["instance"], "outcome": "failed",
                    "observed": {"void": "AssertionError: 0 is not 5"},
                });
                all.0.text.push_str(&format!("{end}\n"));
            }
        }
    }
    let folder = holding(&all.0.text);
    let sides = ["compare", "version:1.0", "version:2.0"];
    assert_snapshot!(run(folder.path(), &sides), @"
    2.0 against 1.0: no verdict, 1 not measured   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval  verdict         baseline  candidate  instances  note
     sort                        – not measured   1.011 s          –      4 / 0  16 failures in 2.0

    excluded from 32 iterations: 8 burn-in, 12 failed (`--audit` shows which)
    exit 3
    ");
    let gate = [&sides[..], &["--fail-on", "failures"]].concat();
    assert!(run(folder.path(), &gate).ends_with("exit 1"));
    assert_snapshot!(run(folder.path(), &["list"]), @"
    1 benchmark

     benchmark  suite  instances  iterations  failures  last measured     metrics    tags
     sort       joins          8          32        16  2026-11-02 10:00  wall_time
    exit 0
    ");
    let exported = run(folder.path(), &["export", "--to", "record"]);
    assert_eq!(
        exported.matches(r#""outcome":"failed""#).count(),
        4,
        "of instances: as it was recorded"
    );
}
