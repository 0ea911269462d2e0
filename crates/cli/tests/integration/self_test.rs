//! `--self-test` of `lapwing detect` and `lapwing compare`: what they do on a user's own measurements.

use insta::assert_snapshot;
use serde_json::Value;

use crate::detect::repository;
use crate::nights_fixture::{QUIET, STEP, findings, history};
use crate::program::{output, run};

fn json(folder: &std::path::Path, words: &[&str]) -> Value {
    let output = output(folder, &[words, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The rates of a benchmark, or of all, by slowdown.
fn rates<'a>(answer: &'a Value, benchmark: Option<&str>) -> Vec<&'a Value> {
    let rates = answer["rates"].as_array().unwrap().iter();
    rates
        .filter(|it| it["benchmark"].as_str() == benchmark)
        .collect()
}

#[test]
fn the_self_test_of_the_example_says_what_its_planted_changes_confirm() {
    let folder = repository();
    let path = &folder.path().join("words");
    let answer = json(path, &["detect", "--self-test", "--slowdown", "8%,27%,37%"]);
    assert_eq!(answer["removed"], 4);
    let suite = &answer["suites"][0];
    let year = suite["runs_per_year"].as_f64().unwrap();
    assert!((year - 365.25).abs() < 1e-6, "{year}");
    // Nothing was found besides in 60 nights.
    let alarms = suite["alarms_per_run"].as_f64().unwrap();
    assert!(60.0 * alarms < 0.5, "{alarms}");
    // Each planted step is found after as many nights as the self-test says, and most of them not before.
    for (benchmark, night, size) in [("count", 16, 2), ("similar", 32, 1)] {
        let rates = rates(&answer, Some(benchmark))[size];
        let runs = rates["runs_to_find_90"].as_u64().unwrap();
        assert!(runs <= 6, "{rates}");
        let day = |nights: u64| {
            let day = 5 + night + nights;
            let (month, day) = if day > 31 { (2, day - 31) } else { (1, day) };
            format!("until=2026-{month:02}-{day:02}")
        };
        let is_found = |until: &str| {
            let detected = json(path, &["detect", "--where", until]);
            let found = findings(&detected).into_iter();
            found
                .map(|it| it["benchmark"].as_str().unwrap())
                .any(|it| it == benchmark)
        };
        assert!(is_found(&day(runs)), "{benchmark} {runs}");
        assert!(!is_found(&day(0)), "{benchmark}");
    }
    // A change of 8 %, such as that of the host in all of them, is found in a single benchmark as well.
    let all = rates(&answer, None)[0];
    assert!(all["runs_to_find_half"].as_u64().unwrap() <= 8, "{all}");
    // So is a drift like that of `index`.
    let drift = rates(&answer, Some("index"))[1];
    let [found, of] = ["late_drifts_found", "late_drifts"].map(|key| drift[key].as_f64().unwrap());
    assert!(found > 0.8 * of, "{drift}");
}

#[test]
fn a_history_that_is_too_short_for_a_self_test_is_said_so() {
    let folder = history(14, &[("quiet", QUIET)]);
    assert_snapshot!(run(folder.path(), &["detect", "--self-test"]), @"
    error: a self-test needs 20 runs: quiet (14)
    exit 3
    ");
    assert_snapshot!(run(folder.path(), &["detect", "--self-test", "--fail-on", "regression"]), @"
    error: the argument '--self-test' cannot be used with '--fail-on <WHAT>'

    Usage: lapwing detect --self-test [FILE]...

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["detect", "--slowdown", "5%"]), @"
    error: the following required arguments were not provided:
      --self-test

    Usage: lapwing detect --self-test --slowdown <SLOWDOWN> [FILE]...

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn a_self_test_is_one_screen_and_a_section_of_the_report() {
    let folder = history(40, &[("join", STEP), ("quiet", QUIET)]);
    let text = run(
        folder.path(),
        &["detect", "--self-test", "--slowdown", "1%,20%"],
    );
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 20, "{text}");
    assert!(
        lines[0].contains(" false alarms a year; a step of 20 % is seen after 3 runs (90 %: 3)"),
        "{text}"
    );
    assert!(
        lines[0].ends_with("(2 histories, 40 runs, FDR 5 %)"),
        "{text}"
    );
    let words: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "history alarms a year step 1 % step 20 % drift 1 % drift 20 %"
    );
    let rows = lines[3..6]
        .iter()
        .map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ["all", "join", "quiet"]);
    assert!(
        text.contains("1 change of the history was removed first"),
        "{text}"
    );
    let done = run(folder.path(), &["report", "--self-test"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let page = std::fs::read_to_string(folder.path().join("lapwing-report/changes.html")).unwrap();
    assert!(page.contains("On these histories"));
    let usual = run(folder.path(), &["report", "-o", "usual"]);
    assert!(usual.ends_with("exit 0"), "{usual}");
    let page = std::fs::read_to_string(folder.path().join("usual/changes.html")).unwrap();
    assert!(!page.contains("On these histories"));
}

#[test]
fn a_comparison_tests_itself_on_pairs_of_its_own_measurements() {
    let folder = history(40, &[("join", STEP), ("quiet", QUIET)]);
    let words = [
        "compare",
        "until 2026-01-21",
        "since 2026-01-22",
        "--self-test",
    ];
    let text = run(
        folder.path(),
        &[&words[..], &["--slowdown", "0.1%,5%"]].concat(),
    );
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains(": where nothing changed, "), "{text}");
    assert!(
        lines[0].contains("; a slowdown of 5 % is found in 100 %"),
        "{text}"
    );
    let rows = lines[2..6]
        .iter()
        .map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(
        rows.collect::<Vec<_>>(),
        ["benchmark", "all", "join", "quiet"]
    );
    let three = ["compare", "v1", "v2", "v3", "--self-test"];
    assert_snapshot!(run(folder.path(), &three), @"
    error: --self-test takes a baseline and one candidate, without --compat and --each-baseline
    exit 2
    ");
}
