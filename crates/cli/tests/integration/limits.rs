//! Limits of single benchmarks in the suite file: no command accepts one and does nothing about it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::level_repository::repository;

const PROGRAM: &str = "echo \"{\\\"cost\\\": $(( $(cat level) + NOISE / 16 ))}\"\n";

const SUITE: &str = "suite = 's'
[version]
repository = '.'
[defaults]
iterations = 2
burn_in = 0
[benchmark.b]
command = ['sh', 'program']
metrics = 'json'
metric.cost = { unit = '1', better = 'lower' }
";

/// Returns the exit code and the answer of a command, as far as they are the same each time.
fn told(folder: &Path, words: &[&str]) -> String {
    let page = folder.join("page");
    let _ = fs::remove_dir_all(&page);
    let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .args(["--store", "../store.db"])
        .env("XDG_CACHE_HOME", folder.join("../cache"))
        .current_dir(folder)
        .output()
        .unwrap();
    let code = output.status.code().unwrap();
    if words[0] == "report" {
        let index = fs::read_to_string(page.join("index.html")).unwrap();
        return format!("{code} {index}");
    }
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let notes = answer["notes"].as_array().into_iter().flatten();
    let codes: Vec<&str> = notes.map(|it| it["code"].as_str().unwrap()).collect();
    let verdict = &answer["verdict"];
    let rows = ["comparisons", "changes", "plan", "outcome"].map(|it| &answer[it]);
    match words[0] {
        // They measure anew.
        "judge" | "bisect" => format!("{code} {verdict} {codes:?} {}", rows[3]),
        _ => format!("{code} {verdict} {codes:?} {rows:?}"),
    }
}

const EFFECT: &str = "smallest_effect = '40%'";
const BETTER: &str = "better = 'higher'";
const MUTE: &str = "mute = true";
const FAIL_ON: &str = "fail_on = []";

#[test]
fn each_limit_changes_each_answer_that_it_is_about() {
    let mut levels = vec!["1000"; 16];
    levels[10..].fill("1200");
    let folder = repository(PROGRAM, &levels);
    let path = folder.path().join("repository");
    let suite = |limit: &str| {
        let text = match limit {
            "" => SUITE.to_owned(),
            _ => format!("{SUITE}[benchmark.b.judge]\n{limit}\n"),
        };
        fs::write(path.join("lapwing.toml"), text).unwrap();
    };
    suite("");
    let measure = ["run", "--commits", "c0..c15", "-n", "3", "--format", "json"];
    let measured = told(&path, &measure);
    assert!(measured.starts_with("0 "), "{measured}");
    let json = ["--format", "json", "--metric", "cost"];
    let with = |words: &[&'static str]| [words, &json].concat();
    let gate = ["--fail-on", "regression"];
    let commands = [
        (
            with(&[&["compare", "c0", "c15"], &gate[..]].concat()),
            vec![EFFECT, BETTER, MUTE, FAIL_ON],
        ),
        (
            with(&[&["detect"], &gate[..]].concat()),
            vec![EFFECT, BETTER, MUTE, FAIL_ON],
        ),
        (
            with(&["judge", "--baseline", "c0", "-b", "b"]),
            vec![EFFECT, BETTER, MUTE],
        ),
        (with(&["plan"]), vec![EFFECT, MUTE]),
        (
            with(&["bisect", "c0", "c15", "-b", "b", "--find", "regression"]),
            vec![BETTER],
        ),
        (
            vec!["report", "--output", "page", "--compare", "c0", "c15"],
            vec![EFFECT, BETTER, MUTE],
        ),
    ];
    for (words, limits) in commands {
        suite("");
        let usual = told(&path, &words);
        for limit in limits {
            suite(limit);
            assert_ne!(told(&path, &words), usual, "{words:?} ignores {limit}");
        }
    }
}

#[test]
fn a_plan_is_made_for_the_smallest_effect_of_each_benchmark() {
    let folder = repository(PROGRAM, &["1000"]);
    let path = folder.path().join("repository");
    let other = SUITE.split_once("[benchmark.b]").unwrap().1;
    let suite = format!("{SUITE}[benchmark.other]{other}");
    let plan = |limits: &str, more: &[&str]| {
        fs::write(path.join("lapwing.toml"), format!("{suite}{limits}")).unwrap();
        let words = [&["plan", "--format", "json", "--metric", "cost"], more].concat();
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(words)
            .current_dir(&path)
            .output()
            .unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let rows = answer["plan"].as_array().unwrap().iter();
        let rows = rows.map(|row| {
            let slowdown = row["slowdown"].as_f64().unwrap();
            (row["benchmark"].as_str().unwrap().to_owned(), slowdown)
        });
        (rows.collect::<Vec<_>>(), answer)
    };
    fs::write(path.join("lapwing.toml"), &suite).unwrap();
    let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["run", "-n", "6", "-i", "4"])
        .current_dir(&path)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let of = |b: f64, other: f64| vec![("b".to_owned(), b), ("other".to_owned(), other)];
    let limits = "[benchmark.b.judge]\nsmallest_effect = '20%'\n";
    let (rows, answer) = plan(limits, &[]);
    assert_eq!(rows, of(1.2, 1.05), "{answer}");
    assert_eq!(
        answer["headline"].as_str().unwrap().split(" (").next(),
        Some("all 2 benchmarks can detect their smallest effect"),
        "{answer}"
    );
    assert_eq!(answer["verdict"], "planned", "{answer}");
    assert_eq!(answer["slowdowns"][0]["able"], 2, "{answer}");
    // What is asked for is asked of all.
    assert_eq!(plan(limits, &["--slowdown", "8%"]).0, of(1.08, 1.08));
    let suite_too = format!("{limits}[judge]\nsmallest_effect = '10%'\n");
    assert_eq!(plan(&suite_too, &[]).0, of(1.2, 1.1));
    let (rows, answer) = plan("[benchmark.b.judge]\nmute = true\n", &[]);
    assert_eq!(rows, of(0.0, 1.05)[1..], "{answer}");
    let notes = answer["notes"].as_array().unwrap().iter();
    assert_eq!(
        notes.filter(|it| it["code"] == "muted").count(),
        1,
        "{answer}"
    );
}
