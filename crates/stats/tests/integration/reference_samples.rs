//! Compares statistics of real measurements with what other programs say of the same files: JMH runs
//! of five projects, and two versions of five Go projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lapwing_stats::{
    Confidence, HierarchicalReplicates, Interval, Seed, Statistic, coefficient_of_variation,
    mann_whitney, mean, percentile_interval, population_coefficient_of_variation,
    ratio_of_arithmetic_means, variability,
};
use lapwing_testing::reference_data;
use serde_json::Value;

fn reference() -> Option<(PathBuf, Value)> {
    let folder = reference_data(".")?;
    let text = std::fs::read_to_string(folder.join("reference/B_samples.json")).unwrap();
    Some((folder, serde_json::from_str(&text).unwrap()))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn assert_near(name: &str, actual: f64, expected: &Value, error: f64) {
    let expected = number(expected);
    let fits = (actual - expected).abs() <= error * expected.abs() + 1e-300;
    assert!(fits, "{name}: {actual} is not {expected}");
}

/// Reads the values of a file in the form of `pa`, by benchmark and by instance, trial and fork.
fn values(path: &Path) -> BTreeMap<String, BTreeMap<String, Vec<f64>>> {
    let mut all: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(';').collect();
        let group = format!("{:>6} {:>6} {:>6}", cells[4], cells[5], cells[6]);
        let values = all
            .entry(cells[2].to_owned())
            .or_default()
            .entry(group)
            .or_default();
        values.push(cells[11].parse().unwrap());
    }
    all
}

fn assert_ends(name: &str, actual: Interval, expected: &Value, share: f64) {
    let (lower, upper) = (number(&expected[0]), number(&expected[1]));
    let slack = share * (upper - lower);
    assert!(
        (actual.lower - lower).abs() <= slack,
        "{name}: {actual:?} {expected}"
    );
    assert!(
        (actual.upper - upper).abs() <= slack,
        "{name}: {actual:?} {expected}"
    );
}

#[test]
fn forks_of_jmh_give_the_reference_numbers() {
    let Some((folder, reference)) = reference() else {
        return;
    };
    for (name, expected) in reference["sealab_jmh"].as_object().unwrap() {
        let side = |side: &str| -> Vec<Vec<f64>> {
            let path = format!("B_samples/sealab_jmh/{name}.last100_{side}.pa.csv");
            values(&folder.join(path))
                .into_values()
                .next()
                .unwrap()
                .into_values()
                .collect()
        };
        let (control, test) = (side("control"), side("test"));
        let rows: Vec<&[f64]> = control.iter().chain(&test).map(Vec::as_slice).collect();
        let pooled = rows.concat();
        let actual = variability(&rows).unwrap();
        assert_near(name, actual.mean, &expected["mean"], 1e-9);
        assert_near(name, actual.total, &expected["total_cv_population"], 1e-9);
        assert_near(
            name,
            actual.instance_mean,
            &expected["per_instance_cv_mean"],
            1e-9,
        );
        let deviation = &expected["per_instance_cv_stdev_population"];
        assert_near(name, actual.instance_deviation, deviation, 1e-9);
        let sample = coefficient_of_variation(&pooled).unwrap();
        assert_near(name, sample, &expected["total_cv_sample"], 1e-9);
        for (row, own) in rows
            .iter()
            .zip(expected["per_instance_cv_population"].as_array().unwrap())
        {
            let actual = population_coefficient_of_variation(row).unwrap();
            // Of a fork whose iterations are equal the reference has a rounding error.
            assert!(
                (actual - number(own)).abs() < 1e-9 * number(own) + 1e-15,
                "{name}: {actual} {own}"
            );
        }

        let drawn = HierarchicalReplicates::draw(
            &rows[..control.len()],
            &rows[control.len()..],
            Statistic::Mean,
            10_000,
            Seed(7),
        );
        let ratio = drawn.ratio(Confidence::P95).unwrap();
        assert_ends(name, ratio, &expected["ratio_ci95_numpy"], 0.1);
        for (means, key) in [
            (drawn.baseline, "control_mean_ci95"),
            (drawn.candidate, "test_mean_ci95"),
        ] {
            let interval = percentile_interval(means, Confidence::P95).unwrap();
            assert_ends(name, interval, &expected[key], 0.05);
        }
    }
}

#[test]
fn two_versions_of_go_projects_give_the_reference_numbers() {
    let Some((folder, reference)) = reference() else {
        return;
    };
    let mut compared = 0;
    for (project, expected) in reference["laaber_go_ab"].as_object().unwrap() {
        let side = |commit: &str| {
            values(&folder.join(format!("B_samples/laaber_go_ab/{project}_{commit}.pa.csv")))
        };
        let (before, after) = (side("c1"), side("c2"));
        for (name, expected) in expected["benchmarks"].as_object().unwrap() {
            let pooled = |side: &BTreeMap<String, BTreeMap<String, Vec<f64>>>| -> Vec<f64> {
                side[name].values().flatten().copied().collect()
            };
            let (baseline, candidate) = (pooled(&before), pooled(&after));
            assert_near(name, mean(&baseline).unwrap(), &expected["mean"][0], 1e-9);
            assert_near(name, mean(&candidate).unwrap(), &expected["mean"][1], 1e-9);
            let ratio = ratio_of_arithmetic_means(&baseline, &candidate, Confidence::P95).unwrap();
            assert_near(name, ratio.ratio, &expected["ratio_mean"], 1e-9);
            let test = mann_whitney(&baseline, &candidate).unwrap();
            // The reference counts the pairs in which the baseline is ahead.
            let pairs = number(&expected["n"][0]) * number(&expected["n"][1]);
            assert_near(
                name,
                pairs - test.statistic,
                &expected["mannwhitney_U_a"],
                1e-9,
            );
            assert_near(
                name,
                test.p_value,
                &expected["mannwhitney_p_asymptotic_cc"],
                1e-8,
            );
            compared += 1;
        }
    }
    assert!(compared > 0);
}
