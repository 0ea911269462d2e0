//! The data files of a report.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::{Map, Value};

/// Returns all data of the report in a directory, by entry.
///
/// # Panics
/// When a file does not register itself, or an entry is there twice.
#[must_use]
pub fn report_data(directory: &Path) -> BTreeMap<String, Value> {
    let mut entries = BTreeMap::new();
    for file in fs::read_dir(directory.join("data")).expect("a report has data") {
        let path = file.expect("a file").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let script = fs::read_to_string(&path).expect("a script");
        for (entry, value) in entries_of(&name, &script) {
            assert!(!entries.contains_key(&entry), "two entries `{entry}`");
            entries.insert(entry, value);
        }
    }
    entries
}

/// Returns the entry that pages ask for by this text, which may name its file after an `@`; without a file of its own, that
/// of any file.
///
/// # Panics
/// When the report has no such entry, or it is in another file.
#[must_use]
pub fn report_entry(directory: &Path, wanted: &str) -> Value {
    let (name, file) = match wanted.split_once('@') {
        Some((name, file)) => (name, file),
        None => (wanted, wanted.split('.').next().unwrap_or_default()),
    };
    let Ok(script) = fs::read_to_string(directory.join(format!("data/{file}.js"))) else {
        let entry = report_data(directory).remove(name);
        return entry.expect("some file has the entry");
    };
    let entry = entries_of(file, &script).remove(name);
    entry.expect("the file has the entry")
}

/// Returns a page of the report as a browser shows it: with its content, which may be among the data.
///
/// # Panics
/// When there is no such page, or its content is missing.
#[must_use]
pub fn report_page(directory: &Path, name: &str) -> String {
    let page = fs::read_to_string(directory.join(name)).expect("a page");
    let Some((_, rest)) = page.split_once(" data-entry=\"") else {
        return page;
    };
    let (entry, _) = rest.split_once('"').expect("the end of an attribute");
    let content = report_entry(directory, entry);
    let content = content.as_str().expect("HTML");
    page.replacen("<noscript>", &format!("{content}<noscript>"), 1)
}

/// Returns the first page of a benchmark whose file begins so, with its content.
///
/// # Panics
/// When the report has none.
#[must_use]
pub fn benchmark_page(directory: &Path, beginning: &str) -> String {
    let files = fs::read_dir(directory.join("benchmark")).expect("a folder");
    let names = files.map(|it| {
        it.expect("a file")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let name = names.filter(|it| it.starts_with(beginning)).min();
    report_page(directory, &format!("benchmark/{}", name.expect("a page")))
}

fn entries_of(file: &str, script: &str) -> serde_json::Map<String, Value> {
    let text = script
        .strip_prefix(&format!("lapwing.register(\"{file}\",\""))
        .and_then(|rest| rest.strip_suffix("\");\n"))
        .expect("it registers itself under its own name");
    let bytes = STANDARD.decode(text).expect("base64");
    let mut json = String::new();
    let mut stream = ZlibDecoder::new(bytes.as_slice());
    stream.read_to_string(&mut json).expect("zlib");
    let entries: Map<String, Value> = serde_json::from_str(&json).expect("an object");
    let entries = entries.into_iter();
    entries
        .map(|(name, entry)| (name, with_rows(entry)))
        .collect()
}

/// Returns the value with its tables (`show/packed.rs`) as lists of rows, which have not what is null.
fn with_rows(value: Value) -> Value {
    match value {
        Value::Object(mut fields) if fields.contains_key("table") => {
            let count = fields["count"].as_u64().expect("a number");
            let count = usize::try_from(count).expect("a small one");
            let mut rows = vec![Map::new(); count];
            let table = fields.remove("table").expect("it was there");
            for (name, form) in table.as_object().expect("columns") {
                for (row, value) in rows.iter_mut().zip(column(form)) {
                    if !value.is_null() {
                        row.insert(name.clone(), value);
                    }
                }
            }
            rows.into_iter().map(Value::Object).collect()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(name, it)| (name, with_rows(it))).collect()
        }
        Value::Array(list) => list.into_iter().map(with_rows).collect(),
        other => other,
    }
}

/// Returns the values of a column in one of its forms.
fn column(form: &Value) -> Vec<Value> {
    if let Some(list) = form.as_array() {
        return list.clone();
    }
    if let Some(all) = form.get("all") {
        let count = form["count"].as_u64().expect("a number");
        return (0..count).map(|_| all.clone()).collect();
    }
    if let Some(texts) = form.get("of") {
        let texts = column(texts);
        let at = form["at"].as_array().expect("places").iter();
        let at = at.filter_map(|it| usize::try_from(it.as_u64()?).ok());
        return at.map(|at| texts[at].clone()).collect();
    }
    if let Some(rows) = form.get("rows") {
        let rows = with_rows(rows.clone());
        let mut rows = rows.as_array().expect("rows").iter().cloned();
        let of_size = |size: Value| match size.as_u64().and_then(|it| usize::try_from(it).ok()) {
            Some(size) => rows.by_ref().take(size).collect(),
            None => Value::Null,
        };
        return column(&form["sizes"]).into_iter().map(of_size).collect();
    }
    let mut before: Vec<char> = Vec::new();
    let packed = form["packed"].as_array().expect("packed texts").iter();
    let texts = packed.map(|entry| {
        let mut entry = entry.as_str().expect("a text").chars();
        if let (Some(begin), Some(end)) = (entry.next(), entry.next()) {
            let number = |digit: char| digit.to_digit(36).and_then(|it| usize::try_from(it).ok());
            let begin = number(begin).expect("a digit");
            let end = before.len() - number(end).expect("a digit");
            let middle: Vec<char> = entry.collect();
            before = [&before[..begin], middle.as_slice(), &before[end..]].concat();
        }
        Value::from(before.iter().collect::<String>())
    });
    texts.collect()
}
