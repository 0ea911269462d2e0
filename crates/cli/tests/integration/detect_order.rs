//! The order of the runs that `lapwing detect` judges, and which runs these are.

use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};

use crate::level_repository::{git, git_at};
use crate::nights_fixture::{Nights, QUIET, STEP, findings, gate, import, nights_in};
use crate::program::{output, run};

/// Returns where a change is, in which order, and what else is said.
fn told(folder: &Path, more: &[&str]) -> String {
    let words = [&["detect", "--format", "json"], more].concat();
    let answer: Value = serde_json::from_slice(&output(folder, &words).stdout).unwrap();
    let changes = findings(&answer).into_iter().map(|finding| {
        let since = finding["since"]["text"].as_str().unwrap();
        format!("{} since {since}", finding["direction"].as_str().unwrap())
    });
    let changes: Vec<String> = changes.collect();
    let order = answer["order"].as_str().unwrap();
    format!("{order}: {}", changes.join(", "))
}

/// Writes results of hyperfine of forty nights, of which those from the 26th on are slower.
fn write_nights(folder: &Path, name: impl Fn(u32) -> String) {
    for night in 0..40_u32 {
        let level = if night < 25 { 0.1 } else { 0.12 };
        // No two are equal: the same file twice is one.
        let time = level * (1.0 + 0.002 * f64::from(night * 7 % 11) + 1e-6 * f64::from(night));
        let result = json!({"results": [{"command": "render", "times": [time], "exit_codes": [0],
            "mean": time, "stddev": null, "median": time, "min": time, "max": time, "user": 0.1, "system": 0.0}]});
        let path = folder.join(name(night));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, result.to_string()).unwrap();
        // The times of the files are in another order.
        let time = SystemTime::UNIX_EPOCH
            + Duration::from_secs(1_780_000_000 + u64::from(night * 17 % 40));
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
}

#[test]
fn files_without_dates_are_in_order_of_their_names_and_not_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let day = |night: u32| format!("2026-{:02}-{:02}", 9 + night / 30, 1 + night % 30);
    write_nights(path, |night| format!("dated/{}.json", day(night)));
    write_nights(path, |night| format!("folders/{}/results.json", day(night)));
    write_nights(path, |night| format!("numbered/run{night}.json"));
    write_nights(path, |night| {
        format!("unnamed/{:x}.json", night.wrapping_mul(2_654_435_761))
    });
    for (name, expected) in [
        ("dated", "file_names: regression since 2026-09-26"),
        ("folders", "file_names: regression since 2026-09-26/results"),
        ("numbered", "file_names: regression since run25"),
    ] {
        let store = ["--store", &format!("{name}.db")];
        let done = run(path, &[&store[..], &["import", name]].concat());
        assert!(done.ends_with("exit 0"), "{done}");
        assert_eq!(told(path, &store), expected);
        // Once more.
        let again = run(path, &[&store[..], &["import", name]].concat());
        assert!(again.contains("nothing new"), "{again}");
    }
    run(path, &["import", "unnamed"]);
    assert_snapshot!(run(path, &["detect"]), @"
    no change found   (1 history, 40 runs, FDR 5 %)
    note: the runs are in order of the times of the files, which copying changes:
    dates or numbers in their names would be kept
    exit 0
    ");
}

/// Writes results of hyperfine of 25 commands in sixty files without dates: from the fifth run on one of them becomes
/// slower in each, the last in run 50. Their times are equal, as after a clone, or in another order.
fn write_old_history(folder: &Path, time_of: impl Fn(u32) -> u32) {
    fs::create_dir(folder).unwrap();
    for number in 1..=60_u32 {
        let results = (5..30_u32).map(|step| {
            let slower = number >= if step == 29 { 50 } else { step };
            let noise = 0.002 * f64::from((number * 7 + step) % 11) + 1e-6 * f64::from(number);
            let time = if slower { 1.3 } else { 1.0 } * (1.0 + noise);
            json!({"command": format!("b{step:02}"), "times": [time], "exit_codes": [0], "mean": time,
                "stddev": null, "median": time, "min": time, "max": time, "user": 0.1, "system": 0.0})
        });
        let results: Vec<Value> = results.collect();
        let path = folder.join(format!("run{number}.json"));
        fs::write(&path, json!({"results": results}).to_string()).unwrap();
        let seconds = 1_780_000_000 + 86_400 * u64::from(time_of(number));
        let file = File::options().append(true).open(&path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }
}

#[test]
fn the_suggested_acceptance_of_a_past_without_dates_covers_just_that_past() {
    for time_of in [|_| 0, |number: u32| number * 17 % 61] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write_old_history(&path.join("old"), time_of);
        run(path, &["import", "old"]);
        let first = run(path, &["detect", "--fail-on", "regression"]);
        for part in [
            "1 new regression, 24 changes before the newest 30 runs; in all 25 new regressions ",
            "note: run49..run50\n",
            "`lapwing triage accept --until run28` accepts the 24 changes until then",
        ] {
            assert!(first.contains(part), "{first}");
        }
        // A file time is no date of a change.
        let answer = output(path, &["detect", "--format", "json", "--full"]);
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        for finding in findings(&answer) {
            let since = &finding["since"];
            assert_eq!([&since["date"], &since["started"]], [&Value::Null; 2]);
        }
        let dated = ["triage", "accept", "--until", "2026-11-01"];
        insta::allow_duplicates! {
            assert_snapshot!(run(path, &dated), @"
            error: no date is known of the runs, which are in order of names or of a file
              hint: name a version or run instead, as `lapwing detect` calls it
            exit 2
            ");
        }
        let dated = run(path, &["detect", "--changed-since", "2026-07-01"]);
        assert!(dated.contains("no date is known of the runs"), "{dated}");
        let since = run(path, &["detect", "--changed-since", "run40"]);
        assert!(since.starts_with("1 new regression "), "{since}");
        let accepted = run(path, &["triage", "accept", "--until", "run28"]);
        assert!(accepted.starts_with("accepted: changes of all benchmarks until run28\n"));
        let after = run(path, &["detect", "--fail-on", "regression"]);
        assert!(after.starts_with("1 new regression, 24 changes in the accepted past "));
        assert!(after.ends_with("exit 1"), "{after}");
    }
}

#[test]
fn names_of_files_tell_no_order_among_suites() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut lines = RecordLines::after(0);
    let mut measure = |suite: &str, number: u32, first_slow: Range<u32>| {
        let file = json!({"file": format!("run{number}.json"), "started_from": "file_time"});
        let name = format!("run{number}");
        let session = json!({"suite": suite, "name": name, "attributes": {"source": file}});
        let session = lines.session("2026-11-20T10:00:00Z", session);
        let run = lines.run(&session, json!({}));
        for first_slow in first_slow {
            let instance = lines.instance(&run, &format!("b{first_slow:02}"), json!({}));
            let level = if number < first_slow { 1.0 } else { 1.3 };
            let time = level * (1.0 + 0.002 * f64::from((number * 7 + first_slow) % 11));
            lines.iteration(&instance, 0, json!({"metrics": {"wall_time": time}}));
            lines.instance_end(&instance);
        }
    };
    // The change of the short history is recent, though the name of its run is that of an old one of the other.
    for number in 1..=60 {
        measure("long", number, 5..29);
    }
    for number in 1..=40 {
        measure("short", number, 20..21);
    }
    import(path, &lines.text);
    let answer = output(path, &["detect", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(
        (&answer["order"], &answer["past"]),
        (&"file_names".into(), &24.into())
    );
    let next = answer["next"][0].as_object().unwrap();
    assert_eq!(next["why"], "accepts the 24 changes until then");
    let words: Vec<&str> = next["command"].as_str().unwrap().split(' ').collect();
    let done = run(path, &words[1..]);
    assert!(
        done.starts_with("accepted: changes of all benchmarks until run28\n"),
        "{done}"
    );
    let after = run(path, &["detect"]);
    assert!(
        after.starts_with("1 new regression, 24 changes in the accepted past "),
        "{after}"
    );
}

#[test]
fn runs_of_other_branches_and_of_uncommitted_changes_are_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let slower_at_last: Nights = |night| Some(if night < 35 { 1.0 } else { 1.2 });
    let branches = |night| ["node1", if night < 35 { "main" } else { "idea" }];
    let records = nights_in(
        0..40,
        &[("join", slower_at_last), ("quiet", QUIET)],
        branches,
    );
    import(path, &records);
    assert_eq!(gate(path, "regression"), 0);
    assert_snapshot!(run(path, &["detect"]), @"
    no change found   (2 histories, 35 runs, FDR 5 %)
    note: only main is judged: 5 runs of idea are not; `--where branch=NAME` judges
    another branch
    exit 0
    ");
    let all = run(path, &["detect", "--where", "branch=*"]);
    assert!(
        all.contains("explained by the branch: main → idea"),
        "{all}"
    );
    // Nothing says which of these is the default branch.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, &records.replace("\"main\"", "\"stable\""));
    assert!(run(path, &["detect"]).contains("stable has the most runs"));
    // A regression of the default branch is found among runs of others.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let branches = |night| ["node1", if night % 4 == 3 { "idea" } else { "main" }];
    import(
        path,
        &nights_in(0..40, &[("join", STEP), ("quiet", QUIET)], branches),
    );
    assert_eq!(told(path, &[]), "version_dates: regression since v20");
    // All are of one branch.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(
        path,
        &nights_in(0..40, &[("join", STEP), ("quiet", QUIET)], |_| {
            ["node1", "idea"]
        }),
    );
    assert_eq!(told(path, &[]), "version_dates: regression since v20");
    // Uncommitted changes.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let clean = nights_in(0..40, &[("join", slower_at_last), ("quiet", QUIET)], |_| {
        ["node1", "main"]
    });
    let dirty = clean.lines().map(|line| {
        let is_late = (35..40).any(|night| line.contains(&format!("\"v{night}\"")));
        match is_late {
            true => line.replace("\"main\"", "\"main\",\"dirty\":true"),
            false => line.to_owned(),
        }
    });
    import(path, &dirty.collect::<Vec<_>>().join("\n"));
    assert_eq!(gate(path, "regression"), 0);
    assert!(run(path, &["detect"]).contains("5 runs with uncommitted changes are not judged"));
}

#[test]
fn the_merge_and_not_the_merged_commits_changed_the_default_branch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    git(path, &["init", "-q", "--initial-branch=main"]);
    let mut lines = RecordLines::after(0);
    let mut measured = 0;
    let mut measure = |value: f64, words: &[&str]| {
        measured += 1;
        let at = format!(
            "2026-01-{:02}T{:02}:00:00Z",
            1 + measured / 24,
            measured % 24
        );
        git_at(Some(&at), path, words);
        let commit = git(path, &["rev-parse", "HEAD"]);
        let session = lines.session(&at, json!({"suite": "s"}));
        let run = lines.run(&session, json!({"version": {"commit": commit, "date": at}}));
        let instance = lines.instance(&run, "join", json!({}));
        let value = value * (1.0 + 0.002 * f64::from(measured * 7 % 11));
        lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
        lines.instance_end(&instance);
        commit
    };
    let commit = ["commit", "-q", "--allow-empty", "-m", "one"];
    for _ in 0..8 {
        measure(1.0, &commit);
    }
    git(path, &["branch", "idea"]);
    for _ in 0..8 {
        measure(1.0, &commit);
        git(path, &["checkout", "-q", "idea"]);
        measure(2.0, &commit);
        git(path, &["checkout", "-q", "main"]);
    }
    let merge = measure(2.0, &["merge", "-q", "--no-ff", "-m", "idea", "idea"]);
    for _ in 0..8 {
        measure(2.0, &commit);
    }
    let records = lines.text;
    import(path, &records);
    let expected = format!("commits: regression since {}", &merge[..10]);
    assert_eq!(told(path, &[]), expected);
    assert_eq!(told(path, &["--first-parents"]), expected);
    let text = run(path, &["detect"]);
    assert!(
        text.contains("only the first parents of main are judged: 8 runs"),
        "{text}"
    );
    let report = run(path, &["report"]);
    assert!(
        report.contains("only the first parents of main are judged: 8 runs"),
        "{report}"
    );
    // Without the repository.
    let elsewhere = tempfile::tempdir().unwrap();
    import(elsewhere.path(), &records);
    assert!(told(elsewhere.path(), &[]).starts_with("version_dates: "));
    let refused = run(elsewhere.path(), &["detect", "--first-parents"]);
    assert!(refused.ends_with("exit 2"), "{refused}");
}
