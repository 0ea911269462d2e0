//! `lapwing bisect --executor command`: several commits at once, by jobs that are over when they are submitted.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{git, repository};

/// Prints the level of the commit plus noise of up to 255.
const PROGRAM: &str = "echo \"{\\\"cost\\\": $(( $(cat level) + NOISE ))}\"\n";

const SUITE: &str = r#"
suite = "levels"
[benchmark.cost]
command = "sh program"
metrics = "json"
burn_in = 0
iterations = 2
[executor.command]
submit = "echo {index} >> ../jobs; sh {script} {index} > {log} 2>&1; echo {index}"
state = "true"
"#;

fn bisect(folder: &TempDir, words: &[&str]) -> Output {
    let repository = folder.path().join("repository");
    fs::write(repository.join("lapwing.toml"), SUITE).unwrap();
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["bisect", "--format", "json", "--store", "../store.db"])
        .args(words)
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(repository)
        .output()
        .unwrap()
}

#[test]
fn several_candidates_are_measured_at_once_and_the_commit_is_found() {
    let mut levels = vec!["1000"; 31];
    levels[20..].fill("3000");
    let folder = repository(PROGRAM, &levels);
    let words = ["c0", "trunk", "--metric", "cost", "--executor", "command"];
    let output = bisect(&folder, &words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = git(&folder.path().join("repository"), &["rev-parse", "c20"]);
    assert_eq!(told["benchmarks"][0]["found"], json!([found]), "{said}");
    // Four candidates split the commits into five parts, and those once more.
    let rounds: Vec<&str> = said
        .lines()
        .filter(|it| it.contains("most likely"))
        .collect();
    assert_eq!(rounds[0].matches("(c").count(), 5, "{said}");
    assert!(rounds.len() <= 3, "{said}");
    let jobs = fs::read_to_string(folder.path().join("jobs")).unwrap();
    assert_eq!(told["instances"], json!(jobs.lines().count()), "{said}");
    // What is over can be continued: nothing is measured again.
    let again = bisect(&folder, &["--resume", "--metric", "cost"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["benchmarks"][0]["found"], json!([found]));
    let after = fs::read_to_string(folder.path().join("jobs")).unwrap();
    assert_eq!(after, jobs);
    assert!(
        !folder
            .path()
            .join("cluster")
            .read_dir()
            .unwrap()
            .any(|_| true)
    );
}

#[test]
fn jobs_of_a_bisection_are_not_left() {
    let folder = repository(PROGRAM, &["1000", "3000"]);
    let output = bisect(
        &folder,
        &["c0", "--executor", "command", "--cluster", "leave_jobs=yes"],
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("needs the results of its jobs"), "{said}");
}
