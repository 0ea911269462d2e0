//! The data of a page: many entries in few, compressed files.
//!
//! A file is a script that registers the base64 form of a zlib stream of a JSON object, with the
//! entries by name. `load` in `assets/app.js` reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::directory::{DirectoryError, ReportDirectory};

/// About the most characters of JSON in a file, unless a single entry has more.
const CHARACTERS: usize = 500_000;

/// With zlib-rs, 6 is 15 % larger and 9 is no smaller.
const EFFORT: Compression = Compression::new(7);

/// The entries of one or several pages. Of all entries, only those of the file at hand are in memory.
#[derive(Debug)]
#[must_use = "the last file is written by `finish`"]
pub(super) struct DataPack {
    directory: Arc<ReportDirectory>,
    stem: String,
    number: usize,
    characters: usize,
    /// The entries by kind, the part of their name after the first dot: those of a kind are alike, and zlib finds
    /// repetitions only within 32 KiB.
    entries: BTreeMap<String, String>,
}

impl DataPack {
    /// Returns an empty pack: `STEM.js`, and `STEM.1.js` and so on if there is much.
    pub(super) fn new(directory: &Arc<ReportDirectory>, stem: &str) -> Self {
        Self {
            directory: Arc::clone(directory),
            stem: stem.to_owned(),
            number: 0,
            characters: 0,
            entries: BTreeMap::new(),
        }
    }

    /// Adds an entry and returns what `load` finds it by: its name, followed by `@` and the file
    /// unless that is the name's part before the first dot.
    pub(super) fn add(
        &mut self,
        name: &str,
        value: &impl Serialize,
    ) -> Result<String, DirectoryError> {
        // Structs of numbers and texts, which cannot fail.
        let json = serde_json::to_string(value).unwrap_or_else(|_impossible| "null".to_owned());
        if self.characters > 0 && self.characters + json.len() > CHARACTERS {
            self.write()?;
            self.number += 1;
        }
        self.characters += json.len();
        let (first, kind) = name.split_once('.').unwrap_or((name, ""));
        let key = serde_json::Value::from(name);
        let entries = self.entries.entry(kind.to_owned()).or_default();
        if !entries.is_empty() {
            entries.push(',');
        }
        // Into memory, which cannot fail.
        let _ = write!(entries, "{key}:{json}");
        let file = self.file();
        Ok(match first == file {
            true => name.to_owned(),
            false => format!("{name}@{file}"),
        })
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<(), DirectoryError> {
        match self.characters {
            0 => Ok(()),
            _ => self.write(),
        }
    }

    fn file(&self) -> String {
        match self.number {
            0 => self.stem.clone(),
            number => format!("{}.{number}", self.stem),
        }
    }

    fn write(&mut self) -> Result<(), DirectoryError> {
        let mut compressed = ZlibEncoder::new(Vec::new(), EFFORT);
        let entries = std::mem::take(&mut self.entries);
        self.characters = 0;
        for (at, of_kind) in entries.into_values().enumerate() {
            let begin = if at == 0 { "{" } else { "," };
            // Into memory, which cannot fail.
            let _ = compressed.write_all(begin.as_bytes());
            let _ = compressed.write_all(of_kind.as_bytes());
        }
        let _ = compressed.write_all(b"}");
        let bytes = compressed.finish().unwrap_or_default();
        let file = self.file();
        let mut script = String::with_capacity(bytes.len() / 3 * 4 + 100);
        let _ = write!(script, "lapwing.register(\"{file}\",\"");
        STANDARD.encode_string(bytes, &mut script);
        script.push_str("\");\n");
        self.directory.write(&format!("data/{file}.js"), &script)
    }
}

/// Writes a file with a single entry of the same name, and returns what pages find it by.
pub(super) fn write_entry(
    directory: &Arc<ReportDirectory>,
    name: &str,
    value: &impl Serialize,
) -> Result<String, DirectoryError> {
    let mut pack = DataPack::new(directory, name);
    let entry = pack.add(name, value)?;
    pack.finish()?;
    Ok(entry)
}
