//! Stores in which every text is an attack, through every command, page and export.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tempfile::TempDir;

use super::agreement::suggested;
use super::{Asked, all, written_words};
use crate::program::run;

/// Stands behind every text: commands of terminals, overriding direction, HTML, Markdown, a mention, a cell, and
/// commands of a shell between quotes of either kind and without.
const ATTACK: &str = "\u{1b}[2J\u{9b}31m\u{202e}<img src=x onerror=PWNED=1></script><script>PWNED=1</script>\
    '$(touch PWN)'\"$(touch PWN)\"`touch PWN`;touch PWN|\r\n@team ![x](http://evil.invalid/x) [y](javascript:PWNED)";

/// Keys of record v1 whose values are no text of people.
const STRUCTURE: [&str; 21] = [
    "v",
    "kind",
    "session",
    "run",
    "instance",
    "started",
    "ended",
    "date",
    "at",
    "outcome",
    "unit",
    "better",
    "statistic",
    "metric",
    "commit",
    "action",
    "category",
    "fingerprint",
    "clock",
    "seed",
    "plan",
];

/// Objects whose keys are texts of people too.
const NAMED: [&str; 4] = ["params", "factors", "attributes", "packages"];

/// Returns a record line in which every text is an attack, and notes the texts that it had.
fn attacked(value: &Value, is_top: bool, is_named: bool, texts: &mut BTreeSet<String>) -> Value {
    match value {
        Value::String(text) => {
            texts.insert(text.clone());
            Value::String(format!("{text}{ATTACK}"))
        }
        Value::Array(all) => {
            let each = all.iter();
            Value::Array(each.map(|it| attacked(it, false, false, texts)).collect())
        }
        Value::Object(all) => {
            let mut object = Map::new();
            for (key, value) in all {
                let is_structure = STRUCTURE.contains(&key.as_str()) || is_top && key == "id";
                // The runner's own keys mean something.
                let is_own =
                    value.is_object() || key == "plan" || key == "role" || key == "executor";
                let name = if is_named && !is_own {
                    format!("{key}{ATTACK}")
                } else {
                    key.clone()
                };
                let value = if is_structure || is_named && is_own && !value.is_object() {
                    value.clone()
                } else {
                    attacked(value, false, NAMED.contains(&key.as_str()), texts)
                };
                object.insert(name, value);
            }
            Value::Object(object)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns the folder of these commands with a store of the same records, in which every text is an attack, and the
/// texts that it had; `None` if there is no store with records.
fn hostile(asked: &Asked) -> Option<(TempDir, BTreeSet<String>)> {
    let folder = (asked.folder)();
    let here = folder.path();
    let lines = run(here, &["export", "--to", "record", "-o", "before.jsonl"]);
    if !lines.ends_with("exit 0") {
        return None;
    }
    let mut texts = BTreeSet::new();
    let before = fs::read_to_string(here.join("before.jsonl")).unwrap();
    let lines = before.lines().map(|line| {
        let line = serde_json::from_str(line).unwrap();
        format!("{}\n", attacked(&line, true, false, &mut texts))
    });
    fs::write(here.join("attack.jsonl"), lines.collect::<String>()).unwrap();
    fs::remove_file(here.join("before.jsonl")).unwrap();
    fs::remove_dir_all(here.join(".lapwing")).unwrap();
    let done = run(here, &["import", "attack.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    fs::remove_file(here.join("attack.jsonl")).unwrap();
    Some((folder, texts))
}

/// Returns a word of a command, with the attack behind each name that the store has.
fn named(word: &str, texts: &BTreeSet<String>) -> String {
    let name = word.rsplit([':', '=']).next().unwrap_or(word);
    if texts.contains(name) && !word.starts_with('-') {
        format!("{word}{ATTACK}")
    } else {
        word.to_owned()
    }
}

/// Panics if a text could change a terminal or the order of what is around it.
fn check_terminal(text: &str, about: &str) {
    let is_bad = |it: char| it.is_control() && it != '\n' || matches!(it, '\u{202a}'..='\u{202e}');
    if let Some(at) = text.find(is_bad) {
        let start = text.floor_char_boundary(at.saturating_sub(60));
        panic!(
            "{about}: {:?}",
            &text[start..text.floor_char_boundary(at + 20)]
        );
    }
}

/// Panics if Markdown has HTML, an image, a link or a mention that its writer did not make.
fn check_markdown(text: &str, about: &str) {
    let text = text
        .replace("\\`", "")
        .replace("\\]", "")
        .replace("\\[", "");
    let lines = text.lines().map(|line| {
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        outside.join("CODE")
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    for bad in [
        "<img",
        "<script",
        "![x](",
        "](javascript",
        "\n@team",
        " @team",
    ] {
        assert!(!text.contains(bad), "{about}: {bad:?} in {text}");
    }
}

/// Panics if a page has an element that an attack made.
fn check_page(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    for bad in [
        "<img src=x",
        "<script>PWNED",
        "href=\"javascript:",
        "\u{1b}",
    ] {
        assert!(!text.contains(bad), "{}: {bad:?}", path.display());
    }
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let each = entries.map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    each.flatten().collect()
}

/// Panics if a suggested command executes more than `lapwing`.
fn check_suggestions(answer: &Value, about: &str) {
    let place = TempDir::new().unwrap();
    for command in suggested(answer) {
        let pasted = format!("lapwing() {{ :; }}\n{command}");
        let _unread = std::process::Command::new("sh")
            .args(["-c", &pasted])
            .current_dir(place.path())
            .output()
            .unwrap();
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            0,
            "{about}: {command}"
        );
    }
}

#[test]
fn a_store_full_of_attacks_harms_no_reader_of_any_command() {
    let (mut stores, mut answered) = (0, 0);
    for asked in all() {
        let Some((folder, texts)) = hostile(asked) else {
            continue;
        };
        stores += 1;
        let commands = asked.commands.iter().map(|(_, words)| *words);
        let more = [
            "report -o pages",
            "detect --junit told.xml",
            "export --to csv",
            "export --to tsv",
            "export --to record",
            "list",
            "show",
            "db info",
            "db annotations",
        ];
        for words in commands.chain(more) {
            let words: Vec<String> = words.split(' ').map(|word| named(word, &texts)).collect();
            for format in ["text", "markdown", "csv", "json"] {
                let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
                let (out, err, code) = written_words(folder.path(), &borrowed, format);
                let about = format!("{words:?} as {format}");
                assert!(code < 5, "{about}: exit {code}, {err}");
                answered += usize::from(code == 0);
                // A file on standard output is data: names in it are as they are.
                let is_file = words[0] == "export" && !words.contains(&"-o".to_owned());
                if !is_file {
                    check_terminal(&out, &about);
                }
                check_terminal(&err, &about);
                if format == "markdown" && !is_file {
                    check_markdown(&out, &about);
                }
                if format == "json" && !is_file && !out.is_empty() {
                    let answer = serde_json::from_str(&out)
                        .unwrap_or_else(|error| panic!("{about}: {error}"));
                    check_suggestions(&answer, &about);
                }
            }
        }
        for path in files(folder.path()) {
            let is_page = path
                .extension()
                .is_some_and(|it| it == "html" || it == "svg" || it == "xml");
            if is_page {
                check_page(&path);
            }
        }
        assert!(!folder.path().join("PWN").exists());
    }
    assert!(
        stores > 5 && answered > 300,
        "{stores} stores, {answered} answers"
    );
}
