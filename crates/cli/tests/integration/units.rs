//! What the program makes of metrics that changed their unit or their name, by the real program.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, record_id};
use serde_json::{Value, json};

use crate::program::run;

/// A session's metrics: name, unit, direction, and the values of instances.
type Metrics<'a> = &'a [(&'a str, &'a str, &'a str, [f64; 4])];

/// Writes the session of that day, of the version `v1`, `v2`, …
fn session(day: u32, metrics: Metrics) -> String {
    let mut lines = RecordLines::default();
    let declared: Value = metrics
        .iter()
        .map(|(name, unit, better, _)| {
            ((*name).to_owned(), json!({"unit": unit, "better": better}))
        })
        .collect();
    let started = format!("2026-01-0{day}T10:00:00Z");
    let session = lines.session(&started, json!({"id": record_id(0, day)}));
    let version = json!({"name": format!("v{day}")});
    let more = json!({"id": record_id(1, day), "version": version, "metrics": declared});
    let run = lines.run(&session, more);
    for number in 0..4 {
        let id = record_id(2, 10 * day + u32::try_from(number).unwrap());
        let instance = lines.instance(&run, "a", json!({"id": id}));
        let values: Value = metrics
            .iter()
            .map(|(name, _, _, values)| ((*name).to_owned(), json!(values[number])))
            .collect();
        lines.iteration(&instance, 0, json!({"metrics": values}));
        lines.instance_end(&instance);
    }
    lines.text
}

fn measured(sessions: &[Metrics]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (day, metrics) in (1..).zip(sessions) {
        let name = format!("{day}.jsonl");
        fs::write(folder.path().join(&name), session(day, metrics)).unwrap();
        run(folder.path(), &["import", &name]);
    }
    folder
}

const SECONDS: [f64; 4] = [1.0, 1.01, 1.02, 1.01];
const MILLISECONDS: [f64; 4] = [1_000.0, 1_010.0, 1_020.0, 1_010.0];

/// The lines of a comparison's table.
fn compared(folder: &Path, sides: [&str; 2]) -> String {
    let said = run(folder, &["compare", sides[0], sides[1], "--metric", "t"]);
    let told = said
        .lines()
        .filter(|line| line.starts_with(" a ") || line.starts_with("note: a:"))
        .filter(|line| !line.contains("different sessions"));
    told.map(|line| format!("{}\n", line.trim_end())).collect()
}

fn rename(folder: &Path, metric: &str) -> String {
    let why = ["--by", "ada", "--reason", "a better name"];
    let said = run(
        folder,
        &[&["db", "rename", "a", "--metric", metric][..], &why].concat(),
    );
    let told = said.lines().filter(|line| !line.contains("db restore"));
    told.map(|line| format!("{line}\n")).collect()
}

#[test]
fn milliseconds_and_seconds_are_compared_as_times() {
    let folder = measured(&[
        &[("t", "ms", "lower", MILLISECONDS)],
        &[("t", "s", "lower", SECONDS)],
    ]);
    let folder = folder.path();
    assert_snapshot!(compared(folder, ["version:v1", "version:v2"]), @" a          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.5 %    1.01 s     1.01 s      4 / 4");
    assert_snapshot!(compared(folder, ["1.jsonl", "2.jsonl"]), @" a          1.00×  [0.99, 1.01]  = no change within these files, at most 1.5 %   1010 ms    1010 ms      4 / 4");
    assert_snapshot!(run(folder, &["variability", "--settings", "each", "--metric", "t"]), @"
    1 benchmark, none with enough measurements: noise between instances needs two instances and two iterations

     benchmark  setting  metric   value  cv of all  between instances  within  sample
     a          v1       t       1.01 s     0.70 %                  –       –   4 × 1
     a          v2       t       1.01 s     0.70 %                  –       –   4 × 1
    exit 0
    ");
}

#[test]
fn times_and_sizes_are_not_compared() {
    let folder = measured(&[
        &[("t", "s", "lower", SECONDS)],
        &[("t", "B", "lower", MILLISECONDS)],
    ]);
    let folder = folder.path();
    assert_snapshot!(compared(folder, ["version:v1", "version:v2"]), @"
     a                           ? no verdict         –     1010 B      0 / 4  the units of the sides cannot be converted into each other
    note: a: the baseline is in s, the candidate in B
    ");
    assert_snapshot!(compared(folder, ["1.jsonl", "2.jsonl"]), @"
     a                           ? no verdict    1.01 s          –      4 / 0  the units of the sides cannot be converted into each other
    note: a: the baseline is in s, the candidate in B
    ");
    let pooled = ["variability", "--settings", "pooled", "--metric", "t"];
    assert_snapshot!(run(folder, &pooled), @"
    1 benchmark, none with enough measurements: noise between instances needs two instances and two iterations

     benchmark  metric   value  cv of all  between instances  within  sample
     a          t       1010 B     0.70 %                  –       –   4 × 1

    excluded from 8 iterations: 4 in another unit (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn a_metric_goes_on_under_another_name_in_another_unit_of_the_same_quantity() {
    let folder = measured(&[
        &[("old", "ms", "lower", MILLISECONDS)],
        // Both for a while, and the same.
        &[
            ("old", "ms", "lower", MILLISECONDS),
            ("t", "s", "lower", SECONDS),
        ],
        &[("t", "s", "lower", SECONDS)],
    ]);
    let folder = folder.path();
    assert_snapshot!(rename(folder, "old=t"), @"
    renamed metric `old` of `a` to `t`: 1 benchmark, 8 instances
    exit 0
    ");
    assert_snapshot!(compared(folder, ["version:v1", "version:v3"]), @" a          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.5 %    1.01 s     1.01 s      4 / 4");
    assert_snapshot!(compared(folder, ["version:v2", "version:v3"]), @" a          1.00×  [0.99, 1.01]  = no change within these sessions, at most 1.5 %    1.01 s     1.01 s      4 / 4");
}

#[test]
fn metrics_that_are_not_the_same_quantity_do_not_become_one() {
    let folder = measured(&[
        &[
            ("wall_time", "s", "lower", SECONDS),
            ("cpu_time", "s", "lower", MILLISECONDS),
            ("rate", "1/s", "higher", SECONDS),
        ],
        &[
            ("memory", "B", "lower", MILLISECONDS),
            ("throughput", "1/s", "lower", SECONDS),
        ],
    ]);
    let folder = folder.path();
    assert_snapshot!(rename(folder, "wall_time=memory"), @"
    error: a: `wall_time` is measured in s and `memory` in B, which cannot be converted
      hint: `lapwing db retire BENCHMARK --metric wall_time` excludes its past results
    exit 2
    ");
    assert_snapshot!(rename(folder, "wall_time=cpu_time"), @"
    error: a: 4 instances have both `wall_time` and `cpu_time` with different values: they are two metrics
      hint: `lapwing db retire BENCHMARK --metric wall_time` excludes its past results
    exit 2
    ");
    assert_snapshot!(rename(folder, "rate=throughput"), @"
    error: a: `rate` is better when higher, `throughput` when lower
      hint: `lapwing db retire BENCHMARK --metric rate` excludes its past results
    exit 2
    ");
}
