//! The table of a session with several variants, and the notes below it.

use std::fs;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::run;

/// Measurements to imitate.
struct Imitated {
    variants: [&'static str; 2],
    benchmarks: usize,
    /// Scatter of the instances, as a share.
    noise: f64,
    /// Other programs' load during the instances.
    load: f64,
}

/// A store with a session of two variants, the second of which makes the first benchmark 14 % slower.
fn session(imitated: &Imitated) -> TempDir {
    let mut lines = RecordLines::default();
    let session = lines.session("2026-11-20T10:00:00Z", json!({"name": "ab"}));
    let metrics = json!({
        "wall_time": {"unit": "s", "better": "lower"},
        "user_time": {"unit": "s", "better": "lower"},
        "peak_memory": {"unit": "B", "better": "lower"},
        "rows": {"unit": "1"},
    });
    let runs = imitated
        .variants
        .map(|it| lines.run(&session, json!({"variant": it, "metrics": metrics})));
    let mut position = 0_u32;
    for block in 0..6_u32 {
        for number in 0..imitated.benchmarks {
            for (side, run) in runs.iter().enumerate() {
                let benchmark = format!("b{number:02}");
                let more = json!({"block": block, "position": position});
                let instance = lines.instance(run, &benchmark, more);
                position += 1;
                // Scattered like noise, and always the same.
                let scatter = f64::from((position * 7_919 + block * 104_729) % 1_009) / 1_009.0;
                let slow = if side == 1 && number == 0 { 1.14 } else { 1.0 };
                let value = slow * (1.0 + imitated.noise * (scatter - 0.5));
                let metrics = json!({
                    "wall_time": value,
                    "user_time": value / 4.0,
                    "peak_memory": 50_000_000 + position % 3,
                    "rows": 1_000 + position % 2,
                });
                lines.iteration(&instance, 0, json!({"metrics": metrics}));
                let observed = json!({"other_load": imitated.load});
                let end = json!({"instance": instance, "observed": observed});
                lines.line("instance_end", end);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.jsonl"), lines.text).unwrap();
    let done = run(folder.path(), &["import", "in.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    folder
}

const CALM: Imitated = Imitated {
    variants: ["main", "topic"],
    benchmarks: 3,
    noise: 0.02,
    load: 0.0,
};

#[test]
fn variants_are_columns_and_a_benchmark_is_a_row() {
    let folder = session(&CALM);
    assert_snapshot!(run(folder.path(), &["show"]), @"");
    assert_snapshot!(run(folder.path(), &["show", "--format", "markdown"]), @"");
}

#[test]
fn variants_are_rows_where_columns_do_not_fit() {
    let long = Imitated {
        variants: [
            "the-main-branch-as-of-november-with-all-of-its-optimisations-switched-on",
            "the-topic-branch-as-of-november-with-all-of-its-optimisations-switched-on",
        ],
        ..CALM
    };
    let text = run(session(&long).path(), &["show"]);
    for (number, variant) in [(0, 0), (0, 1), (2, 1)] {
        let row = format!("b0{number}  {}", long.variants[variant]);
        assert!(text.contains(&row), "{text}");
    }
    assert!(!text.contains("ratio"), "{text}");
}

#[test]
fn everything_is_listed_on_request_and_for_programs() {
    let folder = session(&CALM);
    let full = run(folder.path(), &["show", "--full"]);
    assert_eq!(full.matches("rows ").count(), 6, "{full}");
    assert!(
        full.contains("b01: topic against main: no change"),
        "{full}"
    );
    let csv = run(folder.path(), &["show", "--format", "csv"]);
    // The wall time, the peak memory and the rows of each benchmark and variant, titles, and the exit code.
    assert_eq!(csv.lines().count(), 3 * 2 * 3 + 2, "{csv}");
    let json = run(folder.path(), &["show", "--format", "json"]);
    let json: Value = serde_json::from_str(json.strip_suffix("exit 0").unwrap()).unwrap();
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 3);
    let notes = json["notes"].as_array().unwrap().iter();
    let compared = notes.filter(|note| note["code"] == "comparison").count();
    assert_eq!(compared, 3);
}

#[test]
fn of_more_than_twelve_benchmarks_the_unchanged_are_a_line() {
    let rows = |benchmarks: usize| {
        let text = run(session(&Imitated { benchmarks, ..CALM }).path(), &["show"]);
        let rows = text.lines().filter(|line| line.starts_with(" b")).count();
        // One is the title.
        (rows - 1, text.contains("not shown: "), text)
    };
    let (twelve, is_folded, _) = rows(12);
    assert_eq!((twelve, is_folded), (12 + 1, false));
    let (thirteen, is_folded, text) = rows(13);
    assert_eq!((thirteen, is_folded), (1 + 1, true), "{text}");
    assert!(text.contains("not shown: 12 unchanged within "), "{text}");
}

#[test]
fn what_a_metric_is_asked_for_is_all_that_is_shown() {
    let folder = session(&CALM);
    let text = run(folder.path(), &["show", "--metric", "user_time"]);
    assert_snapshot!(text, @"");
    // The wall times are about 1 s.
    for words in [
        &["show", "--metric", "user_time", "--full"][..],
        &["show", "--metric", "user_time", "--format", "json"],
        &["show", "--metric", "user_time", "--format", "csv"],
        &[
            "compare",
            "variant:main",
            "variant:topic",
            "--metric",
            "user_time",
        ],
    ] {
        let text = run(folder.path(), words);
        assert!(
            !text.contains("wall_time") && !text.contains("1.0"),
            "{text}"
        );
        assert!(text.contains("25"), "{text}");
    }
}

#[test]
fn a_busy_machine_is_told_with_the_differences_that_it_hides() {
    let noise = |noise: f64, load: f64| {
        let text = run(
            session(&Imitated {
                noise,
                load,
                ..CALM
            })
            .path(),
            &["show"],
        );
        let notes = text.lines().filter(|line| line.contains("other programs"));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    let busy = noise(0.2, 1.5);
    assert_snapshot!(busy.join("\n"), @"");
    // A load that does not disturb hides nothing, and noise alone is no load.
    let undisturbed = noise(0.01, 1.5);
    assert!(
        !undisturbed.concat().contains("may not be seen"),
        "{undisturbed:?}"
    );
    assert_eq!(noise(0.2, 0.0), Vec::<String>::new());
}
