//! What the tests of the formats share.

use std::path::PathBuf;

use regex::Regex;

use crate::{
    BadLines, ColumnChoices, EachRun, ImportError, ImportOptions, Imported, Source, TraceNames,
    format_named, read,
};
use lapwing_model::{InstanceOutcome, Record};
use lapwing_record::write_line;

/// Returns where a fixture lies.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures")).join(name)
}

pub(crate) fn options(bad_lines: BadLines) -> ImportOptions {
    ImportOptions {
        format: None,
        suite: None,
        trace: TraceNames::default(),
        each_run: EachRun::Iteration,
        columns: ColumnChoices::default(),
        bad_lines,
        continued: None,
        now: "2026-01-01T00:00:00Z".parse().expect("a time"),
    }
}

/// Reads a fixture's bytes, without its place and time.
pub(crate) fn imported(name: &str) -> Imported {
    let imported = read(&source(name), &options(BadLines::Refuse));
    imported.unwrap_or_else(|error| unreachable!("{name}: {error}"))
}

/// Reads a text as that format.
pub(crate) fn read_text(format: &str, text: &str) -> Imported {
    let source = Source::from_bytes("made-up", text.as_bytes().to_vec()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named(format);
    read(&source, &options).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

/// Returns why a fixture cannot be read.
pub(crate) fn refusal(name: &str) -> String {
    let read = read(&source(name), &options(BadLines::Refuse));
    read.expect_err("bad on purpose").to_string()
}

/// Returns why a text cannot be read as that format.
pub(crate) fn refusal_of(format: &str, text: &str) -> String {
    let read = try_as(format, text);
    read.expect_err("bad on purpose").to_string()
}

/// Reads a text as that format.
pub(crate) fn read_as(format: &str, text: &str) -> Imported {
    try_as(format, text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

fn try_as(format: &str, text: &str) -> Result<Imported, ImportError> {
    let source = Source::from_bytes("made-up", text.as_bytes().to_vec()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named(format);
    read(&source, &options)
}

/// Puts an unknown key into an object of a fixture, at a JSON pointer (whose first
/// part is the line where each line is a document), and returns what the import says of it.
/// What it says it keeps has to stand in the records.
pub(crate) fn fate_of_a_key(name: &str, pointer: &str) -> String {
    let text = std::fs::read_to_string(fixture(name)).expect("a fixture");
    let begin = text.find(['{', '[']).expect("JSON");
    let (before, json) = text.split_at(begin);
    let json = json.trim_end().trim_end_matches(';');
    let put = |document: &mut serde_json::Value| {
        let object = document.pointer_mut(pointer).expect("such a place");
        let object = object.as_object_mut().expect("an object");
        object.insert("unheard_of".to_owned(), "as it was".into());
    };
    let text = match serde_json::from_str(json) {
        Ok(mut document) => {
            put(&mut document);
            format!("{before}{document}")
        }
        Err(_several) => {
            let lines = json.lines().map(serde_json::from_str);
            let lines: Result<Vec<serde_json::Value>, _> = lines.collect();
            let mut lines = serde_json::Value::Array(lines.expect("lines"));
            put(&mut lines);
            let lines = lines.as_array().expect("lines");
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
    };
    let source = Source::from_bytes("made-up", text.into_bytes()).expect("bytes");
    let imported = read(&source, &options(BadLines::Refuse)).expect("still of the format");
    let note = imported
        .notes
        .iter()
        .find(|note| note.what.iter().any(|what| what == "unheard_of"));
    let Some(note) = note else {
        return "not a word".to_owned();
    };
    let shown = shown(&imported);
    assert_eq!(shown.contains("\"unheard_of\":\"as it was\""), note.kept);
    let verb = if note.kept { "kept in" } else { "left, as" };
    format!("{verb} {}", note.why)
}

fn source(name: &str) -> Source {
    let path = fixture(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| unreachable!("{name}: {error}"));
    let short = path
        .file_name()
        .map(|it| it.to_string_lossy().into_owned())
        .unwrap_or_default();
    Source::from_bytes(&short, bytes).expect("a fixture has content")
}

/// Returns what was read for a snapshot: format and reason, the records as they would stand
/// in a record file (ids by kind and number, no digests), the notes.
pub(crate) fn shown(imported: &Imported) -> String {
    let mut text = format!(
        "{} because {}\n",
        imported.format.name,
        imported.because.unwrap_or("it was said")
    );
    for record in &imported.records {
        let mut line = Vec::new();
        write_line(&mut line, record).expect("memory");
        text.push_str(&String::from_utf8_lossy(&line));
    }
    text.push_str(&remarks(imported));
    named(&text)
}

/// Returns what is said besides the records.
fn remarks(imported: &Imported) -> String {
    let mut text = String::new();
    for note in &imported.notes {
        let verb = if note.kept { "kept in" } else { "left, as" };
        text.push_str(&format!("{verb} {}: {}\n", note.why, note.what.join(", ")));
    }
    for without in imported.found.without_results() {
        let (name, line, why) = (without.name, without.line, without.why);
        text.push_str(&format!("without a result: {name} (line {line}): {why}\n"));
    }
    for bad in &imported.bad_lines {
        text.push_str(&format!("bad line {}: {}\n", bad.line, bad.reason));
    }
    text
}

/// Returns each span by its name and lane, with its parent if it has one.
pub(crate) fn lanes(imported: &Imported) -> Vec<String> {
    let spans = imported.records.iter().filter_map(|record| match record {
        Record::Span(span) => Some(span),
        _other => None,
    });
    let shown = spans.map(|span| {
        let text = |key: &str| span.attributes.get(key).and_then(|it| it.as_str());
        let lane = span.lane.as_deref().unwrap_or_default();
        match text("span").zip(text("parent")) {
            Some((id, parent)) => format!("{} on {lane}: {id} in {parent}", span.name),
            None => format!("{} on {lane}", span.name),
        }
    });
    shown.collect()
}

/// Returns what was read in short: what each benchmark has, then what is said besides.
pub(crate) fn brief(imported: &Imported) -> String {
    let mut text = String::new();
    for record in &imported.records {
        match record {
            Record::Instance(it) => {
                let params = serde_json::to_string(&it.benchmark.params).unwrap_or_default();
                let params = params.replace("{}", "");
                text.push_str(&format!("{} {params}\n", it.benchmark.id));
            }
            Record::Iteration(it) => {
                text.push_str(&format!("  {:?} {:?}\n", it.outcome, it.metrics));
            }
            Record::Summary(it) => text.push_str(&format!("  {} ~ {}\n", it.metric, it.centre)),
            Record::Span(it) => {
                text.push_str(&format!(
                    "  {} {:?} {:?}\n",
                    it.name,
                    it.inputs.clone().unwrap_or_default(),
                    it.events
                ));
            }
            Record::InstanceEnd(it) if it.outcome != InstanceOutcome::Ok => {
                text.push_str(&format!("  {:?}\n", it.outcome));
            }
            Record::InstanceEnd(_)
            | Record::Session(_)
            | Record::Run(_)
            | Record::Annotation(_) => {}
        }
    }
    text + &remarks(imported)
}

/// Replaces ids by short names and digests by dots.
fn named(text: &str) -> String {
    let id = Regex::new(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("a pattern");
    let digest = Regex::new(r#""sha256":"[0-9a-f]{64}""#).expect("a pattern");
    let mut seen: Vec<String> = Vec::new();
    let text = id.replace_all(text, |found: &regex::Captures<'_>| {
        let id = found[0].to_owned();
        let at = seen.iter().position(|known| *known == id);
        let at = at.unwrap_or_else(|| {
            seen.push(id);
            seen.len() - 1
        });
        format!("#{at}")
    });
    digest.replace_all(&text, "\"sha256\":\"…\"").into_owned()
}
