//! The histories of the reference data, by the names that its results have.

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

pub fn indices(value: &Value) -> Vec<usize> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Reads all histories that have reference results.
pub fn histories(folder: &Path) -> BTreeMap<String, Vec<f64>> {
    let folder = folder.join("A_history");
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("tcpd/datasets")).unwrap() {
        let file = json(&entry.unwrap().path());
        let name = format!("tcpd/{}", file["name"].as_str().unwrap());
        all.insert(name, numbers(&file["series"][0]["raw"]));
    }
    let tigerbeetle = json(&folder.join("otava/tigerbeetle_series.json"));
    all.insert(
        "otava/tigerbeetle".to_owned(),
        numbers(&tigerbeetle["series"]),
    );
    for (name, column) in [("metric1", 2), ("metric2", 3)] {
        let values = column_of(&folder.join("otava/sample.csv"), column);
        all.insert(format!("otava/sample.{name}"), values);
    }
    for name in ["real_series", "mad_series", "robust_series"] {
        let file = json(&folder.join(format!("mongodb/{name}.json")));
        all.insert(format!("mongodb/{name}"), numbers(&file));
    }
    for name in ["short", "small", "medium"] {
        let file = json(&folder.join(format!("mongodb/{name}.json")));
        all.insert(format!("mongodb/{name}"), numbers(&file["series"]));
    }
    for name in ["a11y", "runs1", "runs2", "runs5"] {
        let file = json(&folder.join(format!("perfherder/{name}.json")));
        let runs = file["test_runs"].as_array().unwrap();
        let values = runs.iter().map(|run| run[3].as_f64().unwrap()).collect();
        all.insert(format!("perfherder/{name}"), values);
    }
    for name in ["outlier_A", "outlier_B", "outlier_C"] {
        let values = column_of(&folder.join(format!("conbench/{name}.csv")), 1);
        all.insert(format!("conbench/{name}"), values);
    }
    all.extend(scipy(&folder));
    all
}

/// Reads the numbers of a column; what is none is left out.
fn column_of(path: &Path, column: usize) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let value = |line: &str| line.split(',').nth(column)?.parse().ok();
    text.lines()
        .filter_map(value)
        .filter(|it: &f64| it.is_finite())
        .collect()
}

fn scipy(folder: &Path) -> BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(folder.join("scipy_asv_atom_series.csv")).unwrap();
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        // benchmark, perhaps quoted parameters, date, commit, seconds
        let cells: Vec<&str> = line.rsplitn(4, ',').collect();
        let (benchmark, parameters) = cells[3].split_once(',').unwrap();
        let name = format!("scipy/{benchmark}[{}]", parameters.trim_matches('"'));
        all.entry(name).or_default().push(cells[0].parse().unwrap());
    }
    all
}
