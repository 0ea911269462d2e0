//! No token that was given to a benchmark is in a file of the store, an export or a shared history.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{output, run};
use serde_json::Value;

const TOKEN: &str = "glpat-aB3dE5gH7jaB3dE5gH7j";

/// Runs the program with a home folder and a token in its environment.
fn at_home(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("HF_TOKEN", "SECRETKEEPENV")
        .output()
        .unwrap();
    let texts = [done.stdout, done.stderr].map(|it| String::from_utf8(it).unwrap());
    format!("{}{}", texts[0], texts[1])
}

/// Returns the files below a folder that have a text, but for the suite and scripts.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_input = path
            .extension()
            .is_some_and(|it| it == "toml" || it == "py");
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if !is_input {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(text.len()).any(|it| it == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_token_of_a_suite_reaches_no_file_and_the_session_is_not_resumed_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let suite = format!(
        "suite = 's'\n[environment]\nwhere = 'echo {TOKEN}'\n[benchmark.x]\n\
         command = 'echo {TOKEN} $PWD >&2; test -n \"$TOKEN\"'\nenv = {{ TOKEN = '{TOKEN}' }}\n\
         [benchmark.y]\ncommand = 'echo {TOKEN} $PWD >&2; false'\nparams.token = ['{TOKEN}']\n"
    );
    fs::write(here.join("lapwing.toml"), suite).unwrap();
    let said = at_home(here, &["run", "-n", "3", "-i", "1"]);
    assert!(said.contains("[hidden: GitLab token]"), "{said}");
    assert_eq!(files_with(here, TOKEN), [""; 0]);
    let export = output(here, &["export", "--to", "record"]).stdout;
    let export = String::from_utf8(export).unwrap();
    assert!(
        !export.contains(TOKEN) && !export.contains(here.to_str().unwrap()),
        "{export}"
    );
    assert!(export.contains("[hidden: GitLab token] ~"), "{export}");
    let resumed = at_home(here, &["run", "--resume"]);
    assert!(
        resumed.contains("its plan had a text that is not kept"),
        "{resumed}"
    );
    let pushed = run(here, &["db", "push", "shared"]);
    assert!(pushed.ends_with("exit 0"), "{pushed}");
}

#[test]
fn an_interrupted_session_in_a_home_folder_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // The second instance ends the program that measures it.
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; \
                  if [ $n = 1 ] && [ ! -e k ]; then touch k; kill -9 $(cat pid); sleep 9; fi";
    fs::write(here.join("x.sh"), script).unwrap();
    let command = format!("sh {}/x.sh", here.display());
    let start = format!(
        "echo $$ >pid; exec {} run -n 3 -i 1 --burn-in 0 -- '{command}'",
        assert_cmd::cargo::cargo_bin!("lapwing").display()
    );
    let _killed = Command::new("sh")
        .args(["-c", &start])
        .current_dir(here)
        .env("HOME", here)
        .output()
        .unwrap();
    let resumed = at_home(here, &["run", "--resume"]);
    assert!(resumed.contains("sh ~/x.sh"), "{resumed}");
    assert!(resumed.contains("3 instances"), "{resumed}");
    assert_eq!(
        files_with(&here.join(".lapwing"), here.to_str().unwrap()),
        [""; 0]
    );
}

#[test]
fn the_values_of_kept_variables_are_never_stored() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let script = "import json, os\nprint(json.dumps({'name': 'X', 'framework': 'python', '@parameters': {}, \
                  '@result': {'length': float(len(os.environ['HF_TOKEN']))}}))\n";
    fs::write(here.join("s.py"), script).unwrap();
    let keep = [
        "indicator",
        "run",
        "s.py",
        "-n",
        "1",
        "-i",
        "1",
        "--keep-env",
        "HF_TOKEN",
    ];
    let said = at_home(here, &keep);
    assert!(said.contains("13.0"), "{said}");
    assert_eq!(files_with(here, "SECRETKEEPENV"), [""; 0]);
    let export = output(here, &["export", "--to", "record"]).stdout;
    assert!(
        String::from_utf8(export)
            .unwrap()
            .contains(r#""variables":["HF_TOKEN""#)
    );
}

#[test]
fn what_the_suite_hides_is_in_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let suite = "[record]\nhide = ['env.*', 'host', 'stderr', 'paths']\n[benchmark.x]\n\
                 command = 'echo PRINTED /data/client/x >&2; false'\nenv.MODE = 'FASTMODE'\n";
    fs::write(here.join("lapwing.toml"), suite).unwrap();
    let said = run(here, &["run", "-n", "3", "-i", "1"]);
    assert!(said.contains("exit code 1"), "{said}");
    let export = String::from_utf8(output(here, &["export", "--to", "record"]).stdout).unwrap();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = format!("\"{}\"", host.trim());
    for private in ["FASTMODE", "/data/client", "\"stderr\":\"PRINTED", &host] {
        assert!(!export.contains(private), "{private}: {export}");
    }
    assert!(export.contains("\"host\":\"host-"), "{export}");
    let misspelt = suite.replace("'host'", "'hosts'");
    fs::write(here.join("lapwing.toml"), misspelt).unwrap();
    let refused = run(here, &["import", "x.json"]);
    assert!(
        refused.contains("`hosts`") && refused.ends_with("exit 2"),
        "{refused}"
    );
}

#[test]
fn the_kinds_of_texts_are_listed_before_they_leave() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let measured = run(
        here,
        &[
            "run",
            "-n",
            "1",
            "-i",
            "1",
            "--",
            "sh -c 'echo no >&2; exit 1'",
        ],
    );
    assert!(measured.contains("stored"), "{measured}");
    for arguments in [
        &["db", "private"][..],
        &["db", "push", "shared", "--preview"],
    ] {
        let json = output(here, &[arguments, &["--format", "json"]].concat()).stdout;
        let answer: Value = serde_json::from_slice(&json).unwrap();
        let texts = answer["texts"].as_array().unwrap();
        let kinds: Vec<&str> = texts
            .iter()
            .map(|it| it["kind"].as_str().unwrap())
            .collect();
        for kind in ["commands", "hosts", "messages", "program output"] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
        assert_eq!(answer["secret_count"], 0);
        assert_eq!(answer["address"].is_null(), arguments.len() == 2);
        for format in ["text", "markdown", "csv"] {
            let done = run(here, &[arguments, &["--format", format]].concat());
            assert!(
                done.contains("program output") && done.ends_with("exit 0"),
                "{done}"
            );
        }
    }
    assert!(!here.join("shared").exists());
}
