//! What was not judged never passes: texts, data, exit codes, badges and JUnit files count the same histories.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};

use crate::nights_fixture::{Nights, QUIET, history, import, nights, nights_in};
use crate::program::{output, run};

/// Only in the last nights.
const SHORT: Nights = |night| (night >= 20).then_some(1.0);
/// Only in the first nights.
const ENDED: Nights = |night| (night < 14).then_some(1.0);
/// Failed in every night.
const BROKEN: Nights = |_| Some(-1.0);
/// Fails since one of the last nights.
const FAILING: Nights = |night| Some(if night < 17 { 1.0 } else { -1.0 });

/// Returns the exit code of a gate, its answer as text and as data, the title of the badge, and the number of test cases
/// with failures and of those that were skipped.
fn judged(folder: &Path) -> (i32, String, Value, String, [usize; 3]) {
    let words = [
        "detect",
        "--fail-on",
        "regression",
        "--badge",
        "b.svg",
        "--junit",
        "j.xml",
    ];
    let said = output(folder, &words);
    let text = String::from_utf8(said.stdout).unwrap();
    let data = output(folder, &["detect", "--format", "json"]);
    let data: Value = serde_json::from_slice(&data.stdout).unwrap();
    let between = |file: &str, start: &str, end: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let (_, rest) = text.split_once(start).unwrap();
        rest.split_once(end).unwrap().0.to_owned()
    };
    let number = |attribute: &str| {
        between("j.xml", &format!(" {attribute}=\""), "\"")
            .parse()
            .unwrap()
    };
    let cases = ["tests", "failures", "skipped"].map(number);
    let badge = between("b.svg", "<title>performance: ", "</title>");
    (said.status.code().unwrap(), text, data, badge, cases)
}

#[test]
fn no_mixture_of_judged_and_other_histories_passes_unjudged() {
    let kinds: [(&str, Nights); 5] = [
        ("quiet", QUIET),
        ("short", SHORT),
        ("ended", ENDED),
        ("broken", BROKEN),
        ("failing", FAILING),
    ];
    for chosen in 1_u32..32 {
        let benchmarks = kinds.iter().enumerate();
        let benchmarks = benchmarks.filter(|(at, _)| chosen >> at & 1 == 1);
        let benchmarks: Vec<(&str, Nights)> = benchmarks.map(|(_, kind)| *kind).collect();
        let folder = history(24, &benchmarks);
        let (code, text, data, badge, [cases, failures, skipped]) = judged(folder.path());
        let number = |key: &str| usize::try_from(data[key].as_u64().unwrap()).unwrap();
        let (all, tested) = (number("histories"), number("tested"));
        let untested = data["untested"].as_array().unwrap().iter();
        let untested: u64 = untested.map(|it| it["histories"].as_u64().unwrap()).sum();
        let untested = usize::try_from(untested).unwrap();
        assert_eq!(all, benchmarks.len(), "{text}");
        assert_eq!((tested + untested, skipped), (all, untested), "{text}");
        assert_eq!(cases, all + failures, "{text}");
        let verdict = data["verdict"].as_str().unwrap();
        let expected = match (verdict, tested) {
            ("regression", _) => (1, "1 new regression"),
            ("not_tested", 0) => (3, "nothing judged: "),
            ("no_change", tested) if tested == all => (0, "no change found"),
            ("no_change", _) => (0, "no change in "),
            _ => panic!("{text}"),
        };
        assert_eq!(code, expected.0, "{text}");
        assert!(text.starts_with(expected.1), "{text}");
        let title = match code {
            1 => "1 regression".to_owned(),
            3 => "not judged".to_owned(),
            _ if tested == all => "no regressions".to_owned(),
            _ => format!("no regressions in {tested} of {all}"),
        };
        assert_eq!((badge, failures), (title, usize::from(code == 1)), "{text}");
    }
}

#[test]
fn the_sentence_says_how_many_were_judged_and_why_others_were_not() {
    let said = |benchmarks: &[(&str, Nights)]| {
        let folder = history(24, benchmarks);
        run(folder.path(), &["detect", "--fail-on", "regression"])
    };
    assert_snapshot!(said(&[("a", QUIET), ("b", SHORT), ("c", ENDED), ("d", BROKEN)]), @"
    no change in 1 of 4 histories; 3 not judged: 1 not measured any more, 1 failed from the first run on, 1 with too few runs   (24 runs, FDR 5 %)
    note: not measured any more, and searched until then: c
    note: failed from the first run on: d
    note: too few runs to test (10 are needed): b
    exit 0
    ");
    assert_snapshot!(said(&[("b", SHORT), ("d", BROKEN)]), @"
    nothing judged: 1 failed from the first run on, 1 with too few runs   (24 runs, FDR 5 %)
    note: failed from the first run on: d
    note: too few runs to test (10 are needed): b
    exit 3
    ");
}

/// A step of 30 % in that night.
fn step<const NIGHT: u32>(night: u32) -> Option<f64> {
    Some(if night < NIGHT { 1.0 } else { 1.3 })
}

#[test]
fn the_past_of_an_old_history_is_one_number_and_is_accepted_at_once() {
    let names: Vec<String> = (5..30).map(|night| format!("b{night:02}")).collect();
    let steps: [Nights; 25] = [
        step::<5>, step::<6>, step::<7>, step::<8>, step::<9>, step::<10>, step::<11>, step::<12>,
        step::<13>, step::<14>, step::<15>, step::<16>, step::<17>, step::<18>, step::<19>,
        step::<20>, step::<21>, step::<22>, step::<23>, step::<24>, step::<25>, step::<26>,
        step::<27>, step::<28>, step::<50>,
    ];
    let benchmarks = names.iter().map(String::as_str).zip(steps);
    let benchmarks: Vec<(&str, Nights)> = benchmarks.collect();
    let folder = history(60, &benchmarks);
    let path = folder.path();
    let detect = || run(path, &["detect", "--fail-on", "regression"]);
    let first = detect();
    assert_snapshot!(first, @"
    1 new regression, 24 changes before the newest 30 runs; in all 25 new regressions   (25 histories, 60 runs, FDR 5 %)

     benchmark  before   after  change                 since  verdict       id
     b29        1.00 s  1.30 s  1.298× [1.295, 1.301]  v50    ✗ regression  9f46b005

    note: v49..v50, 2026-02-23
    note: not listed: 24 changes before the newest 30 runs (`--full` shows them);
    new regressions among them count for `--fail-on` until they are accepted
    next: `lapwing triage accept --until v28` accepts the 24 changes until then,
    `lapwing triage acknowledge 9f46b005` marks it as known, `lapwing report` writes
    pages with the histories
    exit 1
    ");
    // On the page of changes, the past is only in the table; commands name the store.
    fs::copy(path.join(".lapwing/lapwing.db"), path.join("old.db")).unwrap();
    run(path, &["--store", "old.db", "report"]);
    let page = fs::read_to_string(path.join("lapwing-report/changes.html")).unwrap();
    assert!(
        page.contains("24 changes before the newest 30 runs"),
        "{page}"
    );
    assert_eq!(page.matches("<section class=\"cause\"").count(), 1);
    for command in ["acknowledge 9f46b005<", "accept --until v28<"] {
        let command = format!("lapwing --store old.db triage {command}");
        assert!(page.contains(&command), "{command}");
    }
    let data = |words: &[&str]| -> Value {
        let words = [&["detect", "--format", "json"], words].concat();
        serde_json::from_slice(&output(path, &words).stdout).unwrap()
    };
    assert_eq!(
        (&data(&[])["past"], &data(&[])["verdict"]),
        (&24.into(), &"regression".into())
    );
    assert_eq!(data(&["--full"])["changes"].as_array().unwrap().len(), 25);
    let accepted = run(path, &["triage", "accept", "--until", "v28", "--by", "Ann"]);
    assert!(
        accepted.starts_with("accepted: changes of all benchmarks until v28\n"),
        "{accepted}"
    );
    assert_snapshot!(detect(), @"
    1 new regression, 24 changes in the accepted past   (25 histories, 60 runs, FDR 5 %)

     benchmark  before   after  change                 since  verdict       id
     b29        1.00 s  1.30 s  1.298× [1.295, 1.301]  v50    ✗ regression  9f46b005

    note: v49..v50, 2026-02-23
    note: not listed: the accepted past, up to the change at v28 (`--full` shows it,
    `lapwing db annotations` who accepted it)
    next: `lapwing triage acknowledge 9f46b005` marks it as known, `lapwing report`
    writes pages with the histories
    exit 1
    ");
    let after = data(&[]);
    assert_eq!(
        (&after["accepted_until"], &after["counts"]["accepted"]),
        (&"v28".into(), &24.into())
    );
    assert_eq!(after["changes"].as_array().unwrap().len(), 1);
    let all = data(&["--full"]);
    let states = crate::nights_fixture::findings(&all).into_iter();
    assert_eq!(states.filter(|it| it["state"] == "accepted").count(), 24);
    // What comes later is new, and one annotation is undone.
    import(path, &nights(60..80, &[("b05", |_| Some(1.7))]));
    let later = run(path, &["detect", "--smallest-effect", "3%"]);
    assert!(
        later.starts_with("2 new regressions, 24 changes in the accepted past "),
        "{later}"
    );
    let annotations = output(path, &["db", "annotations", "--format", "json"]);
    let annotations: Value = serde_json::from_slice(&annotations.stdout).unwrap();
    let [one] = &annotations["annotations"].as_array().unwrap()[..] else {
        panic!("{annotations}");
    };
    run(path, &["db", "restore", one["id"].as_str().unwrap()]);
    assert_eq!(data(&[])["counts"]["accepted"], 0);
    // Of a date, what is dated before.
    run(path, &["triage", "accept", "--until", "2026-01-15"]);
    let after = data(&[]);
    assert_eq!(
        (&after["accepted_until"], &after["counts"]["accepted"]),
        (&"v13".into(), &9.into())
    );
}

#[test]
fn an_acceptance_needs_an_end_that_has_passed() {
    let folder = history(12, &[("join", QUIET)]);
    let said = |words: &[&str]| run(folder.path(), &[&["triage"], words].concat());
    assert_snapshot!(said(&["accept", "--until", "2099-01-01"]), @"
    error: 2099-01-01 is in the future: what happens until then cannot be accepted yet
      hint: name the newest version, or a date that has passed
    exit 2
    ");
    assert_snapshot!(said(&["accept", "--until", "v99"]), @"
    error: `v99` is neither a version, a run nor a date
      hint: `lapwing list runs` shows the versions and the names of the runs
    exit 2
    ");
    assert_snapshot!(said(&["mute", "join", "--until", "v3"]), @"
    error: --until does not apply here
      hint: `lapwing triage --help` says to what it applies
    exit 2
    ");
    assert!(said(&["accept"]).ends_with("exit 2"));
    let done = said(&["accept", "jo*", "--until", "2026-01-08", "--dry-run"]);
    assert_snapshot!(done, @"
    would be accepted: changes of `jo*` before 2026-01-08T00:00:00Z
    note: nothing was changed
    exit 0
    ");
}

#[test]
fn a_change_of_a_metric_without_direction_is_told_and_fails_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut table = "date,benchmark,time_s,cache_size\n".to_owned();
    for night in 0..40_u32 {
        let [time, size] = [7, 5].map(|step| 1.0 + 0.002 * f64::from(night * step % 11));
        let size = if night < 20 { 100.0 } else { 150.0 } * size;
        let [month, day] = [9 + night / 28, 1 + night % 28];
        table += &format!("2026-{month:02}-{day:02},render,{time},{size}\n");
    }
    fs::write(path.join("wide.csv"), table).unwrap();
    run(path, &["import", "wide.csv"]);
    assert_snapshot!(run(path, &["detect", "--fail-on", "suspected"]), @"
    1 new change   (2 histories, 40 runs, FDR 5 %)

     benchmark  metric      before  after  change                 since                     verdict   id
     render     cache_size     101    152  1.500× [1.493, 1.506]  wide 2026-09-21 00:00:00  · change  a0312ef7

    note: wide 2026-09-20 00:00:00..wide 2026-09-21 00:00:00
    next: `lapwing triage acknowledge a0312ef7` marks it as known, `lapwing report`
    writes pages with the histories
    exit 0
    ");
    let answer = output(path, &["detect", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["verdict"], "change");
    assert_eq!(answer["counts"]["new_changes"], 1);
    assert_eq!([&answer["tested"], &answer["histories"]], [2, 2]);
}

#[test]
fn without_any_history_the_files_of_ci_say_that_nothing_was_judged() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["detect", "--badge", "none.svg"];
    assert!(run(folder.path(), &words).ends_with("exit 3"));
    let none = fs::read_to_string(folder.path().join("none.svg")).unwrap();
    assert!(none.contains("not judged"), "{none}");
    let mut lines = RecordLines::after(0);
    let session = lines.session("2026-03-01T10:00:00Z", json!({"suite": "s"}));
    lines.run(&session, json!({}));
    import(folder.path(), &lines.text);
    assert_snapshot!(run(folder.path(), &["detect", "--badge", "b.svg", "--junit", "j.xml"]), @"
    error: no benchmark has a usable value
      hint: `lapwing list` shows the contents of the store
    exit 3
    ");
    let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(file("b.svg").contains("<title>performance: not judged</title>"));
    assert_snapshot!(file("j.xml"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="lapwing detect"><testsuite name="lapwing detect" tests="1" failures="0" errors="0" skipped="1"><testcase classname="lapwing detect" name="histories"><skipped message="nothing judged: no benchmark has a usable value"></skipped></testcase></testsuite></testsuites>
    "#);
}

/// Slower since night 30, and slower again since night 60.
const TWICE: Nights = |night| Some([1.0, 1.2, 1.5][usize::try_from(night / 30).unwrap().min(2)]);

#[test]
fn regressions_and_their_histories_are_the_same_numbers_everywhere() {
    let benchmarks = [("a", TWICE), ("b", step::<45>), ("c", QUIET), ("d", TWICE)];
    let folder = history(90, &benchmarks);
    let (code, text, data, badge, [tests, failures, _]) = judged(folder.path());
    let counts = &data["counts"];
    let number = counts["regressions"].as_u64().unwrap();
    assert!(number >= 5, "{text}");
    let both = format!("{number} new regressions in 3 histories ");
    assert!(text.starts_with(&both), "{text}");
    let title = format!("{number} regressions in 3 histories");
    assert_eq!((code, badge), (1, title));
    assert_eq!(counts["new_regressions"], number);
    assert_eq!(counts["regressed_histories"], 3);
    assert_eq!((tests, failures), (4, 3));
    let cases = fs::read_to_string(folder.path().join("j.xml")).unwrap();
    assert_eq!(cases.matches("<failure ").count() as u64, number);
    let property = format!("<property name=\"regressions\" value=\"{number}\">");
    assert!(cases.contains(&property), "{cases}");
}

#[test]
fn a_regression_that_a_suite_shares_is_one_in_several_histories_everywhere() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let folder = history(50, &names.map(|name| (name, step::<30> as Nights)));
    let (code, text, data, badge, [_, failures, _]) = judged(folder.path());
    assert!(
        text.starts_with("1 new regression shared by a whole suite "),
        "{text}"
    );
    assert_eq!((code, badge.as_str()), (1, "1 regression in 6 histories"));
    let counts = ["regressions", "regressed_histories", "new_shared"];
    let counts = counts.map(|it| data["counts"][it].as_u64());
    assert_eq!((counts, failures), ([Some(1), Some(6), Some(1)], 1));
}

#[test]
fn a_regression_beside_a_larger_improvement_is_the_news_of_the_report() {
    // In the same night, and so of one cause; the regression is first or last by name.
    const WORSE: Nights = |night| Some(if night < 30 { 1.0 } else { 1.3 });
    const BETTER: Nights = |night| Some(if night < 30 { 1.0 } else { 0.6 });
    for benchmarks in [
        [("a", WORSE), ("b", QUIET), ("c", BETTER)],
        [("a", BETTER), ("b", QUIET), ("c", WORSE)],
    ] {
        let folder = history(60, &benchmarks);
        run(folder.path(), &["report"]);
        let worse = if benchmarks[0].1(59) > Some(1.0) {
            "a"
        } else {
            "c"
        };
        for page in ["index.html", "changes.html"] {
            let page = folder.path().join("lapwing-report").join(page);
            let page = fs::read_to_string(page).unwrap();
            let (_, headline) = page.split_once("<section class=\"headline").unwrap();
            let (headline, _) = headline.split_once("</section>").unwrap();
            assert!(headline.starts_with(" worse"), "{headline}");
            let fact = format!("above all {worse}: wall time slower by");
            assert!(headline.contains(&fact), "{headline}");
        }
    }
}

#[test]
fn the_pages_say_what_was_not_judged_and_in_which_order_the_runs_are() {
    let page = |folder: &Path, name: &str| {
        run(folder, &["report"]);
        fs::read_to_string(folder.join("lapwing-report").join(name)).unwrap()
    };
    let unjudged = history(24, &[("b", SHORT), ("d", ENDED)]);
    let index = page(unjudged.path(), "index.html");
    let headline = index.split_once("<h1>").unwrap().1;
    let headline = headline.split_once("</h1>").unwrap().0;
    assert!(headline.contains("Nothing judged: "), "{headline}");
    let partly = history(24, &[("a", QUIET), ("b", SHORT)]);
    let index = page(partly.path(), "index.html");
    assert!(index.contains("No change in 1 of 2 histories; 1 not judged: too few runs"));
    let whole = page(history(24, &[("a", QUIET)]).path(), "index.html");
    assert!(!whole.contains("not judged"));
    // The notes of the answer are on both pages.
    let folder = tempfile::tempdir().unwrap();
    let branches = |night| ["node1", if night % 4 == 3 { "idea" } else { "main" }];
    let records = nights_in(0..40, &[("a", QUIET)], branches);
    import(folder.path(), &records.replace("\"date\":", "\"day\":"));
    let said = run(folder.path(), &["detect"]);
    let notes = [
        "only main is judged: 10 runs of idea are not",
        "the runs are in order of the names of the versions",
    ];
    for name in ["index.html", "changes.html"] {
        let page = page(folder.path(), name);
        for note in notes {
            assert!(said.replace('\n', " ").contains(note), "{said}");
            assert!(page.contains(&note[1..]), "{name}: {note}");
        }
    }
}
