use proptest::prelude::*;

use super::testing::{Noise, series};
use super::*;

fn indices(values: &[f64]) -> Vec<usize> {
    let found = level_changes(values, &LevelOptions::default());
    found.changes.iter().map(|change| change.index).collect()
}

fn stepped(noise: Noise, length: usize, seed: u64, steps: &[(usize, f64)]) -> Vec<f64> {
    let mut values = series(noise, length, seed);
    for (from, step) in steps {
        for value in &mut values[*from..] {
            *value += step;
        }
    }
    values
}

#[test]
fn a_series_without_a_change_rarely_has_a_finding() {
    let kinds = [
        Noise::Normal,
        Noise::Lognormal,
        Noise::Autocorrelated(0.3),
        Noise::Spikes,
        Noise::Bimodal,
        Noise::Failures,
    ];
    for noise in kinds {
        for length in [20, 100, 500] {
            let alarms = (0..300)
                .filter(|seed| !indices(&series(noise, length, *seed)).is_empty())
                .count();
            assert!(alarms <= 15, "{noise:?}, {length}: {alarms} of 300");
        }
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    for noise in [Noise::Normal, Noise::Lognormal, Noise::Spikes] {
        let found = (0..200).filter(|seed| {
            let values = stepped(noise, 100, *seed, &[(50, 1.5)]);
            indices(&values).iter().any(|index| index.abs_diff(50) <= 5)
        });
        let found = found.count();
        assert!(found >= 170, "{noise:?}: {found} of 200");
    }
}

#[test]
fn the_range_holds_the_place_of_a_step() {
    let mut found = 0;
    let mut held = 0;
    for seed in 0..400 {
        let values = stepped(Noise::Normal, 100, seed, &[(60, 1.5)]);
        for change in level_changes(&values, &LevelOptions::default()).changes {
            if change.index.abs_diff(60) <= 15 {
                found += 1;
                held += usize::from(change.range.contains(&60));
            }
        }
    }
    assert!(
        found >= 360 && held * 100 >= found * 90,
        "{held} of {found}"
    );
}

#[test]
fn three_far_values_at_the_end_are_a_change_and_two_are_none() {
    assert_eq!(indices(&stepped(Noise::Normal, 60, 1, &[(57, 8.0)])), [57]);
    assert_eq!(
        indices(&stepped(Noise::Normal, 60, 1, &[(58, 8.0)])),
        [] as [usize; 0]
    );
}

#[test]
fn steps_far_above_the_noise_have_one_place() {
    for seed in 0..30 {
        let values = stepped(Noise::Normal, 60, seed, &[(20, 100.0), (45, -100.0)]);
        let found = level_changes(&values, &LevelOptions::default()).changes;
        for step in [20, 45] {
            let exact = |it: &&LevelChange| it.index == step && it.range == (step..=step);
            assert_eq!(found.iter().filter(exact).count(), 1, "{seed}: {found:?}");
        }
    }
}

#[test]
fn the_end_of_a_long_series_with_many_steps_is_where_it_is() {
    let steps = [
        (10, 8.0),
        (30, 18.0),
        (200, -4.0),
        (600, 4.0),
        (2500, 22.0),
        (2990, -10.0),
    ];
    let values = stepped(Noise::Normal, 3000, 1, &steps);
    let found = level_changes(&values, &LevelOptions::default()).changes;
    let last = found.last().unwrap();
    assert_eq!((last.index, last.range.clone()), (2990, 2990..=2990));
    for (step, _) in steps {
        assert!(
            found.iter().any(|change| change.range.contains(&step)),
            "{step}: {found:?}"
        );
    }
}

#[test]
fn several_steps_are_found() {
    let steps = [(40, 4.0), (90, -4.0), (150, 3.0), (160, -5.0)];
    let found = indices(&stepped(Noise::Normal, 220, 3, &steps));
    assert_eq!(found.len(), 4, "{found:?}");
    for (index, (step, _)) in found.iter().zip(steps) {
        assert!(index.abs_diff(step) <= 2, "{found:?}");
    }
}

#[test]
fn constant_and_short_series_have_no_change() {
    assert_eq!(indices(&[]), [] as [usize; 0]);
    assert_eq!(indices(&[1.0; 3]), [] as [usize; 0]);
    assert_eq!(indices(&[1.0; 500]), [] as [usize; 0]);
}

proptest! {
    /// Units do not count.
    #[test]
    fn another_unit_changes_nothing(seed in 0_u64..1000) {
        let values = stepped(Noise::Normal, 80, seed, &[(30, 2.0)]);
        let transformed: Vec<f64> = values.iter().map(|value| 1024.0 * value).collect();
        let options = LevelOptions::default();
        prop_assert_eq!(level_changes(&values, &options), level_changes(&transformed, &options));
    }

    /// Improvements need the same proof as regressions.
    #[test]
    fn up_and_down_are_alike(seed in 0_u64..1000) {
        let values = stepped(Noise::Lognormal, 80, seed, &[(30, 2.0)]);
        let turned: Vec<f64> = values.iter().map(|value| -value).collect();
        prop_assert_eq!(indices(&values), indices(&turned));
    }

    #[test]
    fn changes_are_in_order_and_apart(seed in 0_u64..1000, step in -3.0..3.0) {
        let values = stepped(Noise::Spikes, 150, seed, &[(30, step), (100, -step)]);
        let found = level_changes(&values, &LevelOptions::default()).changes;
        let mut before = 0;
        for change in found {
            prop_assert!(change.index >= before + 3 && change.index <= 147);
            prop_assert!(change.range.contains(&change.index));
            prop_assert!(change.p_value > 0.0 && change.p_value <= 0.05);
            before = change.index;
        }
    }
}
