//! `lapwing run` with tests of pytest: a script in place of Python, and the real plugin where there is one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{output, run};
use lapwing_testing::missing;
use rusqlite::Connection;
use tempfile::TempDir;

/// Writes what the plugin would, for the tests `test_a.py::test_it[1]` and `…[2]`; the second one dies.
const FAKE: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> calls
node=$3
while [ $# -gt 0 ]; do
    case $1 in
        --lapwing-collect)
            for n in 1 2; do
                echo '{"id":"test_a.py::test_it['$n']","params":{"n":'$n'},"tags":["t'$n'"],"fingerprint":"sha256:0'$n'","source":null,"burn_in":1,"iterations":2,"time_limit":null,"max_failures":3,"root":"'"$PWD"'"}'
            done > "$2"
            exit 0;;
        --lapwing-output) file=$2;;
        -c) exit 0;;
    esac
    shift
done
s=0190a000-0000-7000-8000-000000000001 r=0190a000-0000-7000-8000-000000000002 i=0190a000-0000-7000-8000-000000000003
{
    echo '{"v":1,"kind":"session","id":"'$s'","suite":"s","started":"2026-01-01T00:00:00Z","tool":"pytest-lapwing 0.1.0"}'
    echo '{"v":1,"kind":"run","id":"'$r'","session":"'$s'","metrics":{"wall_time":{"unit":"s","better":"lower"},"rows":{"unit":"1","better":"higher"}}}'
    echo '{"v":1,"kind":"instance","id":"'$i'","run":"'$r'","benchmark":{"id":"'"${node##*/}"'"},"attributes":{"source":{"path":"test_a.py","line":3,"text":"def"}}}'
    echo '{"v":1,"kind":"iteration","instance":"'$i'","index":0,"burn_in":true,"outcome":"ok","metrics":{"wall_time":0.5,"rows":7}}'
    echo '{"v":1,"kind":"iteration","instance":"'$i'","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.25,"rows":7}}'
} > "$file"
case $node in *'[2]') kill -9 $$;; esac
echo '{"v":1,"kind":"instance_end","instance":"'$i'","outcome":"ok"}' >> "$file"
"#;

const SUITE: &str = r#"
suite = "demo"
[benchmark.tests]
pytest = "."
python = "./python"
instances = 3
tags = ["all"]
env = { LEVEL = "3" }
"#;

fn folder(suite: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let python = folder.path().join("python");
    fs::write(&python, FAKE).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn rows(folder: &Path, sql: &str) -> Vec<String> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn each_instance_is_a_process_of_pytest() {
    let folder = folder(SUITE);
    let done = run(folder.path(), &["run", "--seed", "7"]);
    assert!(done.contains("test_a.py::test_it[1]  250 ms"), "{done}");
    assert!(done.contains("rows"), "{done}");
    assert!(done.ends_with("exit 0"), "{done}");
    let found = "SELECT benchmark || ' ' || outcome || ' ' || count(*) FROM instances GROUP BY benchmark, outcome ORDER BY 1";
    assert_eq!(
        rows(folder.path(), found),
        [
            "test_a.py::test_it[1] ok 3",
            "test_a.py::test_it[2] failed 3"
        ]
    );
    let iterations = "SELECT benchmark || ' ' || sum(burn_in) || ' ' || count(*) FROM iterations GROUP BY benchmark ORDER BY 1";
    assert_eq!(
        rows(folder.path(), iterations),
        ["test_a.py::test_it[1] 3 6", "test_a.py::test_it[2] 3 9"],
        "the iteration under way when the process died has failed"
    );
    assert!(
        done.contains("test_a.py::test_it[2]: 3 of 9 iterations failed: ended by signal 9"),
        "{done}"
    );
    let list = output(folder.path(), &["list", "--format", "csv"]);
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(
        list.contains("demo,test_a.py::test_it[2],t2; all,3,9,3,"),
        "{list}"
    );
    // The run tells of `rows` as soon as it is known, and stays one.
    let metrics = "SELECT count(DISTINCT run.key) || ' ' || group_concat(metric.name, ' ') FROM run \
                   JOIN run_metric ON run_metric.run = run.key JOIN metric ON metric.key = run_metric.metric \
                   WHERE metric.name IN ('rows', 'wall_time')";
    assert_eq!(rows(folder.path(), metrics), ["1 wall_time rows"]);
    let attributes = "SELECT attributes FROM instance WHERE attributes LIKE '%\"process\"%user_time%' AND attributes LIKE '%test_a.py%'";
    assert_eq!(rows(folder.path(), attributes).len(), 6);
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    let calls: Vec<&str> = calls.lines().filter(|it| it.starts_with("-m")).collect();
    assert_eq!(
        calls.len(),
        7,
        "one to collect, one for each instance: {calls:?}"
    );
}

#[test]
fn names_tags_and_plans_choose_tests_and_how_often() {
    let folder = folder(SUITE);
    let path = folder.path();
    let by_tag = run(path, &["run", "--tag", "t1", "--dry-run", "--seed", "7"]);
    assert!(
        by_tag.starts_with("3 instances, at least 9 iterations, seed 7"),
        "{by_tag}"
    );
    let by_name = run(
        path,
        &[
            "run",
            "-b",
            "*test_it*",
            "--tag",
            "all",
            "-n",
            "1",
            "--dry-run",
        ],
    );
    assert!(by_name.starts_with("2 instances"), "{by_name}");
    fs::write(
        path.join("plan.json"),
        r#"[{"item": "test_a.py::test_it[1]", "burn_in": 0, "config": [{"slowdown": 1.1, "instances": 2, "iterations": 9}]}]"#,
    )
    .unwrap();
    let planned = output(path, &["run", "--plan", "plan.json", "-q"]);
    let calls = fs::read_to_string(path.join("calls")).unwrap();
    let last = calls.lines().last().unwrap();
    assert!(planned.status.success(), "{planned:?}");
    assert!(
        last.ends_with("--lapwing-burn-in=0 --lapwing-iterations=9"),
        "{last}"
    );
}

#[test]
fn what_keeps_tests_from_being_found_is_said() {
    let say = |script: &str| {
        let folder = folder(SUITE);
        fs::write(
            folder.path().join("python"),
            format!("#!/bin/sh\n{script}\n"),
        )
        .unwrap();
        run(folder.path(), &["run"]).replace(&folder.path().display().to_string(), "HERE")
    };
    insta::assert_snapshot!(say("echo '/usr/bin/python3: No module named pytest' >&2; exit 1"), @r#"
    error: [benchmark.tests]: `HERE/python` cannot import pytest
      hint: `HERE/python -m pip install DIR`, where DIR is the folder python/pytest-lapwing of Lapwing's repository; or name the interpreter that has it: `python = "…"`
    exit 2
    "#);
    insta::assert_snapshot!(say("echo 'error: unrecognized arguments: --lapwing-collect' >&2; exit 4"), @r#"
    error: [benchmark.tests]: `HERE/python` cannot import pytest-lapwing
      hint: `HERE/python -m pip install DIR`, where DIR is the folder python/pytest-lapwing of Lapwing's repository; or name the interpreter that has it: `python = "…"`
    exit 2
    "#);
    insta::assert_snapshot!(say("echo 'no tests collected'; exit 5"), @r#"
    error: [benchmark.tests]: . has no test that is a benchmark
      hint: mark a test with `@pytest.mark.lapwing`, or take all with `pytest_arguments = ["--lapwing-all=PATH"]`; tests that use the fixture `benchmark` need no mark
    exit 2
    "#);
    insta::assert_snapshot!(say("echo 'E   SyntaxError: invalid'; exit 2"), @"
    error: [benchmark.tests]: pytest cannot collect .
    E   SyntaxError: invalid
    exit 2
    ");
    insta::assert_snapshot!(say("exit 0"), @r#"
    error: [benchmark.tests]: . has no test that is a benchmark
      hint: mark a test with `@pytest.mark.lapwing`, or take all with `pytest_arguments = ["--lapwing-all=PATH"]`; tests that use the fixture `benchmark` need no mark
    exit 2
    "#);
    let missing = folder(&SUITE.replace("./python", "no-such-python"));
    insta::assert_snapshot!(run(missing.path(), &["run"]), @r#"
    error: [benchmark.tests]: Python cannot be started: no such command: `no-such-python`
      hint: name another interpreter: `python = "…"`
    exit 2
    "#);
}

/// Returns a Python that has the plugin: `LAPWING_PYTEST_PYTHON`, or the one that `./test` makes.
fn python() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv-lapwing/bin/python");
    let python = std::env::var_os("LAPWING_PYTEST_PYTHON").map_or(made, PathBuf::from);
    let mut command = Command::new(&python);
    let works = command
        .args(["-c", "import pytest, pytest_lapwing"])
        .output();
    if works.is_ok_and(|it| it.status.success()) {
        return Some(python);
    }
    missing(
        "no Python with pytest-lapwing",
        "`./test` installs one, or name one in LAPWING_PYTEST_PYTHON",
    );
    None
}

#[test]
fn the_real_plugin_measures_a_real_suite() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("benchmarks")).unwrap();
    fs::write(
        path.join("benchmarks/test_a.py"),
        r#"
import os, signal
import pytest

@pytest.mark.lapwing(iterations=2)
@pytest.mark.parametrize("n", [1, 2])
def test_sum(n):
    sum(range(n))

@pytest.mark.lapwing
def test_fails():
    raise ValueError(os.environ["MODE"])

calls = 0

@pytest.mark.lapwing
def test_dies():
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), signal.SIGKILL)

def test_rows(benchmark_record):
    benchmark_record.record("rows", 7, unit="1", better="higher")
"#,
    )
    .unwrap();
    let suite = format!(
        "suite = 'real'\n[defaults]\ninstances = 2\niterations = 4\n[benchmark.t]\npytest = 'benchmarks/'\npython = '{}'\n\
         [factor.mode]\nlevels = ['a', 'b']\napply.env = {{ MODE = '{{level}}' }}\n",
        python.display()
    );
    fs::write(path.join("lapwing.toml"), suite).unwrap();
    let done = run(path, &["run", "--seed", "7"]);
    assert!(done.contains("iterations failed: ValueError: a"), "{done}");
    assert!(
        done.contains("2 of 6 iterations failed: ended by signal 9"),
        "{done}"
    );
    let environment = "SELECT (environment LIKE '%\"python\":\"CPython 3%') || ' ' || (environment LIKE '%\"pytest\":\"%') FROM run";
    assert_eq!(rows(path, environment), ["1 1", "1 1"]);
    let other = "SELECT count(*) || '' FROM instance WHERE environment LIKE '%packages%'";
    assert_eq!(rows(path, other), ["0"], "an instance has what its run has");
    let found = "SELECT benchmark || ' ' || variant || ' ' || count(*) || ' ' || sum(burn_in) FROM iterations \
                 WHERE variant = 'mode=a' GROUP BY benchmark ORDER BY benchmark";
    assert_eq!(
        rows(path, found),
        [
            "benchmarks/test_a.py::test_dies mode=a 6 2",
            "benchmarks/test_a.py::test_fails mode=a 6 2",
            "benchmarks/test_a.py::test_rows mode=a 8 0",
            "benchmarks/test_a.py::test_sum[1] mode=a 6 2",
            "benchmarks/test_a.py::test_sum[2] mode=a 6 2",
        ]
    );
    let ends = "SELECT benchmark || ' ' || outcome || ' ' || count(*) FROM instances GROUP BY benchmark, outcome ORDER BY benchmark";
    assert_eq!(
        rows(path, ends),
        [
            "benchmarks/test_a.py::test_dies failed 4",
            "benchmarks/test_a.py::test_fails failed 4",
            "benchmarks/test_a.py::test_rows ok 4",
            "benchmarks/test_a.py::test_sum[1] ok 4",
            "benchmarks/test_a.py::test_sum[2] ok 4",
        ]
    );
    // What pytest records by itself goes on with the same series: same id, same fingerprint.
    let alone = Command::new(&python)
        .args([
            "-m",
            "pytest",
            "-q",
            "--lapwing",
            "--lapwing-suite",
            "real",
            "benchmarks/",
            "-k",
            "sum",
        ])
        .current_dir(path)
        .output()
        .unwrap();
    assert!(alone.status.success(), "{alone:?}");
    assert!(output(path, &["list"]).status.success());
    let series = "SELECT benchmark.id || ' ' || count(DISTINCT fingerprint) || ' ' || count(*) FROM instance \
                  JOIN benchmark ON benchmark.key = instance.benchmark WHERE benchmark.id LIKE '%sum%' \
                  GROUP BY benchmark.id ORDER BY benchmark.id";
    assert_eq!(
        rows(path, series),
        [
            "benchmarks/test_a.py::test_sum[1] 1 5",
            "benchmarks/test_a.py::test_sum[2] 1 5"
        ]
    );
}

#[test]
fn what_was_measured_until_lapwing_was_killed_is_taken_up() {
    let folder = folder(&SUITE.replace("instances = 3", "instances = 1"));
    let path = folder.path();
    let slow = FAKE.replace("case $node in", "sleep 60 & wait\ncase $node in");
    fs::write(path.join("python"), slow).unwrap();
    let words = [
        "run", "-q", "--seed", "7", "-b", "*[1]", "--name", "nightly",
    ];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .current_dir(path)
        .spawn()
        .unwrap();
    let inbox = path.join(".lapwing/inbox");
    let has_iterations = || {
        let sessions = fs::read_dir(&inbox).into_iter().flatten().flatten();
        let files = sessions.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
        let texts = files.filter_map(|it| fs::read_to_string(it.path()).ok());
        texts
            .map(|it| it.matches("\"kind\":\"iteration\"").count())
            .sum::<usize>()
            == 2
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !has_iterations() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let said = run(path, &["list"]);
    assert!(
        said.contains(
            "note: recovered 4 records of a test that was being measured when its run was killed"
        ),
        "{said}"
    );
    assert_eq!(fs::read_dir(&inbox).unwrap().count(), 0);
    let ends = "SELECT outcome || ' ' || end_message || ' ' || (SELECT count(*) FROM iterations) FROM instance";
    assert_eq!(
        rows(path, ends),
        ["lost cut short: the process that measured it was ended 2"]
    );
    fs::write(path.join("python"), FAKE).unwrap();
    let resumed = output(path, &["run", "--resume", "nightly", "-q"]);
    assert!(resumed.status.success(), "{resumed:?}");
    let ends = "SELECT outcome || ' ' || attempt FROM instance ORDER BY attempt";
    assert_eq!(rows(path, ends), ["lost 0", "ok 1"]);
}

#[test]
fn a_list_without_results_names_the_session_that_is_being_recorded() {
    let folder = TempDir::new().unwrap();
    let inbox = folder.path().join(".lapwing/inbox");
    fs::create_dir_all(&inbox).unwrap();
    let file = inbox.join("a.jsonl");
    fs::write(
        &file,
        "{\"v\":1,\"kind\":\"session\",\"id\":\"0190a000-0000-7000-8000-000000000001\",\"suite\":\"shop\",\"name\":\"nightly\",\"started\":\"2026-01-01T00:00:00Z\",\"tool\":\"pytest-lapwing 0.1.0\"}\n",
    )
    .unwrap();
    let held = fs::File::open(&file).unwrap();
    held.lock().unwrap();
    insta::assert_snapshot!(run(folder.path(), &["list"]), @"
    no benchmarks yet: session `nightly` (suite `shop`) is in progress
    results are listed when it has ended
    exit 0
    ");
    drop(held);
    insta::assert_snapshot!(run(folder.path(), &["list"]), @"
    no benchmarks yet: the sessions have no results
    read 1 record of pytest
    exit 0
    ");
}

fn git(path: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
    let done = git.args(arguments).current_dir(path).output().unwrap();
    assert!(done.status.success(), "git {arguments:?}: {done:?}");
}

/// Makes a repository whose suite is `test_a.py`, executed by a real pytest.
fn begin_repository(path: &Path, python: &Path) {
    git(path, &["init", "--quiet"]);
    fs::write(
        path.join(".gitignore"),
        ".lapwing\n__pycache__\n.pytest_cache\ncache\n",
    )
    .unwrap();
    let suite = format!(
        "suite = 'own'\n[defaults]\ninstances = 1\n[benchmark.t]\npytest = 'test_a.py'\npython = '{}'\n",
        python.display()
    );
    fs::write(path.join("lapwing.toml"), suite).unwrap();
}

#[test]
fn a_commit_that_cannot_be_imported_has_failed_and_is_tried_again() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    begin_repository(path, &python);
    let git = |arguments: &[&str]| git(path, arguments);
    let test =
        "import work\ndef test_work(benchmark_time):\n    with benchmark_time:\n        pass\n";
    // No such test, nothing to import, well, no fixtures to load.
    let commits = [
        ("", "", ""),
        (test, "work = (", ""),
        (test, "work = 1", ""),
        (test, "work = 1", "import missing"),
        (test, "work = 1", ""),
    ];
    for (number, (test, work, conftest)) in commits.iter().enumerate() {
        fs::write(path.join("test_a.py"), test).unwrap();
        fs::write(path.join("work.py"), work).unwrap();
        fs::write(path.join("conftest.py"), conftest).unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "--allow-empty", "-m", "work"]);
        git(&["tag", &format!("v{}", number + 1)]);
    }
    let cache = TempDir::new().unwrap();
    let measure = || {
        let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(["run", "--commits", "v1..v5", "--seed", "7"])
            .current_dir(path)
            .env("XDG_CACHE_HOME", cache.path())
            .output()
            .unwrap();
        String::from_utf8(done.stderr).unwrap()
    };
    measure();
    let ends = "SELECT version || ' ' || outcome || ' ' || coalesce(message, '-') FROM instances ORDER BY version";
    insta::assert_snapshot!(rows(path, ends).join("\n"), @"
    v1 skipped pytest recorded nothing: exit code 4: ERROR: not found: test_a.py::test_work
    v2 failed pytest recorded nothing: exit code 4: SyntaxError: '(' was never closed
    v3 ok -
    v4 failed pytest recorded nothing: exit code 4: ModuleNotFoundError: No module named 'missing'
    v5 ok -
    ");
    let prints = "SELECT count(*) || ' ' || count(fingerprint) FROM instance";
    assert_eq!(
        rows(path, prints),
        ["5 2"],
        "none where it is not the commit's own"
    );
    let again = measure();
    assert!(
        again.contains("note: 3 of 5 commits are skipped"),
        "{again}"
    );
}

#[test]
fn each_commit_executes_its_own_test_with_its_own_code() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    begin_repository(path, &python);
    let git = |arguments: &[&str]| git(path, arguments);
    let test = "def test_rows(benchmark_record):\n    import os, rows\n    assert rows.__file__.startswith(os.environ['LAPWING_SOURCE'])\n    benchmark_record.record('rows', rows.ROWS)\n";
    for rows in 1..=3 {
        if rows == 3 {
            // What the last commit says of the path must not lead the others to its code.
            fs::write(path.join("pytest.ini"), "[pytest]\npythonpath = .\n").unwrap();
        }
        fs::write(path.join("rows.py"), format!("ROWS = {rows}\n")).unwrap();
        if rows > 1 {
            fs::write(
                path.join("test_a.py"),
                test.replace("ROWS)", &format!("ROWS)  # {}", rows / 3)),
            )
            .unwrap();
        }
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "rows"]);
        git(&["tag", &format!("v{rows}")]);
    }
    // Nor must what lies above the folder for commits.
    let cache = TempDir::new().unwrap();
    fs::write(
        cache.path().join("pytest.ini"),
        "[pytest]\naddopts = --no-such-option\n",
    )
    .unwrap();
    let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["run", "--commits", "v1..v3", "--seed", "7"])
        .current_dir(path)
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .unwrap();
    let done = String::from_utf8(done.stdout).unwrap();
    assert!(done.contains("rows"), "{done}");
    let ends = "SELECT version || ' ' || outcome || ' ' || coalesce(substr(message, 1, 37), '-') FROM instances ORDER BY version";
    assert_eq!(
        rows(path, ends),
        [
            "v1 skipped pytest recorded nothing: exit code 4:",
            "v2 ok -",
            "v3 ok -"
        ]
    );
    let prints = "SELECT count(DISTINCT fingerprint) || '' FROM instance WHERE outcome = 'ok'";
    assert_eq!(
        rows(path, prints),
        ["2"],
        "the test itself has changed from v2 to v3"
    );
    let values = output(path, &["export", "--to", "csv", "--metric", "rows"]);
    let text = String::from_utf8(values.stdout).unwrap();
    assert!(text.contains(",2") && text.contains(",3"), "{text}");
}
