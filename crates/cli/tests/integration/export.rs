//! `lapwing export` to the formats of other programs, by the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};

struct Place(tempfile::TempDir);

impl Place {
    /// Returns a folder with a store of these fixtures.
    fn of(fixtures: &[&str]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for name in fixtures {
            place.run(&["import", fixture(name).to_str().unwrap()]);
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the program; returns what it says, without the ids.
    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(arguments)
            .current_dir(self.path())
            .output()
            .unwrap();
        format!(
            "{}{}exit {}",
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
            output.status.code().unwrap()
        )
    }

    fn export(&self, arguments: &[&str]) -> Value {
        let file = self.path().join("exported.json");
        let said = self.run(&[&["export", "-o", "exported.json", "--to"], arguments].concat());
        assert!(said.ends_with("exit 0"), "{said}");
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures")).join(name)
}

fn original(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

/// A record file of three instances of two iterations each, after one of burn-in.
fn three_instances() -> String {
    let mut lines = RecordLines::default();
    let more = json!({"suite": "joins", "tool": "lapwing 0.1.0", "name": "nightly"});
    let session = lines.session("2026-11-20T10:00:00Z", more);
    let commit = "ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12";
    let metrics = json!({
        "wall_time": {"unit": "s", "better": "lower"},
        "rows": {"unit": "1/s", "better": "higher"},
    });
    let version = json!({"commit": commit, "branch": "main"});
    let run = lines.run(&session, json!({"version": version, "metrics": metrics}));
    for times in [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]] {
        let benchmark = json!({"id": "t.py::test_join[10]", "params": {"n": 10}});
        let instance = lines.instance(&run, "", json!({"benchmark": benchmark}));
        for (index, time) in [9.0, times[0], times[1]].into_iter().enumerate() {
            let metrics = json!({"wall_time": time, "rows": 100.0 / time});
            let more = json!({"burn_in": index == 0, "metrics": metrics});
            lines.iteration(&instance, index, more);
        }
    }
    lines.text
}

fn with_three_instances() -> Place {
    let place = Place::of(&[]);
    fs::write(place.path().join("all.jsonl"), three_instances()).unwrap();
    place.run(&["import", "all.jsonl"]);
    place
}

#[test]
fn what_counts_goes_out_and_notes_say_what_does_not() {
    let place = with_three_instances();
    let to = |format: &[&str]| place.run(&[&["export", "--to"], format].concat());
    assert_snapshot!(to(&["bmf"]), @r#"
    {
    "t.py::test_join[10]": {"latency":{"lower_value":631485348.1322159,"upper_value":6922888171.634017,"value":2090861651.8422992},"rows":{"lower_value":14.083430520344292,"upper_value":168.95657514879542,"value":48.77999781737787}}
    }
    note: 2 entries were joined from several instances, which this format cannot distinguish
    note: 6 iterations were excluded: burn-in or failed
    exit 0
    "#);
    assert_snapshot!(to(&["github-action"]), @r#"
    [
    {"extra":"3 instances × 2, 95 % confidence","name":"t.py::test_join[10]","unit":"s","value":2.090861651842299}
    ]
    note: 1 entry was joined from several instances, which this format cannot distinguish
    note: 3 iterations were excluded: burn-in or failed
    note: this format has one direction; excluded because higher is better: rows (export separately with --metric)
    exit 0
    "#);
    assert_snapshot!(to(&["github-action", "--metric", "rows"]), @r#"
    [
    {"extra":"3 instances × 2, 95 % confidence","name":"t.py::test_join[10] - rows","unit":"1/s","value":48.77999781737787}
    ]
    note: 1 entry was joined from several instances, which this format cannot distinguish
    note: 3 iterations were excluded: burn-in or failed
    exit 0
    "#);
    assert_snapshot!(to(&["hyperfine"]), @r#"
    {"results": [
    {"command":"t.py::test_join[10]","exit_codes":[0,0,0,0,0,0],"lapwing_instances":[2,2,2],"max":3.5,"mean":2.25,"median":2.25,"min":1.0,"parameters":{"n":"10"},"stddev":0.9354143466934853,"system":null,"times":[1.0,1.5,2.0,2.5,3.0,3.5],"user":null}
    ]}
    note: 1 entry was joined from several instances, which this format cannot distinguish
    note: 3 iterations were excluded: burn-in or failed
    exit 0
    "#);
    assert_snapshot!(to(&["pytest-benchmark"]), @r#"
    {"machine_info": {"cpu":{},"node":null}, "commit_info": {"branch":"main","dirty":false,"id":"ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12","project":"joins","time":null}, "datetime": "2026-11-20T10:00:00Z", "version": "5.3.1", "benchmarks": [
    {"extra_info":{},"fullname":"t.py::test_join[10]","group":null,"name":"test_join[10]","options":{"timer":"lapwing 0.1.0"},"param":"10","params":{"n":10},"stats":{"data":[1.0,1.5,2.0,2.5,3.0,3.5],"hd15iqr":3.5,"iqr":1.5,"iqr_outliers":0,"iterations":1,"ld15iqr":1.0,"max":3.5,"mean":2.25,"median":2.25,"min":1.0,"ops":0.4444444444444444,"outliers":"2;0","q1":1.5,"q3":3.0,"rounds":6,"stddev":0.9354143466934853,"stddev_outliers":2,"total":13.5}}
    ]}
    note: 1 entry was joined from several instances, which this format cannot distinguish
    note: 3 iterations were excluded: burn-in or failed
    exit 0
    "#);
    assert_snapshot!(to(&["pytest-benchmark", "--metric", "rows"]), @"
    error: `rows` is not a time, and the format holds times only
      hint: --to bmf and --to github-action accept any metric
    exit 2
    ");
}

/// A record file of a benchmark with memory, one of whose iterations failed, and one without.
fn memory_and_time() -> String {
    let mut lines = RecordLines::after(10);
    let session = lines.session("2026-11-20T10:00:00Z", json!({}));
    let metrics = json!({"wall_time": {"unit": "s"}, "rss": {"unit": "B"}});
    let run = lines.run(&session, json!({"metrics": metrics}));
    let failed = |message: &str| json!({"outcome": "failed", "message": message, "metrics": {}});
    let with = lines.instance(&run, "with", json!({}));
    lines.iteration(&with, 0, json!({"metrics": {"wall_time": 1.0, "rss": 64}}));
    lines.iteration(&with, 1, json!({"metrics": {"wall_time": 1.5}}));
    lines.iteration(&with, 2, failed("exit code 1"));
    let without = lines.instance(&run, "without", json!({}));
    lines.iteration(&without, 0, json!({"metrics": {"wall_time": 2.0}}));
    lines.iteration(&without, 1, failed("exit code 2"));
    lines.text
}

#[test]
fn tables_of_a_metric_hold_what_has_it_and_the_failures_beside() {
    let place = Place::of(&[]);
    fs::write(place.path().join("all.jsonl"), memory_and_time()).unwrap();
    place.run(&["import", "all.jsonl"]);
    let table = |arguments: &[&str]| -> Vec<String> {
        let said = place.run(&[&["export", "--metric", "rss", "--to"], arguments].concat());
        let cells = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            [&cells[4..5], &cells[13..14], &cells[15..]]
                .concat()
                .join(",")
        };
        said.lines()
            .filter(|line| line.contains(','))
            .map(cells)
            .collect()
    };
    assert_eq!(
        table(&["csv"]),
        [
            "benchmark,index,outcome,message,metric,unit,value,statistic,spread,n",
            "with,0,ok,,rss,B,64.0,,,",
            "with,2,failed,exit code 1,,,,,,",
        ]
    );
    assert_eq!(
        table(&["csv", "--wide"]),
        [
            "benchmark,index,outcome,message,rss",
            "with,0,ok,,64.0",
            "with,2,failed,exit code 1,",
        ]
    );
    let objects = place.export(&["json", "--metric", "rss"]);
    let objects = objects.as_array().unwrap().iter();
    let objects: Vec<(&str, u64, String)> = objects
        .map(|it| {
            let name = it["benchmark"].as_str().unwrap();
            (
                name,
                it["index"].as_u64().unwrap(),
                it["metrics"].to_string(),
            )
        })
        .collect();
    assert_eq!(
        objects,
        [
            ("with", 0, r#"{"rss":64.0}"#.to_owned()),
            ("with", 2, "{}".to_owned()),
        ]
    );
}

#[test]
fn a_separator_may_be_given_as_itself() {
    let place = with_three_instances();
    let with = |separator: &str| place.run(&["export", "--to", "csv", "--separator", separator]);
    assert!(with(";").starts_with("suite;session;session_id;run;benchmark;"));
    for (sign, word) in [(";", "semicolon"), (",", "comma"), ("\t", "tab")] {
        assert_eq!(with(sign), with(word));
    }
}

#[test]
fn a_filter_that_fits_nothing_writes_nothing() {
    let place = with_three_instances();
    for form in [
        &["csv"] as &[&str],
        &["csv", "--wide"],
        &["tsv"],
        &["json"],
        &["record"],
        &["bmf"],
        &["pytest-benchmark"],
    ] {
        let export = [&["export", "--to"], form, &["--benchmark", "mistyped"]].concat();
        let said = place.run(&export);
        assert!(said.starts_with("error: "), "{form:?}: {said}");
        assert!(said.ends_with("exit 2"), "{form:?}: {said}");
    }
}

#[test]
fn several_runs_are_listed_and_one_has_to_be_chosen() {
    let place = Place::of(&["hyperfine-1.15/two-commands.json", "hail/results.jsonl"]);
    assert_snapshot!(place.run(&["export", "--to", "bmf"]), @"
    error: this format holds one run, but 3 match the filters
      hint: choose one with --where:
        --where run=bfc3fd4f-e98d-8863-91ec-4e586f6b82c0   two-commands, default
        --where run=999e722c-3de2-89e0-8a26-845447e43004   results, 0.2.135-0123456789ab, default
        --where run=f86b6a53-fa15-8774-b505-9e4fbb4cf1d1   results, 0.2.134-952ae203dbbe, default
    exit 2
    ");
    assert_snapshot!(place.run(&["export", "--to", "bmf", "--where", "session=two-commands"]), @r#"
    {
    "gzip --version": {"latency":{"value":13570122.8},"system_time":{"value":0.0},"user_time":{"value":0.0007412}},
    "sleep 0.01": {"latency":{"value":29011297.400000002},"system_time":{"value":0.00018899999999999999},"user_time":{"value":0.0007643999999999999}}
    }
    exit 0
    "#);
    assert_snapshot!(place.run(&["export", "--to", "json", "--wide"]), @"
    error: --wide requires --to csv or --to tsv
    exit 2
    ");
    assert_snapshot!(place.run(&["export", "--to", "tsv", "--separator", "tab"]), @"
    error: --separator requires --to csv, --to runs or --to deltas
    exit 2
    ");
}

#[test]
fn exporting_nothing_is_an_error_that_says_why() {
    let place =
        Place::of(&["pytest-benchmark-5.3.1/storage/Linux-CPython-3.11-64bit/0001_words.json"]);
    assert_snapshot!(place.run(&["export", "--to", "pytest-benchmark"]), @"
    error: nothing to export: of `wall_time` there are only summaries, for which the format has no place
      hint: --to bmf, github-action, csv and json accept summaries
    exit 2
    ");

    // What there is of a benchmark, and of which metrics.
    let of = |unit: &str, metrics: &[&str], outcome: &str| {
        let id = |number: u32| format!("01930000-0000-7000-8000-{number:012}");
        let declared: Vec<String> = metrics
            .iter()
            .map(|name| format!(r#""{name}":{{"unit":"{unit}"}}"#))
            .collect();
        let values: Vec<String> = metrics
            .iter()
            .map(|name| format!(r#""{name}":1.0"#))
            .collect();
        let (declared, values) = (declared.join(","), values.join(","));
        let (session, run, instance) = (id(21), id(22), id(23));
        let place = Place::of(&[]);
        let lines = [
            format!(
                r#"{{"v":1,"kind":"session","id":"{session}","suite":"s","started":"2026-11-20T10:00:00Z","tool":"t"}}"#
            ),
            format!(
                r#"{{"v":1,"kind":"run","id":"{run}","session":"{session}","metrics":{{{declared}}}}}"#
            ),
            format!(
                r#"{{"v":1,"kind":"instance","id":"{instance}","run":"{run}","benchmark":{{"id":"b"}}}}"#
            ),
            format!(
                r#"{{"v":1,"kind":"iteration","instance":"{instance}","index":0,{outcome}"metrics":{{{values}}}}}"#
            ),
        ];
        fs::write(place.path().join("all.jsonl"), lines.join("\n")).unwrap();
        place.run(&["import", "all.jsonl"]);
        place
    };
    let to = |place: &Place, format: &str| place.run(&["export", "--to", format]);
    assert_snapshot!(to(&of("s", &["load", "save"], ""), "hyperfine"), @"
    error: nothing to export: no benchmark has `wall_time`
      hint: choose one of these times with --metric: load, save
    exit 2
    ");
    assert_snapshot!(to(&of("B", &["rss"], ""), "pytest-benchmark"), @"
    error: nothing to export: no benchmark has `wall_time`
      hint: --to bmf and --to github-action accept any metric
    exit 2
    ");
    let failed = of("s", &["wall_time"], r#""outcome":"failed","#);
    for format in ["pytest-benchmark", "hyperfine", "github-action"] {
        assert_eq!(to(&failed, format), to(&failed, "bmf"));
    }
    assert_snapshot!(to(&failed, "bmf"), @"
    error: nothing to export: no measurement counts, as all are burn-in, failed or skipped
      hint: --to csv and --to json also contain burn-in and failures
    exit 2
    ");
    assert!(
        place
            .run(&["export", "--to", "pytest-benchmark", "-o", "new.json"])
            .ends_with("exit 2")
    );
    assert!(!place.path().join("new.json").exists());
}

/// Asserts that a number is the same but for the last digits of a sum.
fn assert_close(ours: &Value, theirs: &Value, what: &str) {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(ours), Some(theirs)) => {
            let tolerance = 1e-12 * theirs.abs();
            assert!(
                (ours - theirs).abs() <= tolerance,
                "{what}: {ours}, {theirs}"
            );
        }
        _other => assert_eq!(ours, theirs, "{what}"),
    }
}

#[test]
fn pytest_benchmarks_figures_are_those_of_pytest_benchmark_itself() {
    let place = Place::of(&["pytest-benchmark-5.3.1/data.json"]);
    let ours = place.export(&["pytest-benchmark"]);
    let theirs = original("pytest-benchmark-5.3.1/data.json");
    let find = |document: &Value, name: &Value| {
        let benchmarks = document["benchmarks"].as_array().unwrap().clone();
        benchmarks.into_iter().find(|it| it["fullname"] == *name)
    };
    let mut compared = 0;
    for benchmark in theirs["benchmarks"].as_array().unwrap() {
        let name = &benchmark["fullname"];
        let ours = find(&ours, name).unwrap();
        for key in ["group", "params", "extra_info", "options"] {
            assert_eq!(ours[key], benchmark[key], "{name} {key}");
        }
        for (key, value) in benchmark["stats"].as_object().unwrap() {
            if key == "data" {
                assert_eq!(ours["stats"]["data"], *value, "{name}");
            } else {
                assert_close(&ours["stats"][key], value, &format!("{name} {key}"));
            }
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
    assert_eq!(ours["commit_info"]["id"], theirs["commit_info"]["id"]);
}

#[test]
fn hyperfines_figures_are_those_of_hyperfine_itself() {
    let place = Place::of(&["hyperfine-1.15/parameters.json"]);
    let ours = place.export(&["hyperfine"]);
    let theirs = original("hyperfine-1.15/parameters.json");
    let results = |document: &Value| document["results"].as_array().unwrap().clone();
    assert_eq!(results(&ours).len(), results(&theirs).len());
    for (ours, theirs) in results(&ours).iter().zip(results(&theirs)) {
        for key in ["mean", "stddev", "median", "min", "max", "user", "system"] {
            assert_close(&ours[key], &theirs[key], key);
        }
        for key in ["times", "parameters", "exit_codes"] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
    }
}

#[test]
fn what_goes_out_as_another_format_comes_in_again() {
    let place = with_three_instances();
    for (format, rows) in [("hyperfine", 6), ("pytest-benchmark", 6), ("bmf", 2)] {
        place.export(&[format]);
        let said = place.run(&[
            "--store",
            &format!("{format}.db"),
            "import",
            "exported.json",
        ]);
        assert!(said.contains(&format!("detected {format}")), "{said}");
        let table = ["--store", &format!("{format}.db"), "export", "--to", "csv"];
        assert_eq!(place.run(&table).lines().count(), rows + 2, "{format}");
    }
}

#[test]
fn a_name_with_escapes_is_the_same_in_a_file_and_through_a_pipe_but_not_in_an_answer() {
    let place = Place::of(&[]);
    let text = three_instances().replace("test_join[10]", r"a\u001b[31mred\u001b[0m");
    fs::write(place.path().join("escapes.jsonl"), text).unwrap();
    place.run(&["import", "escapes.jsonl"]);
    for format in ["csv", "tsv", "json", "record", "bmf"] {
        let piped = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(["export", "--to", format])
            .current_dir(place.path())
            .output()
            .unwrap();
        place.run(&["export", "--to", format, "-o", "written"]);
        let written = fs::read(place.path().join("written")).unwrap();
        assert!(piped.stdout == written, "{format}");
    }
    let csv = place.run(&["list", "--format", "csv"]);
    assert!(csv.contains("a\u{fffd}[31mred\u{fffd}[0m"), "{csv}");
}
