//! Compares change points with those that other programs find in made-up series. The fixtures'
//! README has programs, versions, calls and seed.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_stats::changepoint::{
    EDivisive, Otava, OtavaPoint, e_divisive, energy_statistics, fill_gaps, otava,
};
use lapwing_stats::{Seed, as_f64};
use serde_json::Value;

use crate::histories::{json, numbers};
use crate::reference_detection::difference;

fn fixture(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/changepoint");
    serde_json::from_value(json(&folder.join(name))).unwrap()
}

/// Reads options in the words of Otava.
pub fn otava_options(value: &Value) -> Otava {
    Otava {
        window: usize::try_from(value["window_len"].as_u64().unwrap()).unwrap(),
        p_value: value["max_pvalue"].as_f64().unwrap(),
        magnitude: value["min_magnitude"].as_f64().unwrap(),
    }
}

fn assert_close(name: &str, actual: f64, expected: f64, error: f64) {
    // A deviation of equal values is a rounding error there.
    let fits = (actual - expected).abs() <= error * expected.abs() + 1e-14;
    assert!(fits, "{name}: {actual} is not {expected}");
}

#[test]
fn points_are_those_of_otava() {
    for row in fixture("otava.json") {
        let gaps: Vec<Option<f64>> = serde_json::from_value(row["series"].clone()).unwrap();
        let values = fill_gaps(&gaps);
        assert_eq!(values, numbers(&row["filled"]));
        for result in row["results"].as_array().unwrap() {
            let found = otava(&values, &otava_options(result));
            let points: Vec<(usize, f64, f64, f64, f64, f64)> =
                serde_json::from_value(result["points"].clone()).unwrap();
            let name = format!("{} {}", row["name"], result["window_len"]);
            let of = |it: &OtavaPoint| it.index;
            let indices: Vec<usize> = points.iter().map(|it| it.0).collect();
            assert_eq!(found.iter().map(of).collect::<Vec<_>>(), indices, "{name}");
            for (point, expected) in found.iter().zip(points) {
                assert_close(&name, point.p_value, expected.1, 1e-9);
                assert_close(&name, point.mean_before, expected.2, 1e-12);
                assert_close(&name, point.mean_after, expected.3, 1e-12);
                assert_close(&name, point.sd_before, expected.4, 1e-9);
                assert_close(&name, point.sd_after, expected.5, 1e-9);
            }
        }
    }
}

#[test]
fn energy_statistics_and_shares_are_those_of_mongodb() {
    for row in fixture("e_divisive.json") {
        let (name, values) = (row["name"].to_string(), numbers(&row["series"]));
        for (q, expected) in energy_statistics(&values).iter().zip(numbers(&row["q"])) {
            // Theirs adds and subtracts distances from one index to the next.
            assert!(
                (q - expected).abs() <= 1e-10 * expected.abs() + 1e-10,
                "{name}: {q} {expected}"
            );
        }
        let runs = 200;
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        for seed in 0..runs {
            for point in e_divisive(&values, &EDivisive::default(), Seed(seed)) {
                *counts.entry(point.index).or_default() += 1.0;
            }
        }
        let found: BTreeMap<String, f64> = serde_json::from_value(row["found"].clone()).unwrap();
        let found: BTreeMap<usize, f64> = found
            .into_iter()
            .map(|(index, count)| (index.parse().unwrap(), count))
            .collect();
        let (runs, of_theirs) = (as_f64(runs), row["runs"].as_f64().unwrap());
        for index in counts.keys().chain(found.keys()) {
            let own = counts.get(index).copied().unwrap_or(0.0) / runs;
            let theirs = found.get(index).copied().unwrap_or(0.0) / of_theirs;
            let z = difference(own, runs, theirs, of_theirs);
            assert!(
                z.abs() < 3.5,
                "{name} {index}: {own}, not {theirs} (z = {z})"
            );
        }
    }
}
