//! Git revisions and dates as sides of `compare` and as the start of `detect --changed-since`.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, record_id as id};
use serde_json::json;
use tempfile::TempDir;

use crate::program::run;

/// Number of commits, of which every second one is measured, but not the last two.
const COMMITS: usize = 82;
/// The first commit that is slower.
const SLOWER: usize = 41;

fn git(folder: &Path, arguments: &[&str], day: usize) -> String {
    let date = format!("{} +0000", 1_767_225_600 + 86_400 * day);
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// A repository with a measured history, in which a commit makes it slower.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    git(path, &["init", "--quiet", "--initial-branch=main"], 0);
    let mut lines = RecordLines::default();
    for commit in 0..COMMITS {
        let message = format!("commit {commit}");
        git(
            path,
            &["commit", "--quiet", "--allow-empty", "-m", &message],
            commit,
        );
        if commit == 10 {
            git(path, &["tag", "v1"], commit);
        }
        if commit % 2 == 1 || commit + 2 >= COMMITS {
            continue;
        }
        let hash = git(path, &["rev-parse", "HEAD"], commit);
        let month = 1 + commit / 28;
        let day = 1 + commit % 28;
        let started = format!("2026-{month:02}-{day:02}T10:00:00Z");
        let number = u32::try_from(commit).unwrap();
        let session = lines.session(&started, json!({"id": id(0, number)}));
        let version = json!({"commit": hash, "date": &started});
        let run = lines.run(&session, json!({"id": id(1, number), "version": version}));
        let level = if commit < SLOWER { 1.0 } else { 1.3 };
        for part in 0..3 {
            let more = json!({"id": id(2, 10 * number + part)});
            let instance = lines.instance(&run, "b", more);
            let noise = (10 * number + part).wrapping_mul(2_654_435_761) >> 22;
            let time = level * (1.0 + 1e-5 * f64::from(noise));
            lines.iteration(&instance, 0, json!({"metrics": {"wall_time": time}}));
            lines.instance_end(&instance);
        }
    }
    fs::write(path.join("all.jsonl"), lines.text).unwrap();
    run(path, &["import", "all.jsonl"]);
    folder
}

#[test]
fn a_change_tells_the_number_of_commits_in_which_it_happened() {
    let folder = repository();
    assert_snapshot!(run(folder.path(), &["detect"]), @"
    1 new regression   (1 history, 40 runs, FDR 5 %)

     benchmark  before   after  change                 since       verdict       id
     b          1.00 s  1.31 s  1.301× [1.298, 1.303]  ca47636cf3  ✗ regression  33198654

    note: 4cd27d6eb5..ca47636cf3 (2 commits), 2026-02-15
    next: `lapwing triage acknowledge 33198654` marks it as known, `lapwing report`
    writes pages with the histories
    exit 0
    ");
}

#[test]
fn pages_link_to_the_commits_of_the_repository_under_test() {
    let folder = repository();
    let path = folder.path();
    let remote = "https://user:secret@git.example.org/g/n.git";
    git(path, &["remote", "add", "origin", remote], 0);
    run(path, &["report", "-o", "pages"]);
    let page = fs::read_to_string(path.join("pages/changes.html")).unwrap();
    let commit = |number: usize| {
        let revision = format!("HEAD~{}", COMMITS - 1 - number);
        git(path, &["rev-parse", &revision], 0)
    };
    let [good, slower] = [SLOWER - 1, SLOWER + 1].map(commit);
    let web = "https://git.example.org/g/n";
    assert!(page.contains(&format!("href=\"{web}/commit/{slower}\"")));
    assert!(page.contains(&format!("href=\"{web}/compare/{good}...{slower}\"")));
    assert!(page.contains("(2 commits)"));
    assert!(!page.contains("secret"));

    // The same history in another repository has no links.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path();
    git(other, &["init", "--quiet", "--initial-branch=main"], 0);
    git(other, &["remote", "add", "origin", remote], 0);
    fs::copy(path.join("all.jsonl"), other.join("all.jsonl")).unwrap();
    run(other, &["import", "all.jsonl"]);
    run(other, &["report", "-o", "pages"]);
    let page = fs::read_to_string(other.join("pages/changes.html")).unwrap();
    assert!(page.contains(&slower[..10]) && !page.contains(web));
}

#[test]
fn only_changes_after_a_version_revision_or_date_are_reported() {
    let folder = repository();
    let since = |when: &str| {
        let words = ["detect", "--changed-since", when, "--fail-on", "regression"];
        let told = run(folder.path(), &words);
        let brief = |line: &&str| !line.starts_with([' ', '\n']) && !line.contains("triage");
        let lines: Vec<&str> = told.lines().filter(brief).collect();
        format!("{when}: {}", lines.join("\n"))
    };
    let told = [
        "v1",
        "HEAD~41",
        "main",
        "HEAD~38",
        "2026-02-01",
        "2026-03-01",
        "nowhere",
    ]
    .map(since);
    assert_snapshot!(told.join("\n\n"), @"
    v1: 1 new regression   (1 history, 40 runs, FDR 5 %)


    note: 4cd27d6eb5..ca47636cf3 (2 commits), 2026-02-15
    writes pages with the histories
    exit 1

    HEAD~41: 1 new regression   (1 history, 40 runs, FDR 5 %)


    note: 4cd27d6eb5..ca47636cf3 (2 commits), 2026-02-15
    writes pages with the histories
    exit 1

    main: no change found   (1 history, 40 runs, FDR 5 %)
    note: not shown: 1 change before main
    note: main is commit 3f51a66ba6, which is not measured: its nearest measured
    ancestor 55d5fd6312 is used
    exit 0

    HEAD~38: no change found   (1 history, 40 runs, FDR 5 %)
    note: not shown: 1 change before HEAD~38
    note: HEAD~38 is commit 9b345164b8, which is not measured: its nearest measured
    ancestor ca47636cf3 is used
    exit 0

    2026-02-01: 1 new regression   (1 history, 40 runs, FDR 5 %)


    note: 4cd27d6eb5..ca47636cf3 (2 commits), 2026-02-15
    writes pages with the histories
    exit 1

    2026-03-01: no change found   (1 history, 40 runs, FDR 5 %)
    note: not shown: 1 change before 2026-03-01
    exit 0

    nowhere: error: `nowhere` is not a version, run, Git revision or date
    exit 2
    ");
}

#[test]
fn revisions_and_dates_are_sides() {
    let folder = repository();
    let compare = |sides: [&str; 2]| run(folder.path(), &[&["compare"][..], &sides].concat());
    let told = [
        compare(["v1", "HEAD~5"]),
        compare(["commit:v1", "main"]),
        compare(["until 2026-02-13", "since=2026-02-13"]),
        compare(["last 3 of main", "HEAD~5"]),
        compare(["since soon", "v1"]),
        compare(["nowhere", "v1"]),
    ];
    assert_snapshot!(told.join("\n\n"), @"
    HEAD~5 against v1: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval        verdict       baseline  candidate  instances
     b          1.303×  [1.295, 1.311]  ✗ regression    1.00 s     1.31 s      3 / 3

    note: the sides are from different sessions, which differ by about 0.21 %
    (standard deviation, from 37 earlier sessions): intervals and p-values allow for
    it
    note: v1 is commit 673fde601b
    note: HEAD~5 is commit 74b9f5116c
    note: 1 more note (`--full` shows all)
    exit 0

    error: `main` is commit 3f51a66ba6, which is not measured
      hint: its nearest measured ancestor is commit:55d5fd6312
    exit 2

    since=2026-02-13 against until 2026-02-13: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict       baseline  candidate  instances
     b          1.28×  [1.25, 1.32]  ✗ regression  1.0049 s     1.29 s    60 / 60

    note: pooled: 20 sessions of 20 versions in until 2026-02-13, 20 sessions of 20
    versions in since=2026-02-13
    note: the unit of replication is the session: 20 per side
    exit 0

    HEAD~5 against last 3 of main: no regression found, 1 unchanged within 0.59 %   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval        verdict                      baseline  candidate  instances
     b          1.001×  [0.997, 1.006]  = no change, at most 0.59 %   1.307 s     1.31 s      9 / 3

    note: the sides are from different sessions, which differ by about 0.19 %
    (standard deviation, from 36 earlier sessions): intervals and p-values allow for
    it
    note: last 3 of main is without the runs of the other sides
    note: HEAD~5 is commit 74b9f5116c
    note: 2 more notes (`--full` shows all)
    exit 0

    error: invalid value 'since soon' for '[SIDE]...': `soon` is not a date or time such as 2026-11-20, 2026-11-20T10:00:00Z, yesterday or `3 days ago`

    For more information, try '--help'.
    exit 2

    error: `nowhere` is not a variant, version, commit, run, session or file
      hint: available: variant:default; `lapwing list runs` shows all
    exit 2
    ");
}
