//! `lapwing FILE…`, without a command.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::nights_fixture::{Nights, nights};
use crate::program::{output, run};
use crate::trace::TRACE;

const SLOWER: Nights = |night| Some(if night < 25 { 1.0 } else { 1.2 });

/// Returns the answer of `lapwing` with these arguments, and its exit code.
fn answer(folder: &Path, words: &[&str]) -> (Value, Option<i32>) {
    let done = output(folder, &[words, &["--format", "json"]].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (answer, done.status.code())
}

/// Returns the same, with the format before these arguments, of which some may follow `--`.
fn answer_after(folder: &Path, words: &[&str]) -> (Value, Option<i32>) {
    let done = output(folder, &[&["--format", "json"], words].concat());
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (answer, done.status.code())
}

/// Writes a result of hyperfine.
fn write_result(folder: &Path, name: &str, level: f64) {
    let times: Vec<f64> = (0..10)
        .map(|at| level * (1.0 + 0.003 * f64::from(at * 7 % 10)))
        .collect();
    let result = json!({"results": [{"command": "render", "times": times, "exit_codes": vec![0; 10], "mean": level,
        "stddev": null, "median": level, "min": level, "max": level, "user": 0.1, "system": 0.0}]});
    fs::write(folder.join(name), result.to_string()).unwrap();
}

#[test]
fn the_command_is_the_one_that_fits_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(
        path.join("history.jsonl"),
        nights(0..40, &[("parse", SLOWER)]),
    )
    .unwrap();
    fs::write(path.join("trace.log"), TRACE).unwrap();
    fs::write(
        path.join("suite.toml"),
        "[benchmark.sleep]\ncommand = \"true\"\n",
    )
    .unwrap();
    fs::create_dir(path.join("nights")).unwrap();
    for night in 0..20_u32 {
        let level = 0.1 + 1e-5 * f64::from(night * 7 % 20);
        write_result(
            path,
            &format!("nights/2026-09-{:02}.json", night + 1),
            level,
        );
    }
    write_result(path, "old.json", 0.1);
    write_result(path, "new.json", 0.2);
    write_result(path, "newer.json", 0.3);
    let kinds = [
        &["history.jsonl"][..],
        &["nights"],
        &["nights/*.json"],
        &["old.json"],
        &["old.json", "new.json"],
        &["old.json", "new.json", "newer.json"],
        &["trace.log"],
        &["trace.log", "trace.log"],
        &["suite.toml"],
        &["--color", "never", "old.json"],
    ]
    .map(|files| {
        let (answer, code) = answer(path, files);
        let kind = answer["answer"].as_str().unwrap_or_default();
        format!("{}: {kind}, {}", files.join(" "), code.unwrap_or(-1))
    });
    assert_snapshot!(kinds.join("\n"), @"
    history.jsonl: detect, 0
    nights: detect, 0
    nights/*.json: detect, 0
    old.json: session, 0
    old.json new.json: compare, 0
    old.json new.json newer.json: compare, 0
    trace.log: trace, 0
    trace.log trace.log: trace-compare, 0
    suite.toml: dry-run, 0
    --color never old.json: session, 0
    ");
    assert!(!path.join(".lapwing").exists());
}

#[test]
fn a_trace_is_explained_beside_other_files_and_with_options_on_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("job")).unwrap();
    fs::write(path.join("job/trace.log"), TRACE).unwrap();
    fs::write(path.join("job/graph.json"), r#"{"load2": ["load1"]}"#).unwrap();
    fs::write(path.join("job/notes.txt"), "as of today\n").unwrap();
    let kinds = [
        &["job"][..],
        &["job/trace.log", "--graph", "job/graph.json"],
        &["--graph", "job/graph.json", "job"],
        &["trace", "--graph", "job/graph.json", "job/trace.log"],
        &["trace", "job/trace.log", "--graph=job/graph.json"],
        &["job/trace.log", "job", "--show", "tasks"],
    ]
    .map(|words| {
        let (answer, code) = answer(path, words);
        let kind = answer["answer"].as_str().unwrap_or_default();
        format!("{}: {kind}, {}", words.join(" "), code.unwrap_or(-1))
    });
    assert_snapshot!(kinds.join("\n"), @"
    job: trace, 0
    job/trace.log --graph job/graph.json: trace, 0
    --graph job/graph.json job: trace, 0
    trace --graph job/graph.json job/trace.log: trace, 0
    trace job/trace.log --graph=job/graph.json: trace, 0
    job/trace.log job --show tasks: trace-compare, 0
    ");
    // A folder with other results as well is more than a trace.
    write_result(path, "job/other.json", 0.1);
    let (other, _) = answer(path, &["job"]);
    assert_ne!(other["answer"], "trace");
}

#[test]
fn files_get_the_answer_that_a_store_with_them_gets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let benchmarks: [(&str, Nights); 2] = [("parse", SLOWER), ("render", |_| Some(1.0))];
    fs::write(path.join("history.jsonl"), nights(0..40, &benchmarks)).unwrap();
    let gated = &["history.jsonl", "--fail-on", "regression"];
    let (door, code) = answer(path, gated);
    let (files, files_code) = answer(path, &[&["detect"], &gated[..]].concat());
    let imported = run(path, &["import", "history.jsonl"]);
    assert!(imported.ends_with("exit 0"), "{imported}");
    let (stored, stored_code) = answer(path, &["detect", "--fail-on", "regression"]);
    assert_eq!([code, files_code, stored_code], [Some(1); 3]);
    for field in ["headline", "verdict", "changes", "tested"] {
        assert!(!stored[field].is_null(), "{field}");
        assert_eq!(door[field], stored[field]);
        assert_eq!(files[field], stored[field]);
    }
    let next = door["next"][0]["command"].as_str();
    assert_eq!(next, Some("lapwing import history.jsonl"));
    // A store by its path is one, too.
    let (by_path, _) = answer(path, &[".lapwing/lapwing.db"]);
    assert_eq!(by_path["headline"], stored["headline"]);
}

#[test]
fn what_is_no_file_and_no_command_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("test.py"), "print('hello')\n").unwrap();
    let told = [
        run(path, &["resuls.json"]),
        run(path, &["detct"]),
        run(path, &["old.json", "new.json"]),
        run(path, &["test.py"]),
        run(path, &["detect", "nights/"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    error: there is no file resuls.json
    exit 2
    error: there is no command and no file `detct`
      hint: similar commands: detect, bisect
    exit 2
    error: there is no file old.json
    exit 2
    error: test.py is in none of the formats that can be imported: it is text that begins with `print('hello')`
      nothing was imported from this file
      hint: if it is a program, `lapwing run -- python3 test.py` measures it
    exit 2
    error: there is no file nights/
    exit 2
    ");
}

/// Returns a folder with two results, a history of twenty and a few unchanged ones.
fn results() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_result(path, "old.json", 0.1);
    write_result(path, "new.json", 0.2);
    write_result(path, "-x.json", 0.2);
    fs::create_dir(path.join("nights")).unwrap();
    for night in 1..=20 {
        let level = if night < 13 { 0.1 } else { 0.12 } * (1.0 + 1e-4 * f64::from(night * 7 % 20));
        write_result(path, &format!("nights/2026-09-{night:02}.json"), level);
    }
    folder
}

#[test]
fn options_choose_among_the_commands_that_files_can_mean() {
    let folder = results();
    let kinds = [
        &["--fail-on", "regression", "nights/"][..],
        &["-b", "render", "nights"],
        &["nights", "-brender", "--changed-since=2026-09-01"],
        &["old.json", "--smallest-effect", "3%", "new.json"],
        &["--", "-x.json"],
        &["--pair-hosts", "--", "old.json", "-x.json"],
        &["old.json", "new.json", "--changed-since", "2026-09-01"],
    ]
    .map(|words| {
        let (answer, code) = answer_after(folder.path(), words);
        let kind = answer["answer"].as_str().unwrap_or_default();
        format!("{}: {kind}, {}", words.join(" "), code.unwrap_or(-1))
    });
    assert_snapshot!(kinds.join("\n"), @"
    --fail-on regression nights/: detect, 1
    -b render nights: detect, 0
    nights -brender --changed-since=2026-09-01: detect, 0
    old.json --smallest-effect 3% new.json: compare, 0
    -- -x.json: session, 0
    --pair-hosts -- old.json -x.json: compare, 0
    old.json new.json --changed-since 2026-09-01: error, 2
    ");
}

#[test]
fn an_option_that_the_files_are_too_few_for_says_what_is_lacking() {
    let folder = results();
    let told = [
        &["old.json", "--fail-on", "regression"][..],
        &["old.json", "-b", "render"],
        &["--changed-since", "2w", "old.json"],
        &["nights", "--pair-hosts"],
        &["slep 0.1"],
    ]
    .map(|words| run(folder.path(), words));
    assert_snapshot!(told.join("\n"), @"
    error: --fail-on needs a history or a comparison: a history needs results of 3 moments (versions or sessions), and old.json has results of 1 moment
      hint: name two files to compare them, or all files of a history
    exit 3
    error: -b needs a history or a comparison: a history needs results of 3 moments (versions or sessions), and old.json has results of 1 moment
      hint: name two files to compare them, or all files of a history
    exit 3
    error: --changed-since needs a history: a history needs results of 3 moments (versions or sessions), and old.json has results of 1 moment
      hint: name two files to compare them, or all files of a history
    exit 3
    error: --pair-hosts needs a comparison, and nights is one side
      hint: name the two files or folders to compare
    exit 2
    error: there is no file slep 0.1
      hint: to measure it as commands, type `lapwing run 'slep 0.1'`
    exit 2
    ");
}

#[test]
fn standard_input_is_a_file_or_a_side() {
    let folder = results();
    let headlines = [
        &["-"][..],
        &["-", "new.json"],
        &["compare", "new.json", "-"],
    ]
    .map(|words| {
        let input = fs::File::open(folder.path().join("old.json")).unwrap();
        let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(words)
            .current_dir(folder.path())
            .stdin(input)
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let line = text.lines().find(|line| !line.is_empty());
        line.unwrap_or_default().trim().to_owned()
    });
    assert_snapshot!(headlines.join("\n"), @"
    render  101 ms (1 instance × 10)
    new.json against standard input: 1 slower in these files (one run each; another may differ)   (1 comparison, FDR 5 %, no change: within 3 %)
    standard input against new.json: 1 faster in these files (one run each; another may differ)   (1 comparison, FDR 5 %, no change: within 3 %)
    ");
}

#[test]
fn a_folder_with_a_store_or_a_suite_is_told_what_else_it_has() {
    let folder = results();
    let path = folder.path();
    let note = |words: &[&str]| {
        let (answer, _) = answer(path, words);
        let notes = answer["notes"].as_array().cloned().unwrap_or_default();
        let texts = notes.into_iter().filter(|it| it["code"] == "other_files");
        let texts: Vec<String> = texts.map(|it| it["text"].to_string()).collect();
        format!("{}: {}", answer["answer"], texts.join(" "))
    };
    let suite = "[benchmark.none]\ncommand = \"true\"\n";
    fs::write(path.join("lapwing.toml"), suite).unwrap();
    let of_suite = note(&["."]);
    run(path, &["import", "nights"]);
    let of_store = note(&["."]);
    fs::remove_file(path.join("-x.json")).unwrap();
    fs::remove_dir_all(path.join("nights")).unwrap();
    let of_few = note(&["."]);
    assert_snapshot!([of_suite, of_store, of_few].join("\n"), @r#"
    "dry-run": "this is about the suite of the folder, which also has 23 files with results (`lapwing old.json ./-x.json new.json …` shows them)"
    "detect": "this is about the store of the folder, which also has a suite (`lapwing lapwing.toml` shows its plan) and 23 files with results (`lapwing old.json ./-x.json new.json …` shows them)"
    "detect": "this is about the store of the folder, which also has a suite (`lapwing lapwing.toml` shows its plan) and 2 files with results (`lapwing old.json new.json` shows them)"
    "#);
}

#[test]
fn an_invalid_suite_file_in_the_folder_does_not_stop_the_answer() {
    let folder = results();
    let path = folder.path();
    fs::write(path.join("lapwing.toml"), "frob = [").unwrap();
    let kinds = [&["old.json"][..], &["old.json", "new.json"], &["nights"]].map(|words| {
        let (answer, code) = answer(path, words);
        let notes = answer["notes"].to_string();
        let is_told = notes.contains("lapwing.toml is ignored: ");
        (answer["answer"].clone(), code, is_told)
    });
    let expected = [
        (json!("session"), Some(0), false),
        (json!("compare"), Some(0), true),
        (json!("detect"), Some(0), true),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn many_files_are_named_by_their_folder_or_a_pattern() {
    let folder = results();
    let path = folder.path();
    let nights = fs::read_dir(path.join("nights")).unwrap();
    let mut nights: Vec<String> = nights
        .map(|it| format!("nights/{}", it.unwrap().file_name().display()))
        .collect();
    nights.sort();
    let next = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        answer(path, &words).0["next"][0]["command"].clone()
    };
    assert_eq!(next(&nights), "lapwing import nights");
    let most =
        "lapwing import nights/2026-09-01.json nights/2026-09-02.json nights/2026-09-03.json …";
    assert_eq!(next(&nights[..19]), most);
    fs::write(path.join("nights/other.txt"), "nothing").unwrap();
    assert_eq!(next(&nights), "lapwing import 'nights/*.json'");
}

#[test]
fn a_signal_while_files_are_read_leaves_no_folder_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .arg("-")
        .env("TMPDIR", folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let left = || fs::read_dir(folder.path()).unwrap().count();
    while left() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let signal = Command::new("kill")
        .args(["-INT", &program.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    assert_eq!(program.wait().unwrap().code(), Some(130));
    assert_eq!(left(), 0);
}

#[test]
fn standard_output_has_what_a_command_writes_and_no_file_has_its_name() {
    let folder = results();
    let path = folder.path();
    run(path, &["import", "nights"]);
    let starts = |words: &[&str]| {
        let done = output(path, words);
        let text = String::from_utf8(done.stdout).unwrap();
        let text = text + &String::from_utf8(done.stderr).unwrap();
        text.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    let told = [
        starts(&["burn-in", "-o", "-"]),
        starts(&["detect", "--junit", "-"])[..30].to_owned(),
        starts(&["detect", "--badge", "-"])[..30].to_owned(),
        starts(&["report", "-o", "-"]),
        starts(&["db", "rescue", "old.db", "-o", "-"]),
    ];
    assert_snapshot!(told.join("\n"), @r#"
    {
      "render": 0
    <?xml version="1.0" encoding="
    <svg xmlns="http://www.w3.org/
    error: a report is a folder of pages, and not standard output
      hint: name a folder, such as `-o lapwing-report`
    error: a store is a file, and not standard output
      hint: name a file, such as rescued.db
    "#);
    assert!(!path.join("-").exists());
}

#[test]
fn help_of_a_command_with_arguments_is_that_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let of = |words: &[&str]| run(folder.path(), words);
    assert_eq!(of(&["help", "list", "sessions"]), of(&["help", "list"]));
    assert_ne!(of(&["help", "trace", "show"]), of(&["help", "trace"]));
}
