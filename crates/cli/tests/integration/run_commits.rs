//! `lapwing run --commits` on a real repository: three commits, the last one slower.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// A folder of a repository, beside one for caches.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("repository")).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("repository")
    }
}

/// Returns where commits are checked out: a place for each test, as others clear away what dead processes left.
fn cache(repository: &Path) -> PathBuf {
    repository.parent().unwrap().join("cache")
}

/// Returns a call of the program in a repository.
fn lapwing(repository: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    command
        .args(arguments)
        .current_dir(repository)
        .env("XDG_CACHE_HOME", cache(repository));
    command
}

fn output(repository: &Path, arguments: &[&str]) -> Output {
    lapwing(repository, arguments).output().unwrap()
}

/// Returns what the program writes, and its exit code.
fn run(repository: &Path, arguments: &[&str]) -> String {
    let output = output(repository, arguments);
    format!(
        "{}{}exit {}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap()
    )
}

/// Returns a repository whose commits v1, v2 and v3 each have a program of that many seconds.
fn repository(delays: &[&str], suite: &str) -> Repository {
    let folder = Repository::new();
    let path = &folder.path();
    git(path, &["init", "--quiet", "--initial-branch=trunk"]);
    fs::write(path.join("lapwing.toml"), suite).unwrap();
    fs::write(path.join(".gitignore"), ".lapwing\n").unwrap();
    for (number, delay) in delays.iter().enumerate() {
        fs::write(path.join("work.sh"), format!("sleep {delay}\n")).unwrap();
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "--allow-empty", "-m", delay]);
        git(path, &["tag", &format!("v{}", number + 1)]);
    }
    folder
}

const SUITE: &str = r#"
suite = "work"
[defaults]
instances = 3
iterations = 2
burn_in = 0
[benchmark.work]
command = "test \"$PWD\" = \"$LAPWING_SOURCE\" && sh work.sh"
"#;

fn rows(folder: &Path, sql: &str) -> Vec<String> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn assert_no_worktree(folder: &Path) {
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    let left = fs::read_dir(cache(folder).join("lapwing/worktrees")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn each_commit_is_measured_in_a_folder_of_its_own_once() {
    let folder = repository(&["0", "0", "0.1"], SUITE);
    let path = &folder.path();
    let done = run(path, &["run", "--commits", "v1..trunk", "--seed", "7"]);
    // A sleep takes at least as long as it says, however busy the machine is.
    let slow = "SELECT version || ' ' || count(*) || ' ' || (min(wall_time) > 0.1) FROM iterations WHERE version = 'v3'";
    assert_eq!(rows(path, slow), ["v3 6 1"]);
    assert!(
        done.contains("measuring 1 benchmark × 3 commits × 3 instances × (0 + 2) iterations, seed 7, order interleaved"),
        "{done}"
    );
    assert!(done.ends_with("exit 0"), "{done}");
    assert_no_worktree(path);
    let hashes: Vec<String> = ["v1", "v2", "v3"]
        .iter()
        .map(|tag| format!("{tag} {}", git(path, &["rev-parse", tag]).trim()))
        .collect();
    let found = "SELECT version || ' ' || \"commit\" FROM run WHERE branch = 'trunk' AND dirty = 0 AND version_date > '' ORDER BY version";
    assert_eq!(rows(path, found), hashes);
    // In each block every commit has its turn.
    let order = rows(
        path,
        "SELECT group_concat(block, '') FROM (SELECT block FROM instance ORDER BY position)",
    );
    assert_eq!(order, ["000111222"]);

    let again = run(path, &["run", "--commits", "v1..trunk"]);
    assert_eq!(
        again,
        "nothing to measure: every commit is measured\n\
         next: `lapwing compare commit:v1 commit:trunk` compares the first and the last\n\
         note: 3 of 3 commits are skipped: already measured (--again measures them again)\nexit 0"
    );
    let shown = run(path, &["show", "v2"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    assert_eq!(run(path, &["show", "commit:v2"]), shown);
    let unknown = run(path, &["show", "v9"]);
    assert!(unknown.contains("no session `v9`"), "{unknown}");
    git(path, &["commit", "--quiet", "--allow-empty", "-m", "new"]);
    let newer = run(
        path,
        &["run", "--commits", "v1..", "--dry-run", "--seed", "1"],
    );
    assert!(
        newer.starts_with("3 instances, at least 6 iterations"),
        "{newer}"
    );
    let anew = run(
        path,
        &[
            "run",
            "--commits",
            "v1..",
            "--again",
            "--every",
            "2",
            "--dry-run",
        ],
    );
    assert!(anew.starts_with("9 instances"), "{anew}");
}

#[test]
fn a_commit_that_cannot_be_built_keeps_no_other_from_being_measured() {
    let suite = format!(
        "{SUITE}[version]\nbuild = 'grep -v 0.01 work.sh || {{ echo no good >&2; exit 3; }}'\ninterleave = false\n"
    );
    let folder = repository(&["0", "0.01", "0.02"], &suite);
    let path = &folder.path();
    let done = run(path, &["run", "--commits", "v1..v3", "--seed", "7"]);
    assert!(
        done.contains("note: v2 is not measured: the build failed: exit code 3: no good"),
        "{done}"
    );
    assert!(done.contains("one commit after another"), "{done}");
    let ends = "SELECT version || ' ' || outcome || ' ' || count(*) FROM instance \
                JOIN run ON run.key = instance.run GROUP BY version ORDER BY min(instance.position)";
    assert_eq!(rows(path, ends), ["v1 ok 3", "v2 skipped 3", "v3 ok 3"]);
    assert_no_worktree(path);
    let again = run(path, &["run", "--commits", "v1..v3"]);
    assert!(
        again.contains("note: 2 of 3 commits are skipped") && again.contains("building v2"),
        "{again}"
    );
}

/// Waits until that many iterations are in record files.
fn wait_for_iterations(folder: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let files = fs::read_dir(folder.join(".lapwing/inbox"))
            .into_iter()
            .flatten();
        let texts = files.filter_map(|it| fs::read_to_string(it.unwrap().path()).ok());
        let found: usize = texts
            .map(|it| it.matches("\"kind\":\"iteration\"").count())
            .sum();
        if found >= count {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("no {count} iterations after a minute");
}

fn interrupted_after_two_iterations(folder: &Path, signal: &str) {
    let arguments = "run --commits v1..v3 --seed 7 --name nightly";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut child = lapwing(folder, &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_iterations(folder, 2);
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    child.wait().unwrap();
}

#[test]
fn an_interrupted_session_leaves_no_folder_and_goes_on() {
    let folder = repository(&["0.2", "0.2", "0.2"], SUITE);
    let path = &folder.path();
    interrupted_after_two_iterations(path, "-INT");
    assert_no_worktree(path);
    let resumed = output(path, &["run", "--resume", "nightly"]);
    assert!(resumed.status.success(), "{resumed:?}");
    let counts = "SELECT version || ' ' || count(*) FROM instance JOIN run ON run.key = instance.run \
                  WHERE outcome = 'ok' GROUP BY version ORDER BY version";
    assert_eq!(rows(path, counts), ["v1 3", "v2 3", "v3 3"]);
    assert_no_worktree(path);
}

#[test]
fn what_a_killed_process_left_is_cleared_away_by_the_next() {
    let folder = repository(&["0.2", "0.2", "0.2"], SUITE);
    let path = &folder.path();
    interrupted_after_two_iterations(path, "-KILL");
    assert_eq!(git(path, &["worktree", "list"]).lines().count(), 4);
    // Whatever the next command is: a killed `judge` is never continued.
    let next = output(path, &["list", "sessions"]);
    assert!(next.status.success(), "{next:?}");
    assert_no_worktree(path);
    let resumed = output(path, &["run", "--resume", "nightly"]);
    assert!(resumed.status.success(), "{resumed:?}");
    assert_no_worktree(path);
}

#[test]
fn what_is_looked_for_in_the_folders_above_is_not_found_in_the_working_tree() {
    // As pytest, Node.js, Cargo and many others look for their files.
    let suite = SUITE.replace(
        "sh work.sh",
        "while ! test -e settings && test $PWD != /; do cd ..; done; test $PWD = /",
    );
    let folder = repository(&["0"], &suite);
    let path = &folder.path();
    fs::write(path.join("settings"), "").unwrap();
    let outside = run(path, &["run", "--commits", "v1..v1", "--seed", "7"]);
    assert!(outside.ends_with("exit 0"), "{outside}");
    assert_no_worktree(path);
    // Nor where the folder for caches is in the repository itself.
    let within = lapwing(path, &["run", "--commits", "v1..v1", "--again", "-n", "1"])
        .env("XDG_CACHE_HOME", path.join("cache"))
        .env("TMPDIR", folder.0.path())
        .output()
        .unwrap();
    assert!(within.status.success(), "{within:?}");
    assert!(!path.join("cache").exists());
    let neither = lapwing(path, &["run", "--commits", "v1..v1", "--again", "-n", "1"])
        .env("XDG_CACHE_HOME", path.join("cache"))
        .env("TMPDIR", path)
        .output()
        .unwrap();
    let said = String::from_utf8(neither.stderr).unwrap();
    insta::assert_snapshot!(said, @r"
    error: there is no folder for commits outside of the repository
      no commit can be checked out
      hint: name one outside of the repository: `XDG_CACHE_HOME=DIR lapwing run …`
    ");
}

#[test]
fn a_repository_that_will_not_do_is_refused() {
    let folder = repository(&["0"], SUITE);
    let path = &folder.path();
    fs::write(path.join("work.sh"), "exit 1").unwrap();
    let said = run(path, &["run", "--commits", "v1.."])
        .replace(&path.canonicalize().unwrap().display().to_string(), "HERE");
    insta::assert_snapshot!(said, @"
    error: HERE has changes that are not committed, and only commits are measured
      hint: commit them, or `git stash` them
    exit 2
    ");
    let elsewhere = Repository::new();
    let elsewhere_path = &elsewhere.path();
    let arguments = ["run", "--commits", "v1..", "--", "true"];
    let said =
        run(elsewhere_path, &arguments).replace(&elsewhere_path.display().to_string(), "THERE");
    insta::assert_snapshot!(said, @"
    error: THERE is in no Git repository
      hint: run `lapwing run` in the repository, or name it under [version] of the suite
    exit 2
    ");
    fs::write(
        elsewhere_path.join("lapwing.toml"),
        "[version]\nname = '1'\n[benchmark.a]\ncommand = 'a'",
    )
    .unwrap();
    insta::assert_snapshot!(run(elsewhere_path, &["run", "--commits", "v1.."]), @r#"
    error: measuring commits needs the repository of what is measured, and [version] of the suite names something else
      hint: say `repository = "…"` under [version]
    exit 2
    "#);
    insta::assert_snapshot!(run(elsewhere_path, &["run", "--again"]), @"
    error: --again without a value belongs to --commits
      hint: `--again inconclusive` adds instances to what the last comparison left open
    exit 2
    ");
}
