//! Comments, JUnit XML and SARIF for pull requests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use crate::nights_fixture::{Nights, history};
use crate::program::{output, run};

/// Files of a baseline and a candidate, with five processes of each benchmark; every ninth benchmark is 1.3 times as
/// slow, and the last one is not measured.
fn sides(benchmarks: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (side, slower) in [("old", 1.0), ("new", 1.3)] {
        for process in 0..5 {
            let mut text = "benchmark,wall_time\n".to_owned();
            for at in 0..benchmarks {
                let noise =
                    1.0 + 0.002 * f64::from(u32::try_from((at * 7 + process * 5) % 11).unwrap());
                let factor = if at % 9 == 0 { slower } else { 1.0 };
                if at + 1 < benchmarks || side == "old" {
                    writeln!(
                        text,
                        "bench/test_{}.py::test_of_a_long_name[{at}],{}",
                        at % 37,
                        noise * factor
                    )
                    .unwrap();
                }
            }
            fs::write(folder.path().join(format!("{side}-{process}.csv")), text).unwrap();
        }
    }
    folder
}

const FILES: [&str; 4] = ["compare", "file:old-*.csv", "file:new-*.csv", "--quiet"];

fn compare(folder: &Path, more: &[&str]) -> i32 {
    let done = output(folder, &[&FILES[..], more].concat());
    done.status.code().unwrap_or_else(|| panic!("{done:?}"))
}

#[test]
fn a_comment_has_what_differs_and_folds_the_rest() {
    let folder = sides(4);
    let path = folder.path();
    let files = [
        "--export-markdown",
        "c.md",
        "--report-url",
        "https://ci.example/7",
        "--junit",
        "j.xml",
        "--sarif",
        "s.json",
    ];
    assert_eq!(
        compare(path, &[&files[..], &["--fail-on", "regression"]].concat()),
        1
    );
    assert_snapshot!(fs::read_to_string(path.join("c.md")).unwrap());
    assert_snapshot!(fs::read_to_string(path.join("j.xml")).unwrap());
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(path.join("s.json")).unwrap()).unwrap();
    // The one that is missing fails a gate as well.
    let [result, missing] = sarif["runs"][0]["results"].as_array().unwrap().as_slice() else {
        panic!("{sarif}");
    };
    assert_eq!(missing["ruleId"], "not_measured");
    assert_eq!(result["ruleId"], "regression");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "bench/test_0.py");
}

#[test]
fn a_comment_on_a_thousand_benchmarks_is_short_enough() {
    let folder = sides(1_000);
    let path = folder.path();
    assert_eq!(compare(path, &["--export-markdown", "c.md"]), 0);
    let comment = fs::read_to_string(path.join("c.md")).unwrap();
    let length = comment.chars().count();
    assert!((20_000..60_000).contains(&length), "{length}");
    // All that differs is there, before the folds.
    let (shown, folded) = comment.split_once("<details>").unwrap();
    assert_eq!(shown.matches("✗ regression").count(), 111);
    assert!(!folded.contains("regression**"), "{folded}");
    assert!(folded.contains(" more comparisons"), "{folded}");
    assert_eq!(
        comment.matches("<details>").count(),
        comment.matches("</details>").count()
    );
}

#[test]
fn without_a_change_a_comment_is_a_sentence_and_a_fold() {
    let folder = sides(3);
    let path = folder.path();
    let same = [
        &FILES[..3],
        &["-b", "bench/test_1*", "--export-markdown", "c.md"],
    ]
    .concat();
    let done = run(path, &same);
    let comment = fs::read_to_string(path.join("c.md")).unwrap();
    assert!(!comment.contains("```"), "{comment}\n{done}");
    assert!(!comment.contains('✗'), "{comment}\n{done}");
}

#[test]
fn files_of_ci_say_what_the_gate_says() {
    let folder = sides(4);
    let path = folder.path();
    let files = |more: &[&str]| {
        let code = compare(path, &[&["--junit", "j.xml"], more].concat());
        let xml = fs::read_to_string(path.join("j.xml")).unwrap();
        (
            code,
            xml.matches("<failure").count(),
            xml.matches("<skipped").count(),
        )
    };
    // The first is slower, and the last is missing.
    assert_eq!(files(&["--fail-on", "regression"]), (1, 2, 0));
    assert_eq!(files(&[]), (0, 1, 1));
    assert_eq!(files(&["--fail-on", "improvement"]), (0, 0, 1));
    let limits = "suite = 's'\n[benchmark.'bench/*'.judge]\nfail_on = []\n";
    fs::write(path.join("lapwing.toml"), limits).unwrap();
    assert_eq!(files(&["--fail-on", "regression"]), (0, 0, 1));
    let told = run(path, &[&FILES[..], &["--fail-on", "regression"]].concat());
    assert!(
        told.contains("fails no gate by the suite file (fail_on)"),
        "{told}"
    );
    // A metric that was not compared does not pass.
    assert_eq!(compare(path, &["--fail-on", "regression:wall_tme"]), 3);
}

#[test]
fn a_file_of_an_earlier_call_does_not_stay() {
    let folder = sides(2);
    let path = folder.path();
    assert_eq!(compare(path, &["--junit", "j.xml"]), 0);
    let failing = [
        "compare",
        "file:old-*.csv",
        "file:nothing.csv",
        "--junit",
        "j.xml",
    ];
    assert_eq!(output(path, &failing).status.code(), Some(2));
    assert!(!path.join("j.xml").exists());
}

/// One that becomes slower with the others.
fn together<const PLACE: u32>(night: u32) -> Option<f64> {
    let noise = f64::from((night * 7 + PLACE * 5) * 31 % 17) / 1700.0;
    Some((1.0 + noise) * if night < 30 { 1.0 } else { 1.2 })
}

#[test]
fn what_a_suite_shares_is_one_failure_of_junit() {
    let all: [(&str, Nights); 7] = [
        ("a", together::<0>),
        ("b", together::<1>),
        ("c", together::<2>),
        ("d", together::<3>),
        ("e", together::<4>),
        ("f", together::<5>),
        ("g", together::<6>),
    ];
    let folder = history(50, &all);
    let done = run(
        folder.path(),
        &["detect", "--junit", "j.xml", "--sarif", "s.json"],
    );
    assert!(done.ends_with("exit 0"), "{done}");
    let xml = fs::read_to_string(folder.path().join("j.xml")).unwrap();
    assert_eq!(xml.matches("<failure").count(), 1, "{xml}");
    assert!(xml.contains("tests=\"8\" failures=\"1\""), "{xml}");
    assert!(
        xml.contains("name=\"7 benchmarks together wall_time\""),
        "{xml}"
    );
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("s.json")).unwrap()).unwrap();
    assert_eq!(
        sarif["runs"][0]["results"].as_array().unwrap().len(),
        1,
        "{sarif}"
    );
}
