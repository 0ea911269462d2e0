//! Slower, faster or the same by repeated looks: the error rates of each, and how soon there is an answer.

use lapwing_stats::{
    ChangeAnswer, ExpectedChange, LookedDifference, Seed, as_f64, comparison_looks,
};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::show;

/// The smallest effect that matters.
const EFFECT: f64 = 0.05;
const ALPHA: f64 = 0.05;
const MOST: usize = 30;

/// What the machine does, beside noise between instances.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    None,
    /// One instance in ten is 1.3 to 3 times as slow.
    Outliers,
    /// Half of the instances are slower by four standard deviations.
    Modes,
    /// It is 8 % slower during the first ten instances.
    Early,
}

impl Trouble {
    /// Returns the logarithm of the instance that is measured as the `number`th.
    fn instance(self, noise: f64, number: usize, random: &mut impl Rng) -> f64 {
        let usual = noise * normal(random);
        let chance: f64 = random.random();
        usual
            + match self {
                Self::Outliers if chance < 0.1 => (1.3 + 1.7 * random.random::<f64>()).ln(),
                Self::Modes if chance < 0.5 => 4.0 * noise,
                Self::Early if number < 10 => 1.08_f64.ln(),
                Self::None | Self::Outliers | Self::Modes | Self::Early => 0.0,
            }
    }
}

#[derive(Debug, Default)]
struct AnswerRates {
    slower: f64,
    faster: f64,
    not_slower: f64,
    not_faster: f64,
    same: f64,
    instances: f64,
}

/// Compares sides whose instances vary by `noise`, with a baseline of so many instances or one that is measured in turn.
fn simulate(
    (slowdown, noise, trouble): (f64, f64, Trouble),
    baseline: Option<usize>,
    trials: u64,
    expected: ExpectedChange,
) -> AnswerRates {
    let mut rates = AnswerRates::default();
    let looks = comparison_looks(MOST, baseline, expected.two_sided_level(ALPHA));
    for trial in 0..trials {
        let random = &mut Seed(22).block(trial);
        let mut sides = [Vec::new(), Vec::new()];
        let mut answer = ChangeAnswer::Undecided;
        for look in &looks {
            while sides[0].len() < baseline.unwrap_or(look.replicates)
                || sides[1].len() < look.replicates
            {
                let time = sides[0].len() + sides[1].len();
                let is_candidate = match baseline {
                    Some(size) => sides[0].len() == size,
                    // One, other, other, one.
                    None => matches!(time % 4, 1 | 2),
                };
                let change = if is_candidate { slowdown.ln_1p() } else { 0.0 };
                let value = trouble.instance(noise, time, random) + change;
                sides[usize::from(is_candidate)].push(value);
            }
            let looked = LookedDifference::by_ranks(*look, &sides[0], &sides[1]).unwrap();
            answer = expected.answer(&looked, EFFECT.ln_1p());
            if answer != ChangeAnswer::Undecided {
                break;
            }
        }
        match answer {
            ChangeAnswer::Slower => rates.slower += 1.0,
            ChangeAnswer::Faster => rates.faster += 1.0,
            ChangeAnswer::NotSlower => rates.not_slower += 1.0,
            ChangeAnswer::NotFaster => rates.not_faster += 1.0,
            ChangeAnswer::Same => rates.same += 1.0,
            ChangeAnswer::Undecided => {}
        }
        rates.instances += as_f64(sides[1].len());
    }
    let trials = as_f64(usize::try_from(trials).unwrap());
    let rates = AnswerRates {
        slower: rates.slower / trials,
        faster: rates.faster / trials,
        not_slower: rates.not_slower / trials,
        not_faster: rates.not_faster / trials,
        same: rates.same / trials,
        instances: rates.instances / trials,
    };
    show(&format!(
        "{expected:?}: slowdown {:>4.1} %, noise {:.0} %, {trouble:?}, baseline {baseline:?}: slower {:.1} %, faster {:.1} %, not slower {:.1} %, not faster {:.1} %, same {:.1} %, {:.1} instances",
        100.0 * slowdown,
        100.0 * noise,
        100.0 * rates.slower,
        100.0 * rates.faster,
        100.0 * rates.not_slower,
        100.0 * rates.not_faster,
        100.0 * rates.same,
        rates.instances
    ));
    rates
}

const TROUBLES: [Trouble; 4] = [
    Trouble::None,
    Trouble::Outliers,
    Trouble::Modes,
    Trouble::Early,
];

/// The rates of wrong answers to what is expected: of what does not change, and of the smallest change that matters, in
/// both directions.
fn both_errors_are_rare(noises: &[f64], troubles: &[Trouble], trials: u64) {
    // Four standard errors of a rate of 5 %.
    let most = ALPHA + 4.0 * (ALPHA / as_f64(usize::try_from(trials).unwrap())).sqrt();
    let [slower, faster] = [EFFECT, -EFFECT / (1.0 + EFFECT)];
    for trouble in troubles {
        for noise in noises {
            for baseline in [None, Some(20)] {
                if baseline.is_some() && matches!(trouble, Trouble::Early) {
                    // Only what is measured in turn sees the same machine.
                    continue;
                }
                let rates = |change: f64, expected: ExpectedChange| {
                    simulate((change, *noise, *trouble), baseline, trials, expected)
                };
                let same = rates(0.0, ExpectedChange::NotSlower);
                assert!(same.slower <= most && same.faster <= most, "{same:?}");
                let border = rates(slower, ExpectedChange::NotSlower);
                assert!(border.not_slower + border.faster <= most, "{border:?}");
                let same = rates(0.0, ExpectedChange::Faster);
                assert!(same.slower <= most && same.faster <= most, "{same:?}");
                let border = rates(faster, ExpectedChange::Faster);
                assert!(border.not_faster + border.slower <= most, "{border:?}");
                let same = rates(0.0, ExpectedChange::Same);
                assert!(same.slower + same.faster <= most, "{same:?}");
                for border in [slower, faster] {
                    let border = rates(border, ExpectedChange::Same);
                    assert!(border.same <= most, "{border:?}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_answer_is_as_rare_as_stated() {
    both_errors_are_rare(&[0.02], &TROUBLES, 500);
}

#[test]
fn outliers_delay_an_answer_and_do_not_prevent_it() {
    let rates = |change: f64, expected: ExpectedChange| {
        simulate((change, 0.02, Trouble::Outliers), None, 300, expected)
    };
    let same = rates(0.0, ExpectedChange::NotSlower);
    assert!(same.not_slower + same.faster >= 0.97, "{same:?}");
    let slower = rates(0.1, ExpectedChange::NotSlower);
    assert!(slower.slower >= 0.97, "{slower:?}");
    let faster = rates(-0.1, ExpectedChange::Faster);
    assert!(faster.faster >= 0.97, "{faster:?}");
    // What is far faster is said to be, although only that it is not slower was asked.
    let far = rates(-0.3, ExpectedChange::NotSlower);
    assert!(far.faster >= 0.9, "{far:?}");
    let equal = rates(0.0, ExpectedChange::Same);
    assert!(equal.same >= 0.9, "{equal:?}");
}

#[test]
#[ignore = "minutes"]
fn answers_by_noise_and_slowdown() {
    both_errors_are_rare(&[0.01, 0.03, 0.05, 0.1], &[Trouble::None], 20_000);
    both_errors_are_rare(&[0.02, 0.05], &TROUBLES[1..], 20_000);
    let all = [
        ExpectedChange::NotSlower,
        ExpectedChange::Faster,
        ExpectedChange::Same,
    ];
    for expected in all {
        for noise in [0.01, 0.03, 0.05] {
            for change in [-0.2, -0.1, -0.05, 0.025, 0.1, 0.2] {
                simulate((change, noise, Trouble::None), None, 4000, expected);
            }
        }
        for trouble in &TROUBLES[1..] {
            for noise in [0.02, 0.05] {
                for change in [-0.1, 0.025, 0.1, 0.2] {
                    simulate((change, noise, *trouble), None, 4000, expected);
                }
            }
        }
    }
}
