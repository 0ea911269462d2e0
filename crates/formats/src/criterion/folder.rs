//! Finds what Criterion keeps below a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use serde::Deserialize;

/// The two files that make a measurement.
pub(super) const IDENTITY: &str = "benchmark.json";
pub(super) const SAMPLES: &str = "sample.json";

/// The depth of a measurement below the root: group, function, value, baseline.
const DEPTH: usize = 4;

/// The folder of the latest measurement, and the one that the next is compared with.
pub(super) const NEW: &str = "new";
pub(super) const BASE: &str = "base";

/// The folders of one benchmark that hold a measurement, by name.
pub(super) type Measurements = BTreeMap<String, PathBuf>;

/// Returns whether a folder is the root of Criterion's results or lies below it.
pub(super) fn is_criterion(folder: &Path) -> bool {
    let Some(measurement) = first_measurement(folder, DEPTH) else {
        return false;
    };
    // All of it in one call, but not a project that has such results somewhere.
    let (Ok(folder), Ok(measurement)) = (folder.canonicalize(), measurement.canonicalize()) else {
        return false;
    };
    root_of(&measurement).is_some_and(|root| folder.starts_with(root))
}

/// Returns whether a folder holds a measurement.
fn is_measurement(folder: &Path) -> bool {
    folder.join(IDENTITY).is_file() && folder.join(SAMPLES).is_file()
}

/// Returns whether a file holds the samples of a measurement. Those of old versions do not
/// say so themselves.
pub(super) fn is_sample(file: &Path) -> bool {
    let called = file.file_name().is_some_and(|name| name == SAMPLES);
    called && file.with_file_name(IDENTITY).is_file()
}

/// Returns some measurement in the folder or not too deep below it.
fn first_measurement(folder: &Path, depth: usize) -> Option<PathBuf> {
    if is_measurement(folder) {
        return Some(folder.to_owned());
    }
    if depth == 0 {
        return None;
    }
    folders_in(folder)
        .ok()?
        .into_iter()
        .find_map(|(_, path)| first_measurement(&path, depth - 1))
}

/// Returns the folder that Criterion was given, above the folders of the benchmark, which
/// `benchmark.json` names.
fn root_of(measurement: &Path) -> Option<&Path> {
    #[derive(Deserialize)]
    struct BenchmarkPlace {
        directory_name: Option<String>,
    }
    let benchmark = measurement.parent()?;
    let text = read_text(&measurement.join(IDENTITY), LONGEST_SETTINGS).ok();
    let place: Option<BenchmarkPlace> = text.and_then(|text| serde_json::from_str(&text).ok());
    let directory = place.and_then(|place| place.directory_name);
    match directory {
        Some(directory) if benchmark.ends_with(&directory) => {
            let depth = Path::new(&directory)
                .components()
                .filter(|it| matches!(it, Component::Normal(_)))
                .count();
            benchmark.ancestors().nth(depth)
        }
        // It was moved, or it is broken: what the benchmark's own folder holds is ours.
        Some(_) | None => Some(benchmark),
    }
}

/// Returns the benchmarks at and below a folder, by path.
pub(super) fn benchmarks_below(folder: &Path) -> io::Result<Vec<Measurements>> {
    if is_measurement(folder) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        return Ok(vec![Measurements::from([(
            name.into_owned(),
            folder.to_owned(),
        )])]);
    }
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let mut measurements = Measurements::new();
        for (name, path) in folders_in(&folder)?.into_iter().rev() {
            if is_measurement(&path) {
                measurements.insert(name, path);
            } else {
                waiting.push(path);
            }
        }
        if !measurements.is_empty() {
            found.push(measurements);
        }
    }
    Ok(found)
}

/// Returns the measurements at and below a folder that lack one of their files, each by the name of its benchmark, or
/// else by its path, and what is missing.
pub(super) fn unfinished_below(root: &Path) -> io::Result<Vec<(String, &'static str)>> {
    #[derive(Deserialize)]
    struct BenchmarkName {
        full_id: String,
    }
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        if is_measurement(&folder) {
            continue;
        }
        let path = folder.strip_prefix(root).unwrap_or(&folder);
        if folder.join(SAMPLES).is_file() {
            found.push((path.display().to_string(), "it has no `benchmark.json`"));
        } else if folder.join(IDENTITY).is_file() {
            let text = read_text(&folder.join(IDENTITY), LONGEST_SETTINGS).ok();
            let name: Option<BenchmarkName> =
                text.and_then(|text| serde_json::from_str(&text).ok());
            let name = name.map_or_else(|| path.display().to_string(), |it| it.full_id);
            found.push((name, "it has no `sample.json`"));
        }
        waiting.extend(folders_in(&folder)?.into_iter().map(|(_, path)| path));
    }
    found.sort();
    Ok(found)
}

/// Returns the folders in a folder, by name; links are not followed, hidden ones and
/// Criterion's pages are left out.
fn folders_in(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() && !name.starts_with('.') && name != "report" {
            folders.push((name, entry.path()));
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the files that lie in a folder which holds no measurement itself, by name.
pub(super) fn files_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    if is_measurement(folder) {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    files.sort();
    Ok(files)
}
