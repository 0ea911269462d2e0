//! `lapwing compare` of sides from different sessions: what these differ by is in the answer.

use std::fs;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// What sessions differ by, as logarithms: of the earlier ones, then of the compared ones.
const EARLIER: [f64; 10] = [
    0.05, -0.04, 0.01, 0.07, -0.06, -0.01, 0.03, -0.05, 0.06, -0.03,
];
const TODAY: [f64; 4] = [-0.04, 0.02, 0.05, 0.06];
const INSTANCES: [f64; 5] = [0.01, -0.01, 0.0, 0.015, -0.015];

/// Returns a folder with a store: so many earlier sessions of `1.0`, then sessions of `1.0` and `1.1` in turn.
fn stored(earlier: usize, sessions_per_side: usize, factor: f64) -> TempDir {
    stored_after(&[], earlier, sessions_per_side, factor)
}

/// Returns the same with first sessions of these versions, which are slow.
fn stored_after(
    slow: &[&'static str],
    earlier: usize,
    sessions_per_side: usize,
    factor: f64,
) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    let slow = slow.iter().map(|version| (*version, 0.3));
    let before = slow.chain(EARLIER[..earlier].iter().map(|log| ("1.0", *log)));
    // The baseline's first.
    let baseline = TODAY[..sessions_per_side].iter().map(|log| ("2.0", *log));
    let candidate = TODAY[4 - sessions_per_side..].iter();
    let candidate = candidate.map(|log| ("2.1", *log + factor.ln()));
    for (day, (version, log)) in before.chain(baseline).chain(candidate).enumerate() {
        let started = format!("2026-11-{:02}T10:00:00Z", day + 1);
        let session = lines.session(&started, json!({"name": format!("day{day}")}));
        let version = match version {
            "topic" => json!({"name": "1.0", "branch": "topic"}),
            "dirty" => json!({"name": "1.0", "dirty": true}),
            main => json!({"name": main, "branch": "main"}),
        };
        let run = lines.run(&session, json!({"variant": "a", "version": version}));
        for (position, noise) in INSTANCES.iter().enumerate() {
            let place = json!({"block": position, "position": position});
            let instance = lines.instance(&run, "join", place);
            let value = (log + noise).exp();
            lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("records.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "records.jsonl"]);
    folder
}

fn row(folder: &TempDir, more: &[&str]) -> Value {
    let words = [&["compare", "2.0", "2.1", "--format", "json"], more].concat();
    let answer: Value = serde_json::from_slice(&output(folder.path(), &words).stdout).unwrap();
    answer["comparisons"][0].clone()
}

#[test]
fn what_earlier_sessions_differ_by_is_in_the_interval() {
    let folder = stored(10, 1, 1.0);
    assert_snapshot!(run(folder.path(), &["compare", "2.0", "2.1"]), @"
    2.1 against 2.0: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict      baseline  candidate  instances  note
     join       1.11×  [0.95, 1.29]  ? undecided   0.961 s     1.06 s      5 / 5  needs about 11 sessions per side

    note: the sides are from different sessions, which differ by about 4.8 %
    (standard deviation, from 10 earlier sessions): intervals and p-values allow for
    it
    note: the unit of replication is the session: 1 per side
    note: measured anew with as many instances as a row needs, it is decided with a
    probability of 80 %
    exit 0
    ");
    let row = row(&folder, &[]);
    assert_eq!(row["replication"], "session");
    assert_eq!(row["earlier_sessions"], 10);
    assert_eq!(row["session_freedom"], 9.0);
    assert_eq!(row.get("cautions"), None);
}

#[test]
fn sessions_of_other_branches_and_of_uncommitted_changes_are_no_noise() {
    let numbers = |folder: &TempDir| {
        let row = row(folder, &[]);
        ["ratio", "lower", "upper", "earlier_sessions"].map(|it| row[it].clone())
    };
    let clean = numbers(&stored(10, 1, 1.0));
    let mixed = stored_after(&["topic", "dirty", "topic", "topic"], 10, 1, 1.0);
    assert_eq!(numbers(&mixed), clean);
    // A slow session of the default branch counts.
    assert_ne!(numbers(&stored_after(&["1.0"], 10, 1, 1.0)), clean);
}

#[test]
fn a_large_change_is_found_across_sessions_and_its_selection_is_told() {
    let folder = stored(10, 1, 1.1);
    assert_snapshot!(run(folder.path(), &["compare", "2.0", "2.1"]), @"
    2.1 against 2.0: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict       baseline  candidate  instances  note
     join       1.22×  [1.04, 1.42]  ✗ regression   0.961 s     1.17 s      5 / 5  likely nearer 1.17× [0.94, 1.40], as it stood out

    note: the sides are from different sessions, which differ by about 4.8 %
    (standard deviation, from 10 earlier sessions): intervals and p-values allow for
    it
    note: the unit of replication is the session: 1 per side
    exit 0
    ");
    let row = row(&folder, &[]);
    assert_eq!(row["verdict"], "regression");
    assert!(
        row["likely_ratio"].as_f64() < row["ratio"].as_f64(),
        "{row}"
    );
}

#[test]
fn two_sessions_a_side_are_two_values_a_side() {
    for more in [&[][..], &["--min-sessions", "2"]] {
        let row = row(&stored(0, 2, 1.0), more);
        assert_eq!(row["replication"], "session", "{more:?}");
        assert_eq!(row["replicates"], 2);
        assert_eq!(row["verdict"], "inconclusive");
        assert_eq!(row["session_sd"], Value::Null);
    }
    // Other methods judge instances.
    let row = row(
        &stored(0, 2, 1.0),
        &["--min-sessions", "2", "--method", "welch"],
    );
    assert_eq!(row["reason"], "few_sessions");
}

#[test]
fn one_session_a_side_is_judged_within_these_sessions_where_nothing_else_is_known() {
    let folder = stored(0, 1, 1.0);
    assert_snapshot!(run(folder.path(), &["compare", "2.0", "2.1"]), @"
    2.1 against 2.0: 1 regression within these sessions   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict                             baseline  candidate  instances
     join       1.11×  [1.08, 1.13]  ✗ regression within these sessions   0.961 s     1.06 s      5 / 5

    note: join: the sides are from different sessions, so a change of the machine
    may look like a change of the benchmark; measure variants in one session, or
    three sessions per side
    exit 0
    ");
    let row = row(&folder, &[]);
    assert_eq!(row["cautions"][0]["caution"], "one_session");
}
