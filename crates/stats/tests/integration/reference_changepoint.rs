//! Compares change points with those that other programs find in real histories.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_stats::changepoint::{
    EDivisive, LevelOptions, Otava, e_divisive, energy_statistics, level_changes, otava,
};
use lapwing_stats::{Seed, as_f64};
use lapwing_testing::reference_data;
use serde_json::Value;

use crate::golden_changepoint::otava_options;
use crate::histories::{histories, indices, json, numbers};
use crate::reference_detection::difference;
use crate::segmentation_score::{Annotations, covering, f1};

fn assert_near(name: &str, actual: f64, expected: &Value, error: f64) {
    let expected = expected.as_f64().unwrap();
    let fits = (actual - expected).abs() <= error * expected.abs();
    assert!(fits, "{name}: {actual} is not {expected}");
}

#[test]
fn change_points_of_otava_are_reproduced() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let histories = histories(&folder);
    let reference = json(&folder.join("reference/A_otava_pelt.json"));
    let mut count = 0;
    for (name, results) in reference.as_object().unwrap() {
        for setting in ["otava_default", "otava_w30_p01_m05"] {
            let expected = &results[setting];
            let points = otava(&histories[name], &otava_options(&expected["params"]));
            let found: Vec<usize> = points.iter().map(|point| point.index).collect();
            assert_eq!(found, indices(&expected["change_points"]), "{name}");
            assert_eq!(found, indices(&expected["weak"]), "{name}");
            for (point, row) in points.iter().zip(expected["stats"].as_array().unwrap()) {
                let name = format!("{name} {setting} {}", point.index);
                assert_near(&name, point.p_value, &row["pvalue"], 1e-6);
                assert_near(&name, point.mean_before, &row["mean_before"], 1e-12);
                assert_near(&name, point.mean_after, &row["mean_after"], 1e-12);
                assert_near(&name, point.sd_before, &row["std_before"], 1e-6);
                assert_near(&name, point.sd_after, &row["std_after"], 1e-6);
            }
            count += points.len();
        }
    }
    assert_eq!(count, 1120);
}

#[test]
fn assertions_of_otava_s_own_tests_hold() {
    let Some(folder) = reference_data("A_history/otava") else {
        return;
    };
    let file = json(&folder.join("tigerbeetle_series.json"));
    let values = numbers(&file["series"]);
    let tests = file["otava_tests"].as_array().unwrap();
    assert_eq!(tests.len(), 9);
    for test in tests {
        let points = otava(&values, &otava_options(test));
        let found: Vec<usize> = points.iter().map(|point| point.index).collect();
        assert_eq!(found, indices(&test["change_points"]), "{}", test["test"]);
    }
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

/// The scores of `lapwing detect`'s default rule, for which nothing was tuned on these series; they stand in `docs/calibration.md`.
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
        let Some(values) = histories.get(&format!("tcpd/{name}")) else {
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

#[test]
fn energy_statistics_are_those_of_mongodb() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let histories = histories(&folder);
    let reference = json(&folder.join("reference/A_edivisive_mongodb.json"));
    for (name, expected) in reference.as_object().unwrap() {
        let all = energy_statistics(&histories[name]);
        let largest = (0..all.len()).reduce(|best, at| if all[at] > all[best] { at } else { best });
        assert_eq!(
            largest.map(as_f64),
            expected["first_split_index"].as_f64(),
            "{name}"
        );
        assert_near(
            name,
            all[largest.unwrap()],
            &expected["first_split_q"],
            1e-9,
        );
        for (q, expected) in all.iter().zip(expected["q_stat_head"].as_array().unwrap()) {
            assert_near(name, *q, expected, 1e-9);
        }
    }
}

/// Returns the indices that E-divisive finds with each of so many seeds.
fn runs(values: &[f64], options: &EDivisive, count: u64) -> Vec<Vec<usize>> {
    let run = |seed| {
        let points = e_divisive(values, options, Seed(seed));
        points.iter().map(|point| point.index).collect()
    };
    (0..count).map(run).collect()
}

fn share(runs: &[Vec<usize>], index: usize) -> f64 {
    as_f64(runs.iter().filter(|run| run.contains(&index)).count()) / as_f64(runs.len())
}

#[test]
fn change_points_of_e_divisive_are_found_as_often_as_by_mongodb() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let histories = histories(&folder);
    let reference = json(&folder.join("reference/A_edivisive_mongodb.json"));
    for (name, expected) in reference.as_object().unwrap() {
        let values = &histories[name];
        let own = runs(
            values,
            &EDivisive::default(),
            if values.len() < 900 { 40 } else { 10 },
        );
        let of_theirs = expected["seeds"].as_f64().unwrap();
        let theirs: BTreeMap<String, f64> =
            serde_json::from_value(expected["share_of_runs"].clone()).unwrap();
        let theirs: BTreeMap<usize, f64> = theirs
            .into_iter()
            .map(|(index, share)| (index.parse().unwrap(), share))
            .collect();
        for index in own.iter().flatten().chain(theirs.keys()) {
            let (here, there) = (
                share(&own, *index),
                theirs.get(index).copied().unwrap_or(0.0),
            );
            let z = difference(here, as_f64(own.len()), there, of_theirs);
            assert!(
                z.abs() < 3.5,
                "{name} {index}: {here}, not {there} (z = {z})"
            );
            // A single run says nothing of what is always or never found.
            if of_theirs > 1.0 {
                let near = theirs.keys().any(|it| it.abs_diff(*index) <= 2);
                assert!(there < 0.95 || here > 0.5, "{name}: {index} not found");
                assert!(near || here < 0.5, "{name}: {index} found");
            }
        }
    }
}

#[test]
fn counts_of_mongodb_s_own_tests_are_found_with_every_seed() {
    let Some(folder) = reference_data("A_history/mongodb") else {
        return;
    };
    let options = EDivisive {
        p_value: 0.01,
        ..EDivisive::default()
    };
    for name in ["short", "small", "medium"] {
        let file = json(&folder.join(format!("{name}.json")));
        for run in runs(&numbers(&file["series"]), &options, 10) {
            assert_eq!(Some(as_f64(run.len())), file["expected"].as_f64(), "{name}");
        }
    }
}
