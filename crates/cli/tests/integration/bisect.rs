//! `lapwing bisect` on a real repository whose program prints noisy numbers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Prints the level of the commit plus noise of up to 255.
const PROGRAM: &str =
    "echo \"{\\\"cost\\\": $(( $(cat level) + $(od -An -N1 -tu1 /dev/urandom) ))}\"\n";

fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {words:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Returns a repository with a commit, tagged `c0`, `c1` …, for each level.
fn repository(levels: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = &folder.path().join("repository");
    fs::create_dir(path).unwrap();
    git(path, &["init", "--quiet", "--initial-branch=trunk"]);
    fs::write(path.join("program"), PROGRAM).unwrap();
    for (number, level) in levels.iter().enumerate() {
        fs::write(path.join("level"), level).unwrap();
        fs::write(path.join("number"), number.to_string()).unwrap();
        git(path, &["add", "."]);
        git(
            path,
            &["commit", "--quiet", "-m", &format!("change {number}")],
        );
        git(path, &["tag", &format!("c{number}")]);
    }
    folder
}

/// Runs the program in the repository; its store and its worktrees stand beside it.
fn lapwing(folder: &TempDir, words: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .args([
            "--metrics",
            "json",
            "-i",
            "1",
            "--burn-in",
            "0",
            "--command",
            "sh program",
        ])
        .args(["--store", "../store.db", "--metric", "cost"])
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(folder.path().join("repository"))
        .output()
        .unwrap()
}

fn bisect(folder: &TempDir, words: &[&str]) -> (Value, i32) {
    let output = lapwing(folder, &[&["bisect", "--format", "json"], words].concat());
    let told = serde_json::from_slice(&output.stdout);
    (
        told.unwrap_or_else(|_| panic!("{output:?}")),
        output.status.code().unwrap(),
    )
}

fn commit(folder: &TempDir, name: &str) -> Value {
    json!(git(
        &folder.path().join("repository"),
        &["rev-parse", &format!("{name}^{{commit}}")]
    ))
}

#[test]
fn the_commit_is_named_and_compared_with_its_parent() {
    let mut levels = vec!["1000"; 24];
    levels[17..].fill("3000");
    let folder = repository(&levels);
    let (told, code) = bisect(&folder, &["c0", "trunk"]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(told["found"], commit(&folder, "c17"), "{told}");
    assert_eq!(told["parent"]["baseline"], commit(&folder, "c16"));
    assert_eq!(told["parent"]["certain"], json!(true));
    let ratio = told["parent"]["ratio"].as_f64().unwrap();
    assert!((2.0..3.2).contains(&ratio), "{told}");
    // Two sides of five twice, and a few between.
    assert!(told["instances"].as_u64().unwrap() < 40, "{told}");
    assert!(told["builds"].as_u64().unwrap() < 12, "{told}");
    let left = git(&folder.path().join("repository"), &["worktree", "list"]);
    assert_eq!(left.lines().count(), 1);
}

#[test]
fn the_text_begins_with_the_commit() {
    let folder = repository(&["1000", "1000", "3000"]);
    let output = lapwing(&folder, &["bisect", "c0"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let first = told.lines().next().unwrap();
    assert!(
        first.contains("(c2) changed `sh program`: change 2"),
        "{told}"
    );
    assert!(told.contains("note: author: T"), "{told}");
}

#[test]
fn a_commit_among_others_that_cannot_be_measured_is_one_of_several() {
    let folder = repository(&["1000", "1000", "1 / 0", "1 / 0", "3000", "3000"]);
    let (told, code) = bisect(&folder, &["c0", "c5"]);
    assert_eq!(code, 0, "{told}");
    let ends = ["c2", "c4"].map(|name| commit(&folder, name));
    assert_eq!(told["suspects"], json!(ends), "{told}");
    let of = |name: &str| {
        let hash = commit(&folder, name);
        let rows = told["commits"].as_array().unwrap();
        rows.iter()
            .find(|row| row["commit"] == hash)
            .unwrap()
            .clone()
    };
    assert!(
        of("c2")["broken"].is_string() && of("c3")["broken"].is_string(),
        "{told}"
    );
}

#[test]
fn equal_ends_are_not_searched() {
    let folder = repository(&["1000", "3000", "1000"]);
    let (told, code) = bisect(&folder, &["c0", "c2", "-n", "8"]);
    assert_eq!((code, &told["found"]), (3, &Value::Null), "{told}");
    assert_eq!(told["ends"]["instances"], json!(8));
}

#[test]
fn a_build_comes_first_and_an_end_that_fails_is_named() {
    let folder = repository(&["1000", "1000", "3000"]);
    let (told, code) = bisect(&folder, &["c0", "c2", "--build", "test $(cat number) != 2"]);
    assert_eq!((code, &told["found"]), (4, &Value::Null), "{told}");
    let output = lapwing(&folder, &["bisect", "c0", "c0"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("are the same commit"), "{told}");
}

#[test]
fn a_merge_is_named_with_what_searches_it() {
    let folder = repository(&["1000", "1000"]);
    let path = &folder.path().join("repository");
    git(path, &["checkout", "--quiet", "-b", "side", "c0"]);
    fs::write(path.join("level"), "3000").unwrap();
    git(path, &["commit", "--quiet", "-am", "on the side"]);
    git(path, &["checkout", "--quiet", "trunk"]);
    git(
        path,
        &[
            "merge",
            "--quiet",
            "--no-ff",
            "-m",
            "merge the side",
            "side",
        ],
    );
    fs::write(path.join("number"), "9").unwrap();
    git(path, &["commit", "--quiet", "-am", "later"]);
    let output = lapwing(&folder, &["bisect", "c0"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("merge the side") && told.contains("it is a merge: `lapwing bisect"),
        "{told}"
    );
}
