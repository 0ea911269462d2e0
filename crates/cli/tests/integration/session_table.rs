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

/// Returns a share that is scattered like noise, and always the same.
fn scatter(number: u32) -> f64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9);
    mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from(mixed ^ (mixed >> 16)) / f64::from(u32::MAX)
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
                let scatter = scatter(position);
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
    assert_snapshot!(run(folder.path(), &["show"]), @"

     benchmark     main    topic  ratio                    peak memory  cv               instances
     b00        1.000 s  1.137 s  ✗ 1.14× [1.13, 1.15]     47.7 MiB     0.80 % / 0.58 %  6 × 1
     b01        1.001 s  0.998 s  = 0.997× [0.989, 1.005]  47.7 MiB     0.49 % / 0.53 %  6 × 1
     b02         996 ms   998 ms  = 1.002× [0.994, 1.010]  47.7 MiB     0.49 % / 0.74 %  6 × 1
     also measured: rows (`--full` shows all)

     3 comparisons: 1 regression, 2 unchanged within 1.2 %
     b00: topic is 1.14× slower than main (95 % CI 1.13–1.15×).
    next: `lapwing report` shows more
    session `ab` of 2026-11-20 10:00 UTC: suite `s`, 36 instances, measured by t
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &["show", "--format", "markdown"]), @r"
    **3 comparisons: 1 regression, 2 unchanged within 1.2 %**

    | benchmark | main | topic | ratio | peak memory | cv | instances |
    |---|---:|---:|---|---|---|---|
    | b00 | 1.000 s | 1.137 s | ✗ 1.14× \[1.13, 1.15\] | 47.7 MiB | 0.80 % / 0.58 % | 6 × 1 |
    | b01 | 1.001 s | 0.998 s | = 0.997× \[0.989, 1.005\] | 47.7 MiB | 0.49 % / 0.53 % | 6 × 1 |
    | b02 | 996 ms | 998 ms | = 1.002× \[0.994, 1.010\] | 47.7 MiB | 0.49 % / 0.74 % | 6 × 1 |

    - also measured: rows (`--full` shows all)
    - b00: topic is 1.14× slower than main (95 % CI 1.13–1.15×).
    - next: `lapwing report` shows more
    exit 0
    ");
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
    assert_snapshot!(text, @"

     benchmark    main   topic  ratio                    cv               instances
     b00        250 ms  284 ms  ✗ 1.14× [1.13, 1.15]     0.80 % / 0.58 %  6 × 1
     b01        250 ms  250 ms  = 0.997× [0.989, 1.005]  0.49 % / 0.53 %  6 × 1
     b02        249 ms  250 ms  = 1.002× [0.994, 1.010]  0.49 % / 0.74 %  6 × 1

     3 comparisons: 1 regression, 2 unchanged within 1.2 %
     b00: topic is 1.14× slower than main (95 % CI 1.13–1.15×).
    next: `lapwing report` shows more
    session `ab` of 2026-11-20 10:00 UTC: suite `s`, 36 instances, measured by t
    exit 0
    ");
    // The wall times are about 1 s, these are about 250 ms.
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
        let is_of_wall_time = text.contains("wall_time") || text.contains(" s ");
        assert!(!is_of_wall_time, "{text}");
        let has_values = text.contains("0.2") || text.contains("25");
        assert!(has_values, "{text}");
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
    assert_snapshot!(busy.join("\n"), @"note: b00  main and 5 more: other programs kept more than 0.5 CPUs busy during 6 of 6 instances, so differences below about 8.6 % may not be seen");
    // A load that does not disturb hides nothing, and noise alone is no load.
    let undisturbed = noise(0.01, 1.5);
    assert!(
        !undisturbed.concat().contains("may not be seen"),
        "{undisturbed:?}"
    );
    assert_eq!(noise(0.2, 0.0), Vec::<String>::new());
}
