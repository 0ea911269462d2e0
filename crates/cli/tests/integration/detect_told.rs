//! What `lapwing detect` tells others: a command about new changes, and a badge.

use std::fs;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nights_fixture::{Nights, QUIET, STEP, gate, history, import, nights};
use crate::program::run;

#[test]
fn a_command_is_notified_of_each_new_change_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let two: [(&str, Nights); 2] = [
        ("join", STEP),
        ("sort", |night| Some(if night < 40 { 1.0 } else { 0.7 })),
    ];
    let notify = |command: &str| run(path, &["detect", "--notify", command]);
    let told = || -> Option<Value> {
        let text = fs::read_to_string(path.join("told.json")).ok()?;
        fs::remove_file(path.join("told.json")).unwrap();
        Some(serde_json::from_str(&text).unwrap())
    };
    import(path, &nights(0..20, &two));
    assert!(notify("cat >told.json").ends_with("exit 0"));
    assert_eq!(told(), None);
    import(path, &nights(20..28, &two));
    // A command that fails has not told anybody.
    let failed = notify("cat >told.json; echo no connection; exit 7");
    let failed = failed.split_once("with the histories\n").unwrap().1;
    assert_snapshot!(failed, @"
    no connection
    error: --notify: `cat >told.json; echo no connection; exit 7` failed with exit status: 7
      its changes count as not reported: the next --notify reports them again
    exit 2
    ");
    let first = told().unwrap();
    assert_snapshot!(first["text"].as_str().unwrap(), @"join: regression 1.201× [1.198, 1.204], 0.998 s → 1.20 s, in v19..v20");
    assert_eq!(first["changes"][0]["findings"][0]["benchmark"], "join");
    assert!(notify("cat >told.json").ends_with("exit 0"));
    assert_eq!(told().unwrap(), first);
    assert!(notify("cat >told.json").ends_with("exit 0"));
    assert_eq!(told(), None);
    // It still is open, and more runs do not make it new.
    assert_eq!(gate(path, "regression"), 1);
    import(path, &nights(28..40, &two));
    assert!(notify("cat >told.json").ends_with("exit 0"));
    assert_eq!(told(), None);
    import(path, &nights(40..60, &two));
    // Nor does it matter whether the command reads its input.
    assert!(notify("true").ends_with("exit 0"));
    assert!(notify("cat >told.json").ends_with("exit 0"));
    assert_eq!(told(), None);
    let answer = run(path, &["db", "annotations", "--format", "csv"]);
    assert_eq!(
        answer.matches("notified: wall_time of").count(),
        2,
        "{answer}"
    );
}

#[test]
fn a_badge_counts_regressions_as_the_sentence_does() {
    let badge = |folder: TempDir| {
        let done = run(folder.path(), &["detect", "--badge", "badge.svg"]);
        assert!(!done.contains("error"), "{done}");
        fs::read_to_string(folder.path().join("badge.svg")).unwrap()
    };
    let title = |image: String| {
        let (_, rest) = image.split_once("<title>").unwrap();
        rest.split_once("</title>").unwrap().0.to_owned()
    };
    assert_snapshot!(badge(history(40, &[("join", STEP)])), @r##"<svg xmlns="http://www.w3.org/2000/svg" width="168" height="20" role="img" aria-label="performance: 1 regression"><title>performance: 1 regression</title><rect width="81" height="20" fill="#424242"></rect><rect x="81" width="87" height="20" fill="#c62828"></rect><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="6" y="14" textLength="69">performance</text><text x="87" y="14" textLength="75">1 regression</text></g></svg>"##);
    assert_eq!(
        title(badge(history(40, &[("join", STEP), ("scan", STEP)]))),
        "performance: 2 regressions"
    );
    assert_eq!(
        title(badge(history(40, &[("join", QUIET)]))),
        "performance: no regressions"
    );
    assert_eq!(
        title(badge(history(5, &[("join", QUIET)]))),
        "performance: not judged"
    );
    let faster: Nights = |night| Some(if night < 20 { 1.0 } else { 0.8 });
    assert_eq!(
        title(badge(history(40, &[("join", faster)]))),
        "performance: 1 improvement"
    );
}

/// Adds values of two metrics of a night.
fn measured(lines: &mut RecordLines, night: u32, version: Value, metrics: Value) {
    let started = format!("2026-{:02}-{:02}T02:00:00Z", 1 + night / 28, 1 + night % 28);
    let session = lines.session(&started, json!({"suite": "s"}));
    let run = lines.run(&session, json!({"version": version}));
    let instance = lines.instance(&run, "join", json!({}));
    lines.iteration(&instance, 0, json!({"metrics": metrics}));
    lines.instance_end(&instance);
}

fn noise(night: u32) -> f64 {
    1.0 + 0.002 * f64::from(night * 7 % 11)
}

#[test]
fn of_a_commit_that_was_measured_in_several_nights_the_night_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = RecordLines::after(0);
    for night in 0..40 {
        let level = if night < 25 { 1.0 } else { 1.3 };
        let commit = if night < 15 {
            "aaaaaaaaaa1"
        } else {
            "bbbbbbbbbb2"
        };
        let version = json!({"commit": commit, "date": "2025-12-01T00:00:00Z"});
        measured(
            &mut lines,
            night,
            version,
            json!({"wall_time": level * noise(night)}),
        );
    }
    import(folder.path(), &lines.text);
    assert_snapshot!(run(folder.path(), &["detect"]), @"
    1 new regression   (1 history, 40 runs, FDR 5 %)

     benchmark  before   after  change                 since                    verdict       id
     join       1.01 s  1.31 s  1.302× [1.296, 1.307]  bbbbbbbbbb (2026-01-26)  ✗ regression  7127c14c

    note: bbbbbbbbbb, between 2026-01-25 and 2026-01-26
    next: `lapwing triage acknowledge 7127c14c` marks it as known, `lapwing report`
    writes pages with the histories
    exit 0
    ");
    run(folder.path(), &["report"]);
    let page = fs::read_to_string(folder.path().join("lapwing-report/changes.html")).unwrap();
    assert!(page.contains("bbbbbbbbbb, 2026-01-26"), "{page}");
}

#[test]
fn a_regression_is_suggested_for_triage_before_a_change_without_a_direction() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = RecordLines::after(0);
    for night in 0..60 {
        let time = if night < 25 { 1.0 } else { 1.2 };
        let widgets = if night < 40 { 100.0 } else { 300.0 };
        let metrics =
            json!({"wall_time": time * noise(night), "widgets": widgets * noise(night + 3)});
        measured(
            &mut lines,
            night,
            json!({"name": format!("v{night}")}),
            metrics,
        );
    }
    import(folder.path(), &lines.text);
    assert_snapshot!(run(folder.path(), &["detect"]), @"
    1 new regression and 1 new change   (2 histories, 60 runs, FDR 5 %)

        benchmark  metric     before   after  change                 since  verdict       id
     1  join       widgets       101     303  3.00× [2.99, 3.01]     v40    · change      1dc6ebf9
     2  join       wall_time  1.01 s  1.21 s  1.201× [1.197, 1.205]  v25    ✗ regression  1b38d58e

    note: change 1: v39..v40, 2026-02-13
    note: change 2: v24..v25, 2026-01-26
    note: the runs are in order of the names of the versions, which have no dates
    next: `lapwing triage acknowledge 1b38d58e` marks change 2 as known,
    `lapwing report` writes pages with the histories
    exit 0
    ");
}
