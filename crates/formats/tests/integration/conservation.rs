//! Nothing that a file names is left out without a word: whatever of a damaged file can be read is read, and what cannot is
//! an error, a bad line, a note or a name without a result.

use std::collections::BTreeSet;

use lapwing_formats::{BadLines, Imported};
use lapwing_model::Record;
use serde_json::Value;

use super::mutations::{FIXTURES, read_as};

/// Formats of which nothing behind a bad line can be understood.
const DOCUMENTS: [&str; 2] = ["gungraun", "record"];

/// Places of each file at which it is damaged.
const PLACES: usize = 9;

/// A line that belongs to no format.
const FOREIGN: &str = "warning: the disk is nearly full";

/// Returns the names of the benchmarks with results.
fn names(imported: &Imported) -> BTreeSet<String> {
    let instances = imported.records.iter().filter_map(|record| match record {
        Record::Instance(instance) => Some(instance.benchmark.id.clone()),
        _other => None,
    });
    instances.collect()
}

fn results(imported: &Imported) -> usize {
    let is_result = |record: &&Record| {
        matches!(
            record,
            Record::Instance(_) | Record::Iteration(_) | Record::Summary(_) | Record::Span(_)
        )
    };
    imported.records.iter().filter(is_result).count()
}

/// Returns whether a word stands in a text, and not within a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '/' | ':' | '.');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// Returns how a benchmark is called in the text, where that can be told: the whole id, or what stands behind the name of a
/// package or of a suite in it.
fn word_of<'n>(name: &'n str, text: &str) -> Option<&'n str> {
    let plain = name.split('[').next().unwrap_or(name);
    let behind = |separator: &str| plain.rsplit_once(separator).map_or(plain, |it| it.1);
    [name, plain, behind("::"), behind("."), behind("/")]
        .into_iter()
        .find(|word| word.len() > 2 && word.parse::<f64>().is_err() && has_word(text, word))
}

/// Returns the names that can be seen in a damaged text and of which an import does not say a word: results, invalid ones
/// too, and names without one add up. Where lines are damaged within, or a name is, a bad line is word enough.
fn lost(
    names: &BTreeSet<String>,
    whole: &str,
    (damaged, is_within): (&str, bool),
    imported: &Imported,
) -> Vec<String> {
    let name = imported.format.name;
    let is_told = !imported.bad_lines.is_empty() && (is_within || DOCUMENTS.contains(&name));
    // Of a script whose output is not understood, Amun's result has another name.
    if is_told || name == "amun" {
        return Vec::new();
    }
    let measured = self::names(imported);
    let mut told: Vec<String> = imported.found.without_results().map(|it| it.name).collect();
    told.extend(imported.notes.iter().flat_map(|note| note.what.clone()));
    let is_lost = |name: &&String| {
        word_of(name, whole).is_some_and(|word| {
            has_word(damaged, word)
                && !measured.iter().any(|name| name.contains(word))
                && !told.iter().any(|name| name.contains(word))
        })
    };
    names.iter().filter(is_lost).cloned().collect()
}

/// Returns the ways to damage a text, with their names.
fn variants(text: &str) -> Vec<(String, String)> {
    let mut variants = Vec::new();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for place in 1..PLACES {
        let mut at = text.len() * place / PLACES;
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let (before, behind) = text.split_at(at);
        variants.push((format!("cut at {at}"), before.to_owned()));
        let broken = format!("{before}{FOREIGN}\n{behind}");
        variants.push((format!("broken at {at}"), broken));
        let number = lines.len() * place / PLACES;
        let (before, behind) = (lines[..number].concat(), lines[number..].concat());
        let interleaved = format!("{before}{FOREIGN}\n{behind}");
        variants.push((format!("interleaved at line {number}"), interleaved));
        let joined = format!("{}{behind}", before.trim_end_matches('\n'));
        variants.push((format!("joined at line {number}"), joined));
        let mut without = lines.clone();
        without.remove(number.min(lines.len() - 1));
        variants.push((format!("without line {number}"), without.concat()));
    }
    variants.push(("twice".to_owned(), format!("{text}{text}")));
    variants
}

/// Returns a JSON document without one of its keys, and with nothing as its value, for keys all over it.
fn without_keys(text: &str) -> Vec<(String, String)> {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let mut pointers = Vec::new();
    pointers_of(&document, String::new(), &mut pointers);
    let step = (pointers.len() / 40).max(1);
    let changed = pointers.iter().step_by(step).filter_map(|(parent, key)| {
        let [mut without, mut null] = [document.clone(), document.clone()];
        without.pointer_mut(parent)?.as_object_mut()?.remove(key);
        let object = null.pointer_mut(parent)?.as_object_mut()?;
        object.insert(key.clone(), Value::Null);
        Some(
            [("without", without), ("null as", null)]
                .map(|(how, document)| (format!("{how} {parent}/{key}"), document.to_string())),
        )
    });
    changed.flatten().collect()
}

fn pointers_of(value: &Value, at: String, found: &mut Vec<(String, String)>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.push((at.clone(), key.clone()));
                pointers_of(value, format!("{at}/{}", escaped(key)), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                pointers_of(value, format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn whatever_a_damaged_file_names_is_a_result_or_told() {
    let mut silent = Vec::new();
    let mut formats = BTreeSet::new();
    for (name, bytes) in FIXTURES.iter() {
        let Ok(text) = std::str::from_utf8(bytes) else {
            continue;
        };
        let Some(whole) = read_as(name, bytes, None, BadLines::Refuse) else {
            continue;
        };
        formats.insert(whole.format.name);
        let names = names(&whole);
        for (variant, damaged) in variants(text).into_iter().chain(without_keys(text)) {
            let format = Some(whole.format.name);
            if let Some(imported) = read_as(name, damaged.as_bytes(), format, BadLines::Skip) {
                let is_within = ["cut at", "broken at", "joined at"]
                    .iter()
                    .any(|how| variant.starts_with(how))
                    || variant.ends_with("/name");
                let lost = lost(&names, text, (&damaged, is_within), &imported);
                if !lost.is_empty() {
                    silent.push(format!("{name} {variant}: {lost:?}"));
                }
            }
        }
    }
    assert!(formats.len() > 20, "{formats:?}");
    assert!(
        silent.is_empty(),
        "{} silent:\n{}",
        silent.len(),
        silent.join("\n")
    );
}

#[test]
fn a_foreign_line_between_lines_loses_nothing_without_a_word() {
    let mut silent = Vec::new();
    for (name, bytes) in FIXTURES.iter() {
        let (Ok(text), Some(whole)) = (
            std::str::from_utf8(bytes),
            read_as(name, bytes, None, BadLines::Refuse),
        ) else {
            continue;
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for number in (0..lines.len()).step_by(1 + lines.len() / 50) {
            let (before, behind) = (lines[..number].concat(), lines[number..].concat());
            let interleaved = format!("{before}{FOREIGN}\n{behind}");
            let format = Some(whole.format.name);
            let Some(imported) = read_as(name, interleaved.as_bytes(), format, BadLines::Skip)
            else {
                continue;
            };
            let is_told = !imported.bad_lines.is_empty()
                || imported.found.without_results().count() > whole.found.without_results().count();
            if results(&imported) < results(&whole) && !is_told {
                silent.push(format!("{name} line {number}"));
            }
        }
    }
    assert!(silent.is_empty(), "silent:\n{}", silent.join("\n"));
}
