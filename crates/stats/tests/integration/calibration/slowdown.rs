//! Slower or not by repeated looks: both error rates, and how soon there is an answer.

use lapwing_stats::{Confidence, Replicates, Seed, SlowdownAnswer, as_f64, comparison_looks};

use super::difference_alone;
use super::noise::normal;
use super::rounds::show;

/// The smallest effect that matters.
const EFFECT: f64 = 0.05;
const ALPHA: f64 = 0.05;
const MOST: usize = 30;

#[derive(Debug, Default)]
struct AnswerRates {
    slower: f64,
    not_slower: f64,
    instances: f64,
}

/// Compares sides whose instances vary by `noise`, with a baseline of so many instances or one that is measured along.
fn simulate(slowdown: f64, noise: f64, baseline: Option<usize>, trials: u64) -> AnswerRates {
    let mut rates = AnswerRates::default();
    let looks = comparison_looks(MOST, baseline, 2.0 * ALPHA);
    for trial in 0..trials {
        let random = &mut Seed(22).block(trial);
        let mut sides = [Vec::new(), Vec::new()];
        let mut answer = SlowdownAnswer::Undecided;
        for look in &looks {
            while sides[0].len() < baseline.unwrap_or(look.replicates) {
                sides[0].push(noise * normal(random));
            }
            while sides[1].len() < look.replicates {
                sides[1].push(noise * normal(random) + slowdown.ln_1p());
            }
            let confidence = Confidence::new(1.0 - look.level).unwrap();
            let difference = difference_alone(Replicates::Sides(sides.clone()), confidence);
            answer = SlowdownAnswer::at(&difference, look.level, EFFECT.ln_1p());
            if answer != SlowdownAnswer::Undecided {
                break;
            }
        }
        match answer {
            SlowdownAnswer::Slower => rates.slower += 1.0,
            SlowdownAnswer::NotSlower => rates.not_slower += 1.0,
            SlowdownAnswer::Undecided => {}
        }
        rates.instances += as_f64(sides[1].len());
    }
    let trials = as_f64(usize::try_from(trials).unwrap());
    let rates = AnswerRates {
        slower: rates.slower / trials,
        not_slower: rates.not_slower / trials,
        instances: rates.instances / trials,
    };
    show(&format!(
        "slowdown {:>4.1} %, noise {:.0} %, baseline {baseline:?}: slower {:.1} %, not slower {:.1} %, {:.1} instances",
        100.0 * slowdown,
        100.0 * noise,
        100.0 * rates.slower,
        100.0 * rates.not_slower,
        rates.instances
    ));
    rates
}

fn both_errors_are_rare(noises: &[f64], trials: u64) {
    // Four standard errors of a rate of 5 %.
    let most = ALPHA + 4.0 * (ALPHA / as_f64(usize::try_from(trials).unwrap())).sqrt();
    for noise in noises {
        for baseline in [None, Some(20)] {
            let same = simulate(0.0, *noise, baseline, trials);
            assert!(same.slower <= most, "{same:?}");
            let border = simulate(EFFECT, *noise, baseline, trials);
            assert!(border.not_slower <= most, "{border:?}");
        }
    }
}

#[test]
fn a_wrong_answer_is_as_rare_as_stated() {
    both_errors_are_rare(&[0.02], 1000);
}

#[test]
#[ignore = "minutes"]
fn answers_by_noise_and_slowdown() {
    both_errors_are_rare(&[0.01, 0.03, 0.05, 0.1], 20_000);
    for noise in [0.01, 0.03, 0.05] {
        for slowdown in [-0.05, 0.025, 0.1, 0.2] {
            simulate(slowdown, noise, None, 4000);
        }
    }
}
