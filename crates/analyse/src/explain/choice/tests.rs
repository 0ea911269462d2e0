use lapwing_model::JudgeSettings;
use lapwing_stats::{Configuration, DetectionMethod, Seed, Strategy};

use super::search::Search;
use super::simulation::{MOST_SIMULATED_INSTANCES, Simulation};
use super::{ChoiceRule, Chosen, PlanOptions, USUAL_MOST, Unable};
use crate::clean::{CleanInstance, Cleaned};
use crate::explain::RunCosts;
use crate::judge::DetectionOptions;

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
            host: None,
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
        limits: JudgeSettings::default(),
        power: 0.9,
        false_positives: 0.05,
        assurance: 0.9,
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

/// Returns the cost of the cheapest of all configurations within the limits whose simulation has the power and few
/// false positives.
fn cheapest_of_all(cleaned: &Cleaned, options: &PlanOptions, slowdown: f64) -> f64 {
    let all = (3..=MOST.instances).flat_map(|instances| {
        (2..=MOST.iterations).map(move |iterations| Configuration {
            instances,
            iterations,
        })
    });
    all.filter(|it| holds(cleaned, options, slowdown, *it))
        .map(|it| COSTS.of(it))
        .fold(f64::INFINITY, f64::min)
}

/// Returns whether a configuration surely has the power, and not surely too many false positives.
fn holds(cleaned: &Cleaned, options: &PlanOptions, slowdown: f64, at: Configuration) -> bool {
    let found = Simulation::new(cleaned, options, SEED).by_hand(at, slowdown);
    let is_loud = found
        .rates
        .is_some_and(|it| it.has_too_many_false_positives(options.false_positives));
    options.has_power(&found) && !is_loud
}

fn sought(
    cleaned: &Cleaned,
    options: &PlanOptions,
    slowdown: f64,
    most: Configuration,
) -> Result<Chosen, Box<super::Unmet>> {
    Search::new(cleaned, Some(COSTS), options, SEED).cheapest(slowdown, most)
}

#[test]
fn what_simulations_confirm_is_the_cheapest_and_nothing_less_holds_the_power() {
    let cleaned = measured();
    let options = options(DetectionMethod::Paired, Strategy::DifferentInstances);
    for slowdown in [1.12, 1.2] {
        let found = sought(&cleaned, &options, slowdown, MOST).expect("it can be");
        let at = found.configuration;
        assert!(options.has_power(&found) && holds(&cleaned, &options, slowdown, at));
        let all = cheapest_of_all(&cleaned, &options, slowdown);
        assert!(
            COSTS.of(at) <= 1.05 * all,
            "{slowdown}: {at} takes {}, and {all} would do",
            COSTS.of(at)
        );
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

#[test]
fn few_configurations_are_simulated() {
    let cleaned = measured();
    for (method, strategy) in [
        (DetectionMethod::Paired, Strategy::DifferentInstances),
        (DetectionMethod::Schultz, Strategy::SameInstances),
    ] {
        let options = options(method, strategy);
        let mut search = Search::new(&cleaned, Some(COSTS), &options, SEED);
        search.cheapest(1.12, MOST).expect("it can be");
        let simulated = search.simulation.count();
        assert!(
            (2..=20).contains(&simulated),
            "{simulated} for {} {}",
            method.name(),
            strategy.name()
        );
        search.cheapest(1.12, MOST).expect("it can be");
        assert_eq!(search.simulation.count(), simulated, "each once");
    }
}

#[test]
fn what_cannot_be_met_says_how_near_it_comes_and_what_it_would_take() {
    let cleaned = measured();
    let options = options(DetectionMethod::Paired, Strategy::DifferentInstances);
    let most = Configuration {
        instances: 10,
        iterations: 5,
    };
    let unmet = sought(&cleaned, &options, 1.02, most).expect_err("too little");
    assert_eq!(unmet.why, Unable::TooMany);
    let closest = unmet.closest.expect("there is one");
    assert_eq!(closest.configuration.instances, 10);
    assert!(closest.configuration.iterations <= 5);
    assert!(!closest.is_by_formula() && !options.has_power(&closest));
    let needed = unmet.needed.expect("many instances would do");
    assert!(needed.configuration.instances > 40, "{needed:?}");
    assert!(options.has_power(&needed));
    assert!(COSTS.of(needed.configuration) > COSTS.of(closest.configuration));

    // The false-positive rate cannot be below the level of the test.
    let strict = PlanOptions {
        false_positives: 0.001,
        ..options
    };
    let unmet = sought(&cleaned, &strict, 1.2, most).expect_err("never");
    assert_eq!((unmet.why, unmet.needed), (Unable::FalsePositives, None));
    assert!(unmet.closest.is_some());
}

/// The same noise, known better: the plan is cheaper, and its power less uncertain.
#[test]
fn a_small_pilot_makes_plans_larger_and_their_power_uncertain() {
    let all = measured();
    let options = options(DetectionMethod::Paired, Strategy::DifferentInstances);
    let of = |pilot: usize, assurance| {
        let cleaned = Cleaned {
            instances: all.instances.iter().take(pilot).cloned().collect(),
            ..Cleaned::default()
        };
        let options = PlanOptions {
            assurance,
            ..options.clone()
        };
        let found = sought(&cleaned, &options, 1.15, USUAL_MOST).expect("it can be");
        let interval = found.rates.and_then(|it| it.power.interval);
        (found.configuration.instances, interval.expect("simulated"))
    };
    let ((small, _), (large, _)) = (of(4, 0.9), of(40, 0.9));
    let (unsure, _) = of(4, 0.6);
    assert!(
        small >= 2 * large && unsure < small,
        "{small} {unsure} {large}"
    );
    let (_, interval) = of(4, 0.9);
    assert!(
        interval.lower >= 0.9 && interval.upper > 0.99,
        "{interval:?}"
    );
}

/// A configuration typed by the user is simulated like those of the search, and twice with the same result.
#[test]
fn what_is_typed_is_simulated_like_every_other_choice() {
    let cleaned = measured();
    let options = options(DetectionMethod::Paired, Strategy::DifferentInstances);
    let mut search = Search::new(&cleaned, Some(COSTS), &options, SEED);
    let found = search.cheapest(1.12, MOST).expect("it can be");
    let simulated = search.simulation.count();
    let mut typed = |at| search.simulation.by_hand(at, 1.12);
    assert_eq!(typed(found.configuration), found);
    let too_many = Configuration {
        instances: MOST_SIMULATED_INSTANCES + 1,
        iterations: 2,
    };
    assert!(typed(too_many).is_by_formula());
    assert_eq!(
        search.simulation.count(),
        simulated + 1,
        "one is kept, one new"
    );
    let single = Cleaned {
        instances: cleaned.instances[..1].to_vec(),
        ..Cleaned::default()
    };
    let mut unknown = Simulation::new(&single, &options, SEED);
    assert_eq!(unknown.by_hand(found.configuration, 1.12).rates, None);
}
