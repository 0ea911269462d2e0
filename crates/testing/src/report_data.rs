//! The data files of a report.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;

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

fn entries_of(file: &str, script: &str) -> serde_json::Map<String, Value> {
    let text = script
        .strip_prefix(&format!("lapwing.register(\"{file}\",\""))
        .and_then(|rest| rest.strip_suffix("\");\n"))
        .expect("it registers itself under its own name");
    let bytes = STANDARD.decode(text).expect("base64");
    let mut json = String::new();
    let mut stream = ZlibDecoder::new(bytes.as_slice());
    stream.read_to_string(&mut json).expect("zlib");
    serde_json::from_str(&json).expect("an object")
}
