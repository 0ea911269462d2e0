//! Options of hyperfine 1.20: each documented option means the same, or is refused with ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// The outcome of an argument list.
enum Expected {
    /// It is measured.
    Works,
    /// It is refused, and this is part of the hint.
    Hint(&'static str),
    /// Something that was measured failed.
    Fails,
}
use Expected::{Fails, Hint, Works};

#[test]
fn each_documented_option_means_the_same_or_is_answered_with_ours() {
    let lists: &[(&[&str], Expected)] = &[
        (&["-r", "1", "true"], Works),
        (&["--runs=3", "echo a", "echo b"], Works),
        (&["-r", "1", "-w", "2", "true"], Works),
        (&["-r", "1", "--warmup=2", "true"], Works),
        (&["-m", "2", "--min-time", "0s", "true"], Works),
        (
            &["--min-runs=2", "--min-benchmarking-time", "0", "true"],
            Works,
        ),
        (&["-M", "5", "true"], Works),
        (&["--max-runs=5", "true"], Works),
        (&["-r", "1", "-s", "true", "echo a"], Works),
        (&["-r", "1", "--setup", "true", "echo a"], Works),
        (&["-r", "1", "-s", "false", "echo a"], Fails),
        (&["-r", "1", "-p", "true", "echo a"], Works),
        (
            &[
                "-r",
                "1",
                "--prepare=true",
                "--prepare=true",
                "echo a",
                "echo b",
            ],
            Works,
        ),
        (&["-r", "1", "--prepare=false", "echo a"], Fails),
        (
            &["-r", "1", "-p", "true", "-p", "true", "echo a"],
            Hint("once for all commands, or once for each"),
        ),
        (&["-r", "1", "-C", "true", "echo a"], Works),
        (&["-r", "1", "--conclude=true", "echo a"], Works),
        (&["-r", "1", "-c", "true", "echo a"], Works),
        (&["-r", "1", "--cleanup", "true", "echo a"], Works),
        (&["-r", "1", "--cleanup", "false", "echo a"], Fails),
        (&["-r", "1", "-P", "n", "1", "3", "echo {n}"], Works),
        (
            &[
                "-r",
                "1",
                "--parameter-scan",
                "n",
                "0",
                "1",
                "-D",
                "0.5",
                "echo {n}",
            ],
            Works,
        ),
        (
            &["-r", "1", "--parameter-step-size", "2", "echo a"],
            Hint("--parameter-scan"),
        ),
        (&["-r", "1", "-L", "flag", "-n,-e", "echo {flag}"], Works),
        (
            &["-r", "1", "--parameter-list", "n", "1,2", "echo a"],
            Hint("write `{n}`"),
        ),
        (&["-r", "1", "-S", "bash", "[[ a == a ]]"], Works),
        (&["-r", "1", "--shell=sh -e", "echo a"], Works),
        (&["-r", "1", "--shell=none", "echo 'a b' c"], Works),
        (&["-r", "1", "--shell=default", "echo a"], Works),
        (&["-r", "1", "-N", "echo a"], Works),
        (
            &["-r", "1", "-N", "-S", "bash", "echo a"],
            Hint("cannot be used with"),
        ),
        (&["-r", "1", "-i", "exit 3"], Works),
        (&["-r", "1", "exit 3", "-i"], Works),
        (&["-r", "1", "--ignore-failure", "exit 3"], Works),
        (
            &["-r", "1", "--ignore-failure=all-non-zero", "exit 3"],
            Works,
        ),
        (&["-r", "1", "--ignore-failure=3,4", "exit 3"], Works),
        (&["-r", "1", "--ignore-failure=4", "exit 3"], Fails),
        (
            &["-r", "1", "--ignore-failure=some", "exit 3"],
            Hint("write exit codes such as `1,2`"),
        ),
        (&["-r", "1", "--style", "basic", "true"], Works),
        (&["-r", "1", "--sort=command", "true"], Works),
        (&["-r", "1", "-u", "second", "true"], Works),
        (&["-r", "1", "--time-unit=millisecond", "true"], Works),
        (&["-r", "1", "--export-json", "f.json", "true"], Works),
        (&["-r", "1", "--export-csv", "f.csv", "true"], Works),
        (&["-r", "1", "--export-markdown=f.md", "true"], Works),
        (
            &["--export-asciidoc", "f.adoc", "true"],
            Hint("--export-markdown FILE"),
        ),
        (
            &["--export-orgmode", "f.org", "true"],
            Hint("--export-markdown FILE"),
        ),
        (&["-r", "1", "--show-output", "true"], Works),
        (
            &["--output=pipe", "true"],
            Hint("redirect it in the command"),
        ),
        (&["-r", "1", "--input", "null", "cat"], Works),
        (&["-r", "1", "--input=file.txt", "grep word"], Works),
        (
            &["-r", "1", "--input=none.txt", "cat"],
            Hint("none.txt does not exist"),
        ),
        (&["-r", "1", "-n", "name", "true"], Works),
        (&["-r", "1", "--command-name=name", "echo a"], Works),
        (
            &["-r", "1", "--command-name=a", "--command-name=b", "echo a"],
            Hint("at most one --command-name per command"),
        ),
        (&["-r", "1", "--reference", "true", "echo a"], Works),
        (
            &[
                "-r",
                "1",
                "--reference=true",
                "--reference-name=old",
                "echo a",
            ],
            Works,
        ),
        (
            &["--reference-name=old", "echo a"],
            Hint("--reference <COMMAND>"),
        ),
        (&["--debug-mode", "true"], Works),
        (&["-r", "1", "false"], Fails),
        (&["-r", "1", "no-such-program"], Hint("there is no program")),
        (
            &["-r", "1", "no-such-program with words"],
            Hint("there is no program"),
        ),
        (
            &["-r", "1", "true", "false"],
            Hint("write `lapwing run -q -r 1 -c true -c false` for 2 commands"),
        ),
    ];
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file.txt"), "a word\n").unwrap();
    for (arguments, expected) in lists {
        let told = run(folder.path(), &[&["run", "-q"], *arguments].concat());
        let is_right = match expected {
            Works => told.ends_with("exit 0"),
            Fails => told.ends_with("exit 4"),
            Hint(hint) => told.ends_with("exit 2") && told.contains(hint),
        };
        assert!(is_right, "{arguments:?}: {told}");
    }
}

/// Runs commands; returns the results in hyperfine's JSON.
fn exported(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let done = output(
        folder,
        &[&["run", "--export-json", "-"], arguments].concat(),
    );
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    let document: Value = serde_json::from_slice(&done.stdout).expect(&told);
    document["results"].as_array().unwrap().clone()
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn results_are_written_as_hyperfine_writes_them_and_read_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let arguments = [
        "-r",
        "10",
        "-L",
        "code,",
        r"3,a\,b",
        "-f",
        "--export-csv",
        "times.csv",
        "--command-name",
        "leave {code,}",
        "exit '{code,}'",
    ];
    let results = exported(path, &arguments);
    let [first, second] = results.as_slice() else {
        panic!("two results: {results:?}");
    };
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    let mut expected = vec![
        "command",
        "exit_codes",
        "lapwing_instances",
        "max",
        "mean",
        "median",
        "memory_usage_byte",
        "min",
        "parameters",
        "stddev",
        "system",
        "times",
        "user",
    ];
    expected.sort_unstable();
    let mut keys: Vec<&str> = keys.into_iter().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(first["command"], "leave 3");
    assert_eq!(second["command"], "leave a,b");
    assert_eq!(first["parameters"]["code,"], "3");
    assert_eq!(first["exit_codes"], serde_json::json!(vec![3; 10]));
    let times: Vec<f64> = serde_json::from_value(first["times"].clone()).unwrap();
    let mean = lapwing_stats::mean(&times).unwrap();
    assert!((first["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    let csv = lines(&path.join("times.csv"));
    assert_eq!(
        csv[0],
        "command,mean,stddev,median,user,system,min,max,\"parameter_code,\""
    );
    assert_eq!(csv.len(), 3);
    fs::write(
        path.join("times.json"),
        serde_json::json!({ "results": results }).to_string(),
    )
    .unwrap();
    let read = run(path, &["--store", "other.db", "import", "times.json"]);
    assert!(read.ends_with("exit 0"), "{read}");
    let done = run(
        path,
        &["run", "-r", "10", "--export-json", "true.json", "true"],
    );
    assert!(done.ends_with("exit 0"), "{done}");
    let shown = output(path, &["show", "true.json", "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["results"][0]["instances"], 5);
    let twice = run(
        path,
        &["run", "--export-json", "-", "--export-csv", "-", "true"],
    );
    assert!(
        twice.contains("one result only") && twice.ends_with("exit 2"),
        "{twice}"
    );
    let format = run(
        path,
        &["run", "--export-csv", "-", "--format", "json", "true"],
    );
    assert!(format.ends_with("exit 2"), "{format}");
    let markdown = output(path, &["run", "-r", "3", "--export-markdown", "-", "true"]);
    let markdown = String::from_utf8(markdown.stdout).unwrap();
    assert!(
        markdown
            .starts_with("| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|")
            && markdown.contains("| `true` | ")
            && markdown.contains(" | 1.00 |\n")
            && !markdown.contains("note: "),
        "{markdown}"
    );
    let again = output(path, &["export", "--to", "csv", "-o", "-"]);
    assert!(
        again.stdout.starts_with(b"suite,session,") && !path.join("-").exists(),
        "{again:?}"
    );
}

#[test]
fn as_many_executions_as_were_asked_for() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let executed = |arguments: &[&str]| {
        let log = path.join("log");
        let _absent = fs::remove_file(&log);
        let told = run(
            path,
            &[&["run", "--command", "echo x >>log"], arguments].concat(),
        );
        assert!(told.ends_with("exit 0"), "{told}");
        lines(&log).len()
    };
    for runs in ["1", "2", "7", "10", "12"] {
        assert_eq!(executed(&["--runs", runs]).to_string(), runs);
    }
    // 3 at the start of each of the 5 instances.
    assert_eq!(executed(&["--runs", "10", "--warmup", "3"]), 25);
    assert_eq!(
        executed(&["--min-runs", "10", "--min-time", "0s", "-w", "0"]),
        10
    );
    assert!(executed(&["--min-runs", "10", "-w", "0"]) > 10);
    let told = run(path, &["run", "-r", "10", "-w", "3", "true"]);
    let note = "note: 15 warm-ups per command: each of its 5 instances starts cold and has 3";
    assert!(told.contains(note), "{told}");
    let told = run(path, &["run", "-r", "10", "true"]);
    assert!(!told.contains("warm-ups"), "{told}");
    let more = run(path, &["run", "-r", "11", "true"]);
    assert!(more.contains("15 executions per command"), "{more}");
}

#[test]
fn two_programs_after_the_dashes_are_told_to_be_one_command() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b"] {
        symlink("/bin/true", folder.path().join(name)).unwrap();
    }
    let told = |words: &[&str]| {
        let arguments = [&["run", "-n", "1", "-i", "1", "--"], words].concat();
        run(folder.path(), &arguments)
    };
    let both = told(&["./a", "./b"]);
    let note = "note: `./a ./b` is measured as one command; `-c ./a -c ./b` compares 2";
    assert!(both.contains(note), "{both}");
    let with_argument = told(&["./a", "b"]);
    assert!(!with_argument.contains("as one command"), "{with_argument}");
}

#[test]
fn what_runs_around_a_command_runs_when_hyperfine_runs_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // One instance without burn-in is what hyperfine does.
    let arguments = [
        "run",
        "-n",
        "1",
        "-r",
        "2",
        "--setup",
        "echo setup {n} >>log",
        "--prepare",
        "echo first {n} >>log",
        "--prepare",
        "echo second >>log",
        "--cleanup",
        "echo cleanup >>log",
        "-P",
        "n",
        "7",
        "7",
        "echo a{n} >>log",
        "echo b >>log",
    ];
    let told = run(path, &arguments);
    assert!(told.ends_with("exit 0"), "{told}");
    let log = lines(&path.join("log"));
    let blocks: Vec<&[String]> = log.split_inclusive(|line| line == "cleanup").collect();
    let mut blocks: Vec<String> = blocks.into_iter().map(|it| it.join(", ")).collect();
    blocks.sort();
    assert_eq!(
        blocks,
        [
            "setup 7, first 7, a7, first 7, a7, cleanup",
            "setup 7, second, b, second, b, cleanup",
        ]
    );
}

#[test]
fn commands_are_compared_with_the_reference() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let arguments = [
        "run",
        "-r",
        "5",
        "--reference",
        "sleep 0.06",
        "--reference-name",
        "old",
        "sleep 0.01",
        "sleep 0.3",
    ];
    let told = run(path, &arguments);
    assert!(
        told.contains(" sleep 0.01 is ") && told.contains("faster than old"),
        "{told}"
    );
    assert!(
        told.contains(" sleep 0.3 is ") && told.contains("slower than old"),
        "{told}"
    );
    let again = run(path, &["show"]);
    assert!(again.contains("slower than old"), "{again}");
    let none = run(path, &["run", "--reference", "true"]);
    assert!(
        none.contains("there are none") && none.ends_with("exit 2"),
        "{none}"
    );
}

#[test]
fn the_arithmetic_mean_is_named_where_it_differs_and_all_figures_are_told_if_wanted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // Every fifth execution takes long, in one of the instances.
    let command = "echo x >>log; if [ $(wc -l <log) = 5 ]; then sleep 0.5; else sleep 0.02; fi";
    // All notes: on a busy machine those about the machine are told first.
    let named = [
        "run",
        "--full",
        "-r",
        "5",
        "--command-name",
        "uneven",
        "--command",
        command,
    ];
    let told = run(path, &named);
    assert!(told.contains(" uneven: arithmetic mean "), "{told}");
    let told = run(
        path,
        &[
            "run",
            "-v",
            "-r",
            "5",
            "--command-name",
            "even",
            "sleep 0.1",
        ],
    );
    let line = told
        .lines()
        .find(|line| line.starts_with(" even: "))
        .expect(&told);
    for part in [
        "arithmetic mean 10",
        " ms ± ",
        "in 5 executions",
        ", user ",
        ", system ",
    ] {
        assert!(line.contains(part), "{line}");
    }
    let arguments = ["show", "-v", "--format", "json"];
    let json: Value = serde_json::from_slice(&output(path, &arguments).stdout).unwrap();
    let notes = json["notes"].as_array().unwrap();
    let note = notes.iter().find(|it| it["code"] == "executions").unwrap();
    let figure = |name: &str| note[name].as_f64().unwrap();
    assert!(figure("min") <= figure("mean") && figure("mean") <= figure("max"));
    assert!(
        figure("min") >= 0.1 && figure("sd") >= 0.0 && figure("user_time") < 0.1,
        "{note}"
    );
    assert_eq!(note["executions"], 5);
}

#[test]
fn a_failing_clean_up_fails_and_is_told() {
    let folder = TempDir::new().unwrap();
    let arguments = [
        "run",
        "-r",
        "3",
        "--cleanup",
        "exit 7",
        "--format",
        "json",
        "true",
    ];
    let done = output(folder.path(), &arguments);
    assert_eq!(done.status.code(), Some(4));
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    let notes = json["notes"].as_array().unwrap();
    let note = notes
        .iter()
        .find(|it| it["code"] == "teardown_failed")
        .unwrap();
    assert_eq!(
        (&note["instances"], &note["of_instances"]),
        (&3.into(), &3.into())
    );
    assert!(json["results"][0]["value"].is_number());
}

#[test]
fn an_option_of_another_program_is_answered_for_programs_too() {
    let folder = TempDir::new().unwrap();
    let arguments = ["compare", "--format", "json", "-html", "a.txt", "b.txt"];
    let done = output(folder.path(), &arguments);
    assert_eq!(done.status.code(), Some(2));
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["error"], "-html is an option of benchstat");
    let hint = json["hint"].as_str().unwrap();
    assert!(
        hint.ends_with("--format markdown writes a table, `lapwing report` pages"),
        "{hint}"
    );
    let pytest = run(folder.path(), &["run", "--benchmark-json=out.json"]);
    assert!(
        pytest.contains("error: --benchmark-json is an option of pytest-benchmark"),
        "{pytest}"
    );
    let judge = run(folder.path(), &["judge", "--benchmark-json=out.json"]);
    assert!(judge.ends_with("exit 128"), "{judge}");
}
