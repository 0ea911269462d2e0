//! Finds what Amun keeps in the folder of an inspection.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lapwing_record::files::read_bytes;
use sha2::{Digest, Sha256};

use crate::amun::inspection::Inspection;
use crate::shared::reading::document::Document;
use crate::{ImportError, Source};

/// Returns whether a folder is that of an inspection.
pub(super) fn is_inspection(folder: &Path) -> bool {
    folder.join("build/specification").is_file()
        || results_of(folder).is_ok_and(|results| !results.is_empty())
}

/// Returns the files of the results in the folder of an inspection, by number.
/// The longest file of a build, in bytes.
const LONGEST_LOG: u64 = 1 << 30;

pub(super) fn results_of(folder: &Path) -> io::Result<Vec<(usize, PathBuf)>> {
    let folder = folder.join("results");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut results = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path().join("result");
        let number = entry.file_name().to_string_lossy().parse::<usize>();
        if let (Ok(number), true) = (number, file.is_file()) {
            results.push((number, file));
        }
    }
    results.sort();
    Ok(results)
}

/// Returns the numbers below the last that have no result.
pub(super) fn missing(results: &[(usize, PathBuf)]) -> Vec<usize> {
    let last = results.last().map_or(0, |(number, _)| *number);
    let has = |wanted: &usize| results.iter().any(|(number, _)| number == wanted);
    (0..last).filter(|number| !has(number)).take(1000).collect()
}

/// Reads the description of the inspection, and hashes it.
pub(super) fn inspection_of(folder: &Path, digest: &mut Sha256) -> Result<Inspection, ImportError> {
    let whole = folder
        .canonicalize()
        .unwrap_or_else(|_gone| folder.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    let mut inspection = Inspection::of_single(name.into_owned());
    let build = folder.join("build");
    let specification = build.join("specification");
    if specification.is_file() {
        let document = Document::of(&Source::open(&specification, folder)?)?;
        digest.update(document.sha256());
        inspection.specification = Some(document.parse()?);
    }
    for (file, text) in [
        ("log", &mut inspection.build_log),
        ("Dockerfile", &mut inspection.dockerfile),
    ] {
        // The output of a build may not be UTF-8.
        if let Ok(bytes) = read_bytes(&build.join(file), LONGEST_LOG) {
            *text = Some(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(inspection)
}
