//! `lapwing compare` of sides that pool sessions and versions, of sources that kept only summaries, and of metrics
//! without a direction.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// Writes the results of pytest-benchmark of one commit: a mean of each test, with or without the times.
fn write_saved(path: &Path, commit: usize, tests: &[(&str, f64)], with_times: bool) {
    let benchmarks = tests.iter().map(|(name, mean)| {
        let times: Vec<f64> = [0.99, 1.0, 1.01].iter().map(|it| it * mean).collect();
        let mut stats = json!({"min": times[0], "max": times[2], "mean": mean, "median": mean, "rounds": 3, "iterations": 1,
            "stddev": 0.01 * mean, "iqr": 0.01 * mean});
        if with_times {
            stats["data"] = json!(times);
        }
        json!({"group": null, "name": name, "fullname": format!("t.py::{name}"), "params": null, "param": null,
            "extra_info": {}, "options": {"warmup": false}, "stats": stats})
    });
    let document = json!({
        "machine_info": {"node": "box", "machine": "x86_64", "python_version": "3.12", "system": "Linux"},
        "commit_info": {"id": commit.to_string().repeat(40), "dirty": false, "branch": "main", "time": format!("2026-03-0{commit}T09:00:00+00:00")},
        "benchmarks": benchmarks.collect::<Vec<_>>(),
        "datetime": format!("2026-03-0{commit}T10:00:00"),
        "version": "5.1.0",
    });
    fs::write(path, document.to_string()).unwrap();
}

/// Returns a folder with four saves of an old state, and four of a new one in which `test_sort` takes so many times as long.
fn saves(factor: f64, with_times: bool) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (place, noise) in [0.003, -0.002, 0.001, -0.003, 0.002, 0.004, -0.001, 0.0]
        .iter()
        .enumerate()
    {
        let side = if place < 4 { "old" } else { "new" };
        let level = if place < 4 { 1.0 } else { factor };
        let tests = [("test_sort", level + noise), ("test_join", 2.0 - noise)];
        let path = folder.path().join(format!("{side}-{place}.json"));
        write_saved(&path, place + 1, &tests, with_times);
    }
    folder
}

fn answer(folder: &Path, words: &[&str]) -> (Value, Option<i32>) {
    let done = output(folder, &[words, &["--format", "json"]].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap();
    (answer, done.status.code())
}

#[test]
fn files_of_a_commit_each_are_one_side() {
    let folder = saves(1.1, true);
    let words = [
        "compare",
        "old-*.json",
        "new-*.json",
        "--fail-on",
        "regression",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    new-*.json against old-*.json: 1 regression, 1 unchanged within 0.3 %   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark         ratio  interval        verdict                     baseline  candidate  instances
     t.py::test_sort  1.102×  [1.097, 1.106]  ✗ regression                 1.000 s    1.101 s      4 / 4
     t.py::test_join  0.999×  [0.997, 1.001]  = no change, at most 0.3 %   2.000 s    1.999 s      4 / 4

    suite: 1.049× [1.048, 1.050], the geometric mean of 2 benchmarks
    note: t.py::test_sort: one side is above the other in every session; with so few
    sessions, noise that jumps between two levels can do this by chance: measure
    five or more sessions
    note: pooled: 4 sessions of 4 versions in old-*.json, 4 sessions of 4 versions
    in new-*.json
    note: the unit of replication is the session: 4 per side
    exit 1
    ");
    let (answer, code) = answer(folder.path(), &words);
    assert_eq!((answer["compared"].as_u64(), code), (Some(2), Some(1)));
    assert_eq!(answer["verdicts"]["regression"], 1);
    let row = &answer["comparisons"][0];
    assert_eq!(row["replication"], "session");
    assert_eq!(row["baseline_instances"], 4);
    let pooled = answer["notes"].as_array().unwrap();
    let pooled = pooled.iter().find(|it| it["code"] == "pooled").unwrap();
    assert_eq!(pooled["versions"], json!([4, 4]));
}

#[test]
fn several_commits_against_one_have_a_ratio_and_no_verdict() {
    let folder = saves(1.1, true);
    let words = [
        "compare",
        "old-*.json",
        "new-5.json",
        "--fail-on",
        "regression",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    new-5.json against old-*.json: no verdict, 2 undecided   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark          ratio  interval        verdict      baseline  candidate  instances  note
     t.py::test_sort   ≈1.10×  (1.09, 1.12)    ? undecided   1.000 s     1.10 s      4 / 1  need 3 instances per side, got 4 and 1
     t.py::test_join  ≈0.998×  (0.993, 1.003)  ? undecided   2.000 s     2.00 s      4 / 1  need 3 instances per side, got 4 and 1

    suite: ≈1.05×, the geometric mean of 2 benchmarks
    note: ratios marked ≈ are of fewer than 3 instances on one side: their
    intervals, in parentheses, are of the instances of both sides together, and one
    may be an outlier. For a regression or improvement, compare at least 3 instances
    per side
    note: pooled: 4 sessions of 4 versions in old-*.json, 1 session of 1 version in
    new-5.json
    exit 3
    ");
}

#[test]
fn undecided_files_need_no_store() {
    let folder = TempDir::new().unwrap();
    for (place, mean) in [1.0, 1.3, 1.1, 1.2, 1.0, 1.4, 1.3, 1.5].iter().enumerate() {
        let side = if place < 4 { "old" } else { "new" };
        let path = folder.path().join(format!("{side}-{place}.json"));
        write_saved(&path, place + 1, &[("test_sort", *mean)], true);
    }
    let (answer, code) = answer(folder.path(), &["compare", "old-*.json", "new-*.json"]);
    assert_eq!(
        (&answer["comparisons"][0]["reason"], code),
        (&json!("too_wide"), Some(0))
    );
    assert_snapshot!(run(folder.path(), &["compare", "old-*.json", "new-9.json"]), @"
    error: there is no file new-9.json
    exit 2
    ");
}

#[test]
fn versions_that_both_sides_have_are_not_pooled() {
    let folder = saves(1.0, true);
    for place in 0..4 {
        let path = folder.path().join(format!("again-{place}.json"));
        let tests = [("test_sort", 1.1), ("test_join", 2.1)];
        write_saved(&path, place + 1, &tests, true);
    }
    let (answer, _) = answer(folder.path(), &["compare", "old-*.json", "again-*.json"]);
    assert_eq!(answer["compared"], 8);
}

#[test]
fn two_single_summaries_are_described_and_several_are_judged() {
    let folder = saves(1.5, false);
    let single = ["compare", "old-0.json", "new-5.json"];
    assert_snapshot!(run(folder.path(), &single), @"
    new-5.json against old-0.json: no verdict, 2 undecided   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark         ratio  interval  verdict      baseline  candidate  instances  note
     t.py::test_sort  ≈1.50×            ? undecided    1.00 s     1.50 s      1 / 1  the source kept only summaries, one value per run; need 3 runs per side
     t.py::test_join  ≈1.00×            ? undecided    2.00 s     2.00 s      1 / 1  the source kept only summaries, one value per run; need 3 runs per side

    note: ratios marked ≈ are of one value per run, as their source kept no samples;
    another run may differ. For a regression or improvement, compare at least 3 runs
    per side: several files ('old*.json')
    exit 3
    ");
    let (one, code) = answer(folder.path(), &single);
    let row = &one["comparisons"][0];
    assert_eq!((&row["reason"], code), (&json!("only_summaries"), Some(3)));
    assert_eq!(row["baseline_value"], 1.003);
    assert_eq!(row["candidate_value"], 1.504);
    assert_eq!(row["descriptive_ratio"], 1.504 / 1.003);
    let several = [
        "compare",
        "old-*.json",
        "new-*.json",
        "--fail-on",
        "regression",
    ];
    let (answer, code) = answer(folder.path(), &several);
    assert_eq!(
        (&answer["verdicts"]["regression"], code),
        (&json!(1), Some(1))
    );
}

#[test]
fn medians_are_not_compared_with_means() {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    for (version, statistic) in [("old", "median/iqr"), ("new", "mean/sd")] {
        for day in 1..5 {
            let session = lines.session(&format!("2026-03-0{day}T10:00:00Z"), json!({}));
            let run = lines.run(&session, json!({"version": {"name": version}}));
            let instance = lines.instance(&run, "b", json!({}));
            lines.line(
                "summary",
                json!({"instance": instance, "metric": "wall_time", "n": 9, "centre": 1.0, "statistic": statistic}),
            );
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    let (answer, code) = answer(folder.path(), &["compare", "old", "new"]);
    let row = &answer["comparisons"][0];
    assert_eq!((&row["reason"], code), (&json!("other_centre"), Some(3)));
    assert_eq!(row["descriptive_ratio"], 1.0);
}

/// Returns a folder with a store of nights of main, of which the first ones may have another level, and the last is slower.
fn nights(count: usize, first: f64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    for night in 0..count {
        let started = format!("2026-03-{:02}T10:00:00Z", night + 1);
        let session = lines.session(&started, json!({}));
        let version = json!({"name": format!("v{night}"), "branch": "main", "commit": format!("{night:040}")});
        let run = lines.run(&session, json!({"version": version}));
        let is_last = night + 1 == count;
        for part in 0..if is_last { 3 } else { 1 } {
            let instance = lines.instance(&run, "b", json!({"block": part, "position": part}));
            let noise = 0.002 * f64::from(u8::try_from((7 * night + 3 * part) % 5).unwrap());
            let level = if is_last {
                1.2
            } else if night < count / 2 {
                first
            } else {
                1.0
            };
            lines.iteration(
                &instance,
                0,
                json!({"metrics": {"wall_time": level + noise}}),
            );
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    folder
}

#[test]
fn the_last_nights_of_a_branch_are_a_side_without_the_other_one() {
    let folder = nights(12, 1.0);
    let words = [
        "compare",
        "last 10 of main",
        "v11",
        "--fail-on",
        "regression",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    v11 against last 10 of main: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval        verdict       baseline  candidate  instances
     b          1.199×  [1.190, 1.207]  ✗ regression   1.004 s    1.203 s     10 / 3

    note: b: one side is above the other in every session; with so few sessions,
    noise that jumps between two levels can do this by chance: measure five or more
    sessions
    note: last 10 of main is without the runs of the other sides
    note: pooled: 10 sessions of 10 versions in last 10 of main, 1 session of 1
    version in v11
    note: 1 more note (`--full` shows all)
    exit 1
    ");
    // However a pool is written, it means the same.
    let ratio = |side: &str, other: &str| {
        let (answer, _) = answer(folder.path(), &["compare", side, other]);
        answer["comparisons"][0]["ratio"].clone()
    };
    let until = ratio("until 2026-03-12", "since 2026-03-12");
    for (side, other) in [
        ("until:2026-03-12", "since:2026-03-12"),
        ("branch=main", "v11"),
        ("branch:main", "v11"),
        ("last 11 of main", "since=2026-03-12"),
    ] {
        if side.starts_with("last") {
            let done = output(folder.path(), &["compare", side, other]);
            // Of two sets of conditions neither gives way.
            assert_eq!(done.status.code(), Some(2));
        } else {
            assert_eq!(ratio(side, other), until, "{side}");
        }
    }
}

#[test]
fn a_step_within_a_pool_is_told() {
    let told = |first: f64| {
        let folder = nights(14, first);
        let (answer, _) = answer(folder.path(), &["compare", "branch=main", "v13"]);
        let text = run(folder.path(), &["compare", "branch=main", "v13"]);
        let cautions = answer["comparisons"][0]["cautions"].as_array().cloned();
        let mut cautions = cautions.into_iter().flatten();
        let is_told = text.contains("step to another level");
        (cautions.any(|it| it["caution"] == "pool_drifts"), is_told)
    };
    assert_eq!(told(1.0), (false, false));
    assert_eq!(told(1.05), (true, true));
}

/// Writes the lines of Go of one process.
fn write_go(path: &Path, units: &str, numbers: [u32; 3]) {
    let [time, widgets, cycles] = numbers;
    let text = format!(
        "{units}pkg: p\nBenchmarkA-8 100 {time} ns/op {widgets} widgets/s {cycles} cycles\n"
    );
    fs::write(path, text).unwrap();
}

fn go_files(units: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for number in 0..3 {
        let path = |side: &str| folder.path().join(format!("{side}{number}.txt"));
        let noise = [0, 2, 1][number];
        write_go(
            &path("old"),
            units,
            [100 + noise, 3_000 + noise, 120 + noise],
        );
        let noise = [1, 0, 2][number];
        write_go(
            &path("new"),
            units,
            [100 + noise, 2_000 + noise, 220 + noise],
        );
    }
    folder
}

#[test]
fn a_metric_without_a_direction_is_changed_and_no_regression() {
    let folder = go_files("");
    let words = [
        "compare",
        "old*.txt",
        "new*.txt",
        "--each-run",
        "instance",
        "--fail-on",
        "regression",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    new*.txt against old*.txt: no regression found, 2 changed without a direction, 1 unchanged within 2.3 %   (3 comparisons, FDR 5 %, no change: within 3 %)

     benchmark       metric       ratio  interval          verdict                           baseline       candidate  instances  note
     p.BenchmarkA-8  cycles       1.83×  [1.80, 1.85]      ≠ changed                       121 cycles      221 cycles      3 / 3  the metric does not say whether more is better
     p.BenchmarkA-8  widgets/s  0.6668×  [0.6661, 0.6674]  ≠ changed                   3001 widgets/s  2001 widgets/s      3 / 3  the metric does not say whether more is better
     p.BenchmarkA-8  wall_time    1.00×  [0.98, 1.02]      = no change, at most 2.3 %          101 ns          101 ns      3 / 3

    note: p.BenchmarkA-8: the instances fall into groups, and with fewer than 10 per
    side the interval may be too narrow
    note: p.BenchmarkA-8: one side is above the other in every session; with so few
    sessions, noise that jumps between two levels can do this by chance: measure
    five or more sessions
    note: pooled: 3 sessions in old*.txt, 3 sessions in new*.txt
    note: 2 more notes (`--full` shows all)
    exit 0
    ");
    let (answer, code) = answer(folder.path(), &words);
    let verdicts: Vec<&Value> = (answer["comparisons"].as_array().unwrap().iter())
        .map(|it| &it["verdict"])
        .collect();
    assert_eq!(
        (verdicts, code),
        (
            vec![&json!("changed"), &json!("changed"), &json!("equivalent")],
            Some(0)
        )
    );
    assert_eq!(answer["verdicts"]["changed"], 2);
}

#[test]
fn a_declared_direction_counts() {
    let folder = go_files("Unit widgets/s better=higher\nUnit cycles better=lower\n");
    let words = ["compare", "old*.txt", "new*.txt", "--fail-on", "regression"];
    let (answer, code) = answer(folder.path(), &words);
    assert_eq!(
        (&answer["verdicts"]["regression"], code),
        (&json!(2), Some(1))
    );
}

#[test]
fn a_method_without_an_effect_is_told() {
    let folder = go_files("");
    let words = ["compare", "old0.txt", "new0.txt", "--method", "bca"];
    let (answer, _) = answer(folder.path(), &words);
    let notes = answer["notes"].as_array().unwrap();
    let unused = notes.iter().find(|it| it["code"] == "not_used").unwrap();
    assert_eq!(unused["options"], json!(["--method"]));
}

#[test]
fn what_is_stated_of_each_process_is_a_value_of_it() {
    let folder = TempDir::new().unwrap();
    for (name, level) in [("old.json", 1.0), ("new.json", 1.2)] {
        let runs: Vec<Value> = (0..10)
            .map(|at| {
                let level = level * (1.0 + 0.002 * f64::from(at * 7 % 10));
                json!({"values": [level, level], "metadata": {"mem_max_rss": level * 1e8}})
            })
            .collect();
        let benchmark = json!({"metadata": {"name": "copy"}, "runs": runs});
        let document = json!({"version": "1.0", "benchmarks": [benchmark]});
        fs::write(folder.path().join(name), document.to_string()).unwrap();
    }
    let (answer, _) = answer(folder.path(), &["compare", "old.json", "new.json"]);
    let rows = answer["comparisons"].as_array().unwrap().iter();
    let verdicts: Vec<String> = rows
        .map(|row| format!("{} {} {}", row["metric"], row["verdict"], row["reason"]))
        .collect();
    assert_snapshot!(verdicts.join("\n"), @r#"
    "peak_memory" "regression" null
    "wall_time" "regression" null
    "#);
}
