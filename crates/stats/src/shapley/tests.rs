//! Shapley values against all orders.

use proptest::prelude::*;

use super::*;
use crate::linear_model::{FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm};
use crate::{Confidence, as_f64};

fn each_order(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        visit(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        each_order(order, from + 1, visit);
        order.swap(from, at);
    }
}

fn value_in(values: &[f64]) -> impl Fn(u128) -> Option<f64> {
    move |set| values.get(usize::try_from(set).ok()?).copied()
}

/// Values of all sets of two to six factors.
fn games() -> impl Strategy<Value = Vec<f64>> {
    (2..7_u32).prop_flat_map(|factors| prop::collection::vec(-10.0..10.0_f64, 1 << factors))
}

proptest! {
    #[test]
    fn exact_values_are_the_mean_of_all_orders(values in games()) {
        let factors = values.len().trailing_zeros() as usize;
        let (mut sums, mut orders) = (vec![0.0; factors], 0_usize);
        each_order(&mut (0..factors).collect(), 0, &mut |order| {
            for step in path_of_order(0, order, value_in(&values)) {
                sums[step.factor] += step.delta();
            }
            orders += 1;
        });
        let exact = shapley_values(&values).expect("all sets");
        for (own, sum) in exact.iter().zip(&sums) {
            prop_assert!((own - sum / as_f64(orders)).abs() < 1e-10);
        }
        prop_assert!((exact.iter().sum::<f64>() - (values[values.len() - 1] - values[0])).abs() < 1e-10);
    }

    #[test]
    fn a_model_of_pairs_has_its_shapley_values_in_closed_form(coefficients in prop::collection::vec(-10.0..10.0_f64, 11)) {
        let terms = ModelTerm::all_pairs(4);
        let sets: Vec<u128> = (0..16).collect();
        let model = |sets: &[u128]| ModelMatrix::new(&FactorValues::treatments(sets, 4), &terms).expect("fits");
        let matrix = model(&sets);
        let values: Vec<f64> = (0..16)
            .map(|row| matrix.row(row).iter().zip(&coefficients).map(|(a, b)| a * b).sum())
            .collect();
        let fit = LinearFit::new(&matrix, &values, LeastSquares::default()).expect("finite");
        let shares = model_attribution(&fit, &model(&[0, 15]), Confidence::P95);
        let exact = shapley_values(&values).expect("all sets");
        for (share, exact) in shares.iter().zip(exact) {
            prop_assert!((share.value.estimate - exact).abs() < 1e-9);
        }
        // Backwards every share changes its sign.
        let back = model_attribution(&fit, &model(&[15, 0]), Confidence::P95);
        for (share, back) in shares.iter().zip(back) {
            prop_assert!((share.value.estimate + back.value.estimate).abs() < 1e-9);
            prop_assert!((share.value.standard_error - back.value.standard_error).abs() < 1e-9);
        }
    }
}

#[test]
fn levels_and_numbers_are_attributed_too() {
    let factors = |levels: [usize; 2], numbers: [f64; 2]| {
        [
            FactorValues::Levels {
                levels: levels.to_vec(),
                count: 3,
            },
            FactorValues::Numbers(numbers.to_vec()),
        ]
    };
    let terms = [
        ModelTerm::Intercept,
        ModelTerm::Main(0),
        ModelTerm::Main(1),
        ModelTerm::Pair(0, 1),
    ];
    let all = [
        FactorValues::Levels {
            levels: vec![0, 1, 2, 0, 1, 2, 0, 1, 2],
            count: 3,
        },
        FactorValues::Numbers(vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0]),
    ];
    let value =
        |level: usize, number: f64| [10.0, 12.0, 7.0][level] + number * [2.0, 1.0, 4.0][level];
    let responses: Vec<f64> = (0..9)
        .map(|run| value(run % 3, [1.0, 2.0, 4.0][run / 3]))
        .collect();
    let matrix = ModelMatrix::new(&all, &terms).expect("fits");
    let fit = LinearFit::new(&matrix, &responses, LeastSquares::default()).expect("finite");
    let ends = ModelMatrix::new(&factors([1, 2], [1.0, 3.0]), &terms).expect("fits");
    let shares = model_attribution(&fit, &ends, Confidence::P95);
    let expected = shapley_values(&[value(1, 1.0), value(2, 1.0), value(1, 3.0), value(2, 3.0)])
        .expect("four");
    for (share, expected) in shares.iter().zip(expected) {
        assert!(
            (share.value.estimate - expected).abs() < 1e-9,
            "{share:?} {expected}"
        );
    }
}

#[test]
fn incomplete_values_are_refused_and_paths_end_before_them() {
    assert_eq!(shapley_values(&[1.0, 2.0, 3.0]), None);
    let value = |set: u128| (set != 3).then_some(1.0);
    assert_eq!(path_of_order(0, &[0, 1], value).len(), 1);
    assert_eq!(best_first_path(0, 3, &[], value).len(), 1);
    assert_eq!(best_first_path(3, 0, &[], value), []);
}

#[test]
fn one_factor_has_everything() {
    assert_eq!(shapley_values(&[1.0, 4.0]), Some(vec![3.0]));
    assert_eq!(shapley_values(&[1.0]), Some(vec![]));
}
