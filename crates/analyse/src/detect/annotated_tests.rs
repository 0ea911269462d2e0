//! Scores the whole of `lapwing detect` by the changes that people marked in real histories, one in a store.

use lapwing_testing::reference_data;
use serde_json::Value;

use self::segmentation_score::{Annotations, covering, f1};
use super::tests::histories;
use super::*;

#[path = "../../../stats/tests/integration/segmentation_score.rs"]
mod segmentation_score;

/// Returns the scores of a history: F₁ with a margin of 5, and covering.
fn scores(values: Vec<f64>, people: &Annotations) -> [f64; 2] {
    let length = values.len();
    let detection = detect(&histories(&[values]), &DetectOptions::default());
    let places: Vec<usize> = detection.findings.iter().map(Finding::since).collect();
    [f1(people, &places, 5), covering(people, &places, length)]
}

/// The figures stand in `docs/calibration.md`; nothing was tuned to them.
#[test]
fn annotated_histories_are_described_better_than_by_no_change() {
    let Some(folder) = reference_data("A_history/tcpd") else {
        return;
    };
    let json = |path: std::path::PathBuf| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
    };
    let people = json(folder.join("annotations.json"));
    let mut sum = [0.0; 2];
    let mut count = 0.0;
    for entry in std::fs::read_dir(folder.join("datasets")).expect("a folder") {
        let file = json(entry.expect("an entry").path());
        let name = file["name"].as_str().expect("a name");
        let values: Vec<f64> =
            serde_json::from_value(file["series"][0]["raw"].clone()).expect("numbers");
        let people: Annotations = serde_json::from_value(people[name].clone()).expect("marks");
        let found = scores(values, &people);
        sum = [sum[0] + found[0], sum[1] + found[1]];
        count += 1.0;
    }
    let [f1, covering] = sum.map(|sum| sum / count);
    println!("F₁ {f1:.3}, covering {covering:.3}");
    assert!(f1 > 0.6 && covering > 0.6, "{f1} {covering}");
}
