//! `lapwing detect` on the history of a real repository, made by `examples/nightly/make-history`: a planted slowdown, an
//! improvement, a drift and a change of the host.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::nights_fixture::findings;
use crate::program::{output, run};

/// Returns the repository with its measurements in its store.
pub fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nightly/make-history");
    let made = Command::new(script)
        .arg(&path)
        .arg("--record")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let done = run(&path, &["import", "history.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    folder
}

fn json(folder: &Path, words: &[&str]) -> Value {
    let output = output(folder, &[words, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns the commits after `good` up to `last`, oldest first: the suspects of a change.
fn suspects(repository: &Path, change: &Value) -> Vec<String> {
    let [good, last] = ["good", "last"].map(|end| text(&change[end]["commit"]));
    let commits = Command::new("git")
        .args(["rev-list", "--reverse", &format!("{good}..{last}")])
        .current_dir(repository)
        .output()
        .unwrap();
    let commits = String::from_utf8(commits.stdout).unwrap();
    commits.lines().map(str::to_owned).collect()
}

#[test]
fn what_was_planted_in_a_repository_is_found_with_its_commits_and_nothing_else() {
    let folder = repository();
    let path = &folder.path().join("words");
    let planted = fs::read_to_string(path.join("planted.json")).unwrap();
    let planted: Value = serde_json::from_str(&planted).unwrap();
    let answer = json(path, &["detect", "--full"]);
    let found: BTreeSet<String> = answer["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let first = &change["findings"][0];
            let suspects = suspects(path, change);
            assert!(suspects.len() < 60, "{suspects:?}");
            let has = |commit: &Value| suspects.iter().any(|it| it == text(commit));
            let what = format!("{} {}", text(&first["kind"]), text(&first["direction"]));
            if first["state"] == "explained" {
                assert!(has(&planted["new host"]["commit"]));
                assert_eq!(first["since"]["commit"], planted["new host"]["commit"]);
                assert!(change["findings"].as_array().unwrap().len() >= 5);
                return format!("explained {what}: {}", text(&first["explained"]["text"]));
            }
            let benchmark = text(&first["benchmark"]);
            let of_benchmark = |it: &&Value| it["benchmark"] == benchmark;
            let truth = planted.as_object().unwrap().values().find(of_benchmark);
            let truth = truth.unwrap_or_else(|| panic!("nothing was planted in {benchmark}"));
            match truth["commits"].as_array() {
                Some(commits) => {
                    let caught = commits.iter().filter(|it| has(it)).count();
                    assert!(caught + 2 >= commits.len(), "{caught} of {commits:?}");
                }
                None => {
                    assert!(suspects.len() <= 3, "{suspects:?}");
                    assert!(has(&truth["commit"]), "{change}");
                    assert_eq!(first["since"]["commit"], truth["commit"]);
                }
            }
            format!("{what}: {benchmark}")
        })
        .collect();
    let expected = [
        "drift regression: index",
        "explained step regression: host runner-1 → runner-2",
        "step improvement: similar",
        "step regression: count",
    ];
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
    let gate = |more: &[&str]| {
        let words = [&["detect", "--fail-on", "regression"], more].concat();
        output(path, &words).status.code().unwrap()
    };
    assert_eq!(gate(&[]), 1);
    assert_eq!(
        gate(&["--benchmark", "similar", "--where", "until=2026-02-20"]),
        0
    );
    // Changes that were explained do not fail the gate again.
    let findings = findings(&answer);
    let mut ids: Vec<&str> = findings
        .iter()
        .map(|finding| text(&finding["id"]))
        .collect();
    ids.splice(0..0, ["triage", "explain"]);
    let said = run(path, &ids);
    assert!(said.ends_with("exit 0"), "{said}");
    assert_eq!(gate(&[]), 0);
}
