//! What `lapwing detect` says of the newest nights, by the real program.

use insta::assert_snapshot;
use serde_json::Value;

use crate::nights_fixture::{Nights, QUIET, findings, gate, history, ids, import, nights};
use crate::program::{output, run};

/// A benchmark that is twice as slow from v20 on, and a quiet one.
const TWICE: [(&str, Nights); 2] = [
    ("join", |night| Some(if night < 20 { 1.0 } else { 2.0 })),
    ("quiet", QUIET),
];

#[test]
fn a_change_is_suspected_for_two_nights_and_a_regression_on_the_third() {
    let folder = history(21, &TWICE);
    let path = folder.path();
    assert_snapshot!(run(path, &["detect", "--fail-on", "regression"]), @"
    no confirmed change, 1 suspected   (2 histories, 21 runs, FDR 5 %)
    note: suspected, not confirmed until a third run agrees: join, slower by 100 %
    [98, 101] in the newest run, v20
    next: `lapwing report` writes pages with the histories
    exit 0
    ");
    assert_snapshot!(run(path, &["detect", "--format", "markdown", "--fail-on", "suspected"]), @r"
    no confirmed change, 1 suspected   (2 histories, 21 runs, FDR 5 %)

    note: suspected, not confirmed until a third run agrees: join, slower by 100 % \[98, 101\] in the newest run, v20

    next: `lapwing report` writes pages with the histories
    exit 1
    ");
    let json: Value =
        serde_json::from_slice(&output(path, &["detect", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["changes"], Value::Array(Vec::new()));
    let suspected = &json["suspected"][0];
    assert_snapshot!(suspected["text"].as_str().unwrap(), @"join, slower by 100 % [98, 101] in the newest run, v20");
    assert_eq!(
        (&suspected["runs"], &suspected["histories"]),
        (&1.into(), &1.into())
    );
    assert_eq!(suspected["finding"]["benchmark"], "join");
    import(path, &nights(21..22, &TWICE));
    assert_eq!([gate(path, "regression"), gate(path, "suspected")], [0, 1]);
    import(path, &nights(22..23, &TWICE));
    assert_eq!([gate(path, "regression"), gate(path, "suspected")], [1, 1]);
    assert_snapshot!(run(path, &["detect"]), @"
    1 new regression   (2 histories, 23 runs, FDR 5 %)

     benchmark   before   after  change                 since  verdict       id
     join       0.998 s  2.00 s  2.001× [1.994, 2.008]  v20    ✗ regression  7918233f

    note: v19..v20, 2026-01-21
    next: `lapwing triage acknowledge 7918233f` marks it as known, `lapwing report`
    writes pages with the histories
    exit 0
    ");
}

#[test]
fn triage_of_the_third_night_holds_when_more_nights_confirm_it() {
    let folder = history(23, &TWICE);
    let path = folder.path();
    let ids_before = ids(path, &[]);
    let [id] = &ids_before[..] else {
        panic!("one finding");
    };
    let acknowledged = run(path, &["triage", "acknowledge", id]);
    assert!(acknowledged.ends_with("exit 0"), "{acknowledged}");
    assert_eq!(gate(path, "regression"), 0);
    for night in [23, 27, 31, 35, 39] {
        import(path, &nights(night..night + 4, &TWICE));
        assert_eq!(ids(path, &[]), ids_before, "{night}");
        assert_eq!(gate(path, "regression"), 0, "{night}");
    }
}

#[test]
fn a_failure_elsewhere_erases_no_finding() {
    let several: [(&str, Nights); 2] = [
        ("join", |night| Some(if night < 24 { 1.0 } else { 1.004 })),
        ("other", |night| (night == 30).then_some(-1.0)),
    ];
    let path = history(31, &several);
    let alone = history(31, &several[..1]);
    let p_values = [alone, path].map(|folder| {
        let answer = output(folder.path(), &["detect", "--format", "json"]).stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        findings(&answer)
            .into_iter()
            .map(|it| it["p_adjusted"].clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(p_values[0].len(), 1);
    assert_eq!(p_values[0], p_values[1]);
}
