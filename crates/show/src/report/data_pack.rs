//! The data of a page: many entries in few, compressed files.
//!
//! A file is a script that registers the base64 form of a zlib stream of a JSON object, with the
//! entries by name. `load` in `assets/app.js` reads it.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::directory::{DirectoryError, ReportDirectory};

/// About the most characters of JSON in a file, unless a single entry has more.
const CHARACTERS: usize = 500_000;

/// Repetitive JSON gains little from more effort.
const EFFORT: Compression = Compression::new(3);

/// The entries of one page. Of all entries, only those of the file at hand are in memory, compressed.
#[derive(Debug)]
#[must_use = "the last file is written by `finish`"]
pub(super) struct DataPack<'d> {
    directory: &'d ReportDirectory,
    stem: String,
    number: usize,
    characters: usize,
    compressed: ZlibEncoder<Vec<u8>>,
}

impl<'d> DataPack<'d> {
    /// Returns an empty pack: `STEM.js`, and `STEM.1.js` and so on if there is much.
    pub(super) fn new(directory: &'d ReportDirectory, stem: &str) -> Self {
        Self {
            directory,
            stem: stem.to_owned(),
            number: 0,
            characters: 0,
            compressed: ZlibEncoder::new(Vec::new(), EFFORT),
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
        let begin = if self.characters == 0 { '{' } else { ',' };
        let key = serde_json::Value::from(name);
        self.characters += json.len();
        // Into memory, which cannot fail.
        let _ = write!(self.compressed, "{begin}{key}:{json}");
        let file = self.file();
        Ok(match name.split('.').next() {
            Some(first) if first == file => name.to_owned(),
            _ => format!("{name}@{file}"),
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
        let empty = ZlibEncoder::new(Vec::new(), EFFORT);
        let mut compressed = std::mem::replace(&mut self.compressed, empty);
        self.characters = 0;
        // Into memory, which cannot fail.
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

/// Returns the file of an entry, by what `load` finds it by.
pub(super) fn file_of(entry: &str) -> &str {
    match entry.split_once('@') {
        Some((_, file)) => file,
        None => entry.split('.').next().unwrap_or(entry),
    }
}
