//! Properties of the model of the response, and of the search.

use proptest::prelude::*;

use super::*;
use crate::Seed;
use crate::design::{DesignModel, DesignSpace};
use crate::linear_model::ModelTerm;

fn model(factors: usize) -> DesignModel {
    DesignModel::treatments(factors, &ModelTerm::all_pairs(factors)).expect("fits")
}

/// A cost with interactions: each factor saves, but the first two save the same.
fn cost(run: &[usize]) -> f64 {
    let parts = [
        0.5, 0.5, 0.2, -0.3, 0.05, 0.1, -0.1, 0.02, 0.3, -0.2, 0.15, 0.1,
    ];
    let saved: f64 = run
        .iter()
        .zip(parts)
        .map(|(level, part)| if *level == 1 { part } else { 0.0 })
        .sum();
    4.0 - saved + if run[0] + run[1] == 2 { 0.5 } else { 0.0 }
}

#[test]
fn a_model_without_noise_reproduces_what_was_measured() {
    let runs = DesignSpace::treatments(5).feasible_runs(32).expect("32");
    let measured: Vec<(Vec<usize>, f64)> = runs
        .iter()
        .step_by(2)
        .map(|run| (run.clone(), cost(run)))
        .collect();
    let surface = ResponseSurface::new(&model(5), &measured).expect("varies");
    for (run, response) in &measured {
        let own = surface.predict(run);
        assert!((own.mean - response).abs() < 0.06, "{own:?} {response}");
    }
    assert!(surface.noise_deviation() < 0.05);
    // Every second run: the last factor is never present, so little is known of it.
    let unknown = surface.predict(&[0, 0, 0, 0, 1]);
    assert!(unknown.deviation > 3.0 * surface.predict(&[0, 0, 0, 0, 0]).deviation);
}

#[test]
fn what_cannot_be_modelled_is_refused() {
    let run = vec![0, 0];
    assert_eq!(ResponseSurface::new(&model(2), &[(run.clone(), 1.0)]), None);
    assert_eq!(
        ResponseSurface::new(&model(2), &[(run.clone(), 1.0), (run.clone(), 1.0)]),
        None
    );
    assert_eq!(
        ResponseSurface::new(&model(2), &[(run.clone(), 1.0), (vec![0, 2], 2.0)]),
        None
    );
    let step = next_runs(
        &DesignSpace::treatments(3),
        &model(2),
        &[],
        &OptimisationOptions::default(),
        Seed(7),
    );
    assert_eq!(step, None);
}

#[test]
fn several_runs_at_once_differ_and_respect_constraints() {
    let space = DesignSpace::new(
        vec![2; 12],
        vec![vec![(0, 1), (2, 1)], vec![(8, 1), (10, 1)]],
    )
    .expect("exists");
    let options = OptimisationOptions {
        count: 4,
        candidates: 500,
        ..OptimisationOptions::default()
    };
    let mut measured: Vec<(Vec<usize>, f64)> = Vec::new();
    for _ in 0..8 {
        let step = next_runs(&space, &model(12), &measured, &options, Seed(7)).expect("feasible");
        assert_eq!(step.proposed.len(), 4);
        assert!(step.proposed.iter().all(|own| space.is_feasible(&own.run)));
        measured.extend(
            step.proposed
                .into_iter()
                .map(|own| (own.run.clone(), cost(&own.run))),
        );
    }
    let step = next_runs(&space, &model(12), &measured, &options, Seed(7)).expect("feasible");
    // Factor 1 rather than 0, which excludes 2; factor 8 rather than 10.
    let expected = cost(&[0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1]);
    assert!(cost(&step.best.expect("measured").0) < expected + 0.03);
}

proptest! {
    #[test]
    fn an_offset_moves_the_model_and_a_factor_scales_it(offset in -5.0..5.0_f64, factor in 0.5..4.0_f64) {
        let runs = DesignSpace::treatments(4).feasible_runs(16).expect("16");
        let measured = |value: &dyn Fn(&[usize]) -> f64| -> Vec<(Vec<usize>, f64)> {
            runs.iter().take(11).map(|run| (run.clone(), value(run))).collect()
        };
        let plain = ResponseSurface::new(&model(4), &measured(&|run| cost(run))).expect("varies");
        let moved = ResponseSurface::new(&model(4), &measured(&|run| factor * cost(run) + offset)).expect("varies");
        for run in &runs {
            let (one, other) = (plain.predict(run), moved.predict(run));
            prop_assert!((factor * one.mean + offset - other.mean).abs() < 1e-8);
            prop_assert!((factor * one.deviation - other.deviation).abs() < 1e-8);
        }
    }
}
