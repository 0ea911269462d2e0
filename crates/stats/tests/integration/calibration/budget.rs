//! How to measure two sides is chosen from a pilot: the error rates of what follows, and how often it is decided.

use lapwing_stats::{
    ChangeAnswer, DesignCosts, ExpectedChange, LookedDifference, Seed, affordable_design, as_f64,
    comparison_looks, mean,
};
use rand::Rng;

use super::noise::normal;
use super::rounds::show;

const ALPHA: f64 = 0.05;
const SLOWDOWN: f64 = 0.05;
const COSTS: DesignCosts = DesignCosts {
    instance: 0.1,
    iteration: 1.0,
    burn_in: 1,
};

/// Returns the values of an instance, whose noise between and within instances is given.
fn instance(noise: [f64; 2], change: f64, iterations: usize, random: &mut impl Rng) -> Vec<f64> {
    let level = change + noise[0] * normal(random);
    let values = (0..iterations).map(|_| (level + noise[1] * normal(random)).exp());
    values.collect()
}

/// Returns the shares of trials that answer slower, and not slower (or faster).
fn rates(noise: [f64; 2], change: f64, trials: u64) -> [f64; 2] {
    let (mut slower, mut not_slower, mut instances) = (0.0, 0.0, 0.0);
    for trial in 0..trials {
        let random = &mut Seed(47).block(trial);
        let [one, other] = [0.0, change].map(|change| {
            let rows = (0..5).map(|_| instance(noise, change, 5, random));
            rows.collect::<Vec<_>>()
        });
        let design = affordable_design([&one, &other], COSTS, 1.0 + SLOWDOWN, 1e6).unwrap();
        let configuration = design.configuration;
        let expected = ExpectedChange::NotSlower;
        let level = expected.two_sided_level(ALPHA);
        let mut sides = [Vec::new(), Vec::new()];
        let mut answer = ChangeAnswer::Undecided;
        for look in comparison_looks(configuration.instances, None, level) {
            while sides[0].len() < look.replicates {
                for (side, change) in sides.iter_mut().zip([0.0, change]) {
                    let values = instance(noise, change, configuration.iterations, random);
                    side.push(mean(&values).unwrap().ln());
                }
            }
            let looked = LookedDifference::by_ranks(look, &sides[0], &sides[1]).unwrap();
            answer = expected.answer(&looked, SLOWDOWN.ln_1p());
            if answer != ChangeAnswer::Undecided {
                break;
            }
        }
        instances += as_f64(sides[0].len());
        match answer {
            ChangeAnswer::Slower => slower += 1.0,
            ChangeAnswer::Undecided => {}
            _ => not_slower += 1.0,
        }
    }
    let trials = as_f64(usize::try_from(trials).unwrap());
    let rates = [slower / trials, not_slower / trials];
    show(&format!(
        "noise {noise:?}, change {:.1} %: slower {:.1} %, not slower {:.1} %, {:.1} instances",
        100.0 * change.exp_m1(),
        100.0 * rates[0],
        100.0 * rates[1],
        instances / trials
    ));
    rates
}

fn both_errors_are_rare_and_most_is_decided(trials: u64) {
    let most = ALPHA + 4.0 * (ALPHA / as_f64(usize::try_from(trials).unwrap())).sqrt();
    for noise in [[0.02, 0.01], [0.02, 0.05], [0.05, 0.02]] {
        let [slower, not_slower] = rates(noise, 0.0, trials);
        assert!(slower <= most && not_slower >= 0.8, "{noise:?}");
        let [slower, not_slower] = rates(noise, SLOWDOWN.ln_1p(), trials);
        assert!(not_slower <= most && slower >= 0.8, "{noise:?}");
    }
}

#[test]
fn a_chosen_design_finds_what_it_promises() {
    both_errors_are_rare_and_most_is_decided(200);
}

#[test]
#[ignore = "minutes"]
fn chosen_designs_by_noise() {
    both_errors_are_rare_and_most_is_decided(2000);
}
