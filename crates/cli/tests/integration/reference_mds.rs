//! From an import to detection rates: the real program against those of a port that was checked against Hail.

use std::fs;

use crate::program::run;
use lapwing_testing::reference_data;
use serde_json::Value;

/// Returns the difference of two shares of so many in its standard deviations (Anscombe, *Biometrika* 1948).
fn difference((one, of_one): (f64, f64), (other, of_other): (f64, f64)) -> f64 {
    let angle = |share: f64, of: f64| ((share * of + 0.375) / (of + 0.75)).sqrt().asin();
    2.0 * (angle(one, of_one) - angle(other, of_other)) / (1.0 / of_one + 1.0 / of_other).sqrt()
}

#[test]
fn from_import_to_rates_all_is_as_in_hail() {
    let Some(hail) = reference_data("hail") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| hail.join(name).to_str().unwrap().to_owned();
    run(folder.path(), &["import", &file("benchmarks.jsonl.gz")]);
    let starts = format!("burn_in_file={}", file("first_stable_index.json"));
    let mut compared = 0;
    for name in ["test_bimodal_instances", "test_failures"] {
        let arguments = [
            "mds",
            "--full",
            "--compat",
            "hail",
            "--clean",
            &starts,
            "-b",
            name,
            "--grid",
            "instances=5,15",
            "--grid",
            "iterations=5,25",
            "--format",
            "json",
        ];
        let answer = run(folder.path(), &arguments);
        let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
        for row in answer["detection"].as_array().unwrap() {
            let text = |key: &str| row[key].as_str().unwrap();
            let number = |key: &str| row[key].as_f64().unwrap();
            let file = format!("port_{}_mds_E800.tsv", text("method"));
            let theirs = fs::read_to_string(hail.join(file)).unwrap();
            let keys = ["slowdown", "instances", "iterations"].map(number);
            let theirs = theirs.lines().map(|it| it.split('\t').collect::<Vec<_>>());
            let theirs = theirs.filter(|it| it[1] == name).find(|it| {
                let of_file = [2, 3, 4].map(|at| it[at].parse::<f64>().unwrap());
                of_file
                    .iter()
                    .zip(keys)
                    .all(|(one, other)| (one - other).abs() < 1e-9)
            });
            let column = if text("strategy") == "ibs" { 5 } else { 6 };
            let theirs: f64 = theirs.unwrap()[column].parse().unwrap();
            let z = difference((number("detection_rate"), 100.0), (theirs, 800.0));
            assert!(z.abs() < 4.5, "{row}, not {theirs} (z = {z})");
            compared += 1;
        }
    }
    // Two benchmarks, two methods, two strategies, six slowdowns, four configurations.
    assert_eq!(compared, 2 * 2 * 2 * 6 * 4);
}
