//! `lapwing compare` of branches and commits beside runs with uncommitted changes, of patterns with brackets, and after
//! triage.

use std::fs;
use std::path::Path;

use lapwing_testing::{RecordLines, benchmark_page};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

fn answer(folder: &Path, words: &[&str]) -> (Value, Option<i32>) {
    let done = output(folder, &[words, &["--format", "json"]].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap();
    (answer, done.status.code())
}

/// Returns the number of a note with this code.
fn number_of(answer: &Value, code: &str, number: &str) -> Value {
    let notes = answer["notes"].as_array().unwrap();
    let note = notes.iter().find(|it| it["code"] == code);
    note.map_or(Value::Null, |it| it[number].clone())
}

/// Adds a night with three instances of a benchmark.
fn night(lines: &mut RecordLines, day: usize, version: Value, level: f64) {
    let started = format!("2026-03-{day:02}T10:00:00Z");
    let session = lines.session(&started, json!({}));
    let run = lines.run(&session, json!({"version": version}));
    for part in 0..3 {
        let instance = lines.instance(&run, "b", json!({"block": part, "position": part}));
        let noise = 0.002 * f64::from(u8::try_from((7 * day + 3 * part) % 5).unwrap());
        let wall_time = level * (1.0 + noise);
        lines.iteration(&instance, 0, json!({"metrics": {"wall_time": wall_time}}));
        lines.instance_end(&instance);
    }
}

/// Returns a folder with a store of six nights of main, two of them measured again with uncommitted changes and half as
/// slow again, and three of a topic branch.
fn with_uncommitted_changes() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    let commit = |number: usize| number.to_string().repeat(40);
    for number in 1..=6 {
        let version = json!({"branch": "main", "commit": commit(number), "dirty": false});
        night(&mut lines, 2 * number, version, 1.0);
    }
    for number in [1, 6] {
        let version = json!({"branch": "main", "commit": commit(number), "dirty": true});
        night(&mut lines, 2 * number + 1, version, 1.5);
    }
    for number in [7, 8, 9] {
        let version = json!({"branch": "topic", "commit": commit(number), "dirty": false});
        night(&mut lines, 2 * number, version, 1.3);
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    folder
}

#[test]
fn uncommitted_changes_are_no_part_of_a_branch_or_commit() {
    let folder = with_uncommitted_changes();
    let of = |words: &[&str]| answer(folder.path(), &[&["compare"], words].concat()).0;
    let level = |answer: &Value, side: &str| {
        let mean = answer["comparisons"][0][side].as_f64().unwrap();
        format!("{mean:.1}")
    };
    for (baseline, left_out) in [("last 5 of main", 1), ("branch:main", 2)] {
        let answer = of(&[baseline, "branch:topic"]);
        assert_eq!(level(&answer, "baseline_value"), "1.0", "{baseline}");
        assert_eq!(answer["verdicts"]["regression"], 1, "{baseline}");
        assert_eq!(number_of(&answer, "uncommitted", "runs"), left_out);
    }
    for commit in ["commit:6666", "6666"] {
        let answer = of(&["last 3 of main", commit]);
        assert_eq!(level(&answer, "candidate_value"), "1.0", "{commit}");
        assert_eq!(number_of(&answer, "uncommitted", "runs"), 1);
    }
    // They count if they are named.
    let answer = of(&["branch:topic", "version:6666666666+"]);
    assert_eq!(level(&answer, "candidate_value"), "1.5");
    assert_eq!(number_of(&answer, "uncommitted", "runs"), Value::Null);
    let answer = of(&["commit:6666", "6666666666+"]);
    assert_eq!(level(&answer, "candidate_value"), "1.5");
    assert_eq!(number_of(&answer, "uncommitted", "runs"), Value::Null);
}

#[test]
fn the_latest_value_of_a_report_is_of_the_branch_that_is_judged() {
    let folder = with_uncommitted_changes();
    run(folder.path(), &["report"]);
    let page = benchmark_page(&folder.path().join("lapwing-report"), "");
    let start = page.find("<section class=\"headline").unwrap();
    let sentence = &page[start..start + page[start..].find("</section>").unwrap()];
    assert!(sentence.contains("6666666666"), "{sentence}");
    assert!(sentence.contains("1.00"), "{sentence}");
    // Not against the topic branch or what was not committed.
    assert!(
        sentence.contains("against the run of 2026-03-10"),
        "{sentence}"
    );
}

/// Writes results of hyperfine, which have no version.
fn write_hyperfine(path: &Path, level: f64) {
    let times: Vec<f64> = (0..5)
        .map(|it| level * (1.0 + 0.001 * f64::from(it)))
        .collect();
    let result = json!({"command": "sort", "mean": level, "stddev": 0.001, "median": level, "user": 0.1, "system": 0.1,
        "min": times[0], "max": times[4], "times": times, "exit_codes": [0, 0, 0, 0, 0]});
    fs::write(path, json!({"results": [result]}).to_string()).unwrap();
}

#[test]
fn patterns_may_have_brackets_only_and_files_without_versions_are_pooled() {
    let folder = TempDir::new().unwrap();
    for (number, noise) in [(1, 0.001), (2, 0.003), (3, 0.002)] {
        for (side, level) in [("a", 1.0), ("b", 1.2)] {
            let path = folder.path().join(format!("{side}{number}.json"));
            write_hyperfine(&path, level + noise);
        }
    }
    let (found, code) = answer(folder.path(), &["compare", "a[123].json", "b[1-3].json"]);
    assert_eq!(
        (&found["verdicts"]["regression"], code),
        (&json!(1), Some(0))
    );
    assert_eq!(number_of(&found, "pooled", "sessions"), json!([3, 3]));
    assert_eq!(number_of(&found, "pooled", "versions"), json!([0, 0]));
    let (imported, code) = answer(folder.path(), &["import", "a[12].json"]);
    assert_eq!(
        (imported["files"].as_array().map(Vec::len), code),
        (Some(2), Some(0))
    );
    // A file may have such a name.
    fs::rename(
        folder.path().join("a1.json"),
        folder.path().join("a[1].json"),
    )
    .unwrap();
    let (found, _) = answer(folder.path(), &["compare", "a[1].json", "b1.json"]);
    assert_eq!(number_of(&found, "pooled", "sessions"), Value::Null);
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 1);
}

#[test]
fn triage_of_a_change_has_no_part_in_a_comparison() {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    for day in 1..=28 {
        let level = if day < 20 { 1.0 } else { 1.2 };
        let weather = 1.0 + 0.01 * f64::from(u8::try_from((5 * day) % 7).unwrap());
        night(
            &mut lines,
            day,
            json!({"name": format!("v{day}")}),
            level * weather,
        );
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    let compared = || answer(folder.path(), &["compare", "v19", "v28"]);
    let before = compared();
    let (found, _) = answer(folder.path(), &["detect"]);
    let id = found["changes"][0]["findings"][0]["id"].as_str().unwrap();
    run(folder.path(), &["triage", "acknowledge", id, "--by", "Ann"]);
    assert_eq!(answer(folder.path(), &["detect"]).0["counts"]["known"], 1);
    assert_eq!(compared(), before);
}
