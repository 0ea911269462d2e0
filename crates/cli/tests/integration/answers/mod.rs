//! Every command's answer in its four forms, and what JSON says of it.

mod agreement;
mod analyses;
mod hostile;
mod numbers;
mod stores;
mod studies;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use lapwing_show::answers::kinds;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// Commands that are answered from one store.
pub struct Asked {
    /// Creates the folder with the store.
    pub folder: fn() -> TempDir,
    /// Names for the snapshots, and the commands.
    pub commands: &'static [(&'static str, &'static str)],
}

/// Returns all that are answered alike again and again.
fn all() -> impl Iterator<Item = &'static Asked> {
    let all = [stores::ASKED, analyses::ASKED, studies::ASKED];
    all.into_iter().flatten()
}

/// Runs all commands in text and in JSON, those that change something in a folder of their own; returns names, texts,
/// JSON and both exit codes. The progress of those is no part of their texts.
fn all_twice() -> impl Iterator<Item = (&'static str, String, String, [i32; 2])> {
    let fresh = [stores::CHANGING, stores::MEASURING].into_iter().flatten();
    let asked = all().chain(stores::OF_CHANCE).map(|asked| (asked, false));
    let asked = asked.chain(fresh.map(|asked| (asked, true)));
    asked.flat_map(|(asked, is_fresh)| {
        let mut folder = (asked.folder)();
        asked.commands.iter().map(move |(name, words)| {
            if is_fresh {
                folder = (asked.folder)();
            }
            let (text, said, code) = written(folder.path(), words, "text");
            if is_fresh {
                folder = (asked.folder)();
            }
            let (json, _, same_code) = written(folder.path(), words, "json");
            let said = if is_fresh { String::new() } else { said };
            (*name, format!("{text}{said}"), json, [code, same_code])
        })
    })
}

/// Runs a command in a format.
fn written(folder: &Path, words: &str, format: &str) -> (String, String, i32) {
    let words: Vec<&str> = words.split(' ').collect();
    written_words(folder, &words, format)
}

/// Runs a command of these words in a format.
fn written_words(folder: &Path, words: &[&str], format: &str) -> (String, String, i32) {
    let (first, rest) = words.split_first().unwrap();
    let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args([first, "--format", format])
        .args(rest)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

#[test]
fn every_answer_is_the_same_in_four_forms() {
    for asked in all() {
        let folder = (asked.folder)();
        for (name, words) in asked.commands {
            let mut all = String::new();
            for format in ["text", "markdown", "csv", "json"] {
                let (out, err, code) = written(folder.path(), words, format);
                let err = if err.is_empty() {
                    err
                } else {
                    format!("-- stderr\n{err}")
                };
                write!(all, "== {format}, exit {code}\n{out}{err}\n").unwrap();
            }
            let path = folder.path().canonicalize().unwrap();
            let all = all.replace(&path.display().to_string(), "FOLDER");
            insta::assert_snapshot!(*name, all, words);
        }
    }
}

#[test]
fn every_answer_of_a_change_is_the_same_in_four_forms() {
    let at = Regex::new("of [0-9-]{10} [0-9:]{8}:").unwrap();
    let id = Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    let now = Regex::new(r"[0-9-]{10}T[0-9:]{8}\.[0-9]+Z").unwrap();
    for asked in stores::CHANGING {
        for (name, words) in asked.commands {
            let mut all = String::new();
            for format in ["text", "markdown", "csv", "json"] {
                let folder = (asked.folder)();
                let (out, err, code) = written(folder.path(), words, format);
                let path = folder.path().canonicalize().unwrap();
                let told = format!("== {format}, exit {code}\n{out}-- stderr\n{err}\n");
                all.push_str(&told.replace(&path.display().to_string(), "FOLDER"));
            }
            let all = at.replace_all(&all, "of NOW:");
            let all = now
                .replace_all(&id.replace_all(&all, "ID"), "NOW")
                .into_owned();
            insta::assert_snapshot!(*name, all, words);
        }
    }
}

#[test]
fn no_number_is_only_in_the_text() {
    let mut wrong = Vec::new();
    for (name, text, json, codes) in all_twice() {
        if codes[0] != codes[1] {
            wrong.push(format!("{name}: exit {} and {}", codes[0], codes[1]));
        }
        if stores::DIFFERING.contains(&name) {
            continue;
        }
        let Ok(json) = serde_json::from_str::<Value>(&json) else {
            wrong.push(format!("{name}: no JSON: {json}"));
            continue;
        };
        let lacking = numbers::lacking(&text, &json);
        wrong.extend(lacking.into_iter().map(|it| format!("{name}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_answer_fits_the_schema_of_its_kind() {
    let mut wrong = Vec::new();
    for (name, _, json, _) in all_twice() {
        let answer: Value = serde_json::from_str(&json).unwrap_or_default();
        let kind = answer["answer"].as_str().unwrap_or_default();
        let Some(schema) = kinds::json_schema(kind) else {
            wrong.push(format!("{name}: `{kind}` has no schema"));
            continue;
        };
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors = validator.iter_errors(&answer);
        wrong.extend(errors.map(|it| format!("{name}: {}: {it}", it.instance_path())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
