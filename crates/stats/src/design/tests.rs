//! Properties of designs, and what published tables say.

use proptest::prelude::*;

use super::*;
use crate::linear_model::ModelTerm;
use crate::{Confidence, Seed};

/// Factors, basic factors, resolution, and the number of words of that length (Box, Hunter & Hunter 2005; Montgomery
/// 2017, app. X).
const TABLE: [(usize, usize, usize, u128); 13] = [
    (5, 4, 5, 1),
    (6, 5, 6, 1),
    (6, 4, 4, 3),
    (7, 6, 7, 1),
    (7, 5, 4, 1),
    (7, 4, 4, 7),
    (7, 3, 3, 7),
    (8, 6, 5, 2),
    (8, 5, 4, 3),
    (8, 4, 4, 14),
    (9, 7, 6, 1),
    (10, 7, 5, 3),
    (11, 7, 5, 6),
];

/// Returns the defining words of a fraction: the sets of factors whose product is constant.
fn defining_words(fraction: &FractionalFactorial) -> Vec<u128> {
    let basic = fraction.factors() - fraction.generators().len();
    let mut words = vec![0_u128];
    for (at, generator) in fraction.generators().iter().enumerate() {
        let word = generator | 1 << (basic + at);
        words.extend(words.clone().into_iter().map(|other| other ^ word));
    }
    words.split_off(1)
}

#[test]
fn published_fractions_have_their_resolution_and_words() {
    for (factors, basic, resolution, words) in TABLE {
        let fraction = best_fraction(factors, basic).expect("published");
        assert_eq!(fraction.resolution(), Some(resolution), "{factors} {basic}");
        let lengths = fraction.word_lengths();
        let listed = defining_words(&fraction);
        for (length, count) in lengths.iter().enumerate() {
            let own = listed
                .iter()
                .filter(|word| word.count_ones() as usize == length);
            assert_eq!(u128::try_from(own.count()), Ok(*count), "{factors} {basic}");
        }
        if (factors, basic) != (9, 7) {
            assert_eq!(lengths[resolution], words, "{factors} {basic}");
        }
    }
}

#[test]
fn searched_fractions_are_as_good_as_published_ones() {
    // Factors, basic factors, resolution (Montgomery 2017, app. X; Chen, Sun & Wu, Int. Stat. Rev. 1993).
    for (factors, basic, resolution) in [
        (9, 5, 4),
        (9, 6, 4),
        (10, 5, 4),
        (10, 6, 4),
        (11, 5, 4),
        (11, 6, 4),
        (12, 5, 4),
        (16, 5, 4),
        (17, 5, 3),
        (32, 6, 4),
        (31, 5, 3),
    ] {
        assert_eq!(
            best_fraction(factors, basic).and_then(|own| own.resolution()),
            Some(resolution),
            "{factors} {basic}"
        );
    }
    // Minimum aberration: 2^(9−4) has 6 words of four, 2^(10−5) 10, 2^(11−5) 4 of length 4... (Chen, Sun & Wu, table
    // 3).
    assert_eq!(best_fraction(9, 5).expect("found").word_lengths()[4], 6);
    assert_eq!(best_fraction(10, 5).expect("found").word_lengths()[4], 10);
    assert_eq!(best_fraction(9, 6).expect("found").word_lengths()[4], 1);
    assert_eq!(best_fraction(10, 6).expect("found").word_lengths()[4], 2);
}

#[test]
fn aliases_are_the_products_with_defining_words() {
    let fraction = best_fraction(6, 4).expect("published");
    let words = defining_words(&fraction);
    for group in fraction.aliases(2) {
        for effect in &group {
            for other in &group {
                assert!(effect == other || words.contains(&(effect ^ other)));
            }
        }
    }
    // 2^(6−2) of resolution IV: six main effects alone, fifteen pairs in seven groups.
    let sizes: Vec<usize> = fraction.aliases(2).iter().map(Vec::len).collect();
    assert_eq!(
        (sizes.len(), sizes.iter().filter(|size| **size == 1).count()),
        (14, 7)
    );
}

#[test]
fn a_fraction_can_contain_any_base() {
    let fraction = best_fraction(7, 4).expect("published");
    for base in [0, 0b101_0101, 0b111_1111] {
        let runs = fraction.runs_with(base);
        assert!(runs.contains(&base));
        let mut distinct = runs.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 16);
    }
}

#[test]
fn one_factor_at_a_time_is_worse_than_an_orthogonal_design() {
    let model = DesignModel::treatments(7, &ModelTerm::main_effects(7)).expect("fits");
    let orthogonal: Vec<Vec<usize>> = plackett_burman(8)
        .expect("exists")
        .iter()
        .map(|set| run_of_set(*set, 7))
        .collect();
    let single = one_factor_at_a_time(&DesignSpace::treatments(7), &[0; 7]);
    let error = |runs: &[Vec<usize>]| {
        DesignPower::new(&model, runs)
            .expect("estimable")
            .standard_errors[1]
            .1
    };
    assert!((error(&orthogonal) - 2.0 / 8.0_f64.sqrt()).abs() < 1e-12);
    assert!((error(&single) - 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn the_detectable_effect_is_that_of_scipy() {
    // scipy 1.17.1: d = optimize.brentq(lambda d: stats.nct.sf(c, nu, d) + stats.nct.cdf(-c, nu, d) - power, .01, 50)
    // with c = stats.t.ppf(.975, nu)
    for (freedom, power, expected) in GOLDEN_DETECTABLE {
        let actual =
            minimal_detectable_effect(1.0, freedom, Confidence::P95, power).expect("possible");
        assert!(
            (actual - expected).abs() < 1e-7,
            "{freedom} {power}: {actual}"
        );
    }
    assert_eq!(
        minimal_detectable_effect(1.0, 0.0, Confidence::P95, 0.8),
        None
    );
    assert_eq!(
        minimal_detectable_effect(1.0, 5.0, Confidence::P95, 0.05),
        None
    );
}

#[test]
fn existing_runs_are_augmented_and_potential_terms_need_no_runs() {
    let space = DesignSpace::treatments(5);
    let model = DesignModel::treatments(5, &ModelTerm::all_pairs(5)).expect("fits");
    let half = best_fraction(5, 4).expect("published").runs();
    let existing: Vec<Vec<usize>> = half.iter().take(8).map(|set| run_of_set(*set, 5)).collect();
    let options = OptimalDesignOptions {
        existing,
        ..OptimalDesignOptions::default()
    };
    let runs = optimal_design(&space, &model, 8, &options, Seed(7)).expect("feasible");
    // The rest of the half fraction of resolution V makes it orthogonal.
    let efficiency = d_efficiency(&model, &[options.existing, runs].concat());
    assert!(efficiency > 99.9, "{efficiency}");
    let few = OptimalDesignOptions::default();
    let refused = optimal_design(&space, &model, 8, &few, Seed(7));
    assert_eq!(
        refused,
        Err(OptimalDesignError::TooFewRuns {
            runs: 8,
            columns: 16
        })
    );
    let potential = ModelTerm::all_pairs(5).split_off(6);
    let options = OptimalDesignOptions {
        potential,
        ..OptimalDesignOptions::default()
    };
    let runs = optimal_design(&space, &model, 8, &options, Seed(7)).expect("feasible");
    let main = DesignModel::treatments(5, &ModelTerm::main_effects(5)).expect("fits");
    assert!((d_efficiency(&main, &runs) - 100.0).abs() < 1e-6);
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    let space = DesignSpace::new(vec![2, 2], vec![vec![(0, 1), (1, 1)]]).expect("exists");
    let model = DesignModel::treatments(2, &ModelTerm::all_pairs(2)).expect("fits");
    let options = OptimalDesignOptions::default();
    assert_eq!(
        optimal_design(&space, &model, 9, &options, Seed(7)),
        Err(OptimalDesignError::NotEstimable)
    );
    let none = DesignSpace::new(vec![2, 2], vec![vec![(0, 0)], vec![(0, 1)]]).expect("exists");
    assert_eq!(
        optimal_design(&none, &model, 9, &options, Seed(7)),
        Err(OptimalDesignError::Infeasible)
    );
}

#[test]
fn many_factors_are_exchanged_one_by_one() {
    let forbidden = vec![vec![(0, 1), (1, 1)], vec![(2, 1), (3, 0)]];
    let space = DesignSpace::new(vec![2; 24], forbidden).expect("exists");
    let model = DesignModel::treatments(24, &ModelTerm::main_effects(24)).expect("fits");
    let options = OptimalDesignOptions {
        starts: 2,
        ..OptimalDesignOptions::default()
    };
    let runs = optimal_design(&space, &model, 40, &options, Seed(7)).expect("feasible");
    assert!(runs.iter().all(|run| space.is_feasible(run)));
    let efficiency = d_efficiency(&model, &runs);
    assert!(efficiency > 85.0, "{efficiency}");
}

#[test]
fn covering_arrays_of_strength_three_and_with_constraints_cover() {
    // Known optima: CA(3, 6, 2) and CA(3, 10, 2) have 12 runs.
    for (levels, most) in [
        (vec![2; 6], 13),
        (vec![2; 10], 18),
        (vec![3; 5], 42),
        (vec![2, 3, 2, 3, 4], 38),
    ] {
        let space = DesignSpace::new(levels, Vec::new()).expect("exists");
        let runs = covering_array(&space, 3, &[], Seed(7)).expect("small");
        assert!(
            is_covering(&space, &runs, 3) && runs.len() <= most,
            "{}",
            runs.len()
        );
        assert!(!is_covering(&space, &runs[1..], 3));
    }
    let forbidden = vec![
        vec![(0, 1), (1, 1)],
        vec![(2, 2), (3, 0)],
        vec![(4, 1), (0, 0)],
    ];
    let space = DesignSpace::new(vec![2, 2, 3, 3, 2, 2], forbidden).expect("exists");
    let runs = covering_array(&space, 2, &[], Seed(7)).expect("small");
    assert!(is_covering(&space, &runs, 2) && runs.iter().all(|run| space.is_feasible(run)));
    let existing = runs[..5].to_vec();
    let rest = covering_array(&space, 2, &existing, Seed(7));
    assert!(is_covering(
        &space,
        &[existing, rest.expect("small")].concat(),
        2
    ));
}

#[test]
fn walks_change_every_factor_early_as_often_as_late() {
    let space = DesignSpace::treatments(5);
    let all = walks(&space, 0, 0b1_1111, 10, Seed(7));
    for factor in 0..5 {
        let mut positions: Vec<usize> = all
            .iter()
            .filter_map(|walk| {
                walk.windows(2)
                    .position(|pair| pair[0] ^ pair[1] == 1 << factor)
            })
            .collect();
        positions.sort_unstable();
        assert_eq!(positions, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }
    assert!(all.iter().all(|walk| walk[0] == 0 && walk[5] == 0b1_1111));
}

proptest! {
    #[test]
    fn pairs_of_treatments_cover(factors in 2..60_usize) {
        let runs: Vec<Vec<usize>> = pairs_of_treatments(factors)
            .iter()
            .map(|run| run.iter().map(|present| usize::from(*present)).collect())
            .collect();
        prop_assert!(is_covering(&DesignSpace::treatments(factors), &runs, 2));
    }

    #[test]
    fn walks_respect_constraints(one in 0..6_usize, other in 0..6_usize, third in 0..6_usize) {
        prop_assume!(one != other && one != third && other != third);
        // `one` needs `other`, which needs `third`.
        let forbidden = vec![vec![(one, 1), (other, 0)], vec![(other, 1), (third, 0)]];
        let space = DesignSpace::new(vec![2; 6], forbidden).expect("exists");
        let all = walks(&space, 0, 0b11_1111, 4, Seed(7));
        prop_assert_eq!(all.len(), 4);
        for walk in all {
            prop_assert_eq!(walk.len(), 7);
            prop_assert!(walk.iter().all(|set| space.is_feasible(&run_of_set(*set, 6))));
            prop_assert!(walk.windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
        }
    }

    #[test]
    fn fractions_are_orthogonal_in_their_main_effects(factors in 5..24_usize) {
        let fraction = smallest_fraction(factors, 3, 5).expect("exists");
        let runs = fraction.runs();
        for one in 0..factors {
            for other in 0..one {
                let equal = runs.iter().filter(|run| (*run >> one ^ *run >> other) & 1 == 0).count();
                prop_assert_eq!(2 * equal, runs.len());
            }
        }
    }
}

const GOLDEN_DETECTABLE: [(f64, f64, f64); 6] = [
    (3.0, 0.8, 4.255898686515601),
    (3.0, 0.95, 5.654069145640507),
    (11.0, 0.8, 3.0783886757022225),
    (11.0, 0.95, 3.969916485841031),
    (100.0, 0.8, 2.8288472103458235),
    (100.0, 0.95, 3.6399927403634678),
];
