//! The runs that sides have which are conditions: those that `lapwing detect` judges.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{git, git_at};
use crate::program::{output, run};

fn answer(folder: &Path, words: &[&str]) -> Value {
    let done = output(folder, &[words, &["--format", "json"]].concat());
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Returns the number of a note with this code.
fn number_of(answer: &Value, code: &str, number: &str) -> Value {
    let notes = answer["notes"].as_array().unwrap();
    let note = notes.iter().find(|it| it["code"] == code);
    note.map_or(Value::Null, |it| it[number].clone())
}

/// Returns the levels of both sides.
fn levels(answer: &Value) -> String {
    let level = |side: &str| answer["comparisons"][0][side].as_f64().unwrap_or(f64::NAN);
    format!(
        "{:.1} {:.1}",
        level("baseline_value"),
        level("candidate_value")
    )
}

/// Adds a night with three instances of a benchmark.
fn night(lines: &mut RecordLines, started: &str, version: Value, level: f64) {
    let session = lines.session(started, json!({"suite": "s"}));
    let run = lines.run(&session, json!({"version": version}));
    for part in 0..3 {
        let instance = lines.instance(&run, "b", json!({"block": part, "position": part}));
        let wall_time = level * (1.0 + 0.002 * f64::from(part));
        lines.iteration(&instance, 0, json!({"metrics": {"wall_time": wall_time}}));
        lines.instance_end(&instance);
    }
}

/// Returns a folder with a store of ten nights of main, the last five of which are a fifth slower, five of a branch, which
/// are much slower, and two with uncommitted changes.
fn nights_of_two_branches() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    for day in 1..=10 {
        let level = if day < 6 { 1.0 } else { 1.2 };
        let started = |hour: u32| format!("2026-03-{day:02}T{hour:02}:00:00Z");
        let version = |branch: &str, dirty: bool| json!({"branch": branch, "commit": format!("{day:02}{branch:a>38}"), "dirty": dirty});
        night(&mut lines, &started(1), version("main", false), level);
        if day > 5 {
            night(&mut lines, &started(2), version("idea", false), 5.0);
        }
        if day > 8 {
            night(&mut lines, &started(3), version("main", true), 7.0);
        }
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    folder
}

#[test]
fn conditions_are_of_the_default_branch_as_in_a_history() {
    let folder = nights_of_two_branches();
    let path = folder.path();
    assert_snapshot!(run(path, &["compare", "until:2026-03-06", "since:2026-03-06"]), @"
    since 2026-03-06 against until 2026-03-06: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict       baseline  candidate  instances
     b          1.20×  [1.11, 1.30]  ✗ regression  1.0020 s    1.202 s    15 / 15

    note: pooled: 5 sessions of 5 versions in until 2026-03-06, 5 sessions of 5
    versions in since 2026-03-06
    note: the unit of replication is the session: 5 per side
    note: 2 runs with uncommitted changes are left out; `version:COMMIT+` compares
    them
    note: 1 more note (`--full` shows all)
    exit 0
    ");
    for [baseline, candidate] in [
        ["until 2026-03-06", "since 2026-03-06"],
        ["until=2026-03-06", "last 5"],
        ["until 2026-03-06", "last 5 of main"],
        [
            "until 2026-03-06 of main",
            "variant=default since=2026-03-06",
        ],
    ] {
        let answer = answer(path, &["compare", baseline, candidate]);
        assert_eq!(levels(&answer), "1.0 1.2", "{candidate}");
        assert_eq!(number_of(&answer, "uncommitted", "runs"), 2, "{candidate}");
        let others = if candidate.contains("main") {
            Value::Null
        } else {
            json!(5)
        };
        assert_eq!(
            number_of(&answer, "not_used", "runs"),
            others,
            "{candidate}"
        );
    }
    // Who names a branch or a version gets it.
    let of = |words: &[&str]| levels(&answer(path, &[&["compare"], words].concat()));
    assert_eq!(of(&["branch:main", "last 3 of idea"]), "1.1 5.0");
    assert_eq!(
        of(&["until:2026-03-06", "branch=* since=2026-03-10"]),
        "1.0 2.5"
    );
    let words = [
        "until:2026-03-06",
        "since:2026-03-06",
        "--where",
        "branch=main,idea",
    ];
    let of_all = answer(path, &[&["compare"], &words[..]].concat());
    assert_eq!(number_of(&of_all, "not_used", "runs"), Value::Null);
    // The same holds on the page of a comparison.
    let report = run(
        path,
        &[
            "report",
            "--compare",
            "until:2026-03-06",
            "since:2026-03-06",
        ],
    );
    assert!(report.contains("not used: 5 runs of idea"), "{report}");
}

#[test]
fn a_side_without_runs_of_the_default_branch_is_refused() {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    for day in 1..=8 {
        let branch = if day < 7 { "main" } else { "idea" };
        let version = json!({"branch": branch, "commit": day.to_string().repeat(40)});
        night(
            &mut lines,
            &format!("2026-03-{day:02}T01:00:00Z"),
            version,
            1.0,
        );
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    let words = ["compare", "until:2026-03-07", "since:2026-03-07"];
    assert_snapshot!(run(folder.path(), &words), @"
    error: `since 2026-03-07` selects no run of main, only 2 runs of other branches or commits
      hint: add `of BRANCH` to compare the runs of another branch
    exit 2
    ");
    let words = [
        "compare",
        "last 2 of main",
        "last 2 of idea",
        "--first-parents",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    error: no measured commit is on the line of first parents
      hint: run it in the repository, or name it as `repository` in the suite file
    exit 2
    ");
    // A branch without a repository has no newest commit.
    assert_snapshot!(run(folder.path(), &["compare", "main", "idea"]), @"
    error: `main` is not a variant, version, commit, run, session or file
      hint: available: branch:main, variant:default; `lapwing list runs` shows all
    exit 2
    ");
    let words = ["compare", "commit:1111", "commit:2222", "--first-parents"];
    let answer = answer(folder.path(), &words);
    assert_eq!(
        number_of(&answer, "not_used", "options"),
        json!(["--first-parents"])
    );
}

#[test]
fn the_repository_tells_which_commits_are_of_a_branch() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    git(path, &["init", "-q", "--initial-branch=main"]);
    let mut lines = RecordLines::after(0);
    let mut measure = |day: u32, level: f64, words: &[&str]| {
        let at = format!("2026-03-{day:02}T01:00:00Z");
        git_at(Some(&at), path, words);
        let commit = git(path, &["rev-parse", "HEAD"]);
        night(
            &mut lines,
            &at,
            json!({"commit": commit, "date": at}),
            level,
        );
    };
    let commit = ["commit", "-q", "--allow-empty", "-m", "one"];
    (1..=4).for_each(|day| measure(day, 1.0, &commit));
    git(path, &["checkout", "-q", "-b", "idea"]);
    (5..=7).for_each(|day| measure(day, 2.0, &commit));
    git(path, &["checkout", "-q", "main"]);
    measure(8, 3.0, &["merge", "-q", "--no-ff", "-m", "idea", "idea"]);
    (9..=11).for_each(|day| measure(day, 3.0, &commit));
    let records = lines.text;
    fs::write(path.join("r.jsonl"), &records).unwrap();
    run(path, &["import", "r.jsonl"]);
    let runs = |words: &[&str]| answer(path, words)["runs"].clone();
    for words in [
        &["detect"][..],
        &["detect", "--where", "branch=main"],
        &["detect", "--first-parents"],
    ] {
        assert_eq!(runs(words), 8, "{words:?}");
    }
    assert_eq!(runs(&["detect", "--where", "branch=idea"]), 7);
    let of = |words: &[&str]| answer(path, &[&["compare"], words].concat());
    // The merged commits are of no other branch that is known, and no first parents.
    for words in [
        ["until:2026-03-08", "since:2026-03-08"],
        ["until 2026-03-08 of main", "last 4 of main"],
    ] {
        for more in [&[][..], &["--first-parents"]] {
            assert_eq!(
                levels(&of(&[&words[..], more].concat())),
                "1.0 3.0",
                "{words:?}"
            );
        }
    }
    let found = of(&["until:2026-03-08", "since:2026-03-08"]);
    assert_eq!(number_of(&found, "not_used", "runs"), 3);
    // Without the repository.
    let elsewhere = TempDir::new().unwrap();
    fs::write(elsewhere.path().join("r.jsonl"), &records).unwrap();
    run(elsewhere.path(), &["import", "r.jsonl"]);
    assert_snapshot!(run(elsewhere.path(), &["detect", "--where", "branch=main"]), @"
    error: no run is of branch `main`: none has a recorded branch
      hint: `detect`, `report` and `compare` know the branch of a commit from the repository under test: run them in it, or name it as `repository` in the suite file; version=, commit= and since= choose runs without a branch
    exit 2
    ");
}
