//! Properties of deltas.

use proptest::prelude::*;

use super::*;
use crate::{Confidence, Seed, as_f64};

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
    fn over_a_full_factorial_means_are_the_classical_main_effects(values in prop::collection::vec(0.0..10.0_f64, 16)) {
        let runs: Vec<(u128, f64)> = (0..16).zip(values).collect();
        let contrast = |factor: usize| -> f64 {
            let sign = |set: u128| if set >> factor & 1 == 1 { 1.0 } else { -1.0 };
            runs.iter().map(|(set, value)| sign(*set) * value).sum::<f64>() / 8.0
        };
        for own in mean_deltas(&measured(&runs), DeltaPairing::Medians, Confidence::P95) {
            prop_assert!((own.mean - contrast(own.factor)).abs() < 1e-9);
            prop_assert_eq!(own.set_pairs, 8);
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
