//! `lapwing study confirm` and `lapwing study design --augment --unalias`, on a program whose cost is a known function.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// Of seven treatments one saves 40 % and one 20 %, with noise of ±1 % by the process id.
const PROGRAM: &str = r#"#!/bin/sh
n=$((10000 * (10 - 4 * ${A:-0}) / 10 * (10 - 2 * ${B:-0}) / 10))
n=$((n + n * ($$ % 201 - 100) / 10000))
echo "{\"cost\": $n}"
"#;

fn folder(program: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut suite = "suite = \"t\"\n[benchmark.one]\ncommand = [\"./program\"]\nmetrics = \"json\"\n\
                     metric.cost = { unit = \"1\", better = \"lower\" }\niterations = 1\nburn_in = 0\n"
        .to_owned();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        let upper = name.to_uppercase();
        suite += &format!("[factor.{name}]\napply.env.{upper} = '1'\n");
    }
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let path = folder.path().join("program");
    fs::write(&path, program).unwrap();
    let done = Command::new("chmod").arg("+x").arg(&path).status();
    assert!(done.unwrap().success());
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--metric", "cost", "--format", "json"]].concat();
    let output = output(folder, &arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// Measures a fraction of resolution IV.
fn measure(folder: &Path) {
    let design = [
        "study",
        "design",
        "--resolution",
        "4",
        "--kind",
        "fractional",
    ];
    run(folder, &design);
    run(folder, &["study", "run"]);
}

#[test]
fn the_recommended_setting_is_measured_anew_against_the_base_and_the_next_best() {
    let folder = folder(PROGRAM);
    measure(folder.path());
    let text = run(folder.path(), &["study", "findings", "--metric", "cost"]);
    assert!(
        text.contains("lapwing study confirm --benchmark one --metric cost"),
        "{text}"
    );
    let told = json(folder.path(), &["study", "confirm"]);
    assert_eq!(told["recommended"]["configuration"], "a,b", "{told:#}");
    let settings = told["settings"].as_array().unwrap();
    let names: Vec<&Value> = settings.iter().map(|row| &row["configuration"]).collect();
    assert_eq!(names, ["a,b", "base", "a"]);
    assert!(settings.iter().all(|row| row["instances"] == 8), "{told:#}");
    // 0.6 × 0.8 of the base, and 0.8 of the next best.
    for (row, expected) in settings.iter().skip(1).zip([0.48, 0.8]) {
        let [lower, upper] = ["lower", "upper"].map(|end| row[end].as_f64().unwrap() + 1.0);
        assert!(lower < expected + 0.01 && expected - 0.01 < upper, "{row}");
    }
    assert_eq!(told["verdict"], "improvement");
    // Confirmed, it is not proposed again.
    let text = run(folder.path(), &["study", "findings", "--metric", "cost"]);
    assert!(!text.contains("study confirm"), "{text}");
}

#[test]
fn a_gain_that_was_luck_is_not_confirmed() {
    // The program saves only as long as a file is there.
    let program = PROGRAM.replace("n=$((10000 *", "test -e gone && A=0 B=0\nn=$((10000 *");
    let folder = folder(&program);
    measure(folder.path());
    fs::write(folder.path().join("gone"), "").unwrap();
    let told = json(folder.path(), &["study", "confirm"]);
    assert_ne!(told["verdict"], "improvement", "{told:#}");
}

#[test]
fn nothing_is_confirmed_where_nothing_is_recommended() {
    let folder = folder(&PROGRAM.replace("${A:-0}", "0").replace("${B:-0}", "0"));
    measure(folder.path());
    let refused = output(folder.path(), &["study", "confirm", "--metric", "cost"]);
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("recommend no setting"), "{told}");
}

#[test]
fn a_fold_over_of_a_screening_design_tells_its_factors_from_pairs() {
    let folder = folder(PROGRAM);
    let design = [
        "study",
        "design",
        "--model",
        "main",
        "--resolution",
        "3",
        "--runs",
        "8",
    ];
    run(
        folder.path(),
        &[&design[..], &["--kind", "fractional"]].concat(),
    );
    run(folder.path(), &["study", "run"]);
    let text = run(folder.path(), &["study", "findings", "--metric", "cost"]);
    assert!(
        text.contains("8 more settings with every level exchanged"),
        "{text}"
    );
    assert!(text.contains("these runs cannot tell"), "{text}");
    let told = json(
        folder.path(),
        &["study", "design", "--augment", "--unalias"],
    );
    assert_eq!(
        told["configurations"].as_array().unwrap().len(),
        8,
        "{told:#}"
    );
    run(
        folder.path(),
        &["study", "run", "--design", "lapwing-design-more.json"],
    );
    let text = run(folder.path(), &["study", "findings", "--metric", "cost"]);
    assert!(
        !text.contains("these runs cannot tell") && !text.contains("fold-over"),
        "{text}"
    );
    let refused = output(
        folder.path(),
        &[
            "study",
            "design",
            "--augment",
            "--unalias",
            "--metric",
            "cost",
        ],
    );
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("no fold-over is needed"), "{told}");
}
