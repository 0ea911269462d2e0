use lapwing_stats::{Configuration, DetectionMethod, Noise, Seed, Strategy};

use super::search::Search;
use super::{ChoiceRule, Chosen, PlanOptions, Unable};
use crate::clean::{CleanInstance, Cleaned};
use crate::explain::RunCosts;
use crate::judge::{DetectionGrid, DetectionOptions, detection};

const MOST: Configuration = Configuration {
    instances: 20,
    iterations: 8,
};

const COSTS: RunCosts = RunCosts {
    start: 1.0,
    burn_in: 2.0,
    iteration: 1.0,
};

const SEED: Seed = Seed(3);

/// Forty instances of sixteen iterations: every fourth instance is slower, and some iterations are half as long again,
/// so that the formula is off.
fn measured() -> Cleaned {
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = u32::try_from(state >> 33).expect("31 bits");
        f64::from(bits) / f64::from(1_u32 << 31)
    };
    let instances = (0..40).map(|position| {
        let level = if position % 4 == 0 { 1.12 } else { 1.0 } * (1.0 + 0.01 * uniform());
        let values = (0..16).map(|_| {
            let outlier = if uniform() < 0.03 { 1.5 } else { 1.0 };
            level * outlier * (1.0 + 0.04 * uniform())
        });
        CleanInstance {
            position,
            values: values.collect(),
            without_value: 0,
        }
    });
    Cleaned {
        instances: instances.collect(),
        ..Cleaned::default()
    }
}

fn options(method: DetectionMethod, strategy: Strategy) -> PlanOptions {
    PlanOptions {
        slowdowns: Vec::new(),
        power: 0.9,
        false_positives: 0.05,
        detection: DetectionOptions {
            methods: vec![method],
            strategies: vec![strategy],
            experiments: 200,
            replicates: 100,
            seed: SEED,
            ..DetectionOptions::default()
        },
        rule: ChoiceRule::Cheapest(MOST),
    }
}

fn noise(between: f64, within: f64) -> Noise {
    Noise {
        between: between.powi(2),
        within: within.powi(2),
    }
}

/// Returns the cheapest of all configurations within the limits whose simulation has the power and few false positives.
fn cheapest_of_all(cleaned: &Cleaned, options: &PlanOptions, slowdown: f64) -> f64 {
    let detection_options = DetectionOptions {
        grid: DetectionGrid {
            slowdowns: Vec::new(),
            instances: (3..=MOST.instances).collect(),
            iterations: (2..=MOST.iterations).collect(),
        },
        ..options.detection.clone()
    };
    let cells = detection(cleaned, None, &detection_options);
    let able = cells.iter().filter(|cell| {
        let is_quiet = cell.rate(1.0).is_some_and(|it| {
            it.interval
                .is_some_and(|it| it.lower <= options.false_positives)
        });
        let power = cell.rate(slowdown).map(|it| it.value);
        is_quiet && power.is_some_and(|it| it >= options.power)
    });
    able.map(|cell| COSTS.of(cell.configuration))
        .fold(f64::INFINITY, f64::min)
}

/// Returns whether a configuration has the power when it is simulated by itself.
fn holds(cleaned: &Cleaned, options: &PlanOptions, slowdown: f64, at: Configuration) -> bool {
    let detection_options = DetectionOptions {
        grid: DetectionGrid {
            slowdowns: Vec::new(),
            instances: vec![at.instances],
            iterations: vec![at.iterations],
        },
        ..options.detection.clone()
    };
    let cells = detection(cleaned, None, &detection_options);
    let rate = cells.first().and_then(|it| it.rate(slowdown));
    rate.is_some_and(|it| it.value >= options.power)
}

fn sought(
    cleaned: &Cleaned,
    options: &PlanOptions,
    noise: Noise,
    slowdown: f64,
    most: Configuration,
) -> Result<Chosen, Box<super::Unmet>> {
    Search::new(cleaned, Some(noise), Some(COSTS), options, SEED).cheapest(slowdown, most)
}

/// Whatever the formula says first: with too little noise, about the right one, and too much.
#[test]
fn what_simulations_confirm_is_the_cheapest_and_nothing_less_holds_the_power() {
    let cleaned = measured();
    let options = options(DetectionMethod::Welch, Strategy::DifferentInstances);
    for noise in [noise(0.03, 0.03), noise(0.05, 0.08), noise(0.09, 0.10)] {
        for slowdown in [1.08, 1.15] {
            let found = sought(&cleaned, &options, noise, slowdown, MOST).expect("it can be");
            let at = found.configuration;
            let all = cheapest_of_all(&cleaned, &options, slowdown);
            assert!(
                COSTS.of(at) <= 1.05 * all,
                "{slowdown}: {at} takes {}, and {all} would do",
                COSTS.of(at)
            );
            assert!(holds(&cleaned, &options, slowdown, at));
            for (instances, iterations) in [
                (at.instances - 1, at.iterations),
                (at.instances, at.iterations - 1),
            ] {
                let less = Configuration {
                    instances,
                    iterations,
                };
                let is_allowed = instances >= 3 && iterations >= 2;
                let does = is_allowed && holds(&cleaned, &options, slowdown, less);
                assert!(!does, "{slowdown}: {less} does, and {at} was chosen");
            }
        }
    }
}

#[test]
fn few_configurations_are_simulated() {
    let cleaned = measured();
    for (method, strategy) in [
        (DetectionMethod::Welch, Strategy::DifferentInstances),
        (DetectionMethod::Schultz, Strategy::SameInstances),
    ] {
        let options = options(method, strategy);
        let mut search = Search::new(
            &cleaned,
            Some(noise(0.05, 0.08)),
            Some(COSTS),
            &options,
            SEED,
        );
        search.cheapest(1.08, MOST).expect("it can be");
        let simulated = search.simulation.count();
        assert!(
            (2..=20).contains(&simulated),
            "{simulated} for {} {}",
            method.name(),
            strategy.name()
        );
        search.cheapest(1.08, MOST).expect("it can be");
        assert_eq!(search.simulation.count(), simulated, "each once");
    }
}

#[test]
fn what_cannot_be_met_says_how_near_it_comes_and_what_it_would_take() {
    let cleaned = measured();
    let options = options(DetectionMethod::Welch, Strategy::DifferentInstances);
    let most = Configuration {
        instances: 10,
        iterations: 5,
    };
    let unmet = sought(&cleaned, &options, noise(0.05, 0.08), 1.02, most).expect_err("too little");
    assert_eq!(unmet.why, Unable::TooMany);
    let closest = unmet.closest.expect("there is one");
    assert_eq!(closest.configuration.instances, 10);
    assert!(closest.configuration.iterations <= 5);
    assert!(closest.rates.is_some_and(|it| it.power.interval.is_some()));
    assert!(closest.power().is_some_and(|it| it < options.power));
    let needed = unmet.needed.expect("many instances would do");
    assert!(needed.configuration.instances > 40, "{needed:?}");
    assert!(needed.power().is_some_and(|it| it >= options.power));
    assert!(COSTS.of(needed.configuration) > COSTS.of(closest.configuration));

    // The false-positive rate cannot be below the level of the test.
    let strict = PlanOptions {
        false_positives: 0.001,
        ..options
    };
    let unmet = sought(&cleaned, &strict, noise(0.05, 0.08), 1.2, most).expect_err("never");
    assert_eq!((unmet.why, unmet.needed), (Unable::FalsePositives, None));
    assert!(unmet.closest.is_some());
}

/// With few instances a bootstrap has many false positives, which the formula does not model.
#[test]
fn what_is_chosen_by_formula_says_which_simulation_denies_it() {
    let measured = Cleaned {
        instances: measured().instances.into_iter().take(12).collect(),
        ..Cleaned::default()
    };
    let options = options(DetectionMethod::Schultz, Strategy::DifferentInstances);
    let found = sought(&measured, &options, noise(0.05, 0.08), 1.3, MOST).expect("by formula");
    assert!(found.is_by_formula(), "{found:?}");
    assert_eq!(found.configuration.instances, 7);
    let denied = found.denied.expect("simulations say otherwise");
    assert_eq!(denied.configuration.instances, 6);
    assert!(denied.rates.has_too_many_false_positives(0.05));
    assert!(
        !found
            .rates
            .is_some_and(|it| it.has_too_many_false_positives(0.05))
    );

    // What is simulated itself needs no other to speak of it.
    let welch = self::options(DetectionMethod::Welch, Strategy::DifferentInstances);
    let found = sought(&measured, &welch, noise(0.05, 0.08), 1.3, MOST).expect("simulated");
    assert_eq!((found.is_by_formula(), found.denied), (false, None));
}

/// A configuration typed by the user is simulated like those of the search, and twice with the same result.
#[test]
fn what_is_typed_is_simulated_like_every_other_choice() {
    let cleaned = measured();
    let options = PlanOptions {
        slowdowns: vec![1.08],
        ..options(DetectionMethod::Welch, Strategy::DifferentInstances)
    };
    let noise = noise(0.05, 0.08);
    let mut search = Search::new(&cleaned, Some(noise), Some(COSTS), &options, SEED);
    let found = search.cheapest(1.08, MOST).expect("it can be");
    let simulated = search.simulation.count();
    assert_eq!(
        search
            .simulation
            .by_hand(found.configuration, 1.08, Some(noise)),
        found
    );
    assert_eq!(search.simulation.count(), simulated, "it was kept");
    let of_many = Configuration {
        instances: 21,
        iterations: 2,
    };
    let by_formula = options.by_formula(noise, of_many, 1.08);
    assert_eq!(
        Some(search.simulation.by_hand(of_many, 1.08, Some(noise))),
        by_formula
    );
    let of_little = Configuration {
        instances: 20,
        iterations: 2,
    };
    let typed = search.simulation.by_hand(of_little, 1.08, None);
    assert!(typed.rates.is_some() && !typed.is_by_formula(), "{typed:?}");
    assert_eq!(search.simulation.by_hand(of_many, 1.08, None).rates, None);
}
