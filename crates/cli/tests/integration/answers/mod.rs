//! Every command's answer in its four forms, and what JSON says of it.

mod agreement;
mod analyses;
mod numbers;
mod stores;
mod studies;

use std::fmt::Write;
use std::path::Path;

use lapwing_show::answers::kinds;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::output;

/// Commands that are answered from one store.
pub struct Asked {
    /// Creates the folder with the store.
    pub folder: fn() -> TempDir,
    /// Names for the snapshots, and the commands.
    pub commands: &'static [(&'static str, &'static str)],
}

/// Returns all of them.
fn all() -> impl Iterator<Item = &'static Asked> {
    let all = [stores::ASKED, analyses::ASKED, studies::ASKED];
    all.into_iter().flatten()
}

/// Runs a command in a format.
fn written(folder: &Path, words: &str, format: &str) -> (String, String, i32) {
    let mut arguments: Vec<&str> = words.split(' ').collect();
    arguments.extend(["--format", format]);
    let output = output(folder, &arguments);
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
fn no_number_is_only_in_the_text() {
    let mut wrong = Vec::new();
    for asked in all() {
        let folder = (asked.folder)();
        for (name, words) in asked.commands {
            let (text, said, code) = written(folder.path(), words, "text");
            let (json, _, same_code) = written(folder.path(), words, "json");
            if code != same_code {
                wrong.push(format!("{name}: exit {code} and {same_code}"));
            }
            let Ok(json) = serde_json::from_str::<Value>(&json) else {
                wrong.push(format!("{name}: no JSON: {json}"));
                continue;
            };
            let lacking = numbers::lacking(&format!("{text}{said}"), &json);
            wrong.extend(lacking.into_iter().map(|it| format!("{name}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_answer_fits_the_schema_of_its_kind() {
    let mut wrong = Vec::new();
    for asked in all() {
        let folder = (asked.folder)();
        for (name, words) in asked.commands {
            let (json, _, _) = written(folder.path(), words, "json");
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
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
