//! Every key of every answer for programs stands in the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::noise_fixture::filled;
use crate::program::output;
use serde_json::Value;

/// Returns all words that a page of the documentation has between backticks.
fn code_words(page: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let text = fs::read_to_string(path).unwrap();
    let code = text.split('`').skip(1).step_by(2);
    let is_joint = |it: char| !it.is_alphanumeric() && it != '_';
    code.flat_map(|span| span.split(is_joint))
        .map(str::to_owned)
        .collect()
}

/// Fields of every answer, which no page of a command repeats.
const OF_EVERY_ANSWER: [&str; 9] = [
    "lapwing",
    "answer",
    "schema",
    "command",
    "headline",
    "verdict",
    "next",
    "notes",
    "omitted_rows",
];

/// Adds the keys of an answer, but for what is under `audit`.
fn collect(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.insert(key.clone());
                if key != "audit" {
                    collect(value, keys);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|it| collect(it, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the keys of an answer that a page does not have.
fn missing(folder: &Path, arguments: &[&str], page: &str) -> Vec<String> {
    let done = output(folder, &[arguments, &["--format", "json"]].concat());
    let mut answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    let fields = answer.as_object_mut().unwrap();
    fields.retain(|key, _| !OF_EVERY_ANSWER.contains(&key.as_str()));
    let (mut keys, mut of_audit) = (BTreeSet::new(), BTreeSet::new());
    // The numbers of a note say themselves what they are.
    let own = answer.as_object().unwrap().iter();
    let own = own.filter(|(key, _)| !["notes", "next"].contains(&key.as_str()));
    collect(
        &own.map(|(key, it)| (key.clone(), it.clone())).collect(),
        &mut keys,
    );
    assert!(keys.len() > 10, "{keys:?}");
    let of_every_answer = code_words("answers.md");
    let keys = keys
        .into_iter()
        .filter(|it| !of_every_answer.contains(it))
        .collect();
    collect(&answer["audit"], &mut of_audit);
    let (words, of_cleaning) = (code_words(page), code_words("cleaning.md"));
    let lack = |keys: BTreeSet<String>, words: &BTreeSet<String>| -> Vec<String> {
        keys.into_iter().filter(|it| !words.contains(it)).collect()
    };
    [lack(keys, &words), lack(of_audit, &of_cleaning)].concat()
}

#[test]
fn every_key_is_documented() {
    let folder = filled();
    let commands: [(&[&str], &str); 6] = [
        (&["mds", "--closed-form", "--full", "--audit"], "mds.md"),
        (&["plan", "--experiments", "100", "--audit"], "plan.md"),
        (
            &["compare", "version:1.0", "version:1.1", "--audit"],
            "compare.md",
        ),
        (
            &["compare", "version:1.0", "version:1.1", "--self-test"],
            "compare.md",
        ),
        (&["variability", "--audit"], "variability.md"),
        (&["burn-in", "--full"], "burn-in.md"),
    ];
    let found = commands.map(|(arguments, page)| (page, missing(folder.path(), arguments, page)));
    let nothing = commands.map(|(_, page)| (page, Vec::new()));
    assert_eq!(found, nothing);
}
