//! `lapwing judge` on a real repository whose program prints noisy numbers.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{PROGRAM_WORDS, git, repository};

/// Prints the level of the commit plus noise of up to 63.
const PROGRAM: &str = "echo \"{\\\"cost\\\": $(( $(cat level) + NOISE / 4 ))}\"\n";

fn lapwing(folder: &TempDir, words: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .args(PROGRAM_WORDS)
        .args(["--store", "../store.db"])
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(folder.path().join("repository"))
        .output()
        .unwrap()
}

fn judge(folder: &TempDir, words: &[&str]) -> (Value, i32) {
    let output = lapwing(
        folder,
        &[&["judge", "--metric", "cost", "--format", "json"], words].concat(),
    );
    let told = serde_json::from_slice(&output.stdout);
    (
        told.unwrap_or_else(|_| panic!("{output:?}")),
        output.status.code().unwrap(),
    )
}

fn set_level(folder: &TempDir, level: &str) {
    fs::write(folder.path().join("repository/level"), level).unwrap();
}

#[test]
fn the_working_tree_is_judged_as_it_is() {
    let folder = repository(PROGRAM, &["1000"]);
    for (level, answer, code) in [
        ("1000", "not_slower", 0),
        ("500", "faster", 0),
        ("1500", "slower", 1),
        ("1 / 0", "not_measured", 125),
    ] {
        set_level(&folder, level);
        let (told, exit) = judge(&folder, &["--baseline", "HEAD"]);
        assert_eq!((&told["verdict"], exit), (&json!(answer), code), "{told}");
    }
    // The baseline was not measured in the working tree.
    assert_eq!(
        fs::read_to_string(folder.path().join("repository/level")).unwrap(),
        "1 / 0"
    );
}

#[test]
fn what_is_expected_decides_the_exit_code() {
    let folder = repository(PROGRAM, &["1000"]);
    for (level, expected, answer, code) in [
        ("500", "faster", "faster", 0),
        ("500", "faster=3%", "faster", 0),
        ("1000", "faster", "not_faster", 1),
        ("1500", "faster", "slower", 1),
        ("1000", "same", "same", 0),
        ("500", "same=10%", "faster", 1),
        ("1500", "same", "slower", 1),
        ("1500", "slower", "slower", 0),
        ("1000", "slower", "not_slower", 1),
    ] {
        set_level(&folder, level);
        let (told, exit) = judge(&folder, &["--baseline", "HEAD", "--expect", expected]);
        assert_eq!((&told["verdict"], exit), (&json!(answer), code), "{told}");
        assert_eq!(told["as_expected"], json!(code == 0), "{told}");
    }
    let twice = ["--expect", "faster=3%", "--smallest-effect", "5%"];
    for wrong in [&["--expect", "better"][..], &["--expect", "same=0"], &twice] {
        let words = [&["judge", "--baseline", "HEAD", "--metric", "cost"], wrong].concat();
        assert_eq!(
            lapwing(&folder, &words).status.code(),
            Some(128),
            "{wrong:?}"
        );
    }
}

#[test]
fn limits_of_the_suite_file_hold_for_its_benchmark() {
    let folder = repository(PROGRAM, &["1000"]);
    let path = folder.path().join("repository");
    let suite = "suite = 's'\n[benchmark.one]\ncommand = ['sh', 'program']\nmetrics = 'json'\n[benchmark.one.judge]\n";
    let judge_suite = |limits: &str| {
        fs::write(path.join("lapwing.toml"), format!("{suite}{limits}\n")).unwrap();
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args([
                "judge",
                "--metric",
                "cost",
                "--baseline",
                "HEAD",
                "--format",
                "json",
            ])
            .args(["-i", "1", "--burn-in", "0", "--store", "../store.db"])
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .current_dir(&path)
            .output()
            .unwrap();
        let told = serde_json::from_slice::<Value>(&output.stdout);
        let told = told.unwrap_or_else(|_| panic!("{output:?}"));
        (
            told["verdict"].as_str().unwrap().to_owned(),
            output.status.code().unwrap(),
        )
    };
    set_level(&folder, "1200");
    assert_eq!(judge_suite(""), ("slower".to_owned(), 1));
    assert_eq!(
        judge_suite("smallest_effect = '50%'"),
        ("not_slower".to_owned(), 0)
    );
    // Of a metric of which more is better, more is faster.
    assert_eq!(judge_suite("better = 'higher'"), ("faster".to_owned(), 0));
}

#[test]
fn the_smallest_effect_and_the_budget_decide() {
    let folder = repository(PROGRAM, &["1000"]);
    set_level(&folder, "1200");
    let (told, exit) = judge(&folder, &["--baseline", "c0", "--smallest-effect", "50%"]);
    assert_eq!(
        (&told["verdict"], exit),
        (&json!("not_slower"), 0),
        "{told}"
    );
    // Both sides give the same values, which vary much, so that nothing can be said.
    let path = &folder.path().join("repository");
    let program = "n=$(cat ../n || echo 0); echo $((n + 1)) > ../n; echo \"{\\\"cost\\\": $((1000 + 100 * n))}\"";
    fs::write(path.join("program"), program).unwrap();
    git(path, &["commit", "--quiet", "-am", "other noise"]);
    let (told, exit) = judge(&folder, &["--baseline", "HEAD", "-n", "5"]);
    assert_eq!(
        (&told["verdict"], exit),
        (&json!("undecided"), 125),
        "{told}"
    );
    assert_eq!(told["baseline_instances"], 5);
    assert_eq!(told["candidate_instances"], 5);
}

#[test]
fn stored_measurements_can_be_the_baseline() {
    let folder = repository(PROGRAM, &["1000"]);
    let measured = lapwing(&folder, &["run", "-n", "8", "--name", "before"]);
    assert!(measured.status.success(), "{measured:?}");
    set_level(&folder, "1500");
    let (told, exit) = judge(&folder, &["--baseline", "session:before"]);
    assert_eq!((&told["verdict"], exit), (&json!("slower"), 1), "{told}");
    assert_eq!(told["baseline_instances"], 8);
    assert_eq!(told["candidate_instances"], 5);
    // Nothing shows how much sessions differ.
    let headline = told["headline"].as_str().unwrap();
    assert!(headline.contains("within these sessions"), "{headline}");
    assert_eq!(told["notes"][0]["code"], "one_session", "{told}");
}

#[test]
fn what_sessions_of_a_stored_baseline_differ_by_is_in_the_answer() {
    let folder = repository(PROGRAM, &["1000"]);
    for (day, level) in ["1000", "1300", "1100", "1250"].iter().enumerate() {
        set_level(&folder, level);
        let measured = lapwing(&folder, &["run", "-n", "3", "--name", &format!("day{day}")]);
        assert!(measured.status.success(), "{measured:?}");
    }
    let (told, exit) = judge(&folder, &["--baseline", "last 4"]);
    assert_eq!(
        (&told["verdict"], exit),
        (&json!("undecided"), 125),
        "{told}"
    );
    assert_eq!(told["needed_instances"], Value::Null);
    assert_eq!(told["baseline_instances"], 12);
    set_level(&folder, "4000");
    let (told, exit) = judge(&folder, &["--baseline", "last 4"]);
    assert_eq!((&told["verdict"], exit), (&json!("slower"), 1), "{told}");
}

#[test]
fn wrong_usage_ends_a_bisection_instead_of_marking_commits_as_bad() {
    let folder = repository(PROGRAM, &["1000"]);
    for (words, text) in [
        (&["judge"][..], "there is no baseline"),
        (&["judge", "--baseline", "nothing"], "nothing"),
        (&["judge", "--no-such-option"], "--no-such-option"),
    ] {
        let output = lapwing(&folder, words);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(128), "{told}");
        assert!(told.contains(text), "{told}");
    }
}

#[test]
fn a_baseline_that_cannot_be_measured_ends_a_bisection() {
    let folder = repository(PROGRAM, &["1 / 0", "1000"]);
    let (told, exit) = judge(&folder, &["--baseline", "c0"]);
    assert_eq!(
        (&told["verdict"], exit),
        (&json!("not_measured"), 128),
        "{told}"
    );
}

#[test]
fn git_bisect_run_finds_the_commit_and_skips_what_cannot_be_built() {
    let mut levels = vec!["1000"; 16];
    levels[9..].fill("1500");
    // Six commits are judged, and a wrong answer has its probability each time: so there is hardly any noise.
    let quiet = PROGRAM.replace("/ 4", "/ 64");
    let folder = repository(&quiet, &levels);
    let path = &folder.path().join("repository");
    git(path, &["bisect", "start", "trunk", "c0"]);
    let program = assert_cmd::cargo::cargo_bin!("lapwing");
    let program = program.display().to_string();
    let build = ["--build", "test $(cat number) != 7"];
    // Without a baseline: the good end.
    let judge = ["bisect", "run", &program, "judge", "--metric", "cost"];
    let store = ["--store", "../store.db"];
    let words = [&judge[..], &build[..], &store, &PROGRAM_WORDS].concat();
    let told = git(path, &words);
    let found = git(path, &["rev-parse", "c9"]);
    assert!(
        told.contains(&format!("{found} is the first bad commit")),
        "{told}"
    );
    assert!(
        told.contains("cannot be measured: the build failed"),
        "{told}"
    );
}

#[test]
fn git_bisect_run_finds_an_improvement_by_what_is_still_slower() {
    let mut levels = vec!["1500"; 12];
    levels[5..].fill("1000");
    let quiet = PROGRAM.replace("/ 4", "/ 64");
    let folder = repository(&quiet, &levels);
    let path = &folder.path().join("repository");
    git(
        path,
        &[
            "bisect",
            "start",
            "--term-new=fast",
            "--term-old=slow",
            "trunk",
            "c0",
        ],
    );
    let program = assert_cmd::cargo::cargo_bin!("lapwing");
    let program = program.display().to_string();
    let judge = ["bisect", "run", &program, "judge", "--metric", "cost"];
    let expected = [
        "--baseline",
        "trunk",
        "--expect",
        "slower",
        "--store",
        "../store.db",
    ];
    let told = git(path, &[&judge[..], &expected, &PROGRAM_WORDS].concat());
    let found = git(path, &["rev-parse", "c5"]);
    assert!(
        told.contains(&format!("{found} is the first fast commit")),
        "{told}"
    );
}

#[test]
fn nothing_against_nothing_is_not_slower() {
    let folder = repository("echo '{\"cost\": 0}'\n", &["1000"]);
    let (told, exit) = judge(&folder, &["--baseline", "HEAD"]);
    assert_eq!(
        (&told["verdict"], exit),
        (&json!("not_slower"), 0),
        "{told}"
    );
    assert!(
        told["headline"]
            .as_str()
            .unwrap()
            .ends_with("cost is 0 in both"),
        "{told}"
    );
}

#[test]
fn a_benchmark_is_not_chosen_beside_a_command() {
    let folder = repository(PROGRAM, &["1000"]);
    let output = lapwing(
        &folder,
        &["judge", "--baseline", "HEAD", "--benchmark", "other"],
    );
    assert_eq!(output.status.code(), Some(128));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--benchmark"), "{said}");
}
