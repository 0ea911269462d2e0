use std::path::Path;

use serde_json::Value;

use super::descriptions::{Description, Descriptions, SeriesShape};
use super::standardised::{Standardised, drawn_in};
use super::*;
use crate::changepoint::LevelOptions;
use crate::number::as_f64;

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

fn described(description: &Description) -> (&'static str, Vec<usize>) {
    match &description.shape {
        SeriesShape::Steps(steps) => ("steps", steps.clone()),
        SeriesShape::Line => ("line", Vec::new()),
        SeriesShape::Ramp(ends) => ("ramp", ends.to_vec()),
        SeriesShape::Bends(bends) => ("bends", bends.clone()),
        SeriesShape::LineAndStep(step) => ("line and step", vec![*step]),
    }
}

fn golden() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shape/golden.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn descriptions_are_those_of_the_independent_program() {
    for row in golden() {
        let (name, values) = (&row["name"], numbers(&row["values"]));
        let series = Standardised::of(&values, &drawn_in(&values)).unwrap();
        let found = Descriptions::of(series);
        let expected = row["descriptions"].as_array().unwrap();
        let all: Vec<&Description> = found.steps().iter().chain(found.drifts()).collect();
        assert_eq!(all.len(), expected.len(), "{name}");
        for (found, expected) in all.iter().zip(expected) {
            let (kind, places) = described(found);
            assert_eq!(expected["name"], kind, "{name}");
            assert_eq!(expected["places"], serde_json::json!(places), "{name}");
            let error = found.gain - expected["gain"].as_f64().unwrap();
            assert!(error.abs() < 1e-9, "{name}, {kind}, {places:?}: {error}");
        }
        let error = found.wandering() - row["wandering"].as_f64().unwrap();
        assert!(error.abs() < 1e-9, "{name}: {error}");
    }
}

#[test]
fn slopes_are_those_of_the_independent_program() {
    for row in golden() {
        let found = slope(&numbers(&row["values"]), &numbers(&row["times"])).unwrap();
        let expected = &row["slope"];
        for (found, key) in [
            (found.per_unit, "per_unit"),
            (found.interval.lower, "lower"),
            (found.interval.upper, "upper"),
            (found.autocorrelation, "rho"),
        ] {
            let expected = expected[key].as_f64().unwrap();
            let error = (found - expected).abs();
            assert!(
                error < 1e-9 * expected.abs().max(1e-3),
                "{key}: {found} {expected}"
            );
        }
    }
}

fn changes(values: &[f64]) -> SeriesChanges {
    series_changes(values, &LevelOptions::default())
}

fn steps(values: &[f64]) -> Vec<usize> {
    changes(values)
        .steps
        .iter()
        .map(|step| step.index)
        .collect()
}

#[test]
fn nothing_happens_in_constant_short_and_alternating_series() {
    let odd: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at == 20))).collect();
    let alternating: Vec<f64> = (0..1000).map(|at| as_f64(at % 2_usize)).collect();
    for values in [
        &[] as &[f64],
        &[1.0; 11],
        &[1.0; 50],
        &odd,
        &alternating[..40],
        &alternating,
    ] {
        let found = changes(values);
        assert!(
            found.steps.is_empty() && found.drift.is_none() && !found.wanders,
            "{found:?}"
        );
    }
}

#[test]
fn noise_free_series_are_what_they_are() {
    let line: Vec<f64> = (0..40_usize).map(|at| 2.0 * as_f64(at)).collect();
    assert!(*changes(&line).drift.unwrap().range.start() <= 1);
    let counter: Vec<f64> = (0..80_usize).map(|at| as_f64(at / 4)).collect();
    assert_eq!(changes(&counter).drift.unwrap().range, 0..=79);
    let stairs: Vec<f64> = (0..60_usize).map(|at| as_f64(at / 20)).collect();
    assert_eq!(steps(&stairs), [20, 40]);
    assert_eq!(changes(&stairs).autocorrelation, 0.0);
    let step: Vec<f64> = (0..60_usize).map(|at| as_f64(at / 30)).collect();
    assert_eq!(steps(&step), [30]);
}

#[test]
fn long_series_keep_their_places() {
    let noise = |at: usize| as_f64((at * 7919) % 101) / 101.0;
    let stairs: Vec<f64> = (0..2000)
        .map(|at| 5.0 * as_f64(at / 667) + noise(at))
        .collect();
    assert_eq!(steps(&stairs), [667, 1334]);
    let ramp: Vec<f64> = (0..2000_usize)
        .map(|at| 0.01 * as_f64(at.clamp(500, 1500)) + noise(at))
        .collect();
    let range = changes(&ramp).drift.unwrap().range;
    assert!(
        range.start().abs_diff(500) < 60 && range.end().abs_diff(1500) < 60,
        "{range:?}"
    );
}
