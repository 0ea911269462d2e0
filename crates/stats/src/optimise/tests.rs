//! Properties of the model of the response, and of the search.

use proptest::prelude::*;

use super::*;
use crate::design::{DesignFactor, DesignSpace};
use crate::{Seed, as_f64};

fn model(factors: usize) -> Vec<DesignFactor> {
    vec![DesignFactor::Levels(2); factors]
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
        let step =
            next_runs(&space, &model(12), &measured, &[], &options, Seed(7)).expect("feasible");
        assert_eq!(step.proposed.len(), 4);
        assert!(step.proposed.iter().all(|own| space.is_feasible(&own.run)));
        measured.extend(
            step.proposed
                .into_iter()
                .map(|own| (own.run.clone(), cost(&own.run))),
        );
    }
    let step = next_runs(&space, &model(12), &measured, &[], &options, Seed(7)).expect("feasible");
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

fn ordered(offset: f64, factor: f64) -> Option<OrderedSurface> {
    let factors = [SurfaceFactor::Ordered(6), SurfaceFactor::Ordered(4)];
    let runs: Vec<MeasuredRun> = (0..14)
        .map(|at| {
            let run = vec![at * 5 % 6, at * 7 % 4];
            let cost = if run[0] >= 3 { 1.0 } else { 2.0 } + 0.1 * f64::from(u8::from(run[1] > 1));
            let noise = 0.01 * (as_f64(at * 37 % 11) - 5.0);
            (run, factor * (cost + noise) + offset)
        })
        .collect();
    OrderedSurface::new(&factors, &runs)
}

#[test]
fn settings_that_do_not_exist_or_do_not_vary_have_no_ordered_surface() {
    let factors = [SurfaceFactor::Ordered(3)];
    assert_eq!(
        OrderedSurface::new(&factors, &[(vec![0], 1.0), (vec![3], 2.0)]),
        None
    );
    assert_eq!(
        OrderedSurface::new(&factors, &[(vec![0], 1.0), (vec![1], 1.0)]),
        None
    );
    assert_eq!(
        OrderedSurface::new(&factors, &[(vec![0], 1.0), (vec![1], f64::NAN)]),
        None
    );
}

#[test]
fn machines_of_another_speed_tell_of_versions_all_the_same() {
    let factors = [SurfaceFactor::Ordered(5), SurfaceFactor::Block(2)];
    // On the second machine, twice as slow, only the first and the last version were measured.
    let runs: Vec<MeasuredRun> = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (4, 1)]
        .map(|(version, machine): (usize, usize)| {
            let cost: f64 = if version >= 2 { -0.3 } else { 0.0 };
            (vec![version, machine], cost + 0.7 * as_f64(machine))
        })
        .into();
    let surface = OrderedSurface::new(&factors, &runs).expect("varies");
    let own = surface.contrast(&[(1.0, &[2, 1]), (-1.0, &[1, 1])]);
    assert!((own.mean + 0.3).abs() < 0.06, "{own:?}");
}

#[test]
fn the_next_settings_differ_and_begin_with_those_least_measured() {
    let factors = [
        SurfaceFactor::Ordered(6),
        SurfaceFactor::Ordered(4),
        SurfaceFactor::Block(1),
    ];
    let space = DesignSpace::new(vec![6, 4], Vec::new()).expect("levels");
    let candidates = candidate_settings(&space, None, &[], 100, Seed(7));
    assert_eq!(candidates.len(), 24);
    let options = OptimisationOptions {
        count: 4,
        ..OptimisationOptions::default()
    };
    let mut goal = [GoalRuns {
        weight: 1.0,
        runs: Vec::new(),
    }];
    for _ in 0..3 {
        let step =
            next_settings(&factors, &goal, 0, &candidates, &options, Seed(7)).expect("candidates");
        let mut runs: Vec<Vec<usize>> = step.proposed.iter().map(|own| own.run.clone()).collect();
        if goal[0].runs.is_empty() {
            let versions: std::collections::BTreeSet<usize> =
                runs.iter().map(|run| run[1]).collect();
            assert_eq!(versions.len(), 4, "each version of the second package once");
        }
        for run in &runs {
            let cost = as_f64(run[0].abs_diff(4)) * 0.1 + as_f64(run[1]) * 0.05;
            goal[0].runs.push((vec![run[0], run[1], 0], cost));
        }
        runs.sort_unstable();
        runs.dedup();
        assert_eq!(runs.len(), 4);
    }
    let step =
        next_settings(&factors, &goal, 0, &candidates, &options, Seed(7)).expect("candidates");
    assert_eq!(step.best.expect("measured").0, [4, 0]);
}

proptest! {
    #[test]
    fn an_offset_moves_an_ordered_surface_and_a_factor_scales_it(offset in -5.0..5.0_f64, factor in 0.5..4.0_f64) {
        let (plain, moved) = (ordered(0.0, 1.0).expect("varies"), ordered(offset, factor).expect("varies"));
        for run in [[0, 0], [2, 3], [5, 1]] {
            let (one, other) = (plain.predict(&run), moved.predict(&run));
            prop_assert!((factor * one.mean + offset - other.mean).abs() < 1e-6);
            prop_assert!((factor * one.deviation - other.deviation).abs() < 1e-6);
            let gap = plain.contrast(&[(1.0, &run), (-1.0, &run)]);
            prop_assert!(gap.mean.abs() < 1e-12 && gap.deviation < 1e-6);
        }
    }
}
