//! Properties of linear models.

use proptest::prelude::*;

use super::*;
use crate::design::{best_fraction, plackett_burman};
use crate::{Confidence, Seed};

fn fit(matrix: &ModelMatrix, responses: &[f64], weights: Option<&[f64]>) -> LinearFit {
    LinearFit::new(matrix, responses, LeastSquares { weights }).expect("fits")
}

/// Returns numbers that look random.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    use rand_xoshiro::rand_core::Rng;
    let mut random = Seed(seed).block(0);
    (0..count)
        .map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5)
        .collect()
}

fn numeric(count: usize, seed: u64) -> FactorValues {
    FactorValues::Numbers(noise(count, seed))
}

#[test]
fn nearly_dependent_numbers_are_fitted_by_reflections() {
    // The second number is the first but for a millionth, far from 0, as times are.
    let (base, little) = (noise(60, 1), noise(60, 2));
    let first: Vec<f64> = base.iter().map(|value| 1e3 + value).collect();
    let second: Vec<f64> = first
        .iter()
        .zip(&little)
        .map(|(a, b)| a + 1e-3 * b)
        .collect();
    let responses: Vec<f64> = (0..60)
        .map(|row| 2.0 + 3.0 * first[row] - 5.0 * second[row])
        .collect();
    let factors = [FactorValues::Numbers(first), FactorValues::Numbers(second)];
    let matrix = ModelMatrix::new(&factors, &ModelTerm::main_effects(2)).expect("fits");
    let fit = fit(&matrix, &responses, None);
    assert_eq!(fit.aliased(), Vec::<usize>::new());
    for (column, expected) in [(0, 2.0), (1, 3.0), (2, -5.0)] {
        let actual = fit.coefficient(column).expect("kept").estimate;
        assert!((actual - expected).abs() < 1e-5, "{column}: {actual}");
    }
}

#[test]
fn a_copy_of_a_number_is_aliased_and_cannot_be_predicted_apart() {
    let (first, other) = (noise(50, 3), noise(50, 4));
    let copy: Vec<f64> = first.iter().map(|value| 7.0 - 2.0 * value).collect();
    let numbers = |values: [&[f64]; 3]| values.map(|values| FactorValues::Numbers(values.to_vec()));
    let terms = ModelTerm::main_effects(3);
    let matrix = ModelMatrix::new(&numbers([&first, &copy, &other]), &terms).expect("fits");
    let fit = fit(&matrix, &noise(50, 5), None);
    assert_eq!(fit.aliased(), [2]);
    let settings = numbers([&[1.0, 1.0], &[5.0, 4.0], &[0.0, 0.0]]);
    let settings = ModelMatrix::new(&settings, &terms).expect("fits");
    let predictions = fit.predict(&settings, Confidence::P95);
    assert_eq!(
        [predictions[0].is_estimable, predictions[1].is_estimable],
        [true, false]
    );
}

#[test]
fn without_residual_freedom_there_are_estimates_and_no_errors() {
    let factors = FactorValues::treatments(&[0, 1, 2, 3], 2);
    let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(2)).expect("fits");
    let fit = fit(&matrix, &[4.0, 3.0, 2.0, 7.0], None);
    assert_eq!(
        (
            fit.residual_freedom(),
            fit.residual_deviation(),
            fit.adjusted_r_squared()
        ),
        (0, None, None)
    );
    let pair = fit.coefficient(3).expect("kept");
    assert!((pair.estimate - 6.0).abs() < 1e-12 && pair.p_value.is_none());
    assert_eq!(RobustErrors::by_run(&fit), None);
}

#[test]
fn wrong_lengths_and_numbers_are_refused() {
    let matrix = ModelMatrix::new(&[numeric(4, 1)], &ModelTerm::main_effects(1)).expect("fits");
    let refused = |responses: &[f64], weights| {
        LinearFit::new(&matrix, responses, LeastSquares { weights }).err()
    };
    assert_eq!(
        refused(&[1.0; 3], None),
        Some(LinearModelError::Lengths { rows: 4, values: 3 })
    );
    let bad = [1.0, f64::NAN, 1.0, 1.0];
    assert_eq!(
        refused(&bad, None),
        Some(LinearModelError::NotFinite { row: 1 })
    );
    assert_eq!(
        refused(&[1.0; 4], Some(&[1.0, 1.0, 0.0, 1.0])),
        Some(LinearModelError::NotFinite { row: 2 })
    );
}

#[test]
fn selection_respects_heredity() {
    // Only the product of two of six factors acts, in coding −1, +1: no factor has an effect of its own.
    let sets: Vec<u128> = (0..64).chain(0..64).collect();
    let factors = FactorValues::treatments(&sets, 6);
    let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(6)).expect("fits");
    let sign = |set: u128, factor: usize| if set >> factor & 1 == 1 { 1.0 } else { -1.0 };
    let noise = noise(128, 8);
    let pairs = sets.iter().zip(&noise);
    let responses: Vec<f64> = pairs
        .map(|(set, noise)| 3.0 * sign(*set, 1) * sign(*set, 4) + noise)
        .collect();
    let selected = select_terms(&matrix, &responses, &TermSelection::default())
        .expect("finite")
        .expect("varies");
    let [intercept, one, other, pair] = [
        ModelTerm::Intercept,
        ModelTerm::Main(1),
        ModelTerm::Main(4),
        ModelTerm::Pair(1, 4),
    ];
    assert_eq!(selected, [intercept, one, other, pair]);
}

#[test]
fn forced_terms_stay_and_noise_stays_out() {
    let sets: Vec<u128> = (0..256).collect();
    let factors = FactorValues::treatments(&sets, 8);
    let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(8)).expect("fits");
    let forced = vec![ModelTerm::Main(3)];
    let options = TermSelection {
        forced: forced.clone(),
        ..TermSelection::default()
    };
    let selected = select_terms(&matrix, &noise(256, 9), &options)
        .expect("finite")
        .expect("varies");
    assert_eq!(selected, [ModelTerm::Intercept, forced[0]]);
    assert_eq!(select_terms(&matrix, &[1.0; 256], &options), Ok(None));
}

/// Sets of six factors with responses and weights.
fn runs() -> impl Strategy<Value = Vec<(u128, f64, f64)>> {
    prop::collection::vec((0..64_u128, -10.0..10.0_f64, 0.2..3.0_f64), 12..60)
}

proptest! {
    #[test]
    fn residuals_are_orthogonal_to_every_column(runs in runs()) {
        let sets: Vec<u128> = runs.iter().map(|run| run.0).collect();
        let responses: Vec<f64> = runs.iter().map(|run| run.1).collect();
        let weights: Vec<f64> = runs.iter().map(|run| run.2).collect();
        let mut factors = FactorValues::treatments(&sets, 6);
        factors.push(FactorValues::Numbers(weights.clone()));
        let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(7)).expect("fits");
        for weights in [None, Some(weights.as_slice())] {
            let fit = fit(&matrix, &responses, weights);
            for column in 0..matrix.columns() {
                let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
                let terms = (0..runs.len()).map(|row| weight(row) * matrix.row(row)[column] * fit.residuals[row]);
                prop_assert!(terms.sum::<f64>().abs() < 1e-7);
            }
            let leverages = fit.leverages();
            let excess = leverages.iter().sum::<f64>() - crate::as_f64(fit.rank());
            // Columns of random runs may be collinear but for a little, which costs digits.
            prop_assert!(excess.abs() < 1e-4, "{excess}");
        }
    }

    #[test]
    fn equal_weights_change_nothing_and_twice_the_runs_are_twice_the_weight(runs in runs()) {
        let sets: Vec<u128> = runs.iter().map(|run| run.0).collect();
        let responses: Vec<f64> = runs.iter().map(|run| run.1).collect();
        let model = |sets: &[u128]| {
            ModelMatrix::new(&FactorValues::treatments(sets, 6), &ModelTerm::main_effects(6)).expect("fits")
        };
        let plain = fit(&model(&sets), &responses, None);
        let equal = fit(&model(&sets), &responses, Some(&vec![2.0; sets.len()]));
        let twice = fit(&model(&[sets.clone(), sets.clone()].concat()), &[responses.clone(), responses].concat(), None);
        prop_assert_eq!(plain.kept(), twice.kept());
        for column in plain.kept() {
            let own = |fit: &LinearFit| fit.coefficient(*column).expect("kept");
            for other in [&equal, &twice] {
                prop_assert!((own(&plain).estimate - own(other).estimate).abs() < 1e-9);
            }
            if plain.residual_freedom() > 0 {
                prop_assert!((own(&plain).standard_error - own(&equal).standard_error).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_contrast_of_one_column_is_its_coefficient(runs in runs()) {
        let sets: Vec<u128> = runs.iter().map(|run| run.0).collect();
        let responses: Vec<f64> = runs.iter().map(|run| run.1).collect();
        let matrix = ModelMatrix::new(&FactorValues::treatments(&sets, 6), &ModelTerm::main_effects(6)).expect("fits");
        let fit = fit(&matrix, &responses, None);
        for column in fit.kept().iter().skip(1) {
            let own = fit.coefficient(*column).expect("kept");
            let mut weights = vec![0.0; matrix.columns()];
            weights[*column] = 1.0;
            prop_assert_eq!(fit.contrast(&weights).map(|c| c.estimate), Some(own.estimate));
        }
    }
}

/// The matrix of factors with two levels in some sets, with all pairs.
fn of_sets(factors: usize, sets: &[u128]) -> ModelMatrix {
    let values = (0..factors).map(|at| {
        let present = sets.iter().map(|set| set >> at & 1 == 1);
        FactorValues::Treatment(present.collect())
    });
    let values: Vec<FactorValues> = values.collect();
    ModelMatrix::new(&values, &ModelTerm::all_pairs(factors)).unwrap()
}

#[test]
fn pairs_are_aliases_of_factors_in_resolution_iii_and_in_screening_designs_alone() {
    let aliases = |factors: usize, sets: &[u128]| main_effect_aliases(&of_sets(factors, sets));
    let third = best_fraction(3, 2).unwrap().runs();
    let expected = [(1, 2), (0, 2), (0, 1)].map(|(one, other)| vec![ModelTerm::Pair(one, other)]);
    let found = aliases(3, &third).into_iter().map(|(_, pairs)| pairs);
    assert_eq!(found.collect::<Vec<_>>(), expected);
    // In a screening design each factor is mixed with all pairs of others.
    let screening = plackett_burman(12).unwrap();
    let found = aliases(
        9,
        &screening.iter().map(|set| set & 511).collect::<Vec<_>>(),
    );
    assert!(
        found.iter().all(|(_, pairs)| pairs.len() == 8 * 7 / 2),
        "{found:?}"
    );
    let fourth = best_fraction(8, 4).unwrap().runs();
    let full: Vec<u128> = (0..16).collect();
    for (factors, sets) in [(8, fourth), (4, full)] {
        let found = aliases(factors, &sets);
        assert!(found.iter().all(|(_, pairs)| pairs.is_empty()), "{found:?}");
    }
}

#[test]
fn large_effects_do_not_hide_each_other_in_a_screening_design() {
    let screening = plackett_burman(12).unwrap();
    let sets: Vec<u128> = screening.iter().map(|set| set & 511).collect();
    let twice = [&sets[..], &sets].concat();
    let random = noise(24, 5);
    let sizes = [-0.4, 0.3, 0.25, -0.2, 0.0, 0.0, 0.0, 0.0, 0.0];
    let responses: Vec<f64> = (twice.iter().enumerate())
        .map(|(run, set)| {
            let present = (0..9).filter(|at| set >> at & 1 == 1);
            present.map(|at| sizes[at]).sum::<f64>() + 0.01 * random[run]
        })
        .collect();
    let known = ReplicateNoise {
        variance: 1e-5,
        freedom: 12,
        settings: 12,
    };
    let found = discover_terms(&of_sets(9, &twice), &responses, 0.05, Some(known));
    let mut found: Vec<ModelTerm> = found
        .unwrap()
        .unwrap()
        .found
        .iter()
        .map(|it| it.term)
        .collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3].map(ModelTerm::Main));
}

#[test]
fn a_line_through_a_curve_lacks_fit_and_one_through_a_line_does_not() {
    // By hand: of 1, 2, 3, each twice, the line through 1.1, 0.9, 4.1, 3.9, 9.1, 8.9 is −10/3 + 4 x; lack of fit 2·6/9 = 4/3
    // with 1 degree of freedom, pure error 0.06 with 3: F = 200/3 = t², and of Student's t with 3 degrees of
    // freedom p = 1 − 2 (x / (1 + x²) + atan x) / π with x = t / √3.
    let levels = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
    let values = [FactorValues::Numbers(levels.to_vec())];
    let line = ModelMatrix::new(&values, &ModelTerm::main_effects(1)).unwrap();
    let settings = [0, 0, 1, 1, 2, 2];
    let curved = fit(&line, &[1.1, 0.9, 4.1, 3.9, 9.1, 8.9], None);
    let p_value = curved.lack_of_fit(&settings).unwrap();
    let x = (200.0_f64 / 9.0).sqrt();
    let expected = 1.0 - 2.0 * (x / (1.0 + x * x) + x.atan()) / std::f64::consts::PI;
    assert!((p_value - expected).abs() < 1e-12, "{p_value}");
    let straight = fit(&line, &[1.1, 0.9, 2.1, 1.9, 3.1, 2.9], None);
    assert!(straight.lack_of_fit(&settings).unwrap() > 0.9);
    assert_eq!(curved.lack_of_fit(&[0, 1, 2, 3, 4, 5]), None);
}
