//! `lapwing mds|plan|detect --executor command`: the work is spread over jobs, which here run at once.

use std::fs;
use std::path::Path;

use crate::nights_fixture::{Nights, history};
use crate::noise_fixture::filled;
use crate::program::output;
use serde_json::Value;

/// A scheduler whose jobs are over when they are submitted; those of `lost` shares never begin.
fn at_once(folder: &Path, lost: &str) {
    let suite = format!(
        r#"
suite = "joins"
[executor.command]
submit = "case {{index}} in {lost}) ;; *) sh {{script}} {{index}} > {{log}} 2>&1; esac; echo {{index}}"
state = "true"
retries = 0
[benchmark.sort]
command = "true"
"#
    );
    fs::write(folder.join("lapwing.toml"), suite).unwrap();
}

/// Returns the standard output and the standard error of a command that succeeds.
fn said(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = output(folder, arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{error}");
    // The command itself is another.
    let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["command"] = Value::Null;
    (answer.to_string(), error)
}

fn is_left(folder: &Path) -> bool {
    let jobs = folder.join(".lapwing/cluster");
    jobs.read_dir().is_ok_and(|mut it| it.next().is_some())
}

const MDS: [&str; 11] = [
    "mds",
    "--full",
    "--grid=instances=2,4",
    "--grid=iterations=2,4",
    "--experiments=120",
    "--replicates=40",
    "--format=json",
    "--seed=3",
    "--settings=each",
    "--clean=burn_in=recorded",
    "--confidence=90%",
];

const PLAN: [&str; 4] = ["plan", "--experiments=120", "--power=80%", "--format=json"];

/// Returns the answer without the command, and what is said besides.
fn answered(folder: &Path, arguments: &[&str]) -> (String, String) {
    let (answer, error) = said(folder, arguments);
    let (start, rest) = answer.split_once("\"command\"").unwrap();
    let (_, rest) = rest.split_once(']').unwrap();
    (format!("{start}{rest}"), error)
}

#[test]
fn any_number_of_jobs_gives_the_bytes_of_one_machine() {
    let store = filled();
    let folder = store.path();
    at_once(folder, "none");
    for command in [&MDS[..], &PLAN[..]] {
        let (here, _) = answered(folder, command);
        assert!(here.contains("simulated"), "{here}");
        for jobs in ["--cluster=jobs=1", "--cluster=jobs=3"] {
            let there = [command, &["--executor=command", jobs]].concat();
            let (there, error) = answered(folder, &there);
            assert_eq!(there, here);
            assert!(!error.contains("made here"), "{error}");
            assert!(!is_left(folder));
        }
    }
}

#[test]
fn the_share_of_a_job_that_fails_is_simulated_here() {
    let store = filled();
    let folder = store.path();
    at_once(folder, "1");
    let (here, _) = answered(folder, &MDS);
    let (there, error) = answered(
        folder,
        &[&MDS[..], &["--executor=command", "--cluster=jobs=2"]].concat(),
    );
    assert_eq!(there, here);
    assert!(
        error.contains("1 job failed, its work is done here"),
        "{error}"
    );
    assert!(
        error.contains("were not made by jobs, and made here"),
        "{error}"
    );
    assert!(!is_left(folder));
}

#[test]
fn what_cannot_be_simulated_by_jobs_is_refused() {
    let store = filled();
    let refused = |arguments: &[&str]| {
        let output = output(store.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let formula = refused(&["mds", "--closed-form", "--executor=slurm"]);
    assert!(
        formula.contains("--closed-form simulates nothing"),
        "{formula}"
    );
    let jobs = refused(&["mds", "--cluster=jobs=3"]);
    assert!(
        jobs.contains("--cluster jobs=… belongs to --executor"),
        "{jobs}"
    );
    let unnamed = refused(&["plan", "--executor=command"]);
    assert!(unnamed.contains("no [executor.command]"), "{unnamed}");
}

const DETECT: [&str; 3] = ["detect", "--full", "--format=json"];

/// A benchmark whose noise lasts for three nights, and that of its suite is slower from the 45th on.
fn lasting<const PLACE: u32>(night: u32) -> Option<f64> {
    let level = f64::from((night / 3 * 7 + PLACE * 5) * 31 % 17) / 17.0;
    let shared = if night < 45 { 1.0 } else { 1.2 };
    Some(shared * (1.0 + 0.03 * level))
}

/// One that becomes slower before.
fn slower(night: u32) -> Option<f64> {
    let own = if night < 25 { 1.0 } else { 1.5 };
    Some(own * lasting::<7>(night)?)
}

#[test]
fn any_number_of_jobs_finds_the_changes_that_one_machine_finds() {
    let benchmarks: [(&str, Nights); 8] = [
        ("a", lasting::<0>),
        ("b", lasting::<1>),
        ("c", lasting::<2>),
        ("d", lasting::<3>),
        ("e", lasting::<4>),
        ("f", lasting::<5>),
        ("slower", slower),
        // It has too few nights to be searched.
        ("new", |night| (night >= 60).then_some(1.0)),
    ];
    let store = history(64, &benchmarks);
    let folder = store.path();
    at_once(folder, "none");
    let (here, _) = answered(folder, &DETECT);
    assert!(here.contains("slower"), "{here}");
    for jobs in [1, 2, 4, 7] {
        let jobs_option = format!("--cluster=jobs={jobs}");
        let there = [&DETECT[..], &["--executor=command", &jobs_option]].concat();
        let (there, error) = answered(folder, &there);
        assert_eq!(there, here);
        // Once each for itself, and once with what they have in common.
        let rounds = error.matches("searching in").count();
        assert_eq!(rounds, 2, "{error}");
        assert!(!error.contains("but here"), "{error}");
        assert!(!is_left(folder));
    }
    at_once(folder, "1");
    let with_lost = [&DETECT[..], &["--executor=command", "--cluster=jobs=2"]].concat();
    let (there, error) = answered(folder, &with_lost);
    assert_eq!(there, here);
    assert!(
        error.contains("3 histories were not searched by jobs, but here"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_searched_by_jobs_is_refused() {
    let store = filled();
    let refused = |arguments: &[&str]| {
        let words = [&["detect", "--executor=command"], arguments].concat();
        let output = output(store.path(), &words);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let files = refused(&["more.jsonl"]);
    assert!(
        files.contains("files are searched here, not by jobs"),
        "{files}"
    );
    let tested = refused(&["--self-test"]);
    assert!(tested.contains("a self-test is made here"), "{tested}");
    let threshold = refused(&["--rule=threshold"]);
    assert!(
        threshold.contains("a threshold is looked at here"),
        "{threshold}"
    );
}
