//! A few instances that are far slower than the others: false alarms and power by means and by ranks.

use lapwing_stats::{Confidence, Seed, as_f64, hodges_lehmann, mann_whitney, ratio_of_means};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::show;

/// The noise between instances.
const NOISE: f64 = 0.02;

/// Returns an instance at a level; one in ten is 1.3 to 3 times as slow if there are any.
fn instance(level: f64, has_outliers: bool, random: &mut impl Rng) -> f64 {
    let usual = level * (NOISE * normal(random)).exp();
    let chance: f64 = random.random();
    if has_outliers && chance < 0.1 {
        usual * (1.3 + 1.7 * random.random::<f64>())
    } else {
        usual
    }
}

/// Returns the share of comparisons that are significant at 5 %, by means and by ranks, and the share of intervals by
/// ranks that contain the slowdown.
fn rates(slowdown: f64, instances: usize, has_outliers: bool, trials: u64) -> [f64; 3] {
    let mut counts = [0_u32; 3];
    for trial in 0..trials {
        let random = &mut Seed(31).block(trial);
        let sides = [1.0, 1.0 + slowdown].map(|level| -> Vec<f64> {
            (0..instances)
                .map(|_| instance(level, has_outliers, random))
                .collect()
        });
        let by_means = ratio_of_means(&sides[0], &sides[1], Confidence::P95).unwrap();
        let by_ranks = mann_whitney(&sides[0], &sides[1]).unwrap();
        let interval = hodges_lehmann(&sides[0], &sides[1], Confidence::P95).unwrap();
        let covers = interval.interval.unwrap().contains(1.0 + slowdown);
        let found = [by_means.p_value <= 0.05, by_ranks.p_value <= 0.05, covers];
        for (count, is_found) in counts.iter_mut().zip(found) {
            *count += u32::from(is_found);
        }
    }
    let trials = as_f64(trials);
    let rates = counts.map(|it| f64::from(it) / trials);
    show(&format!(
        "slowdown {:>4.1} %, {instances} per side, outliers {has_outliers}: by means {:.1} %, by ranks {:.1} %, intervals by ranks hold {:.1} %",
        100.0 * slowdown,
        100.0 * rates[0],
        100.0 * rates[1],
        100.0 * rates[2],
    ));
    rates
}

#[test]
fn ranks_find_what_outliers_hide_from_means() {
    let [_, false_alarms, _] = rates(0.0, 10, true, 1000);
    assert!(false_alarms <= 0.07, "{false_alarms}");
    let [by_means, by_ranks, covers] = rates(0.1, 10, true, 300);
    assert!(by_means < 0.6 && by_ranks > 0.85 && covers > 0.9);
}

#[test]
#[ignore = "minutes"]
fn slow_instances_by_means_and_by_ranks() {
    for has_outliers in [false, true] {
        for instances in [5, 10, 20] {
            for slowdown in [0.0, 0.05, 0.1] {
                rates(slowdown, instances, has_outliers, 20_000);
            }
        }
    }
}
