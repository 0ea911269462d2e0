//! `lapwing run` as people use it: real commands, a real store, real interruptions.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

fn lapwing(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.current_dir(folder).args(arguments);
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    lapwing(folder, arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn query<T: rusqlite::types::FromSql>(folder: &Path, sql: &str) -> Vec<T> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn one(folder: &Path, sql: &str) -> i64 {
    query(folder, sql)[0]
}

/// Waits until the record files of the inbox have that many iterations.
fn wait_for_iterations(folder: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let inbox = fs::read_dir(folder.join(".lapwing/inbox"));
        let found: usize = inbox
            .into_iter()
            .flatten()
            .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
            .map(|text| text.matches("\"kind\":\"iteration\"").count())
            .sum();
        if found >= count {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("no {count} iterations after a minute");
}

#[test]
fn a_command_is_measured_kept_and_summed_up() {
    let folder = TempDir::new().unwrap();
    let done = output(
        folder.path(),
        &["run", "-n", "3", "-i", "2", "--seed", "7", "--", "true"],
    );
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(
        stdout(&done).contains("true  ") && stdout(&done).contains("3 instances × 2"),
        "{}",
        stdout(&done)
    );
    assert!(stderr(&done).contains(
        "measuring 1 benchmark × 3 instances × (1 + 2) iterations, seed 7, order interleaved"
    ));
    let count = one(
        folder.path(),
        "SELECT count(*) FROM iterations WHERE benchmark = 'true' AND wall_time > 0 AND peak_memory > 0",
    );
    assert_eq!(count, 9);
    assert_eq!(one(folder.path(), "SELECT sum(burn_in) FROM iterations"), 3);
    let left = fs::read_dir(folder.path().join(".lapwing/inbox")).unwrap();
    assert_eq!(
        left.count(),
        0,
        "the record file goes when the store has it all"
    );
}

#[test]
fn commands_given_together_are_compared() {
    let folder = TempDir::new().unwrap();
    let done = output(
        folder.path(),
        &["run", "-n", "4", "-i", "2", "-c", "true", "-c", "sleep 0.2"],
    );
    assert!(
        stdout(&done).contains("true is")
            && stdout(&done).contains("faster than sleep 0.2 (95 % CI"),
        "{}",
        stdout(&done)
    );
    let words = output(
        folder.path(),
        &["run", "-n", "1", "-i", "1", "--", "sleep 0", "true -x"],
    );
    assert!(
        stderr(&words).contains("measuring 2 benchmarks"),
        "{}",
        stderr(&words)
    );
}

#[test]
fn two_instances_a_side_give_no_verdict() {
    let folder = TempDir::new().unwrap();
    let done = output(
        folder.path(),
        &["run", "-n", "2", "-i", "1", "-c", "true", "-c", "sleep 0.1"],
    );
    assert!(
        stdout(&done).contains("no verdict on true and sleep 0.1: need 3 instances of each, got 2"),
        "{}",
        stdout(&done)
    );
}

#[test]
fn a_session_that_is_being_measured_is_not_resumed() {
    let folder = TempDir::new().unwrap();
    let arguments = ["run", "-n", "50", "-i", "2", "--", "sleep", "0.05"];
    let mut child: Child = lapwing(folder.path(), &arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_iterations(folder.path(), 1);
    // The store learns of a session with its first instance.
    while one(folder.path(), "SELECT count(*) FROM instances") == 0 {
        thread::sleep(Duration::from_millis(20));
    }
    let resumed = output(folder.path(), &["run", "--resume"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
    assert!(
        stderr(&resumed).contains("is being measured just now, by another process"),
        "{}",
        stderr(&resumed)
    );
    assert_eq!(
        one(
            folder.path(),
            "SELECT count(*) FROM instances WHERE outcome = 'lost'"
        ),
        0
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = TempDir::new().unwrap();
    output(folder.path(), &["run", "-n", "1", "-i", "1", "--", "true"]);
    for arguments in [
        &["list"][..],
        &["export", "--to", "csv"],
        &["export", "--to", "csv", "--wide"],
        &["export", "--to", "json"],
        &["export", "--to", "record"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = lapwing(folder.path(), arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        assert_eq!(
            (done.status.code(), stderr(&done)),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_name_plays_no_tricks_on_the_terminal() {
    let folder = TempDir::new().unwrap();
    let name = "two\nlines \u{1b}[31mred";
    let arguments = [
        "run",
        "-n",
        "1",
        "-i",
        "1",
        "--command-name",
        name,
        "-c",
        "false",
    ];
    let done = output(folder.path(), &arguments);
    let said = stderr(&done) + &stdout(&done);
    assert!(
        !said.contains("two\n") && !said.contains('\u{1b}'),
        "{said:?}"
    );
}

#[test]
fn a_time_limit_of_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    let refused = output(folder.path(), &["run", "--time-limit", "0", "--", "true"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("must be above zero"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn kill_9_loses_the_iteration_under_way_and_resume_measures_the_rest() {
    let folder = TempDir::new().unwrap();
    let arguments = [
        "run",
        "-n",
        "4",
        "-i",
        "5",
        "--burn-in",
        "0",
        "--name",
        "cut",
        "--",
        "sleep",
        "0.05",
    ];
    let mut child: Child = lapwing(folder.path(), &arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_iterations(folder.path(), 7);
    child.kill().unwrap();
    child.wait().unwrap();

    let resumed = output(folder.path(), &["run", "--resume"]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    let path = folder.path();
    assert_eq!(
        query::<String>(
            path,
            "SELECT outcome || ' ' || count(*) FROM instances GROUP BY outcome ORDER BY 1"
        ),
        ["lost 1", "ok 4"]
    );
    assert!(one(path, "SELECT count(*) FROM iterations") >= 20 + 2);
    let complete = "SELECT count(*) FROM instances WHERE outcome = 'ok' AND iterations = 5";
    assert_eq!(one(path, complete), 4);
    let twice = "SELECT count(*) FROM (SELECT block FROM instances WHERE outcome = 'ok' GROUP BY block HAVING count(*) > 1)";
    assert_eq!(one(path, twice), 0);
    assert_eq!(one(path, "SELECT max(attempt) FROM instances"), 1);
    assert!(
        stdout(&resumed).contains("4 instances × 5"),
        "{}",
        stdout(&resumed)
    );

    let again = output(folder.path(), &["run", "--resume", "cut"]);
    assert!(
        stderr(&again).contains("session `cut` is complete"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn ctrl_c_ends_the_command_keeps_everything_and_exits_130() {
    let folder = TempDir::new().unwrap();
    let child = lapwing(
        folder.path(),
        &[
            "run",
            "-n",
            "2",
            "-i",
            "2",
            "--burn-in",
            "0",
            "-c",
            "sleep 0.1; sleep ${LAPWING_NAP:-0.1}",
        ],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    wait_for_iterations(folder.path(), 1);
    let signalled = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signalled.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", stderr(&done));
    let told = String::from_utf8(done.stdout).unwrap();
    assert!(
        told.contains("next: `lapwing run --resume` measures the rest"),
        "{told}"
    );
    assert!(one(folder.path(), "SELECT count(*) FROM iterations") >= 1);
    let ended = |outcome: &str| {
        let query = format!("SELECT count(*) FROM instances WHERE outcome = '{outcome}'");
        one(folder.path(), &query)
    };
    assert_eq!(ended("lost"), 1);
    // The one that was cut short is not one of those that were measured.
    let measured = format!("{} of 2 planned instances were measured", ended("ok"));
    assert!(told.contains(&measured), "{told}");
}

#[test]
fn a_session_whose_folder_vanishes_writes_its_record_file_again() {
    let folder = TempDir::new().unwrap();
    let arguments = [
        "run",
        "-n",
        "3",
        "-i",
        "3",
        "--burn-in",
        "0",
        "--",
        "sleep",
        "0.2",
    ];
    let child = lapwing(folder.path(), &arguments)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_iterations(folder.path(), 2);
    fs::remove_dir_all(folder.path().join(".lapwing")).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    let listed = output(folder.path(), &["run", "-n", "1", "-i", "1", "--", "true"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    assert_eq!(
        one(
            folder.path(),
            "SELECT count(*) FROM iterations WHERE benchmark LIKE 'sleep%'"
        ),
        9
    );
}

#[test]
fn a_session_whose_store_vanishes_keeps_its_record_file() {
    let folder = TempDir::new().unwrap();
    let child = lapwing(
        folder.path(),
        &[
            "run",
            "-n",
            "3",
            "-i",
            "3",
            "--burn-in",
            "0",
            "--store",
            "kept/x.db",
            "--",
            "sleep",
            "0.1",
        ],
    )
    .stderr(Stdio::piped())
    .stdout(Stdio::null())
    .spawn()
    .unwrap();
    let inbox = folder.path().join("kept/x.db.inbox");
    // Measuring has begun: before, a store that vanishes is an error and nothing is lost.
    let has_measured = || {
        let files = fs::read_dir(&inbox).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("\"kind\":\"iteration\""))
    };
    while !has_measured() {
        thread::sleep(Duration::from_millis(5));
    }
    for name in ["x.db", "x.db-wal", "x.db-shm"] {
        let _absent = fs::remove_file(folder.path().join("kept").join(name));
    }
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("everything measured is in"),
        "{}",
        stderr(&done)
    );
    let files: Vec<_> = fs::read_dir(&inbox)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    let text = fs::read_to_string(&files[0]).unwrap();
    assert_eq!(text.matches("\"kind\":\"iteration\"").count(), 9);
}

#[test]
fn metrics_without_end_are_failures_with_their_reason() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("lapwing.toml"),
        r#"
suite = "try"
[defaults]
instances = 1
burn_in = 0
iterations = 3
[benchmark.pipe]
metrics = "json"
command = "mkfifo $LAPWING_METRICS"
[benchmark.device]
metrics = "json"
command = "ln -s /dev/zero $LAPWING_METRICS"
[benchmark.large]
metrics = "json"
command = "truncate -s 1G $LAPWING_METRICS"
[benchmark.names]
metrics = "json"
command = "awk -v p=$$ 'BEGIN { printf \"{\"; for (i = 0; i < 600; i++) printf \"\\\"m%d_%d\\\": 1, \", p, i; print \"\\\"a\\\": 1}\" }'"
[benchmark.negative]
metrics = "json"
command = "echo '{\"wall_time\": -1}'"
"#,
    )
    .unwrap();
    let done = output(folder.path(), &["run"]);
    assert_eq!(done.status.code(), Some(4), "{}", stderr(&done));
    let messages = "SELECT DISTINCT benchmark || ': ' || message FROM iterations \
                    WHERE outcome = 'failed' ORDER BY 1";
    assert_eq!(
        query::<String>(folder.path(), messages),
        [
            "device: $LAPWING_METRICS is not a regular file",
            "large: $LAPWING_METRICS holds 1073741824 bytes, and 16777216 is the most",
            "names: the benchmark has more than 1,000 metrics; is a number part of their names?",
            "negative: metric `wall_time` is negative: -1",
            "pipe: $LAPWING_METRICS is not a regular file",
        ]
    );
}

#[test]
fn a_suite_with_variants_failures_and_json_metrics() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("lapwing.toml"),
        r#"
suite = "try"
[defaults]
instances = 3
iterations = 2
[benchmark.score]
command = "echo \"{\\\"score\\\": $LEVEL, \\\"more\\\": {\\\"x\\\": 2}}\""
metrics = "json"
metric.score = { unit = "points", better = "higher" }
[benchmark.broken]
command = "echo oops >&2; exit 3"
[benchmark.slow]
command = "trap '' TERM; sleep 20"
time_limit = "100ms"
instances = 1
burn_in = 0
iterations = 1
[factor.level]
levels = [1, 2]
apply.env.LEVEL = "{level}"
"#,
    )
    .unwrap();
    let done = output(folder.path(), &["run", "--format", "json"]);
    assert_eq!(done.status.code(), Some(4), "{}", stderr(&done));
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let score = |variant: &str| {
        let rows = answer["results"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|it| it["metric"] == "score" && it["variant"] == variant);
        (row.unwrap()["value"].as_f64(), row.unwrap()["unit"].clone())
    };
    assert_eq!(score("level=1"), (Some(1.0), "points".into()));
    assert_eq!(score("level=2").0, Some(2.0));
    let path = folder.path();
    let messages = "SELECT DISTINCT message FROM iterations WHERE outcome = 'failed'";
    assert_eq!(query::<String>(path, messages), ["exit code 3: oops"]);
    let timed_out = "SELECT count(*) FROM iterations WHERE outcome = 'timed_out'";
    assert_eq!(one(path, timed_out), 2);
    let given_up = "SELECT DISTINCT message FROM instances WHERE benchmark = 'broken'";
    assert_eq!(
        query::<String>(path, given_up),
        ["3 iterations failed in a row: exit code 3: oops"]
    );
}

#[test]
fn wrong_usage_is_said_before_anything_is_measured() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("bad.toml"),
        "[benchmark.a]\ncommand = 'true'\nitertions = 3\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("good.toml"),
        "[benchmark.gzip]\ncommand = 'true'\n",
    )
    .unwrap();
    let said: Vec<String> = [
        &["run"][..],
        &["run", "nowhere.toml"],
        &["run", "bad.toml"],
        &["run", "good.toml", "-b", "gzpi"],
        &["run", "good.toml", "--check", "true"],
        &["run", "--", "no-such-program"],
        &["run", "--cpus", "999", "--", "true"],
        &["run", "--resume"],
    ]
    .iter()
    .map(|arguments| {
        let done = output(folder.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        format!("$ lapwing {}\n{}", arguments.join(" "), stderr(&done))
    })
    .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    $ lapwing run
    error: nothing to measure: there is no lapwing.toml here
      hint: measure a command with `lapwing run -- COMMAND`, or name a suite file

    $ lapwing run nowhere.toml
    error: cannot read nowhere.toml: No such file or directory (os error 2)
      hint: check the path, measure a command with `lapwing run -- COMMAND`, or write a lapwing.toml

    $ lapwing run bad.toml
    error: bad.toml:3: unknown key `itertions` in [benchmark.a]
      hint: did you mean `iterations`?

    $ lapwing run good.toml -b gzpi
    error: the suite has no benchmark `gzpi`
      hint: did you mean `gzip`?

    $ lapwing run good.toml --check true
    error: --check applies only to commands; set `check` in the suite file
      hint: to measure a command, give it with `--command` or after `--`

    $ lapwing run -- no-such-program
    error: there is no program `no-such-program`
      hint: check its name, or give its path; a shell command goes with --command

    $ lapwing run --cpus 999 -- true
    error: CPU 999 is not available here; available are 0-1

    $ lapwing run --resume
    error: there is no session to resume
      hint: start one with `lapwing run`
    ");
}

#[test]
fn words_that_could_be_one_command_or_two_are_refused() {
    let folder = TempDir::new().unwrap();
    let refused = output(
        folder.path(),
        &["run", "-n", "1", "--", "true", "sleep 0.1"],
    );
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&refused), @r#"
    error: `true 'sleep 0.1'` may be one command or 2
      hint: write `-c true -c 'sleep 0.1'` for 2 commands, or `-c "true 'sleep 0.1'"` for one
    "#);
    // An argument with spaces that is no command is none.
    let fine = output(
        folder.path(),
        &["run", "-n", "1", "-i", "1", "--", "sh", "-c", "exit 0"],
    );
    assert_eq!(fine.status.code(), Some(0));
}

#[test]
fn texts_with_spaces_in_place_of_a_suite_file_are_commands() {
    let folder = TempDir::new().unwrap();
    let done = output(
        folder.path(),
        &["run", "-n", "1", "-i", "1", "sleep 0.01", "sh -c 'exit 0'"],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(stderr(&done).contains("measuring 2 benchmarks"), "{done:?}");
    let refused = output(folder.path(), &["run", "sort", "f"]);
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&refused), @r#"
    error: `sort f` is no suite file
      hint: to measure it as one command, write `lapwing run -- sort f`
    "#);
}

#[test]
fn each_benchmark_is_profiled_once_outside_its_instances() {
    let folder = TempDir::new().unwrap();
    let profiler = r#"sh -c 'echo "$@" > {artifact}.txt; echo x >> starts; "$@"' profiler"#;
    let done = output(
        folder.path(),
        &[
            "run",
            "-n",
            "2",
            "-i",
            "2",
            "-w",
            "0",
            "--profile",
            profiler,
            "-c",
            "echo 'a b' >> starts",
        ],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let starts = fs::read_to_string(folder.path().join("starts")).unwrap();
    let (profiled, measured) = starts.split_once("a b").unwrap();
    assert_eq!(profiled, "x\n", "the profiler comes first");
    assert!(
        measured.matches("a b").count() >= 4 && !measured.contains('x'),
        "{starts}"
    );
    let records = output(folder.path(), &["export", "--to", "record"]);
    let records = String::from_utf8(records.stdout).unwrap();
    let files: Vec<String> = (records.lines())
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|it| Some(it["artifacts"]["profile"].as_str()?.to_owned()))
        .collect();
    let [file] = &files[..] else {
        panic!("one profile: {files:?}");
    };
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        "sh -c echo 'a b' >> starts\n"
    );
    let refused = output(
        folder.path(),
        &["run", "--profile", "perf record --", "--", "true"],
    );
    assert!(
        stderr(&refused).contains("has no {artifact}"),
        "{refused:?}"
    );
}

#[test]
fn a_mistyped_program_is_refused_before_anything_is_measured() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        ["run", "-c", "nosuchprogram -x"],
        ["run", "--", "nosuchprogram"],
    ] {
        let refused = output(folder.path(), &arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
    }
    assert!(!folder.path().join(".lapwing").exists());
}

#[test]
fn the_cause_of_a_failure_is_told_also_if_the_last_line_is_another() {
    let folder = TempDir::new().unwrap();
    let script = "echo 'fatal: no data.bin' >&2; echo; echo 'usage: tool FILE' >&2; exit 3";
    let failed = output(folder.path(), &["run", "-n", "1", "-i", "1", "-c", script]);
    let message = "exit code 3\n    fatal: no data.bin\n    usage: tool FILE\n";
    let told = String::from_utf8(failed.stdout).unwrap();
    assert!(told.contains(message), "{told}");
    let setup = output(
        folder.path(),
        &["run", "-n", "1", "-i", "1", "-c", "true", "--setup", script],
    );
    let message = format!("setup failed: {message}");
    let told = String::from_utf8(setup.stdout).unwrap();
    assert!(told.contains(&message), "{told}");
}

#[test]
fn a_shell_is_blamed_only_where_there_is_one() {
    let folder = TempDir::new().unwrap();
    let advice = |arguments: &[&str]| {
        let told = stderr(&output(folder.path(), arguments));
        // A machine may take long to start a process.
        let is_brief = told.contains("mostly the start of a process");
        (is_brief, told.contains("run it without a shell"))
    };
    let (_, blamed) = advice(&["run", "-n", "3", "-i", "1", "--", "true"]);
    assert!(!blamed);
    let (is_brief, blamed) = advice(&["run", "-n", "3", "-i", "1", "-c", "true"]);
    assert_eq!(is_brief, blamed);
}

#[test]
fn a_benchmark_that_fails_every_time_is_exit_code_4() {
    let folder = TempDir::new().unwrap();
    let failed = output(
        folder.path(),
        &["run", "-n", "1", "-i", "1", "-c", "true", "-c", "false"],
    );
    assert_eq!(failed.status.code(), Some(4));
}

#[test]
fn a_comma_in_a_value_is_escaped() {
    let folder = TempDir::new().unwrap();
    let words = ["run", "-n", "1", "-i", "1", "-w", "0", "-L", "x", r"a\,b,c"];
    let told = output(folder.path(), &[&words[..], &["-c", "echo {x}"]].concat());
    let told = stdout(&told) + &stderr(&told);
    assert!(
        told.contains("measuring 2 benchmarks") && told.contains("a,b"),
        "{told}"
    );
}
