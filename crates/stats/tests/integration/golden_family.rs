//! Compares the tests of families with the method's reference in numpy and scipy; the fixtures' README has the call.

use std::path::Path;

use lapwing_stats::{Replicates, Seed, family_tests, newest_p_values};
use serde_json::Value;

use crate::histories::{json, numbers};

fn replicates(group: &Value) -> Vec<Replicates> {
    let design = group["design"].as_array().unwrap();
    let rows = group["values"].as_array().unwrap().iter().map(numbers);
    rows.map(|values| match design[0].as_str().unwrap() {
        "pairs" => Replicates::Pairs(values),
        _ => {
            let baseline = usize::try_from(design[1].as_u64().unwrap()).unwrap();
            let (one, other) = values.split_at(baseline);
            Replicates::Sides([one.to_vec(), other.to_vec()])
        }
    })
    .collect()
}

/// Returns the cases of the fixture.
pub fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/family");
    serde_json::from_value(json(&folder.join("golden.json"))).unwrap()
}

#[test]
fn p_values_are_those_of_the_reference() {
    let mut compared = 0;
    for case in cases() {
        let Some(groups) = case["groups"].as_array() else {
            continue;
        };
        let family: Vec<Replicates> = groups.iter().flat_map(replicates).collect();
        let history: Vec<Replicates> = case["history"].as_array().map_or_else(Vec::new, |rows| {
            rows.iter()
                .map(|row| Replicates::Pairs(numbers(row)))
                .collect()
        });
        let expected = case["p_values"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(numbers);
        for (test, expected) in family_tests(&family, &history, Seed(7))
            .iter()
            .zip(expected)
        {
            let p_value = test.unwrap().p_value;
            let error = (p_value / expected - 1.0).abs();
            assert!(
                error < 1e-7,
                "{}: {p_value} is not {expected}",
                case["name"]
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 6 + 6 + 15 + 6 + 2 + 1 + 1 + 1);
}

#[test]
fn p_values_of_newest_runs_are_those_of_the_reference() {
    let all = cases();
    let case = all
        .iter()
        .find(|case| case["histories"].is_array())
        .unwrap();
    let histories: Vec<Vec<f64>> = case["histories"]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .collect();
    let histories: Vec<&[f64]> = histories.iter().map(Vec::as_slice).collect();
    for newest in 1..=3 {
        let found = newest_p_values(&histories, newest, 1.0);
        let expected = numbers(&case["p_values"][newest.to_string()]);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let found = found.unwrap().value();
            let error = (found / expected - 1.0).abs();
            assert!(error < 1e-7, "{newest}: {found} is not {expected}");
        }
    }
}
