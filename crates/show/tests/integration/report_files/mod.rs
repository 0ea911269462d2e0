//! What a report has written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lapwing_testing::{report_data, report_page};
use serde_json::Value;

pub use lapwing_testing::report_entry as side_file;

/// Returns the names of the files of a folder that begin so, without their endings.
pub fn names(directory: &Path, folder: &str, beginning: &str) -> Vec<String> {
    let files = fs::read_dir(directory.join(folder)).expect("a folder");
    let mut names: Vec<String> = files
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.starts_with(beginning))
        .map(|name| {
            name.trim_end_matches(".html")
                .trim_end_matches(".js")
                .to_owned()
        })
        .collect();
    names.sort();
    names
}

/// Returns the files of a report by name, and the entries of its data by `data/ENTRY`.
pub fn files(directory: &Path) -> BTreeMap<String, String> {
    let files = ["", "benchmark", "data"]
        .iter()
        .flat_map(|part| fs::read_dir(directory.join(part)).expect("a directory"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.strip_prefix(directory).expect("inside");
            let name = name.display().to_string();
            let text = report_page(directory, &name);
            (name, text)
        });
    let entries = report_data(directory).into_iter();
    files
        .chain(entries.map(|(name, value)| (format!("data/{name}"), value.to_string())))
        .collect()
}

/// Returns an entry of the data among these files.
pub fn entry(files: &BTreeMap<String, String>, name: &str) -> Value {
    serde_json::from_str(&files[&format!("data/{name}")]).expect("JSON")
}
