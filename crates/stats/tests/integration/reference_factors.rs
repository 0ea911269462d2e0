//! Compares analyses of factors with what Python and R say of public measurements of configurable systems.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_stats::deltas::{Delta, DeltaPairing, MeasuredSets, mean_deltas};
use lapwing_stats::linear_model::{FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm};
use lapwing_stats::shapley::{best_first_path, path_of_order, shapley_values};
use lapwing_stats::{Confidence, mean, principal_components};
use lapwing_testing::reference_data;
use serde_json::Value;

use crate::golden_factors::{numbers, standardised};

/// A table of factors, each 0 or 1, and a response per run.
pub(crate) struct FactorTable {
    pub(crate) factors: Vec<String>,
    pub(crate) sets: Vec<u128>,
    pub(crate) responses: Vec<f64>,
}

fn table(folder: &Path, system: &Value) -> FactorTable {
    let file = system["file"]
        .as_str()
        .unwrap()
        .trim_start_matches("public/");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut lines = text
        .lines()
        .map(|line| line.split([',', ';']).map(str::trim).collect::<Vec<&str>>());
    let header = lines.next().unwrap();
    let factors: Vec<String> = serde_json::from_value(system["factors"].clone()).unwrap();
    let position = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let response = position(system["response"].as_str().unwrap());
    let (mut sets, mut responses) = (Vec::new(), Vec::new());
    for cells in lines {
        let set = factors.iter().enumerate().fold(0, |set, (at, name)| {
            set | u128::from(cells[position(name)].parse::<f64>().unwrap() > 0.5) << at
        });
        sets.push(set);
        responses.push(cells[response].parse().unwrap());
    }
    FactorTable {
        factors,
        sets,
        responses,
    }
}

/// Calls a test with each system, its table and its reference.
pub(crate) fn each_system(mut visit: impl FnMut(&str, &FactorTable, &Value)) {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("reference/C_factors.json")).unwrap();
    let systems: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut count = 0;
    for (name, system) in &systems {
        if system.get("ols_main").is_some() {
            visit(name, &table(&folder, system), system);
            count += 1;
        }
    }
    assert_eq!(count, 5);
}

fn column_name(table: &FactorTable, term: ModelTerm) -> String {
    match term {
        ModelTerm::Intercept => "(Intercept)".to_owned(),
        ModelTerm::Main(factor) | ModelTerm::Square(factor) => table.factors[factor].clone(),
        ModelTerm::Pair(one, other) => format!("{}:{}", table.factors[one], table.factors[other]),
    }
}

fn assert_near(name: &str, actual: f64, expected: f64, error: f64) {
    let fits = (actual - expected).abs() <= error * expected.abs().max(1e-3);
    assert!(fits, "{name}: {actual} is not {expected}");
}

#[test]
fn coefficients_of_real_systems_are_those_of_the_reference() {
    each_system(|system, table, reference| {
        let factors = table.factors.len();
        let values = FactorValues::treatments(&table.sets, factors);
        for (model, terms) in [
            ("ols_main", ModelTerm::main_effects(factors)),
            ("ols_pairwise", ModelTerm::all_pairs(factors)),
        ] {
            let expected = &reference[model];
            let matrix = ModelMatrix::new(&values, &terms).unwrap();
            let fit = LinearFit::new(&matrix, &table.responses, LeastSquares::default()).unwrap();
            let name = |column: &usize| column_name(table, matrix.meanings()[*column].term);
            let aliased: Vec<String> = fit.aliased().iter().map(name).collect();
            assert_eq!(
                serde_json::to_value(aliased).unwrap(),
                expected["aliased"],
                "{system} {model}"
            );
            for column in fit.kept() {
                let own = fit.coefficient(*column).unwrap();
                let label = format!("{system} {}", name(column));
                let [estimate, error, t, p] = numbers(&expected["coef"][name(column)])[..] else {
                    panic!("four numbers of {label}")
                };
                // An effect far below its own error is a difference of rounding errors.
                assert!(
                    (own.estimate - estimate).abs() <= 1e-6 * estimate.abs() + 1e-8 * error,
                    "{label}"
                );
                assert_near(&label, own.standard_error, error, 1e-6);
                assert!((own.t - t).abs() <= 1e-6 * t.abs() + 1e-6, "{label}");
                assert_near(&label, own.p_value.unwrap(), p, 1e-5);
            }
            for (key, actual) in [
                ("r2", fit.r_squared().unwrap()),
                ("r2_adj", fit.adjusted_r_squared().unwrap()),
                ("sigma", fit.residual_deviation().unwrap()),
                ("rss", fit.residual_sum_of_squares),
            ] {
                assert_near(
                    &format!("{system} {key}"),
                    actual,
                    expected[key].as_f64().unwrap(),
                    1e-6,
                );
            }
        }
    });
}

#[test]
fn principal_components_of_real_systems_are_those_of_the_reference() {
    each_system(|system, table, reference| {
        let expected = &reference["pca_standardised_factors_and_response"];
        let columns: Vec<String> = serde_json::from_value(expected["columns"].clone()).unwrap();
        let value =
            |name: &String, run: usize| match table.factors.iter().position(|own| own == name) {
                Some(factor) => f64::from(u8::from(table.sets[run] >> factor & 1 == 1)),
                None => table.responses[run],
            };
        let rows: Vec<Vec<f64>> = (0..table.sets.len())
            .map(|run| columns.iter().map(|name| value(name, run)).collect())
            .collect();
        let rows = standardised(&rows);
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let components = principal_components(&rows).unwrap();
        let variances = numbers(&expected["explained_variance"]);
        for (at, own) in components.iter().enumerate() {
            assert!((own.variance - variances[at]).abs() < 1e-9, "{system} {at}");
        }
        for (at, loadings) in expected["loadings_first3"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let gap = |other: usize| {
                variances
                    .get(other)
                    .is_none_or(|own| (own - variances[at]).abs() > 1e-4)
            };
            if !gap(at + 1) || (at > 0 && !gap(at - 1)) {
                continue;
            }
            let (own, loadings) = (&components[at].loadings, numbers(loadings));
            let product: f64 = own.iter().zip(&loadings).map(|(a, b)| a * b).sum();
            for (actual, expected) in own.iter().zip(&loadings) {
                assert!(
                    (actual - expected * product.signum()).abs() < 1e-6,
                    "{system} {at}"
                );
            }
        }
    });
}

#[test]
fn deltas_of_real_systems_are_those_of_the_reference() {
    each_system(|system, table, reference| {
        let runs: Vec<(u128, f64)> = table
            .sets
            .iter()
            .copied()
            .zip(table.responses.iter().copied())
            .collect();
        let sets = MeasuredSets::new(&runs).unwrap();
        let deltas = sets.deltas(DeltaPairing::AllPairs);
        assert_eq!(
            Some(deltas.len()),
            reference["pairs_total"]
                .as_u64()
                .and_then(|total| total.try_into().ok())
        );
        let mut summarised = 0;
        for own in mean_deltas(&sets, DeltaPairing::AllPairs, Confidence::P95) {
            let expected = &reference["pairwise_deltas"][&table.factors[own.factor]];
            assert_eq!(
                Some(own.deltas),
                expected["pairs"]
                    .as_u64()
                    .and_then(|pairs| pairs.try_into().ok()),
                "{system}"
            );
            for (key, actual) in [
                ("mean_delta", Some(own.mean)),
                ("median_delta", Some(own.median)),
                ("sd_delta_sample", own.standard_deviation),
                ("mean_before", Some(own.mean_before)),
                ("mean_after", Some(own.mean_after)),
                ("mean_log2_ratio", own.mean_log2_ratio),
            ] {
                if let (Some(actual), Some(expected)) = (actual, expected[key].as_f64()) {
                    assert_near(&format!("{system} {key}"), actual, expected, 1e-9);
                }
            }
            summarised += own.deltas;
        }
        assert_eq!(summarised, deltas.len());
        given_other(system, table, &deltas, reference);
    });
}

/// Compares the mean deltas of a factor where another one is absent, or present.
fn given_other(system: &str, table: &FactorTable, deltas: &[Delta], reference: &Value) {
    let Some(given) = reference
        .get("delta_given_other")
        .and_then(Value::as_object)
    else {
        return;
    };
    for (key, expected) in given {
        let (factor, condition) = key.split_once('|').unwrap();
        let (other, present) = condition.split_once('=').unwrap();
        let position = |name: &str| table.factors.iter().position(|own| own == name).unwrap();
        let (factor, other) = (position(factor), position(other));
        let own: Vec<f64> = deltas
            .iter()
            .filter(|delta| {
                delta.factor == factor && u128::from(present == "1") == delta.set >> other & 1
            })
            .map(Delta::change)
            .collect();
        assert_eq!(
            Some(own.len()),
            expected[0].as_u64().and_then(|count| count.try_into().ok()),
            "{system} {key}"
        );
        if let (Some(actual), Some(expected)) = (mean(&own), expected[1].as_f64()) {
            assert_near(&format!("{system} {key}"), actual, expected, 1e-9);
        }
    }
}

#[test]
fn attributions_of_a_full_lattice_are_those_of_the_reference() {
    let mut lattices = 0;
    each_system(|_, table, reference| {
        let Some(shapley) = reference.get("shapley_exact") else {
            return;
        };
        lattices += 1;
        let runs: Vec<(u128, f64)> = table
            .sets
            .iter()
            .copied()
            .zip(table.responses.iter().copied())
            .collect();
        let sets = MeasuredSets::new(&runs).unwrap();
        let values: Vec<f64> = sets
            .sets()
            .iter()
            .map(|set| mean(sets.values(*set)).unwrap())
            .collect();
        let factors = table.factors.len();
        assert_eq!(values.len(), 1 << factors);
        for (factor, own) in shapley_values(&values).unwrap().iter().enumerate() {
            let expected = shapley["values"][&table.factors[factor]].as_f64().unwrap();
            assert!((own - expected).abs() < 1e-9, "{own} {expected}");
        }
        let value = |set: u128| mean(sets.values(set));
        let path = best_first_path(0, (1 << factors) - 1, &[], value);
        let steps: Vec<Value> = path
            .iter()
            .map(|step| serde_json::json!([table.factors[step.factor], step.after]))
            .collect();
        for (own, expected) in steps
            .iter()
            .zip(reference["greedy_path"]["steps"].as_array().unwrap())
        {
            assert_eq!(own[0], expected[0]);
            assert!((own[1].as_f64().unwrap() - expected[1].as_f64().unwrap()).abs() < 1e-9);
        }
        sequences(factors, value, &reference["sequence_pca"]);
    });
    assert!(lattices == 1 || reference_data(".").is_none());
}

/// Compares the principal components of the deltas of all orders.
fn sequences(factors: usize, value: impl Fn(u128) -> Option<f64> + Copy, expected: &Value) {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..factors {
        let longer = |order: Vec<usize>| {
            let rest: Vec<usize> = (0..factors)
                .filter(|factor| !order.contains(factor))
                .collect();
            rest.into_iter()
                .map(move |factor| [order.clone(), vec![factor]].concat())
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    let deltas = |order: &Vec<usize>| {
        let mut row = vec![0.0; factors];
        for step in path_of_order(0, order, value) {
            row[step.factor] = step.delta();
        }
        row
    };
    let rows: Vec<Vec<f64>> = orders.iter().map(deltas).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let components = principal_components(&rows).unwrap();
    for (own, variance) in components
        .iter()
        .zip(numbers(&expected["explained_variance"]))
    {
        assert!((own.variance - variance).abs() < 1e-9 * 1e6);
    }
    for (own, loadings) in components
        .iter()
        .zip(expected["loadings_first2"].as_array().unwrap())
    {
        for (actual, expected) in own.loadings.iter().zip(numbers(loadings)) {
            assert!((actual - expected).abs() < 1e-6);
        }
    }
}
