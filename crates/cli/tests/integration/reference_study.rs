//! Studies of public configuration measurements, against statsmodels and numpy: `C_factors.json` in the reference data.

use std::fs;

use lapwing_testing::reference_data;
use serde_json::Value;

use crate::program::run;
use crate::study_fixture::{effects, json};

/// Compares numbers that are in other units by a factor.
fn close(one: &Value, factor: f64, other: f64, scale: f64, what: &str) {
    let one = one.as_f64().unwrap_or(f64::NAN) * factor;
    assert!(
        (one - other).abs() <= 1e-6 * other.abs().max(scale),
        "{what}: {one} is not {other}"
    );
}

/// Returns the rows of an answer by name.
fn row<'v>(rows: &'v Value, key: &str, name: &str) -> &'v Value {
    let mut rows = rows.as_array().unwrap().iter();
    rows.find(|row| row[key] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn coefficients_errors_and_deltas_are_those_of_statsmodels() {
    let (Some(reference), Some(data)) = (
        reference_data("reference/C_factors.json"),
        reference_data("C_factors"),
    ) else {
        return;
    };
    let reference: Value = serde_json::from_slice(&fs::read(reference).unwrap()).unwrap();
    for (name, expected) in reference.as_object().unwrap() {
        let file = expected["file"]
            .as_str()
            .unwrap()
            .rsplit("C_factors/")
            .next()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = data.join(file);
        let told = run(
            folder.path(),
            &["import", "--from", "runs", path.to_str().unwrap()],
        );
        assert!(told.ends_with("exit 0"), "{told}");
        // The reference is in microseconds where the store is in seconds.
        let factor = if name == "parsl_runs" { 1e6 } else { 1.0 };
        for (model, key) in [("main", "ols_main"), ("pairs", "ols_pairwise")] {
            let arguments = ["fit", "--scale", "time", "--model", model, "--full"];
            let own = json(folder.path(), &arguments);
            let expected = &expected[key];
            let scale = expected["sigma"].as_f64().unwrap() * 1e-3;
            for (term, values) in expected["coef"].as_object().unwrap() {
                let column = row(&own["columns"], "column", term);
                let what = format!("{name} {model} {term}");
                close(
                    &column["estimate"],
                    factor,
                    values[0].as_f64().unwrap(),
                    scale,
                    &what,
                );
                close(
                    &column["standard_error"],
                    factor,
                    values[1].as_f64().unwrap(),
                    scale,
                    &what,
                );
            }
            for term in expected["aliased"].as_array().unwrap() {
                assert_eq!(
                    row(&own["columns"], "column", term.as_str().unwrap())["aliased"],
                    true,
                    "{name} {term}"
                );
            }
            let fit = &own["fit"];
            assert_eq!(fit["rank"], expected["rank"]);
            assert_eq!(fit["residual_freedom"], expected["df_resid"]);
            close(
                &fit["r_squared"],
                1.0,
                expected["r2"].as_f64().unwrap(),
                0.0,
                name,
            );
            close(
                &fit["adjusted_r_squared"],
                1.0,
                expected["r2_adj"].as_f64().unwrap(),
                0.0,
                name,
            );
            close(
                &fit["residual_deviation"],
                factor,
                expected["sigma"].as_f64().unwrap(),
                0.0,
                name,
            );
        }
        let means = effects(folder.path(), "means", &["--pairing", "all"]);
        for (treatment, values) in expected["pairwise_deltas"].as_object().unwrap() {
            if values["pairs"] == 0 {
                continue;
            }
            let own = row(&means["means"], "treatment", treatment);
            assert_eq!(own["deltas"], values["pairs"], "{name} {treatment}");
            for (key, expected, factor) in [
                ("mean", "mean_delta", factor),
                ("median", "median_delta", factor),
                ("sd", "sd_delta_sample", factor),
                ("mean_before", "mean_before", factor),
                ("mean_after", "mean_after", factor),
                ("mean_log2_ratio", "mean_log2_ratio", 1.0),
            ] {
                if let Some(expected) = values[expected].as_f64() {
                    close(
                        &own[key],
                        factor,
                        expected,
                        1e-6,
                        &format!("{name} {treatment} {key}"),
                    );
                }
            }
        }
    }
}

#[test]
fn paths_shapley_values_and_components_are_those_of_numpy() {
    let (Some(reference), Some(data)) = (
        reference_data("reference/C_factors.json"),
        reference_data("C_factors/parsl/runs.csv"),
    ) else {
        return;
    };
    let reference: Value = serde_json::from_slice(&fs::read(reference).unwrap()).unwrap();
    let expected = &reference["parsl_runs"];
    let folder = tempfile::tempdir().unwrap();
    run(
        folder.path(),
        &["import", "--from", "runs", data.to_str().unwrap()],
    );
    let factors: Vec<&str> = expected["factors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    let to = factors
        .iter()
        .map(|it| format!("{it}=1"))
        .collect::<Vec<_>>()
        .join(",");
    let paths = effects(folder.path(), "paths", &["--to", &to]);
    let steps = expected["greedy_path"]["steps"].as_array().unwrap();
    for (own, step) in paths["steps"].as_array().unwrap().iter().zip(steps) {
        assert_eq!(own["treatment"], step[0]);
        close(&own["after"], 1e6, step[1].as_f64().unwrap(), 0.0, "path");
    }
    for (name, value) in expected["shapley_exact"]["values"].as_object().unwrap() {
        close(
            &row(&paths["shapley"], "name", name)["value"],
            1e6,
            value.as_f64().unwrap(),
            1e-3,
            name,
        );
    }
    // All 720 orders are sequences.
    let pca = effects(folder.path(), "pca", &["--sequences", "720"]);
    if pca["sequences"] == 720 {
        let variances = expected["sequence_pca"]["explained_variance"]
            .as_array()
            .unwrap();
        for (own, variance) in pca["components"]
            .as_array()
            .unwrap()
            .iter()
            .zip(variances)
            .take(5)
        {
            close(
                &own["variance"],
                1e12,
                variance.as_f64().unwrap(),
                0.0,
                "variance",
            );
        }
    } else {
        assert!(
            pca["sequences"].as_u64() > Some(700),
            "{}",
            pca["sequences"]
        );
    }
}
