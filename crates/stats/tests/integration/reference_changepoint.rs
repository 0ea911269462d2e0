//! Scores change points in real histories by those that people marked.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use lapwing_testing::reference_data;
use serde_json::Value;

use crate::histories::{histories, json};
use crate::otava::{Otava, otava};
use crate::segmentation_score::{Annotations, covering, f1};

fn assert_near(name: &str, actual: f64, expected: &Value, error: f64) {
    let expected = expected.as_f64().unwrap();
    let fits = (actual - expected).abs() <= error * expected.abs();
    assert!(fits, "{name}: {actual} is not {expected}");
}

#[test]
fn scores_of_otava_are_those_of_tcpdbench_s_definitions() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let histories = histories(&folder);
    let board = json(&folder.join("reference/A_tcpd_scoreboard.json"));
    let old = Otava {
        window: 30,
        p_value: 0.01,
        magnitude: 0.05,
    };
    for (name, options) in [
        ("none", None),
        ("otava_default", Some(Otava::default())),
        ("otava_w30_p01_m05", Some(old)),
    ] {
        let [f1, covering] = mean_scores(&folder, &histories, |values| {
            let points = options.map_or_else(Vec::new, |it| otava(values, &it));
            points.iter().map(|point| point.index).collect()
        });
        let expected = &board[name];
        assert_near(name, f1, &expected["mean_f1"], 1e-12);
        assert_near(name, covering, &expected["mean_covering"], 1e-12);
    }
}

/// The scores of `lapwing detect`'s default rule, for which nothing was tuned on these series; they stand in
/// `docs/calibration.md`.
#[test]
fn the_default_rule_describes_annotated_series_better_than_otava() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let histories = histories(&folder);
    let score = |detect: fn(&[f64]) -> Vec<usize>| mean_scores(&folder, &histories, detect);
    let ours = score(|values| {
        let found = level_changes(values, &LevelOptions::default());
        found.changes.iter().map(|change| change.index).collect()
    });
    let theirs = score(|values| {
        let found = otava(values, &Otava::default());
        found.iter().map(|point| point.index).collect()
    });
    println!("F₁ and covering: {ours:.3?}; Otava: {theirs:.3?}");
    assert!(ours[0] > theirs[0] && ours[1] > theirs[1], "{ours:?}");
}

/// Returns mean F₁ (margin 5) and covering of a detector over the annotated series.
fn mean_scores(
    folder: &Path,
    histories: &BTreeMap<String, Vec<f64>>,
    detect: impl Fn(&[f64]) -> Vec<usize>,
) -> [f64; 2] {
    let file = json(&folder.join("A_history/tcpd/annotations.json"));
    let mut sums = [0.0; 2];
    let mut count = 0.0;
    for (name, people) in file.as_object().unwrap() {
        let Some(values) = histories.get(name) else {
            continue;
        };
        let annotations: Annotations = serde_json::from_value(people.clone()).unwrap();
        let found = detect(values);
        sums[0] += f1(&annotations, &found, 5);
        sums[1] += covering(&annotations, &found, values.len());
        count += 1.0;
    }
    sums.map(|sum| sum / count)
}
