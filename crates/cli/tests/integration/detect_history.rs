//! `lapwing detect` and `lapwing triage` by the real program, on made-up histories.

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use crate::nights_fixture::{Nights, QUIET, STEP, gate, history, ids, import, nights};
use crate::program::{output, run};

/// A benchmark that became slower at v20, a quiet one, one that is measured no more, a new one, and one that only
/// fails since v22.
const MIXED: [(&str, Nights); 5] = [
    ("join", STEP),
    ("quiet", QUIET),
    ("gone", |night| (night < 25).then_some(2.0)),
    ("new", |night| (night >= 36).then_some(0.5)),
    ("broken", |night| Some(if night < 22 { 3.0 } else { -1.0 })),
];

#[test]
fn an_answer_lists_changes_and_what_was_not_tested() {
    let folder = history(40, &MIXED);
    assert_snapshot!(run(folder.path(), &["detect", "--fail-on", "not-measured"]), @"
    2 new regressions   (2 of 5 histories, 40 runs, FDR 5 %)

        benchmark  metric      before   after  change                 since  verdict       id
     1  broken     failures       0 %   100 %  +1.00 [+1.00, +1.00]   v22    ✗ regression  b6074d29
     2  join       wall_time  0.998 s  1.20 s  1.201× [1.199, 1.203]  v20    ✗ regression  78fd772f

    note: change 1: v21..v22, 2026-01-23
    note: change 2: v19..v20, 2026-01-21
    note: not measured any more, and searched until then: gone
    note: no usable value any more: broken
    note: too few runs to test (10 are needed): new
    next: `lapwing triage acknowledge b6074d29` marks change 1 as known,
    `lapwing report` writes pages with the histories
    exit 1
    ");
    assert_snapshot!(run(folder.path(), &["detect", "--format", "markdown", "-b", "join"]), @r"
    1 new regression   (1 history, 40 runs, FDR 5 %)

    | benchmark | before | after | change | since | verdict | id |
    |---|---:|---:|---|---|---|---|
    | join | 0.998 s | 1.20 s | 1.201× \[1.199, 1.203\] | v20 | ✗ regression | 78fd772f |

    note: v19..v20, 2026-01-21

    next: `lapwing triage acknowledge 78fd772f` marks it as known, `lapwing report` writes pages with the histories
    exit 0
    ");
    let done = run(folder.path(), &["detect", "--junit", "junit.xml"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let xml = std::fs::read_to_string(folder.path().join("junit.xml")).unwrap();
    assert_snapshot!(xml, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="lapwing detect"><testsuite name="nightly" tests="6" failures="2" errors="0" skipped="3"><properties><property name="regressions" value="2"></property></properties><testcase classname="nightly" name="broken failures"><failure type="regression" message="regression: 0 % → 100 %, +1.00 [+1.00, +1.00]">in v21..v22</failure></testcase><testcase classname="nightly" name="broken wall_time"><skipped message="no usable value since v21"></skipped></testcase><testcase classname="nightly" name="gone wall_time"><skipped message="not measured since v24"></skipped></testcase><testcase classname="nightly" name="join wall_time"><failure type="regression" message="regression: 0.998 s → 1.20 s, 1.201× [1.199, 1.203]">in v19..v20</failure></testcase><testcase classname="nightly" name="new wall_time"><skipped message="too few runs to test: 4"></skipped></testcase><testcase classname="nightly" name="quiet wall_time"></testcase></testsuite></testsuites>
    "#);
    let csv = run(folder.path(), &["detect", "--format", "csv", "-b", "join"]);
    assert!(
        csv.contains(",runs_before,runs_after,good,first,last,since,went_away,state,"),
        "{csv}"
    );
    assert!(csv.contains(",20,20,v19,v20,v20,v20,,new,"), "{csv}");
}

#[test]
fn a_gate_fails_for_what_it_was_asked_for_and_nothing_else() {
    let slower = history(40, &[("join", STEP), ("quiet", QUIET)]);
    assert_eq!(gate(slower.path(), "regression"), 1);
    assert_eq!(gate(slower.path(), "not-measured"), 0);
    assert_eq!(gate(slower.path(), "not-measured,regression"), 1);
    let faster = history(
        40,
        &[("join", |night| Some(if night < 20 { 1.0 } else { 0.8 }))],
    );
    assert_eq!(gate(faster.path(), "regression,not-measured"), 0);
    let repaired: Nights = |night| Some(if (20..28).contains(&night) { 1.2 } else { 1.0 });
    assert_eq!(
        gate(history(40, &[("join", repaired)]).path(), "regression"),
        0
    );
    let gone: Nights = |night| (night < 25).then_some(2.0);
    let gone = history(40, &[("quiet", QUIET), ("gone", gone)]);
    assert_eq!(gate(gone.path(), "not-measured"), 1);
    assert_eq!(gate(gone.path(), "regression"), 0);
    // A pass that rests on nothing is none.
    assert_eq!(gate(history(5, &[("join", STEP)]).path(), "regression"), 3);
}

#[test]
fn an_explained_change_is_the_new_baseline_until_the_next_one() {
    let twice: Nights = |night| {
        Some(match night {
            0..20 => 1.0,
            20..40 => 1.2,
            _ => 1.3,
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let benchmarks: [(&str, Nights); 2] = [("join", twice), ("quiet", QUIET)];
    import(path, &nights(0..38, &benchmarks));
    assert_eq!(gate(path, "regression"), 1);
    let id = &ids(path, &[])[0];
    let explain = [
        "triage",
        "explain",
        id,
        "--reason",
        "it checks more",
        "--by",
        "Ada",
    ];
    assert_snapshot!(run(path, &[&explain[..], &["--dry-run"]].concat()), @"
    would be explained: wall_time of `join`
    note: nothing was changed
    exit 0
    ");
    assert_eq!(gate(path, "regression"), 1);
    let said = run(path, &explain);
    assert!(
        said.starts_with("explained: wall_time of `join`\n"),
        "{said}"
    );
    assert_eq!(gate(path, "regression"), 0);
    // More nights at that level are no news; the next step is one, measured from there.
    import(path, &nights(38..40, &benchmarks));
    assert_eq!(gate(path, "regression"), 0);
    import(path, &nights(40..60, &benchmarks));
    assert_snapshot!(run(path, &["detect", "--fail-on", "regression"]), @"
    1 new regression and 1 known change   (2 histories, 60 runs, FDR 5 %)

        benchmark   before   after  change                 since  verdict                   id
     1  join       0.998 s  1.20 s  1.201× [1.199, 1.203]  v20    ✗ regression (explained)  7918233f
     2  join        1.20 s  1.30 s  1.085× [1.082, 1.087]  v40    ✗ regression              ba81023c

    note: change 1: v19..v20, 2026-01-21
    note: change 2: v39..v40, 2026-02-13
    next: `lapwing triage acknowledge ba81023c` marks change 2 as known,
    `lapwing report` writes pages with the histories
    exit 1
    ");
    // What was said can be taken back.
    let annotations = output(path, &["db", "annotations", "--format", "json"]);
    let annotations: Value = serde_json::from_slice(&annotations.stdout).unwrap();
    let annotation = annotations["annotations"][0]["id"].as_str().unwrap();
    let restored = run(
        path,
        &["db", "restore", annotation, "--reason", "it does not"],
    );
    assert!(restored.ends_with("exit 0"), "{restored}");
    let answer = run(path, &["detect"]);
    assert!(answer.starts_with("2 new regressions "), "{answer}");
}

#[test]
fn changes_can_be_acknowledged_expected_and_muted() {
    let path = |folder: &TempDir| folder.path().to_owned();
    let two: [(&str, Nights); 2] = [("join[1]", STEP), ("join[2]", STEP)];
    let folder = history(40, &two);
    let first = &ids(&path(&folder), &["-b", "join[1]"])[0];
    let said = run(&path(&folder), &["triage", "acknowledge", first]);
    assert!(said.ends_with("exit 0"), "{said}");
    assert_eq!(gate(&path(&folder), "regression"), 1);
    let said = run(
        &path(&folder),
        &["triage", "mute", "join[2]", "--metric", "peak_memory"],
    );
    assert!(said.ends_with("exit 0"), "{said}");
    assert_eq!(gate(&path(&folder), "regression"), 1);
    let said = run(&path(&folder), &["triage", "mute", "join[2]"]);
    assert!(said.ends_with("exit 0"), "{said}");
    assert_eq!(gate(&path(&folder), "regression"), 0);

    // Before the version is measured.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, &nights(0..20, &two));
    let expect = ["triage", "expect", "join*", "--at-version", "v20"];
    let said = run(path, &expect);
    assert!(said.ends_with("exit 0"), "{said}");
    import(path, &nights(20..40, &two));
    assert_eq!(gate(path, "regression"), 0);
    let answer = run(path, &["detect"]);
    assert_eq!(
        answer.matches("regression (expected)").count(),
        2,
        "{answer}"
    );
    let other = history(40, &two);
    let said = run(
        other.path(),
        &["triage", "expect", "join*", "--at-version", "v30"],
    );
    assert!(said.ends_with("exit 0"), "{said}");
    assert_eq!(gate(other.path(), "regression"), 1);
}

#[test]
fn wrong_input_is_named() {
    let folder = history(10, &[("join", QUIET)]);
    let told = |words: &[&str]| run(folder.path(), words);
    assert_snapshot!(told(&["triage", "explain", "0badf00d"]), @"
    error: no change has the id `0badf00d`
      hint: `lapwing detect` lists changes with their ids
    exit 2
    ");
    assert_snapshot!(told(&["triage", "mute", "joins"]), @"
    error: no benchmark `joins`; did you mean `join`?
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(told(&["detect", "-b", "joins"]), @"
    error: no benchmark `joins`; did you mean `join`?
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(told(&["detect", "--fail-on", "slowdown"]), @"
    error: invalid value 'slowdown' for '--fail-on <WHAT>'
      [possible values: regression, suspected, drift, not-measured, improvement, change]

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(told(&["detect", "--badge", "none/badge.svg"]), @"
    error: folder `none` does not exist
      hint: create it, or name another file
    exit 2
    ");
    let empty = tempfile::tempdir().unwrap();
    assert_snapshot!(run(empty.path(), &["detect"]), @"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 3
    ");
}
