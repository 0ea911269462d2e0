//! Compares change points of Otava with those that it finds itself in made-up series. The fixture's
//! README has versions, calls and seed.

use std::path::Path;

use serde_json::Value;

use crate::histories::{json, numbers};
use crate::otava::{Otava, OtavaPoint, otava};

fn fixture(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/changepoint");
    serde_json::from_value(json(&folder.join(name))).unwrap()
}

/// Reads options in the words of Otava.
fn otava_options(value: &Value) -> Otava {
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
        let values = numbers(&row["filled"]);
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
