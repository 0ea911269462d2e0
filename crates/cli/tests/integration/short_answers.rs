//! Answers in JSON are short by default: what was asked, and what changed.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::nights_fixture::{self, Nights};
use crate::noise_fixture;
use crate::program::{output, run};
use crate::records_fixture::{Records, holding};

/// Returns an answer and its size.
fn answered(folder: &TempDir, words: &[&str]) -> (Value, usize) {
    let words = [words, &["--format", "json"]].concat();
    let done = output(folder.path(), &words);
    let out = done.stdout;
    assert!(
        !out.is_empty(),
        "{done:?}",
        done = String::from_utf8(done.stderr)
    );
    (serde_json::from_slice(&out).unwrap(), out.len())
}

#[test]
fn two_changes_in_a_thousand_histories_are_no_long_answer() {
    let names: Vec<String> = (0..1000).map(|number| format!("test_{number}")).collect();
    let nights = names.iter().enumerate().map(|(number, name)| {
        let nights: Nights = match number {
            300 => |night| Some(if night < 12 { 1.0 } else { 2.0 }),
            700 => |night| Some(if night < 21 { 1.0 } else { 0.5 }),
            _ => nights_fixture::QUIET,
        };
        (name.as_str(), nights)
    });
    let folder = nights_fixture::history(24, &nights.collect::<Vec<_>>());
    let (answer, size) = answered(&folder, &["detect"]);
    assert_eq!(answer["histories"], 1000);
    assert_eq!(answer["verdict"], "regression");
    assert_eq!(answer["changes"].as_array().unwrap().len(), 2);
    assert_eq!(answer["omitted_rows"], 0);
    assert!(size < 10_000, "{size} bytes");
    let (answer, _) = answered(&folder, &["detect", "--full"]);
    assert_eq!(answer["series"].as_array().unwrap().len(), 1000);
    assert_eq!(answer["omitted_rows"], 0);
    let fields = ["detect", "--limit", "1", "--fields", "id,benchmark"];
    let (answer, _) = answered(&folder, &fields);
    let finding = &answer["changes"][0]["findings"][0];
    assert_eq!(finding.as_object().unwrap().len(), 2);
    assert_eq!(answer["omitted_rows"], 1);
}

/// Sixty benchmarks in two versions, two of which changed.
fn sixty() -> TempDir {
    let mut all = Records::default();
    for (day, version) in [(1, "1.0"), (2, "2.0")] {
        let run = all.run(day, version);
        for position in 0..5_u32 {
            for number in 0..60_u32 {
                let factor = match (number, day) {
                    (7, 2) => 1.5,
                    (9, 2) => 0.5,
                    _ => 1.0,
                };
                let noise = f64::from((position * 7 + number * 3) % 11) / 2000.0;
                let value = factor * (1.0 + noise);
                let id = format!("test_{number:02}");
                all.instance(&run, &id, position, "node1", "wall_time", &[value; 3]);
            }
        }
    }
    holding(&all.0.text)
}

#[test]
fn of_many_comparisons_only_changes_are_listed() {
    let folder = sixty();
    let sides = ["compare", "version:1.0", "version:2.0"];
    let (answer, size) = answered(&folder, &sides);
    let rows = answer["comparisons"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["benchmark"]).collect();
    assert_eq!(names, ["test_07", "test_09"]);
    assert_eq!(answer["compared"], 60);
    assert_eq!(answer["omitted_rows"], 58);
    assert!(size < 8_000, "{size} bytes");
    let (full, _) = answered(&folder, &[&sides[..], &["--full"]].concat());
    assert_eq!(full["comparisons"].as_array().unwrap().len(), 60);
    let one = [&sides[..], &["-b", "test_07"]].concat();
    let (_, size) = answered(&folder, &one);
    assert!(size < 4_000, "{size} bytes");
}

#[test]
fn detectable_slowdowns_of_one_method_are_no_long_answer() {
    let folder = noise_fixture::filled();
    let (answer, size) = answered(&folder, &["mds", "-b", "sort"]);
    assert_eq!(
        answer["benchmarks"][0]["minimal"].as_array().unwrap().len(),
        25
    );
    assert!(size < 9_000, "{size} bytes");
    let (full, _) = answered(&folder, &["mds", "-b", "sort", "--full", "--closed-form"]);
    assert_eq!(full["minimal"].as_array().unwrap().len(), 25 * 6);
}

#[test]
fn where_nothing_is_left_every_format_says_the_same() {
    let folder = noise_fixture::filled();
    for command in ["variability", "mds", "plan", "burn-in"] {
        let answers = ["text", "markdown", "csv", "json"].map(|format| {
            let words = [command, "-b", "broken", "--format", format];
            let out = output(folder.path(), &words);
            let said = String::from_utf8(out.stderr).unwrap();
            (out.status.code(), said, out.stdout)
        });
        let [text, markdown, csv, json] = answers;
        assert_eq!(text, markdown);
        assert_eq!(text, csv);
        assert_eq!(text.0, Some(3), "{command}: {}", text.1);
        assert_eq!((text.0, text.1), (json.0, json.1));
        let error: Value = serde_json::from_slice(&json.2).unwrap();
        assert_eq!(error["answer"], "error");
    }
}

#[test]
fn a_file_for_other_programs_is_written_beside_the_answer() {
    let folder = nights_fixture::history(14, &[("quiet", nights_fixture::QUIET)]);
    let done = run(folder.path(), &["detect", "--junit", "junit.xml"]);
    assert!(done.starts_with("no change found"), "{done}");
    let text = fs::read_to_string(folder.path().join("junit.xml")).unwrap();
    assert!(text.contains("quiet"), "{text}");
}
