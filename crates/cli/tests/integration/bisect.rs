//! `lapwing bisect` on a real repository whose program prints noisy numbers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{PROGRAM_WORDS, git, repository};

/// Prints the level of the commit plus noise of up to 255.
const PROGRAM: &str = "echo \"{\\\"cost\\\": $(( $(cat level) + NOISE ))}\"\n";

/// Runs the program in the repository; its store and its worktrees are beside it.
fn lapwing(folder: &TempDir, words: &[&str]) -> Output {
    lapwing_in(
        folder,
        "repository",
        &[words, &["--metric", "cost"], &PROGRAM_WORDS].concat(),
    )
}

fn lapwing_in(folder: &TempDir, place: &str, words: &[&str]) -> Output {
    lapwing_command(folder, place, words).output().unwrap()
}

fn lapwing_command(folder: &TempDir, place: &str, words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    command
        .args(words)
        .args(["--store", "../store.db"])
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(folder.path().join(place));
    command
}

/// Returns the answer for the first benchmark, with the numbers of all.
fn told(output: &Output) -> (Value, i32) {
    let all: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let all = all.unwrap_or_else(|_| panic!("{output:?}"));
    let mut told = all["benchmarks"][0].clone();
    told["instances"] = all["instances"].clone();
    told["builds"] = all["builds"].clone();
    (told, output.status.code().unwrap())
}

fn bisect(folder: &TempDir, words: &[&str]) -> (Value, i32) {
    told(&lapwing(
        folder,
        &[&["bisect", "--format", "json"], words].concat(),
    ))
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
    let folder = repository(PROGRAM, &levels);
    let (told, code) = bisect(&folder, &["c0", "trunk"]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(told["found"], json!([commit(&folder, "c17")]), "{told}");
    let change = &told["changes"][0];
    assert_eq!(change["parent"]["baseline"], commit(&folder, "c16"));
    assert_eq!(change["whole"], json!(true));
    let ratio = change["parent"]["ratio"].as_f64().unwrap();
    assert!((2.0..3.2).contains(&ratio), "{told}");
    // Two sides of five twice, and a few between.
    assert!(told["instances"].as_u64().unwrap() < 40, "{told}");
    assert!(told["builds"].as_u64().unwrap() < 12, "{told}");
    let left = git(&folder.path().join("repository"), &["worktree", "list"]);
    assert_eq!(left.lines().count(), 1);
}

#[test]
fn the_text_begins_with_the_commit() {
    let folder = repository(PROGRAM, &["1000", "1000", "3000"]);
    let output = lapwing(&folder, &["bisect", "c0"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let first = told.lines().next().unwrap();
    assert!(
        first.contains("(c2) changed `sh program` by ") && first.contains(": change 2"),
        "{told}"
    );
    assert!(told.contains("note: author: T"), "{told}");
}

#[test]
fn a_commit_among_others_that_cannot_be_measured_is_one_of_several() {
    let folder = repository(PROGRAM, &["1000", "1000", "1 / 0", "1 / 0", "3000", "3000"]);
    let (told, code) = bisect(&folder, &["c0", "c5"]);
    assert_eq!(code, 0, "{told}");
    let suspects = ["c2", "c3", "c4"].map(|name| commit(&folder, name));
    assert_eq!(told["found"], json!(suspects), "{told}");
    assert_eq!(told["changes"][0]["commits"], json!(suspects), "{told}");
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
    let folder = repository(PROGRAM, &["1000", "3000", "1000"]);
    let (told, code) = bisect(&folder, &["c0", "c2", "-n", "8"]);
    assert_eq!((code, &told["found"]), (3, &json!([])), "{told}");
    assert_eq!(told["ends"]["baseline_instances"], 8, "{told}");
    assert_eq!(told["ends"]["candidate_instances"], 8, "{told}");
}

#[test]
fn two_commits_that_changed_it_are_both_named() {
    let mut levels = vec!["1000"; 24];
    levels[6..].fill("2000");
    levels[17..].fill("3000");
    let folder = repository(PROGRAM, &levels);
    let (told, code) = bisect(&folder, &["c0", "trunk"]);
    assert_eq!(code, 0, "{told}");
    let both = ["c6", "c17"].map(|name| commit(&folder, name));
    assert_eq!(told["found"], json!(both), "{told}");
    let shares: Vec<f64> = (0..2)
        .map(|at| told["changes"][at]["share"].as_f64().unwrap())
        .collect();
    assert!((shares[0] - 0.63).abs() < 0.2, "{told}");
    assert!((shares[0] + shares[1] - 1.0).abs() < 0.3, "{told}");
    assert_eq!(told["unexplained"], Value::Null, "{told}");
}

#[test]
fn only_changes_in_the_wanted_direction_count() {
    let mut levels = vec!["2000"; 12];
    levels[5..].fill("1000");
    let folder = repository(PROGRAM, &levels);
    let (told, code) = bisect(&folder, &["--find", "improvement", "c0", "trunk"]);
    assert_eq!((&told["outcome"], code), (&json!("found"), 0), "{told}");
    assert_eq!(told["found"], json!([commit(&folder, "c5")]), "{told}");
    let (told, code) = bisect(&folder, &["--find", "regression", "c0", "trunk"]);
    assert_eq!(
        (&told["outcome"], code),
        (&json!("only_others"), 3),
        "{told}"
    );
    assert_eq!(told["found"], json!([commit(&folder, "c5")]), "{told}");
}

#[test]
fn a_change_of_a_history_is_searched_by_its_id() {
    let mut levels = vec!["1000"; 31];
    levels[20..].fill("3000");
    let folder = repository(PROGRAM, &levels);
    let suite = "suite = 's'\n[version]\nrepository = '../repository'\n[benchmark.one]\ncommand = 'sh program'\n\
                 directory = '../repository'\nmetrics = 'json'\niterations = 1\nburn_in = 0\n\
                 metric.cost = { unit = 's', better = 'lower' }\n[variant.a]\nenv = { A = '1' }\n\
                 [variant.b]\nenv = { B = '1' }\n";
    fs::create_dir(folder.path().join("suite")).unwrap();
    fs::write(folder.path().join("suite/lapwing.toml"), suite).unwrap();
    let words = [
        "run",
        "--commits",
        "c0..trunk",
        "--every",
        "2",
        "-n",
        "3",
        "--variant",
        "b",
    ];
    let done = lapwing_in(&folder, "suite", &words);
    assert!(done.status.success(), "{done:?}");
    let detected = lapwing_in(
        &folder,
        "suite",
        &["detect", "--metric", "cost", "--format", "json"],
    );
    let detected: Value = serde_json::from_slice(&detected.stdout).unwrap();
    let next = detected["next"][0]["command"].as_str().unwrap();
    let (_, id) = next
        .split_once("bisect --finding ")
        .unwrap_or_else(|| panic!("{detected}"));
    let words = ["bisect", "--finding", id, "--format", "json"];
    let (told, code) = told(&lapwing_in(&folder, "suite", &words));
    assert_eq!(
        (code, &told["found"]),
        (0, &json!([commit(&folder, "c20")])),
        "{told}"
    );
    let unknown = lapwing_in(&folder, "suite", &["bisect", "--finding", "00000000"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
}

#[test]
fn a_misspelt_metric_is_refused_before_anything_is_built() {
    let folder = repository(PROGRAM, &["1000", "3000"]);
    let words = [
        "c0",
        "--metric",
        "wal_time",
        "--build",
        "touch ../../built",
        "--",
        "true",
    ];
    let refused = lapwing_in(&folder, "repository", &[&["bisect"], &words[..]].concat());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("did you mean `wall_time`?"), "{said}");
    let words = [
        "judge",
        "--baseline",
        "c0",
        "--metric",
        "wal_time",
        "--",
        "true",
    ];
    let refused = lapwing_in(&folder, "repository", &words);
    assert_eq!(refused.status.code(), Some(128), "{refused:?}");
    assert!(!folder.path().join("store.db").exists());
}

#[test]
fn ends_that_are_both_zero_do_not_differ() {
    let folder = repository("echo '{\"cost\": 0}'\n", &["1", "2", "3"]);
    let (told, code) = bisect(&folder, &["c0"]);
    assert_eq!(
        (code, &told["outcome"]),
        (3, &json!("no_difference")),
        "{told}"
    );
}

#[test]
fn a_build_comes_first_and_an_end_that_fails_is_named() {
    let folder = repository(PROGRAM, &["1000", "1000", "3000"]);
    let (told, code) = bisect(&folder, &["c0", "c2", "--build", "test $(cat number) != 2"]);
    assert_eq!((code, &told["found"]), (4, &json!([])), "{told}");
    let output = lapwing(&folder, &["bisect", "c0", "c0"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("are the same commit"), "{told}");
}

/// Adds a branch of commits of these levels, beginning at a commit, merges it, and adds a commit.
fn merge_branch(folder: &TempDir, from: &str, levels: &[&str]) {
    let path = &folder.path().join("repository");
    git(path, &["checkout", "--quiet", "-b", "side", from]);
    for (number, level) in levels.iter().enumerate() {
        fs::write(path.join("level"), level).unwrap();
        fs::write(path.join("side"), number.to_string()).unwrap();
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "-m", "on the side"]);
        git(path, &["tag", &format!("side{number}")]);
    }
    git(path, &["checkout", "--quiet", "trunk"]);
    let message = "merge the side";
    git(
        path,
        &["merge", "--quiet", "--no-ff", "-m", message, "side"],
    );
    git(path, &["tag", "merge"]);
    fs::write(path.join("number"), "99").unwrap();
    git(path, &["commit", "--quiet", "-am", "later"]);
}

#[test]
fn the_branch_of_a_merge_is_searched_too() {
    let folder = repository(PROGRAM, &["1000", "1000", "1000", "1000"]);
    merge_branch(&folder, "c1", &["1000", "1 / 0", "3000", "3000"]);
    let (told, code) = bisect(&folder, &["c0"]);
    assert_eq!(code, 0, "{told}");
    let suspects = ["side1", "side2"].map(|name| commit(&folder, name));
    assert_eq!(told["found"], json!(suspects), "{told}");
    let change = &told["changes"][0];
    assert_eq!(change["merges"], json!([commit(&folder, "merge")]));
    assert_eq!(change["parent"]["baseline"], commit(&folder, "side0"));
}

#[test]
fn a_merge_that_is_slow_by_itself_is_the_answer() {
    let folder = repository(PROGRAM, &["1000", "1000"]);
    merge_branch(&folder, "c0", &["1000"]);
    let path = &folder.path().join("repository");
    git(path, &["reset", "--quiet", "--hard", "merge"]);
    fs::write(path.join("level"), "3000").unwrap();
    git(path, &["commit", "--quiet", "-a", "--amend", "--no-edit"]);
    let output = lapwing(&folder, &["bisect", "c0", "-n", "8"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.lines().next().unwrap().contains("merge the side")
            && told.contains("note: it is a merge: its branch"),
        "{told}"
    );
}

#[test]
fn dates_are_the_last_commits_before_them() {
    let folder = repository(PROGRAM, &["1000", "1000", "1000", "3000", "3000", "1000"]);
    let (told, code) = bisect(&folder, &["2026-01-02", "2026-01-06"]);
    assert_eq!(code, 0, "{told}");
    let ends = ["c0", "c4"].map(|name| commit(&folder, name));
    assert_eq!(told["found"], json!([commit(&folder, "c3")]), "{told}");
    assert_eq!(
        [&told["ends"]["baseline"], &told["ends"]["candidate"]],
        [&ends[0], &ends[1]]
    );
    let output = lapwing(&folder, &["bisect", "2025-01-01"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no commit before 2025-01-01"), "{told}");
}

#[test]
fn each_of_several_benchmarks_gets_its_own_answer() {
    let mut levels = vec!["1000"; 12];
    levels[4..].fill("3000");
    let folder = repository(PROGRAM, &levels);
    let program = format!("number=$(cat number)\n{PROGRAM}").replace(
        "$(cat level)",
        "$(test $number -lt 9 && echo 1000 || echo 2000)",
    );
    let other = folder.path().join("other");
    fs::write(&other, program).unwrap();
    let suite = "suite = 's'\n[version]\nrepository = '../repository'\n[defaults]\niterations = 1\nburn_in = 0\n\
                 [benchmark.one]\ncommand = 'sh program'\ndirectory = '../repository'\nmetrics = 'json'\n\
                 [benchmark.other]\ncommand = 'sh OTHER'\ndirectory = '../repository'\nmetrics = 'json'\n";
    let suite = suite.replace("OTHER", &other.display().to_string());
    fs::create_dir(folder.path().join("suite")).unwrap();
    fs::write(folder.path().join("suite/lapwing.toml"), suite).unwrap();
    let words = ["bisect", "c0", "trunk", "--metric", "cost"];
    let output = lapwing_in(
        &folder,
        "suite",
        &[&words[..], &["--format", "json"]].concat(),
    );
    let all: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let found = all["benchmarks"].as_array().unwrap().iter();
    let found: Vec<[&Value; 2]> = found
        .map(|it| [&it["benchmark"], &it["found"][0]])
        .collect();
    let expected = [commit(&folder, "c4"), commit(&folder, "c9")];
    assert_eq!(
        found,
        [
            [&json!("one"), &expected[0]],
            [&json!("other"), &expected[1]]
        ],
        "{all}"
    );
}

#[test]
fn a_dependency_is_installed_whenever_its_commit_changes() {
    let folder = repository(PROGRAM, &["1000", "1000", "1000", "1000", "3000", "3000"]);
    fs::create_dir(folder.path().join("suite")).unwrap();
    let program = PROGRAM.replace("cat level", "cat installed");
    fs::write(folder.path().join("suite/program"), program).unwrap();
    let install = "cp {worktree}/level installed && echo x >> installations";
    let words = [
        &["bisect", "c0", "trunk", "--repo", "../repository"][..],
        &["--install", install, "--format", "json", "--metric", "cost"],
        &PROGRAM_WORDS[..],
    ];
    let (told, code) = told(&lapwing_in(&folder, "suite", &words.concat()));
    assert_eq!(code, 0, "{told}");
    assert_eq!(told["found"], json!([commit(&folder, "c4")]), "{told}");
    let installations = fs::read_to_string(folder.path().join("suite/installations")).unwrap();
    let installations = installations.lines().count() as u64;
    let instances = told["instances"].as_u64().unwrap();
    assert!(installations * 2 < instances, "{installations} {told}");
}

#[test]
fn a_killed_bisection_is_resumed_and_nothing_is_measured_twice() {
    let mut levels = vec!["1000"; 24];
    levels[13..].fill("2000");
    let folder = repository(PROGRAM, &levels);
    let path = folder.path().join("repository");
    let count = folder.path().join("count");
    let program = format!("echo x >> {}\nsleep 0.03\n{PROGRAM}", count.display());
    // The same in all commits: it is not part of them.
    fs::write(folder.path().join("program"), program).unwrap();
    let command = format!("sh {}/program", folder.path().display());
    let mut words = PROGRAM_WORDS;
    words[7] = &command;
    let measured = || fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    let start = [&["bisect", "c0", "trunk", "--metric", "cost"], &words[..]].concat();
    let mut child = lapwing_command(&folder, "repository", &start)
        .spawn()
        .unwrap();
    while measured() < 13 {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = measured();
    let output = lapwing_in(
        &folder,
        "repository",
        &["bisect", "--resume", "--format", "json"],
    );
    let (told, code) = told(&output);
    assert_eq!(
        (code, &told["found"]),
        (0, &json!([commit(&folder, "c13")])),
        "{told}"
    );
    let instances = usize::try_from(told["instances"].as_u64().unwrap()).unwrap();
    // The instance under way was lost.
    assert!(
        before >= 13 && (instances..=instances + 1).contains(&measured()),
        "{before} {instances} {}",
        measured()
    );
    let left = git(&path, &["worktree", "list"]);
    assert_eq!(left.lines().count(), 1);
    let again = lapwing_in(&folder, "repository", &["run", "--resume"]);
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(told.contains("is a bisection"), "{told}");
}

#[test]
fn the_example_finds_the_commit_that_it_planted() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bisect/run");
    let done = Command::new(example)
        .args([
            "--lapwing",
            &assert_cmd::cargo::cargo_bin!("lapwing")
                .display()
                .to_string(),
        ])
        .args(["--commits", "20", "--slowdown", "0.5", "--seconds", "0.001"])
        // Simulated times, so that the machine does not matter.
        .args(["--metric", "planned"])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && told.ends_with("right\n"),
        "{done:?}"
    );
}
