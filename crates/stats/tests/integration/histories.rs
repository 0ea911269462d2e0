//! Histories of the reference data, by name.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// Reads a file of JSON.
pub fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Reads the histories of the Turing Change Point Dataset.
pub fn histories(folder: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("A_history/tcpd/datasets")).unwrap() {
        let file = json(&entry.unwrap().path());
        let name = file["name"].as_str().unwrap().to_owned();
        all.insert(name, numbers(&file["series"][0]["raw"]));
    }
    all
}
