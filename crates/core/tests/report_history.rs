//! The report tells what is known of runs, draws parametrisations together, and has bars.

use std::fs;
use std::path::Path;

use lapwing_core::clean::Rules;
use lapwing_core::record::BenchmarkData;
use lapwing_core::show::report::{self, Detect, Options};
use serde_json::{Value, json};

#[path = "../examples/report_fixture/synthetic.rs"]
#[expect(dead_code, reason = "not every kind of benchmark is measured here")]
mod synthetic;

use synthetic::{Recipe, Sessions, measure};

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
    let options = Options {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: Rules::default(),
        metrics: Vec::new(),
        detect: Detect::default(),
    };
    report::write(benchmarks, directory, options).expect("it writes");
}

fn side_file(directory: &Path, file: &str) -> Value {
    let text = fs::read_to_string(directory.join(format!("data/{file}.js"))).expect("a file");
    let json = text
        .strip_prefix(&format!("lapwing.register(\"{file}\","))
        .and_then(|rest| rest.strip_suffix(");\n"))
        .expect("it registers itself");
    serde_json::from_str(json).expect("JSON")
}

/// Returns the names of the files of a folder that begin so, without their endings.
fn names(directory: &Path, folder: &str, beginning: &str) -> Vec<String> {
    let files = fs::read_dir(directory.join(folder)).expect("a folder");
    let mut names: Vec<String> = files
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.starts_with(beginning))
        .map(|name| {
            name.trim_end_matches(".html")
                .trim_end_matches(".js")
                .to_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_knows_the_run_before_it_and_what_was_observed_around_both() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(directory, &["join"]);
    let page = names(directory, "benchmark", "join").remove(0);
    let runs = side_file(directory, &format!("{page}.runs0"));
    assert_eq!(runs.as_array().map(Vec::len), Some(24));
    let environments = side_file(directory, "environments.0");
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
    assert!(observed(&newest["before"]).contains(&"packages.example-library 2.10.0".to_owned()));
    assert_eq!(newest["before"]["environment"], json!(0));
    assert_eq!(
        newest["observed"],
        json!([["host", "node1"], ["cpu_model", "Synthetic second"]])
    );
    assert_eq!(
        newest["instances"][0]["artifacts"],
        json!([
            ["ci_run", "https://ci.example/runs/11"],
            ["odd", "javascript:alert(1)"],
            ["profile", "/data/profiles/join.prof"]
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
    let html = fs::read_to_string(directory.join(format!("benchmark/{page}.html"))).expect("it");
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
    assert_eq!(side_file(directory, "tests"), json!(pages));
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
    assert_eq!(index["test"][0], json!(page("f-py-x")));
    assert_eq!(index["test"][10], json!(""));
}

#[test]
fn bars_are_of_the_week_before_the_latest_run_and_of_one_epoch() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(directory, &["b/one", "b/two"]);
    let list = side_file(directory, "bars.m0");
    assert_eq!(
        list["title"],
        json!(["b/one", "b/two", "baseline: b", "fast: b"])
    );
    assert_eq!(list["category"], json!(["b", "b", "b", "b"]));
    let charts = side_file(directory, "bars.m0.charts0");
    let columns = &charts[0]["option"]["dataset"][0]["source"];
    // The second epoch has six sessions, one of which failed, of three instances each.
    assert_eq!(columns["count"], json!([15, 15]));
    let fields = &charts[0]["option"]["tooltip"]["formatter"]["fields"];
    let field = |label: &str| {
        let all = fields.as_array().expect("fields").iter();
        let found = all.clone().find(|it| it["label"] == label);
        found.expect("a field")["names"].clone()
    };
    assert_eq!(field("versions"), json!(["1.6 to 1.11", "1.6 to 1.11"]));
    assert_eq!(field(""), json!(["baseline", "fast"]));
}
