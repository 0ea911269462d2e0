//! The report tells what is known of runs, draws parametrisations together, and has bars.

use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::{BenchmarkData, each_benchmark};
use lapwing_model::Record;
use lapwing_record::{Filter, Store, StoreError, parse_line};
use lapwing_show::report::{self, DetectionTarget, ReportOptions};
use lapwing_testing::RecordLines;
use serde_json::{Value, json};

use crate::report_files::{names, side_file};
use crate::synthetic::{Recipe, Sessions, measure};

fn write(directory: &Path, ids: &[&str]) {
    let mut sessions = Sessions::default();
    let benchmarks: Vec<BenchmarkData> = ids
        .iter()
        .map(|id| {
            let recipe = Recipe {
                id: (*id).to_owned(),
                sessions: 12,
                instances: 3,
                variants: vec![("baseline", 1.0), ("fast", 0.5)],
                eventful: true,
                ..Recipe::default()
            };
            measure(&recipe, &mut sessions)
        })
        .collect();
    report::write(benchmarks, directory, options()).expect("it writes");
}

fn options() -> ReportOptions {
    ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: CleaningRules::default(),
        metrics: Vec::new(),
        detect: DetectionTarget::default(),
        raw: true,
    }
}

#[test]
fn a_run_knows_the_run_before_it_and_what_was_observed_around_both() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(directory, &["join"]);
    let page = names(directory, "benchmark", "join").remove(0);
    let runs = side_file(directory, &format!("{page}.runs0"));
    assert_eq!(runs.as_array().map(Vec::len), Some(24));
    let environments = side_file(directory, "environments-0");
    let observed = |run: &Value| -> Vec<String> {
        let places = environments["runs"][run["id"].as_str().expect("an id")].as_array();
        let pairs = places.expect("a run").iter().map(|place| {
            let pair = &environments["observed"]
                [usize::try_from(place.as_u64().expect("a place")).expect("small")];
            format!("{} {}", pair[0], pair[1])
        });
        pairs.map(|pair| pair.replace('"', "")).collect()
    };
    // The newest run is of the variant that was measured last.
    let newest = &runs[0];
    assert!(observed(newest).contains(&"packages.example-library 2.11.0".to_owned()));
    let before = newest["before"].as_u64().expect("a position");
    let before = &runs[usize::try_from(before).expect("a small one")];
    assert!(observed(before).contains(&"packages.example-library 2.10.0".to_owned()));
    assert_eq!(newest["environment"], json!(0));
    assert_eq!(
        newest["observed"],
        json!([["host", "node1"], ["cpu_model", "Synthetic second"]])
    );
    assert_eq!(
        newest["instances"][0]["artifacts"],
        json!([
            ["ci_run", "https://ci.example/runs/11"],
            ["odd", "javascript:alert(1)"],
            ["profile", "/data/profiles/join.prof"],
            [
                "trace of iteration 2",
                "https://ci.example/runs/11/trace.json"
            ]
        ])
    );
    // The source has a place of its own on the page.
    assert_eq!(
        newest["instances"][0]["attributes"],
        json!([["setup_outcome", "passed"]])
    );
    let failed = &runs[4]["instances"][0];
    assert_eq!(failed["iterations"], json!([["failed", 7]]));
    assert_eq!(failed["messages"], json!(["ValueError: <i>shape</i>"]));
    assert_eq!(runs[23]["before"], Value::Null);
    let html = side_file(directory, &format!("{page}.rest"));
    let html = html.as_str().expect("a text");
    assert!(
        html.contains("assert '&lt;b&gt;' &lt; '&lt;/script&gt;'"),
        "{html}"
    );
}

#[test]
fn only_a_test_with_several_parametrisations_has_a_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(
        directory,
        &["alone[1]", "b/t.py::join[1]", "b/t.py::join[2]", "plain"],
    );
    let pages = names(directory, "test", "");
    assert_eq!(pages.len(), 1, "{pages:?}");
    let curves = format!("test-{}.sweeps@test-data", pages[0]);
    let tests = json!({ pages[0].as_str(): curves });
    assert_eq!(side_file(directory, "tests"), tests);
    let index = side_file(directory, "index.m0");
    let page = pages[0].as_str();
    assert_eq!(
        index["test"],
        json!(["", "", page, page, page, page, "", ""])
    );
    let content = side_file(directory, &format!("test-{page}.m0"));
    assert_eq!(content["variants"], json!(["baseline", "fast"]));
    assert_eq!(content["name"], json!({"packed": ["001", "002"]}));
    assert_eq!(content["choices"], json!([["all", [0, 1]]]));
    assert_eq!(content["pieces"], json!([]));
    assert_eq!(content["unit"], "s");
    // Runs of one session stand above each other, whatever the parametrisation.
    let line = |member: usize| content["lines"][member]["lines"][0].clone();
    assert_eq!(line(0)["place"], line(1)["place"]);
    assert_eq!(
        content["lines"][0]["lines"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(content["rows"]["member"], json!([0, 0, 1, 1]));
}

#[test]
fn a_test_that_gained_a_parameter_stands_beside_its_parametrisations() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(
        directory,
        &[
            "f.py::x",
            "f.py::x2",
            "f.py::x2[1]",
            "f.py::x[]",
            "f.py::x[b]",
            "g.py::y",
        ],
    );
    let pages = names(directory, "test", "");
    assert_eq!(pages.len(), 2, "{pages:?}");
    let named = |page: &str| side_file(directory, &format!("test-{page}.m0"))["name"].clone();
    let page = |stem: &str| {
        let found = pages
            .iter()
            .find(|it| it.trim_end_matches(|c| c != '-').trim_end_matches('-') == stem);
        found.expect("a page").as_str()
    };
    assert_eq!(
        named(page("f-py-x")),
        json!({"packed": ["00(no parameters)", "11empty", "00b"]})
    );
    assert_eq!(
        named(page("f-py-x2")),
        json!({"packed": ["00(no parameters)", "001"]})
    );
    let index = side_file(directory, "index.m0");
    let tests = index["test"].as_array().expect("a column");
    assert!(tests.contains(&json!(page("f-py-x"))));
    assert!(tests.contains(&json!("")));
}

/// Returns the bars of a side file, each as its benchmark, setting, mean, number of instances,
/// versions, unit, and the day where it is old.
fn bars(directory: &Path, file: &str) -> Vec<String> {
    let file = side_file(directory, file);
    let column = |name: &str| file["bars"][name].as_array().expect("a column").clone();
    let at = |value: &Value| usize::try_from(value.as_u64().expect("a place")).expect("small");
    let rows = column("benchmark").len();
    (0..rows)
        .map(|row| {
            let of = |name: &str| column(name)[row].clone();
            [
                &file["benchmarks"]["id"][at(&of("benchmark"))],
                &file["settings"][at(&of("setting"))]["name"],
                &of("mean"),
                &of("count"),
                &file["origins"][at(&of("origin"))][0],
                &file["units"][at(&of("unit"))]["unit"],
                &of("old"),
            ]
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .join(" | ")
        })
        .collect()
}

#[test]
fn bars_are_of_the_newest_version_and_of_one_epoch() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(directory, &["b/one", "b/two"]);
    let found = bars(directory, "bars.m0");
    let ends: Vec<String> = found
        .iter()
        .map(|bar| {
            let parts: Vec<&str> = bar.split(" | ").collect();
            [parts[0], parts[1], parts[3], parts[4], parts[5]].join(" ")
        })
        .collect();
    assert_eq!(
        ends,
        [
            "b/one baseline 3 1.11 s",
            "b/one fast 3 1.11 s",
            "b/two baseline 3 1.11 s",
            "b/two fast 3 1.11 s",
        ]
    );
    assert_eq!(
        side_file(directory, "bars.m0")["benchmarks"]["category"],
        json!(["b", "b"])
    );
}

/// A session of one benchmark: when, its versions in turn with their values, and the variant.
type Measured<'a> = (&'a str, &'a [(&'a str, f64)], &'a str);

/// Writes a report of a benchmark that was measured so, by two instances each.
fn write_sessions(directory: &Path, id: &str, unit: &str, sessions: &[Measured<'_>]) {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("a store");
    let mut lines = RecordLines::default();
    for (started, versions, variant) in sessions {
        let session = lines.session(&format!("{started}T10:00:00Z"), json!({}));
        for (version, value) in *versions {
            let version = json!({"name": version});
            let metrics = json!({"wall_time": {"unit": unit}});
            let more = json!({"variant": variant, "version": version, "metrics": metrics});
            let run = lines.run(&session, more);
            for wobble in [-0.5, 0.5] {
                let instance = lines.instance(&run, id, json!({}));
                let metrics = json!({"wall_time": value + wobble});
                lines.iteration(&instance, 0, json!({"metrics": metrics}));
                lines.instance_end(&instance);
            }
        }
    }
    let records: Vec<Record> = lines
        .text
        .lines()
        .map(|line| parse_line(line.as_bytes()).expect("a record"))
        .collect();
    store.append(&records).expect("it appends");
    let mut benchmarks = Vec::new();
    each_benchmark(&store, &Filter::default(), |data| {
        benchmarks.push(data);
        Ok::<(), StoreError>(())
    })
    .expect("it reads");
    report::write(benchmarks, directory, options()).expect("it writes");
}

fn bars_of(sessions: &[Measured<'_>]) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    write_sessions(directory.path(), "b", "s", sessions);
    bars(directory.path(), "bars.m0")
}

#[test]
fn a_bar_never_mixes_versions_that_somebody_compared() {
    let sessions: [Measured<'_>; 2] = [
        ("2026-05-01", &[("1.0", 10.0), ("2.0", 20.0)], "default"),
        ("2026-05-02", &[("1.0", 10.0), ("2.0", 22.0)], "default"),
    ];
    assert_eq!(bars_of(&sessions), ["b | default | 21 | 4 | 2.0 | s | "]);
    let backfill: [Measured<'_>; 2] = [
        (
            "2026-05-01",
            &[("1.0+1.ga", 10.0), ("1.0+2.gb", 20.0)],
            "default",
        ),
        ("2026-05-02", &[("1.0+3.gc", 40.0)], "default"),
    ];
    assert_eq!(
        bars_of(&backfill),
        ["b | default | 40 | 2 | 1.0+3.gc | s | "]
    );
}

#[test]
fn nightly_builds_of_one_release_are_one_bar_for_a_week() {
    let sessions: [Measured<'_>; 4] = [
        ("2026-05-01", &[("1.0+1.ga", 10.0)], "default"),
        ("2026-05-06", &[("0.9+7.gz", 70.0)], "default"),
        ("2026-05-07", &[("1.0+2.gb", 20.0)], "default"),
        ("2026-05-09", &[("1.0+3.gc", 40.0)], "default"),
    ];
    assert_eq!(
        bars_of(&sessions),
        ["b | default | 30 | 4 | 1.0+2.gb to 1.0+3.gc | s | "]
    );
}

#[test]
fn a_bar_of_old_runs_says_so_and_settings_stand_in_natural_order() {
    let sessions: [Measured<'_>; 3] = [
        ("2026-05-01", &[("1.0", 10.0)], "threads=2"),
        ("2026-05-20", &[("1.0", 20.0)], "threads=10"),
        ("2026-05-20", &[("1.0", 30.0)], "threads=1"),
    ];
    assert_eq!(
        bars_of(&sessions),
        [
            "b | threads=1 | 30 | 2 | 1.0 | s | ",
            "b | threads=2 | 10 | 2 | 1.0 | s | 2026-05-01",
            "b | threads=10 | 20 | 2 | 1.0 | s | ",
        ]
    );
}

#[test]
fn parametrisations_that_differ_in_one_number_have_a_curve_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let levels = ["zip[level=1]", "zip[level=6]", "zip[level=9]"];
    write(
        directory,
        &[&levels[..], &["sort[a]", "sort[b]", "sort[c]"]].concat(),
    );
    let page = names(directory, "test", "zip").remove(0);
    let sweeps = side_file(directory, &format!("test-{page}.sweeps"));
    let chart = &sweeps["wall_time"];
    assert_eq!(chart["title"], "wall time by level");
    let curve = &chart["option"]["dataset"][0]["source"];
    assert_eq!(curve["place"], json!([1, 6, 9]));
    let page = names(directory, "test", "sort").remove(0);
    assert_eq!(
        side_file(directory, &format!("test-{page}.sweeps")),
        json!({})
    );
}
