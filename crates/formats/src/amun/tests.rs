use lapwing_model::{Level, Outcome, Record};
use serde_json::json;

use crate::shared::testing::{fate_of_a_key, fixture, options, refusal};
use crate::{BadLines, Imported, Source, read};

/// Reads a fixture from its place, which may be a folder.
fn imported(name: &str) -> Imported {
    let path = fixture("amun").join(name);
    let source = Source::open(&path, &path).unwrap();
    read(&source, &options(BadLines::Refuse)).unwrap()
}

#[test]
fn an_inspection_is_a_run_with_its_packages_as_factors() {
    let imported = imported("inspection-mix-0a1b2c3d");
    let mut runs = imported.records.iter().filter_map(|it| match it {
        Record::Run(run) => Some(run),
        _ => None,
    });
    let run = runs.next_back().unwrap();
    assert_eq!(run.variant, "python=3.11,six=1.17.0");
    assert_eq!(run.factors["six"], Level::Text("1.17.0".to_owned()));
    assert_eq!(
        run.environment["packages"],
        json!({"packaging": "25.0", "six": "1.17.0"})
    );
    assert_eq!(
        run.attributes["inspection"]["id"],
        "inspection-mix-0a1b2c3d"
    );
    let positions: Vec<u32> = imported
        .records
        .iter()
        .filter_map(|it| match it {
            Record::Instance(instance) => Some(instance.position),
            _ => None,
        })
        .collect();
    assert_eq!(positions, [0, 2, 3]);
    let note = imported
        .notes
        .iter()
        .find(|it| it.what == ["results/1"])
        .unwrap();
    assert_eq!(note.why, "there is no such result, though later ones exist");
}

#[test]
fn a_result_has_its_metrics_and_a_failure_its_reason() {
    let imported = imported("inspection-mix-0a1b2c3d");
    let iterations: Vec<_> = imported
        .records
        .iter()
        .filter_map(|it| match it {
            Record::Iteration(iteration) => Some(iteration),
            _ => None,
        })
        .collect();
    assert_eq!(iterations.len(), 3);
    let first = iterations[0];
    assert_eq!(first.outcome, Outcome::Ok);
    let usage = &first.attributes["usage"];
    let memory = usage["ru_maxrss"].as_f64().unwrap() * 1024.0;
    assert!((first.metrics["peak_memory"] - memory).abs() < 1e-9);
    let document = &first.attributes["document"]["@result"];
    assert_eq!(json!(first.metrics["elapsed"]), document["elapsed"]);
    let last = iterations[2];
    assert_eq!(last.outcome, Outcome::Failed);
    assert_eq!(last.message.as_deref(), Some("exit code 1: ValueError: no"));
    assert_eq!(last.attributes["stdout"], "half a line");
}

#[test]
fn an_inspection_without_results_says_whether_it_was_built() {
    let imported = imported("unbuilt.json");
    let ends: Vec<_> = imported
        .records
        .iter()
        .filter_map(|it| match it {
            Record::InstanceEnd(end) => end.message.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(ends, ["the build ended with exit code 1"]);
}

#[test]
fn wrong_and_truncated_results_are_refused() {
    insta::assert_snapshot!(refusal("amun/wrong.json"), @"wrong.json:1: `exit_code` is missing or not a whole number");
    insta::assert_snapshot!(refusal("amun/truncated.json"), @"truncated.json:108: the JSON is cut off");
}

#[test]
fn an_unknown_key_is_kept() {
    assert_eq!(
        fate_of_a_key("amun/single.json", ""),
        "kept in attributes of the instance, under `amun`"
    );
}
