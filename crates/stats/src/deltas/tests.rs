//! Properties of deltas.

use proptest::prelude::*;

use super::*;
use crate::linear_model::{FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm};
use crate::{Confidence, FiellerInterval, Seed, as_f64};

fn measured(runs: &[(u128, f64)]) -> MeasuredSets {
    MeasuredSets::new(runs).expect("finite")
}

/// Some runs of four factors.
fn runs() -> impl Strategy<Value = Vec<(u128, f64)>> {
    prop::collection::vec((0..16_u128, 1.0..9.0_f64), 1..60)
}

proptest! {
    #[test]
    fn deltas_are_those_of_a_double_loop(runs in runs()) {
        let mut expected = Vec::new();
        for (set, before) in &runs {
            for (other, after) in &runs {
                for factor in 0..4 {
                    if set >> factor & 1 == 0 && set | 1 << factor == *other {
                        expected.push((*set, factor, *before, *after));
                    }
                }
            }
        }
        let own = measured(&runs).deltas(DeltaPairing::AllPairs);
        let mut own: Vec<_> = own.iter().map(|delta| (delta.set, delta.factor, delta.before, delta.after)).collect();
        let order = |one: &(u128, usize, f64, f64), other: &(u128, usize, f64, f64)| {
            (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2)).then(one.3.total_cmp(&other.3))
        };
        own.sort_by(order);
        expected.sort_by(order);
        prop_assert_eq!(own, expected);
    }

    #[test]
    fn the_order_of_runs_and_an_offset_change_nothing(runs in runs(), offset in -5.0..5.0_f64) {
        let moved: Vec<(u128, f64)> = runs.iter().rev().map(|(set, value)| (*set, value + offset)).collect();
        for pairing in [DeltaPairing::Medians, DeltaPairing::Means, DeltaPairing::AllPairs] {
            let one = mean_deltas(&measured(&runs), pairing, Confidence::P95);
            let other = mean_deltas(&measured(&moved), pairing, Confidence::P95);
            prop_assert_eq!(one.len(), other.len());
            for (one, other) in one.iter().zip(&other) {
                prop_assert!((one.mean - other.mean).abs() < 1e-9);
                prop_assert_eq!((one.factor, one.deltas, one.set_pairs), (other.factor, other.deltas, other.set_pairs));
                if let (Some(one), Some(other)) = (one.standard_error, other.standard_error) {
                    prop_assert!((one - other).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn over_a_full_factorial_means_and_differences_are_the_classical_effects(values in prop::collection::vec(0.0..10.0_f64, 16)) {
        let runs: Vec<(u128, f64)> = (0..16).zip(values.clone()).collect();
        let sets: Vec<u128> = (0..16).collect();
        let contrast = |factors: &[usize]| -> f64 {
            let sign = |set: u128| factors.iter().map(|at| if set >> at & 1 == 1 { 1.0 } else { -1.0 }).product::<f64>();
            sets.iter().zip(&values).map(|(set, value)| sign(*set) * value).sum::<f64>() / 8.0
        };
        for own in mean_deltas(&measured(&runs), DeltaPairing::Medians, Confidence::P95) {
            prop_assert!((own.mean - contrast(&[own.factor])).abs() < 1e-9);
            prop_assert_eq!(own.set_pairs, 8);
        }
        // The mean double difference is the coefficient of the pair in coding 0, 1, with its own error.
        let matrix = ModelMatrix::new(&FactorValues::treatments(&sets, 4), &ModelTerm::all_pairs(4)).expect("fits");
        let fit = LinearFit::new(&matrix, &values, LeastSquares::default()).expect("finite");
        for own in effect_modifiers(&measured(&runs), Confidence::P95) {
            let (one, other) = (own.factor.min(own.other), own.factor.max(own.other));
            let column = matrix.columns_of(ModelTerm::Pair(one, other))[0];
            prop_assert!((own.difference() - fit.coefficient(column).expect("kept").estimate).abs() < 1e-9);
            prop_assert_eq!(own.quadruples, 4);
        }
    }
}

#[test]
fn replicates_of_a_set_are_not_further_sets() {
    let few = [(0b00, 10.0), (0b01, 7.0), (0b10, 9.0), (0b11, 5.0)];
    let many: Vec<(u128, f64)> = few.iter().flat_map(|run| [*run; 20]).collect();
    let of = |runs: &[(u128, f64)], pairing| {
        mean_deltas(&measured(runs), pairing, Confidence::P95)[0].clone()
    };
    let (one, other) = (
        of(&few, DeltaPairing::AllPairs),
        of(&many, DeltaPairing::AllPairs),
    );
    assert_eq!((one.deltas, other.deltas, other.set_pairs), (2, 800, 2));
    assert_eq!(one.interval, other.interval);
}

#[test]
fn the_strongest_modifier_is_the_clearest() {
    // Factor 0 helps only without factor 2; factor 1 does nothing to it but noise.
    let noise = |set: u128| f64::from(u32::try_from(set * 7 % 5).expect("small")) / 50.0;
    let cost = |set: u128| 10.0 - if set & 0b101 == 0b001 { 4.0 } else { 0.0 } + noise(set);
    let runs: Vec<(u128, f64)> = (0..32).map(|set| (set, cost(set))).collect();
    let modifiers = effect_modifiers(&measured(&runs), Confidence::P95);
    assert_eq!(modifiers.len(), 20);
    let strongest = strongest_modifiers(&modifiers);
    assert_eq!((strongest[0].factor, strongest[0].other), (0, 2));
    assert!(
        strongest[0]
            .adjusted_p_value
            .expect("eight quadruples")
            .value()
            < 1e-6
    );
    assert!(strongest[0].interval.expect("eight").contains(4.0));
}

#[test]
fn a_crossover_is_found_where_slow_runs_gain_and_fast_ones_lose() {
    let delta = |level: f64, noise: f64| {
        let change = 20.0 - 0.2 * level + noise;
        Delta {
            factor: 0,
            set: 0,
            before: level - 0.5 * change,
            after: level + 0.5 * change,
            runs: [1, 1],
        }
    };
    let deltas: Vec<Delta> = (0..40_u32)
        .map(|at| delta(20.0 + 5.0 * f64::from(at), f64::from(at * 7 % 11) - 5.0))
        .collect();
    let crossover = effect_crossover(&deltas, Confidence::P95).expect("a line");
    let FiellerInterval::Bounded(interval) = crossover.level_interval else {
        panic!("the slope is clear");
    };
    assert!(
        interval.contains(100.0) && interval.upper - interval.lower < 20.0 && crossover.is_measured
    );
    assert!(crossover.slope_interval.contains(-0.2) && crossover.p_value < 1e-9);
    assert_eq!(effect_crossover(&deltas[..2], Confidence::P95), None);
}

#[test]
fn numbers_that_are_none_are_refused_and_unmeasured_sets_are_empty() {
    assert_eq!(MeasuredSets::new(&[(0, f64::NAN)]), None);
    let sets = measured(&[(5, 1.0), (5, 2.0)]);
    assert_eq!(
        (sets.values(5), sets.values(4)),
        ([1.0, 2.0].as_slice(), [].as_slice())
    );
    assert_eq!(
        mean_deltas(&sets, DeltaPairing::Medians, Confidence::P95),
        []
    );
    assert_eq!(as_f64(sets.sets().len()), 1.0);
}

#[test]
fn sequences_are_different_ways_through_measured_sets() {
    // All sets of four factors but those with factor 3 and without factor 0.
    let runs: Vec<(u128, f64)> = (0..16_u128)
        .filter(|set| set & 0b1001 != 0b1000)
        .map(|set| (set, as_f64(set)))
        .collect();
    let sets = measured(&runs);
    let sequences = sets.sequences(0, 0b1111, 100, Seed(7));
    // Of 24 orders in half factor 0 is before factor 3.
    assert_eq!(sequences.len(), 12);
    for sequence in &sequences {
        assert!(sequence.iter().all(|set| !sets.values(*set).is_empty()));
        assert_eq!(
            sets.sequence_deltas(sequence),
            [(0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0)]
        );
    }
    assert_eq!(
        sets.sequences(0b1000, 0b1111, 3, Seed(7)),
        Vec::<Vec<u128>>::new()
    );
}
