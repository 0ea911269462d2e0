//! Sides of which a session measured both, and another one of them alone on a slower machine.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::level_repository::{git, repository};

/// Prints the level of the machine plus noise of up to 255.
const PROGRAM: &str = "echo \"{\\\"cost\\\": $(( $(cat ../machine) + NOISE ))}\"\n";
const SUITE: &str = "suite = 's'\n[benchmark.b]\ncommand = 'sh program'\niterations = 1\nburn_in = 0\nmetrics = 'json'\n\
                     metric.cost = { unit = '1', better = 'lower' }\n";

fn lapwing(folder: &TempDir, words: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    command
        .args(words)
        .args(["--store", "../store.db"])
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(folder.path().join("repository"));
    command.output().unwrap()
}

fn measure(folder: &TempDir, machine: &str, commits: &str) {
    // The same path beside each worktree.
    let program = fs::read_to_string(folder.path().join("repository/program")).unwrap();
    let here = folder.path().join("machine").display().to_string();
    assert!(program.contains(&here), "{program}");
    fs::write(folder.path().join("machine"), machine).unwrap();
    let words = ["run", "--commits", commits, "--again", "-n", "10"];
    let done = lapwing(folder, &words);
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn what_was_measured_apart_is_left_out_and_counted() {
    let folder = repository("true\n", &["1", "2", "3"]);
    let path = folder.path().join("repository");
    let machine = folder.path().join("machine").display().to_string();
    let noise = folder.path().join("noise").display().to_string();
    let program = PROGRAM
        .replace("../machine", &machine)
        .replace("NOISE", &format!("$(sh '{noise}')"));
    for number in 0..3 {
        fs::write(path.join("program"), &program).unwrap();
        fs::write(path.join("lapwing.toml"), SUITE).unwrap();
        fs::write(path.join("number"), format!("later {number}")).unwrap();
        git(&path, &["add", "."]);
        git(&path, &["commit", "--quiet", "-m", "later"]);
        git(&path, &["tag", &format!("later{number}")]);
    }
    measure(&folder, "4000", "later0..later1");
    measure(&folder, "3000", "later0..later2");
    let words = ["compare", "commit:later1", "commit:later2"];
    let done = lapwing(
        &folder,
        &[&words[..], &["--metric", "cost", "--format", "json"]].concat(),
    );
    let told: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    let row = &told["comparisons"][0];
    assert_eq!(row["baseline_instances"], 10, "{told}");
    let ratio = row["ratio"].as_f64().unwrap_or(f64::NAN);
    assert!((0.95..1.05).contains(&ratio), "{told}");
    let notes = told["notes"].as_array().unwrap();
    let apart = notes.iter().find(|it| it["code"] == "measured_apart");
    assert_eq!(apart.unwrap()["instances"], 10, "{told}");
}
