//! Units that differ, and histories and tests that are so long that they come in pieces.

use std::fs;
use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_show::report::{self, DetectionTarget, ReportOptions};
use serde_json::{Value, json};

use crate::report_files::{entry, files, names, side_file};
use crate::synthetic::{Recipe, Sessions, measure};

/// Measures by one metric: id, then per session what the values are counted in and the value.
fn counted(id: &str, sessions: &[(&str, f64)]) -> BenchmarkData {
    let recipe = Recipe {
        id: id.to_owned(),
        sessions: u32::try_from(sessions.len()).expect("few"),
        instances: 3,
        ..Recipe::default()
    };
    let mut data = measure(&recipe, &mut Sessions::default());
    let mut order: Vec<_> = data
        .instances
        .iter()
        .map(|it| (it.session.started, it.session.id))
        .collect();
    order.sort();
    order.dedup();
    for instance in &mut data.instances {
        let at = order
            .iter()
            .position(|it| it.1 == instance.session.id)
            .expect("a session");
        let (unit, value) = sessions[at];
        let mut run = lapwing_model::Run::clone(&instance.run);
        run.metrics.retain(|name, _| name == "wall_time");
        run.metrics.entry("wall_time".to_owned()).or_default().unit = unit.to_owned();
        instance.run = std::sync::Arc::new(run);
        instance
            .iterations
            .values
            .retain(|name, _| name == "wall_time");
        for values in instance.iterations.values.values_mut() {
            values.fill(value * [0.99, 1.0, 1.01][instance.instance.position as usize % 3]);
        }
    }
    data
}

fn report_of(directory: &Path, benchmarks: Vec<BenchmarkData>) {
    let options = ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: CleaningRules::default(),
        metrics: Vec::new(),
        detect: DetectionTarget::default(),
        raw: true,
    };
    report::write(benchmarks, directory, options).expect("it writes");
}

/// Writes a report of a benchmark that was measured in these units.
fn report_of_join(directory: &Path, runs: &[(&str, f64)]) {
    report_of(directory, vec![counted("join", runs)]);
}

#[test]
fn units_of_one_dimension_stand_on_one_axis() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    report_of_join(directory, &[("ms", 1_500.0), ("ms", 1_500.0), ("s", 1.5)]);
    let page = names(directory, "benchmark", "join").remove(0);
    let page = page.split('.').next().expect("a slug");
    let content = side_file(directory, &format!("{page}.m0"));
    let history = &content["charts"][0]["option"];
    assert_eq!(
        history["dataset"][0]["source"]["value"],
        json!([1.49995, 1.49995, 1.49995])
    );
    assert_eq!(history["yAxis"]["name"], "wall time (s)");
    assert_eq!(content["runs"][0]["change"], "1.00× [0.98, 1.02]");
    assert_eq!(content["runs"][2]["value"], "1.50 s");
    let raw = entry(&files(directory), &format!("{page}.raw0"));
    assert_eq!(raw["metrics"][0]["unit"], "s");
}

#[test]
fn a_change_to_a_unit_that_is_not_known_is_not_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    report_of_join(
        directory,
        &[("furlong", 1_500.0), ("rod", 3.0), ("rod", 3.0)],
    );
    let page = names(directory, "benchmark", "join").remove(0);
    let content = side_file(directory, &format!("{page}.m0"));
    let values = &content["charts"][0]["option"]["dataset"][0]["source"]["value"];
    assert_eq!(values, &json!([2.9999, 2.9999]));
    let oldest = &content["runs"][2];
    assert_eq!(
        [&oldest["value"], &oldest["other_unit"], &oldest["change"]],
        [&json!("–"), &json!("furlong"), &Value::Null]
    );
    assert_eq!(content["runs"][1]["change"], Value::Null);
    let html = lapwing_testing::report_page(directory, &format!("benchmark/{page}.html"));
    assert!(
        html.contains("wall time: 1 run counts in furlong, the latest in rod"),
        "{html}"
    );
}

#[test]
fn a_parametrisation_in_another_unit_is_named_and_not_drawn() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let twice = |unit, value| [(unit, value), (unit, value)];
    report_of(
        directory,
        vec![
            counted("t[a]", &twice("rod", 9.0)),
            counted("t[b]", &twice("ms", 9.0)),
            counted("t[c]", &twice("s", 1.0)),
        ],
    );
    let page = names(directory, "test", "").remove(0);
    let content = side_file(directory, &format!("test-{page}.m0"));
    assert_eq!(content["unit"], "s");
    assert_eq!(
        content["notes"],
        json!(["Not drawn, because they count in another unit than the others (s): a (rod)."])
    );
    let drawn: Vec<&Value> = content["lines"].as_array().expect("lines").iter().collect();
    assert_eq!(drawn[0]["member"], json!(1));
    assert_eq!(drawn[0]["lines"][0]["value"], json!([0.0089997, 0.0089997]));
    assert_eq!(
        content["rows"]["value"],
        json!(["9.00 rod", "9.00 ms", "1.00 s"])
    );
}

#[test]
fn of_many_parametrisations_a_few_are_drawn_and_the_others_are_in_pieces() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let benchmarks = (0..40).map(|at| {
        // One of them changed, and the last ones are the largest.
        let now = if at == 5 { 3.0 } else { 1.0 };
        let value = f64::from(at) + 1.0;
        counted(
            &format!("t[{at:02}]"),
            &[("s", value), ("s", value), ("s", value * now)],
        )
    });
    report_of(directory, benchmarks.collect());
    let page = names(directory, "test", "").remove(0);
    let content = side_file(directory, &format!("test-{page}.m0"));
    assert_eq!(content["choices"][0][0], "the 7 that changed most");
    assert!(
        content["choices"][0][1]
            .as_array()
            .expect("members")
            .contains(&json!(5))
    );
    assert_eq!(
        content["choices"][1],
        json!(["the 7 largest", [33, 34, 35, 36, 37, 38, 39]])
    );
    let (piece, first) = (&content["pieces"][0][0], &content["pieces"][0][1]);
    assert_eq!(first, &json!(0));
    let lines = side_file(directory, piece.as_str().expect("a name"));
    assert_eq!(lines.as_array().map(Vec::len), Some(40));
    assert_eq!(
        lines[5]["lines"][0]["value"],
        json!([5.9998, 5.9998, 17.9994])
    );
}

#[test]
fn a_long_history_is_in_pieces_and_loses_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let recipe = Recipe {
        id: "long".to_owned(),
        sessions: 400,
        instances: 5,
        ..Recipe::default()
    };
    report_of(directory, vec![measure(&recipe, &mut Sessions::default())]);
    let page = names(directory, "benchmark", "long").remove(0);
    let content = side_file(directory, &format!("{page}.m0"));
    let more = content["more_runs"].as_array().expect("pieces");
    let mut runs = content["runs"].as_array().expect("runs").clone();
    assert!(!more.is_empty());
    for piece in more {
        assert_eq!(piece[1], json!(runs.len()));
        let rows = side_file(directory, piece[0].as_str().expect("a name"));
        runs.extend(rows.as_array().expect("rows").iter().cloned());
    }
    let mut ids: Vec<&str> = runs.iter().filter_map(|it| it["id"].as_str()).collect();
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((number, ids.len() % 400), (ids.len(), 0));
    let mut rows = 0;
    for (_, file) in
        lapwing_testing::report_data(directory).range(format!("{page}.raw")..format!("{page}.raw~"))
    {
        rows += file["index"].as_array().map_or(0, Vec::len);
    }
    assert_eq!(rows, number * 5 * (recipe_iterations(directory, &page)));
    for file in fs::read_dir(directory.join("data")).expect("a folder") {
        let file = file.expect("a file");
        assert!(
            file.metadata().expect("its size").len() < 300_000,
            "{:?}",
            file.file_name()
        );
    }
}

/// Returns how many iterations each instance has.
fn recipe_iterations(directory: &Path, page: &str) -> usize {
    let raw = entry(&files(directory), &format!("{page}.raw0"));
    let of_first = raw["instance"].as_array().expect("a column").iter();
    of_first.filter(|it| **it == json!(0)).count()
}
