//! `lapwing study optimise`: finds the best configuration of a program whose cost is a known function.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// Six treatments: two that save the same, one that costs, one that fails, and noise of ±1 % by the process id.
const PROGRAM: &str = r#"#!/bin/sh
test "${E:-0}" = 1 && exit 3
n=$((10000 - 4000 * ${A:-0} - 3500 * ${B:-0} + 3300 * ${A:-0} * ${B:-0} + 1500 * ${C:-0} - 900 * ${D:-0}))
n=$((n + n * ($$ % 201 - 100) / 10000))
echo "{\"cost\": $n}"
"#;

fn folder(names: &[&str], more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut suite = "suite = \"t\"\n[benchmark.one]\ncommand = [\"./program\"]\nmetrics = \"json\"\n\
                     metric.cost = { unit = \"1\", better = \"lower\" }\niterations = 1\nburn_in = 0\n"
        .to_owned();
    for name in names {
        let upper = name.to_uppercase();
        suite += &format!("[factor.{name}]\napply.env.{upper} = '1'\n");
    }
    fs::write(folder.path().join("lapwing.toml"), suite + more).unwrap();
    let program = folder.path().join("program");
    fs::write(&program, PROGRAM).unwrap();
    let done = Command::new("chmod").arg("+x").arg(&program).status();
    assert!(done.unwrap().success());
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [
        &["study", "optimise", "--metric", "cost", "--format", "json"],
        arguments,
    ]
    .concat();
    let output = output(folder, &arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

#[test]
fn the_best_configuration_is_found_in_few_runs_and_compared_with_the_base() {
    let folder = folder(&["a", "b", "c", "d", "e", "f"], "");
    let told = json(folder.path(), &["--runs", "40"]);
    assert_eq!(told["ended_by"], "no-improvement", "{told:#}");
    // The best of 64 settings: one of the two that save the same, and the last one; f does nothing.
    let levels = &told["best"]["levels"];
    let is = |name: &str| levels[name].as_bool().unwrap();
    assert!(is("a") && !is("c") && is("d") && !is("e"), "{levels}");
    assert!(told["runs"].as_u64().unwrap() < 40, "{told:#}");
    let own = &told["comparison"];
    let expected = if is("b") { 4900.0 } else { 5100.0 } / 10_000.0;
    assert!(
        own["lower"].as_f64().unwrap() < expected && expected < own["upper"].as_f64().unwrap(),
        "{own}"
    );
    assert_eq!(
        (&own["is_distinguishable"], &own["instances"][1]),
        (&true.into(), &8.into())
    );
    let failed = told["failed"].as_array().unwrap();
    assert!(
        failed
            .iter()
            .all(|name| name.as_str().unwrap().contains('e')),
        "{failed:?}"
    );
    // Nothing is measured again, and the answer is the same.
    let text = run(
        folder.path(),
        &[
            "study",
            "optimise",
            "--metric",
            "cost",
            "--runs",
            "30",
            "--improvement",
            "5%",
        ],
    );
    assert!(
        text.contains("against the base (8 and 8 instances, alternately)"),
        "{text}"
    );
    assert!(!text.contains("round of"), "{text}");
    let sessions = run(folder.path(), &["list", "sessions"]);
    assert!(sessions.contains("optimise"), "{sessions}");
}

#[test]
fn a_search_that_ends_early_goes_on_where_it_stopped() {
    let folder = folder(&["a", "b", "c", "d", "f", "g"], "");
    let first = json(folder.path(), &["--runs", "5", "--confirm", "0"]);
    assert_eq!(
        (&first["ended_by"], &first["runs"]),
        (&"runs".into(), &5.into())
    );
    assert_eq!(first["comparison"], Value::Null);
    let budget = json(folder.path(), &["--budget", "0s"]);
    assert_eq!(
        (&budget["ended_by"], &budget["runs"]),
        (&"budget".into(), &5.into())
    );
    let rest = json(folder.path(), &["--runs", "12", "--confirm", "3"]);
    assert!(rest["runs"].as_u64().unwrap() > 5, "{rest:#}");
}

#[test]
fn settings_that_change_nothing_are_not_distinguishable_from_the_base_and_constraints_hold() {
    let folder = folder(
        &["f", "g"],
        "[factor.a]\napply.env.A = '1'\nrequires = ['c']\n[factor.c]\napply.env.C = '1'\nexcludes = ['g']\n",
    );
    let told = json(
        folder.path(),
        &["--factor", "f", "--factor", "g", "--runs", "20"],
    );
    if told["comparison"] != Value::Null {
        let own = &told["comparison"];
        let [lower, upper] = ["lower", "upper"].map(|key| own[key].as_f64().unwrap());
        // Noise of ±1 % between processes: no change of 3 % is claimed.
        assert!(lower > 0.97 && upper < 1.03, "{own}");
    }
    let all = json(folder.path(), &["--runs", "40", "--confirm", "0"]);
    let rows = all["configurations"].as_array().unwrap();
    for row in rows {
        let name = row["configuration"].as_str().unwrap();
        let has = |factor: &str| name.split(',').any(|it| it == factor);
        assert!(!has("a") || has("c"), "{name}");
        assert!(!(has("c") && has("g")), "{name}");
    }
    let best = all["best"]["configuration"].as_str().unwrap();
    assert!(best.contains("a,c"), "{best}");
    let several = "[benchmark.two]\ncommand = ['./program']\nmetrics = 'json'\n";
    let suite = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
    fs::write(folder.path().join("lapwing.toml"), suite + several).unwrap();
    let refused = run(folder.path(), &["study", "optimise"]);
    assert!(
        refused
            .contains("a search is about one benchmark, and several could be meant: `one`, `two`"),
        "{refused}"
    );
}

#[test]
fn a_metric_that_is_not_measured_ends_the_search_after_the_first_round() {
    let folder = folder(&["a", "b", "c", "d"], "");
    let arguments = ["study", "optimise", "--metric", "price", "--runs", "30"];
    let told = run(folder.path(), &arguments);
    assert!(
        told.contains("no configuration has a usable value of `price`"),
        "{told}"
    );
    assert_eq!(told.matches("round of").count(), 1, "{told}");
}
