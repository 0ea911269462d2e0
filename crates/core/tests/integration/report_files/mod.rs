//! What a report has written.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Returns what a side file registers.
pub fn side_file(directory: &Path, file: &str) -> Value {
    let text = fs::read_to_string(directory.join(format!("data/{file}.js"))).expect("a file");
    let json = text
        .strip_prefix(&format!("lapwing.register(\"{file}\","))
        .and_then(|rest| rest.strip_suffix(");\n"))
        .expect("it registers itself");
    serde_json::from_str(json).expect("JSON")
}

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
