//! The report as files: complete, the same every time, and nothing in it breaks out of its place.

use std::fs;
use std::path::Path;

use lapwing_show::report::{self, ReportOptions};

use crate::report_files::{entry, files};
use crate::synthetic::{Recipe, Sessions, Source, measure};

const ODD: &str = "</script><script>alert(1)</script>\"'&<!--";

fn recipes() -> Vec<Recipe> {
    vec![
        Recipe::default(),
        Recipe {
            id: ODD.to_owned(),
            tags: vec![ODD],
            variants: vec![(ODD, 1.0), ("fast", 0.5)],
            failing: 4,
            ..Recipe::default()
        },
        Recipe {
            id: "never works".to_owned(),
            failing: 1,
            ..Recipe::default()
        },
    ]
}

fn options() -> ReportOptions {
    ReportOptions {
        title: format!("Report of {ODD}"),
        made: "for a test".to_owned(),
        rules: lapwing_analyse::clean::CleaningRules::default(),
        metrics: Vec::new(),
        detect: lapwing_show::report::DetectionTarget::default(),
        raw: true,
    }
}

fn write(directory: &Path, recipes: &[Recipe]) -> report::WrittenReport {
    let mut sessions = Sessions::default();
    let benchmarks = recipes.iter().map(|recipe| measure(recipe, &mut sessions));
    report::write(benchmarks, directory, options()).expect("it writes")
}

#[test]
fn the_same_measurements_give_the_same_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let (first, second) = (directory.path().join("a"), directory.path().join("b"));
    write(&first, &recipes());
    write(&second, &recipes());
    assert_eq!(files(&first), files(&second));
}

#[test]
fn every_row_of_the_index_has_a_page_and_its_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let written = write(directory.path(), &recipes());
    assert_eq!(written.benchmarks, 3);
    assert_eq!(written.index, directory.path().join("index.html"));
    let files = files(directory.path());
    let rows = entry(&files, "index.m0");
    let slugs: Vec<&str> = rows["slug"]
        .as_array()
        .expect("a column")
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    assert_eq!(slugs.len(), 4, "a row per variant");
    for slug in slugs {
        assert!(files.contains_key(&format!("benchmark/{slug}.html")));
        let charts = entry(&files, &format!("{slug}.m0"));
        assert_eq!(charts["charts"][0]["id"], "history");
        let raw = entry(&files, &format!("{slug}.raw0"));
        let iterations = raw["index"].as_array().expect("a column").len();
        let values = raw["metrics"][0]["values"]
            .as_array()
            .expect("a column")
            .len();
        assert_eq!(values, iterations);
    }
}

#[test]
fn names_break_out_of_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), &recipes());
    for (name, text) in files(directory.path()) {
        if name.starts_with("data/") && name.ends_with(".js") {
            // Its content is base64; the name is that of a page.
            let quoted = text.matches('"').count();
            assert_eq!((quoted, text.contains('<')), (4, false), "{name}");
        } else if !name.starts_with("data/") {
            assert!(!text.contains("<script>alert"), "{name}");
        }
    }
}

#[test]
fn what_failed_and_what_was_left_out_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), &recipes());
    let files = files(directory.path());
    let rows = entry(&files, "index.m0");
    let column = |name: &str| rows[name].clone();
    assert_eq!(
        column("failures"),
        serde_json::json!([8, 8, 35, 0]),
        "of the latest runs"
    );
    assert_eq!(column("value_text")[2], serde_json::json!("–"));
    assert_eq!(column("left_out")[3], serde_json::json!("5 burn-in"));
    let index = &files["index.html"];
    assert!(index.contains("2 of 3 benchmarks</a> failed"), "{index}");
}

fn summaries(id: &str, sessions: u32, until: u32) -> Recipe {
    Recipe {
        id: id.to_owned(),
        sessions,
        source: Source::Summaries("pytest-benchmark", until),
        instances: 3,
        ..Recipe::default()
    }
}

#[test]
fn a_summary_has_a_value_and_nothing_that_would_judge_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let recipes = [summaries("it", 4, 4)];
    write(directory.path(), &recipes);
    let files = files(directory.path());
    let rows = entry(&files, "index.m0");
    let row = |name: &str| rows[name][0].clone();
    assert_eq!(row("summary"), "mean over 3 instances of their median of 7");
    assert!(row("value").is_number());
    assert_eq!(
        ["interval_text", "change", "cv", "instances"].map(row),
        [
            serde_json::json!(""),
            serde_json::Value::Null,
            serde_json::Value::Null,
            serde_json::json!(0),
        ]
    );
    let index = &files["index.html"];
    assert!(
        index.contains("1 has only a summary of its source"),
        "{index}"
    );
    assert!(!index.contains("has fewer than 3 instances"), "{index}");
    let slug = row("slug");
    let slug = slug.as_str().expect("a text");
    let metric = entry(&files, &format!("{slug}.m0"));
    assert_eq!(
        metric["charts"].as_array().expect("charts").len(),
        1,
        "a history and no charts of iterations that nobody has"
    );
    let run = &metric["runs"][0];
    assert_eq!(run["summaries"].as_array().map(Vec::len), Some(3));
    assert_eq!(run.get("interval"), None);
    assert_eq!(run["instances"], serde_json::json!([]));
}

#[test]
fn an_instance_that_came_to_no_iteration_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut data = measure(&summaries("it", 1, 1), &mut Sessions::default());
    for instance in &mut data.instances {
        instance.summaries.clear();
        let end = instance.end.as_mut().expect("an end");
        end.outcome = lapwing_model::InstanceOutcome::Failed;
    }
    report::write([data], directory.path(), options()).expect("it writes");
    let files = files(directory.path());
    assert_eq!(entry(&files, "index.m0")["failures"][0], 3);
    let page = files.iter().find(|(name, _)| name.starts_with("benchmark"));
    let page = page.expect("a page").1;
    for said in [
        "<section class=\"headline worse\">",
        "The latest run <a href=\"#failures\">failed</a>: 3 failures",
        "has no value.",
    ] {
        assert!(page.contains(said), "{said} in {page}");
    }
    let slug = entry(&files, "index.m0")["slug"][0].clone();
    let rest = entry(&files, &format!("{}.rest", slug.as_str().expect("a text")));
    let rest = rest.as_str().expect("a text");
    assert!(
        rest.contains("None: nothing came to an iteration."),
        "{rest}"
    );
}

#[test]
fn summaries_and_samples_share_neither_a_mean_nor_a_line() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), &[summaries("it", 5, 3)]);
    let files = files(directory.path());
    let rows = entry(&files, "index.m0");
    assert_eq!(rows["summary"][0], "");
    assert_eq!(rows["sparkline_title"][0], "the last 5 runs, oldest left");
    assert_eq!(
        rows["change_against"][0],
        "against the run of 2026-09-24 14:13 night-3, 1.3"
    );
    let slug = rows["slug"][0].as_str().expect("a text");
    let metric = entry(&files, &format!("{slug}.m0"));
    // The oldest run with samples has only a summary before it.
    assert_eq!(metric["runs"][1].get("change"), None);
    let history = &metric["charts"][0]["option"];
    let points = |table: usize, column: &str| {
        let column = history["dataset"][table]["source"][column].clone();
        column.as_array().expect("a column").clone()
    };
    assert_eq!((points(0, "value").len(), points(1, "value").len()), (3, 2));
    assert!(points(0, "lower").iter().all(serde_json::Value::is_null));
    assert!(points(1, "lower").iter().all(serde_json::Value::is_number));
    assert_eq!(
        [&history["series"][0], &history["series"][2]].map(|series| series["name"].clone()),
        ["summaries", "means of samples"]
    );
}

#[test]
fn what_a_source_took_back_to_back_is_said_on_its_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let recipe = |suite, each_run| Recipe {
        suite,
        id: suite.to_owned(),
        source: Source::Hyperfine(each_run),
        ..Recipe::default()
    };
    write(
        directory.path(),
        &[recipe("one", "instance"), recipe("other", "iteration")],
    );
    let files = files(directory.path());
    let page = |beginning: &str| {
        let found = files.iter().find(|(name, _)| name.starts_with(beginning));
        found.expect("a page").1
    };
    let instances = "Instances are single runs of hyperfine, one right after another";
    let iterations = "are the iterations of one instance; so there is no interval";
    assert!(page("benchmark/one").contains(instances));
    assert!(page("benchmark/other").contains(iterations));
    let index = &files["index.html"];
    assert!(index.contains(instances) && index.contains(iterations));
}

#[test]
fn a_report_of_nothing_says_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let written = write(directory.path(), &[]);
    assert_eq!(written.benchmarks, 0);
    let index = fs::read_to_string(written.index).expect("text");
    assert!(index.contains("lapwing run -- COMMAND"), "{index}");
}

#[test]
fn a_report_without_every_iteration_is_otherwise_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let written = |name: &str, raw: bool| {
        let directory = directory.path().join(name);
        let recipe = Recipe {
            sessions: 25,
            ..Recipe::default()
        };
        let data = measure(&recipe, &mut Sessions::default());
        report::write([data], &directory, ReportOptions { raw, ..options() }).expect("it writes");
        files(&directory)
    };
    let (with, without) = (written("with", true), written("without", false));
    // The scripts hold the entries of both kinds.
    let is_raw =
        |name: &String| name.contains(".raw") || name.contains(".older") || name.ends_with(".js");
    let kept: Vec<&String> = with.keys().filter(|name| !is_raw(name)).collect();
    let all = without.keys().filter(|name| !name.ends_with(".js"));
    assert_eq!(all.collect::<Vec<_>>(), kept);
    assert!(kept.len() + 2 <= with.len(), "both kinds are in the other");
    let differ = kept.iter().filter(|name| with[**name] != without[**name]);
    let differ: Vec<&str> = differ.map(|name| name.as_str()).collect();
    // What the page's script is told of the files differs.
    let (_, entries) = match differ.as_slice() {
        [page, entries @ ..] if page.starts_with("benchmark/") => (page, entries),
        other => panic!("{other:?}"),
    };
    // The content of the page is among the data too.
    for name in entries.iter().filter(|it| !it.ends_with(".page")) {
        let said = if name.contains(".rest") {
            "<code>lapwing report --raw</code>"
        } else {
            "lapwing report --raw adds older ones"
        };
        assert!(without[*name].contains(said), "{name}");
    }
}

#[test]
fn a_few_variants_are_columns_of_the_metrics_and_many_are_rows() {
    let page = |variants: Vec<(&'static str, f64)>| {
        let directory = tempfile::tempdir().expect("a directory");
        let recipe = Recipe {
            variants,
            ..Recipe::default()
        };
        write(directory.path(), &[recipe]);
        let files = files(directory.path());
        let page = files.iter().find(|(name, _)| name.starts_with("benchmark"));
        page.expect("a page").1.clone()
    };
    let few = page(vec![("baseline", 1.0), ("fast", 0.9)]);
    assert!(few.contains("<table class=\"variants\">"), "{few}");
    let names = ["a", "b", "c", "d"];
    let many = page(names.map(|name| (name, 1.0)).to_vec());
    assert!(!many.contains("<table class=\"variants\">"), "{many}");
    assert!(many.contains("metric, variant"), "{many}");
}
