//! Finds what to import: files, patterns, folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{FORMATS, ImportError, OtherEndings};

/// A file or folder to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportPath {
    /// The file or folder.
    pub path: PathBuf,
    /// Whether it was named, and not merely found in a folder.
    pub asked_for: bool,
}

/// The files and folders to import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportPaths {
    /// Files and folders, in order.
    pub places: Vec<ImportPath>,
    /// Files in folders that were not read because of their endings.
    pub other_endings: OtherEndings,
}

impl ImportPaths {
    /// Adds what there is elsewhere.
    pub fn append(&mut self, other: Self) {
        self.places.extend(other.places);
        self.other_endings.append(other.other_endings);
    }

    fn one(path: &Path) -> Self {
        Self {
            places: vec![ImportPath {
                path: path.to_owned(),
                asked_for: true,
            }],
            other_endings: OtherEndings::default(),
        }
    }
}

/// The endings of files that are looked at in a folder.
const ENDINGS: [&str; 14] = [
    ".json", ".jsonl", ".ndjson", ".gz", ".zst", ".txt", ".csv", ".tsv", ".xml", ".js", ".log",
    ".out", ".stdout", ".db",
];

/// Hidden folders in which programs keep results.
const HIDDEN: [&str; 2] = [".benchmarks", ".asv"];

/// Returns what there is to import at a path: the file, the files that fit it where it is a
/// pattern, or those below a folder, in order.
///
/// A folder that belongs together as the result of one program is one place.
///
/// # Errors
/// When nothing is there, or the folder cannot be listed. A folder further down that cannot
/// be listed is a place, so that reading it gives the error.
pub fn places_at(path: &Path) -> Result<ImportPaths, ImportError> {
    if path == Path::new("-") || path.is_file() {
        return Ok(ImportPaths::one(path));
    }
    if path.is_dir() {
        let places = below(path).map_err(|source| ImportError::Read {
            name: path.display().to_string(),
            source,
        })?;
        if places.places.is_empty() {
            return Err(ImportError::EmptyDirectory {
                name: path.display().to_string(),
                other_endings: places.other_endings,
            });
        }
        return Ok(places);
    }
    let text = path.display().to_string();
    if path.exists() || !text.contains(['*', '?', '[']) {
        return Ok(ImportPaths::one(path));
    }
    let fitting = glob::glob(&text)
        .ok()
        .map(|found| found.filter_map(Result::ok).collect::<Vec<PathBuf>>())
        .unwrap_or_default();
    if fitting.is_empty() {
        return Err(ImportError::NothingFits(text));
    }
    let mut places = ImportPaths::default();
    for path in fitting {
        // A pipe or a device has no end; who means it can name it.
        if fs::metadata(&path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            continue;
        }
        match places_at(&path) {
            Ok(there) => places.append(there),
            Err(ImportError::EmptyDirectory { other_endings, .. }) => {
                places.other_endings.append(other_endings);
            }
            // Reading it gives the error; the others are read as well.
            Err(_) => places.append(ImportPaths::one(&path)),
        }
    }
    if places.places.is_empty() {
        return Err(ImportError::NothingFits(text));
    }
    Ok(places)
}

/// Returns whether a folder belongs together as the result of one program.
fn is_one_result(folder: &Path) -> bool {
    FORMATS
        .iter()
        .any(|format| (format.is_at)(folder).is_some())
}

/// Returns whether a file goes with results of a format and holds none itself.
pub(crate) fn is_companion(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| FORMATS.iter().any(|it| it.companions.contains(&name)))
}

/// Returns what there is below a folder, by path.
fn below(folder: &Path) -> io::Result<ImportPaths> {
    let mut found = Vec::new();
    let mut other_endings = OtherEndings::default();
    let mut waiting = vec![folder.to_owned()];
    let top = folder;
    while let Some(folder) = waiting.pop() {
        if is_one_result(&folder) {
            found.push(folder);
            continue;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == top => return Err(error),
            Err(_) => {
                found.push(folder);
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && !HIDDEN.contains(&name.as_ref()) {
                continue;
            }
            // Links to folders are not followed: they may go round in circles.
            if entry.file_type()?.is_dir() {
                waiting.push(path);
            } else if !path.is_file() {
                continue;
            } else if ENDINGS.iter().any(|end| name.ends_with(end)) {
                found.push(path);
            } else {
                other_endings.add(&name);
            }
        }
    }
    found.sort();
    let places = found.into_iter().map(|path| ImportPath {
        path,
        asked_for: false,
    });
    Ok(ImportPaths {
        places: places.collect(),
        other_endings,
    })
}
