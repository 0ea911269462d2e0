//! Experiments that stop early, on simulated pairs: error rates, power and cost.

use lapwing_stats::{
    Confidence, FutureReplicates, Replicates, Seed, VerdictRule, as_f64, family_tests, look_levels,
    look_sizes,
};

use super::noise::normal;
use super::rounds::show;

/// Chances of an answer below this end an experiment without one.
const HOPELESS: f64 = 0.2;
const ALPHA: f64 = 0.05;

/// An experiment: the most pairs, the border of what matters, both in standard deviations of a pair's difference.
#[derive(Debug, Clone, Copy)]
struct Experiment {
    most: usize,
    border: f64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Rates {
    worse: f64,
    better: f64,
    equivalent: f64,
    pairs: f64,
}

impl Experiment {
    fn rates(self, effect: f64, trials: u64, seed: Seed) -> Rates {
        let looks = look_sizes(self.most);
        let levels = look_levels(&looks, self.most, ALPHA);
        let last = levels.last().copied().unwrap_or(ALPHA);
        let mut sum = Rates::default();
        for trial in 0..trials {
            let mut random = seed.block(trial);
            let mut pairs = Vec::new();
            for (look, level) in looks.iter().zip(&levels) {
                pairs.resize_with(*look, || effect + normal(&mut random));
                let replicates = Replicates::Pairs(pairs.clone());
                let confidence = Confidence::new(1.0 - level).unwrap();
                let interval = replicates.difference(confidence).unwrap().interval;
                let is_worse = interval.lower > self.border;
                let is_better = interval.upper < -self.border;
                let is_equivalent = interval.lower >= -self.border && interval.upper <= self.border;
                sum.worse += f64::from(u8::from(is_worse));
                sum.better += f64::from(u8::from(is_better));
                sum.equivalent += f64::from(u8::from(is_equivalent));
                let rule = VerdictRule {
                    border: self.border,
                    band: self.border,
                    level: last,
                    confidence: Confidence::new(1.0 - last).unwrap(),
                };
                let test = family_tests(&[replicates], &[], Seed(7))[0].unwrap();
                let chance = test.chance_of_verdict(FutureReplicates::Total(self.most), &rule);
                if is_worse || is_better || is_equivalent || chance < HOPELESS {
                    break;
                }
            }
            sum.pairs += as_f64(pairs.len());
        }
        let trials = as_f64(usize::try_from(trials).unwrap());
        Rates {
            worse: sum.worse / trials,
            better: sum.better / trials,
            equivalent: sum.equivalent / trials,
            pairs: sum.pairs / trials,
        }
    }
}

/// Returns how often a single test of so many pairs finds an effect.
fn fixed(pairs: usize, effect: f64, border: f64, trials: u64, seed: Seed) -> f64 {
    let found = (0..trials).filter(|trial| {
        let mut random = seed.block(*trial);
        let pairs = (0..pairs).map(|_| effect + normal(&mut random)).collect();
        let difference = Replicates::Pairs(pairs)
            .difference(Confidence::P95)
            .unwrap();
        difference.interval.lower > border
    });
    as_f64(found.count()) / as_f64(usize::try_from(trials).unwrap())
}

fn row(name: &str, experiment: Experiment, effect: f64, trials: u64) -> Rates {
    let rates = experiment.rates(effect, trials, Seed(21));
    show(&format!(
        "| {name} | {} | {} | {effect:.2} | {:.2} % | {:.2} % | {:.1} % | {:.1} |",
        experiment.most,
        experiment.border,
        100.0 * rates.worse,
        100.0 * rates.better,
        100.0 * rates.equivalent,
        rates.pairs
    ));
    rates
}

#[test]
fn stopping_early_keeps_the_error_rate_and_saves_measurements() {
    let plain = Experiment {
        most: 40,
        border: 0.0,
    };
    let nil = row("nil", plain, 0.0, 4_000);
    assert!(nil.worse + nil.better < 0.055, "{nil:?}");
    assert!(nil.pairs < 20.0, "{nil:?}");
    let large = row("large", plain, 1.5, 1_000);
    assert!(large.worse > 0.99 && large.pairs < 10.0, "{large:?}");
}

#[test]
#[ignore = "some minutes; the table is in docs/calibration.md"]
fn the_table_of_stopping_early() {
    show(
        "| effect | most pairs | border | effect in sd | worse | better | equivalent | mean pairs |",
    );
    for most in [20, 40, 100] {
        for (name, border) in [("", 0.0), ("band", 0.5)] {
            let experiment = Experiment { most, border };
            for effect in [0.0, 0.3, 0.5, 0.8, 1.2, 2.0] {
                row(name, experiment, effect, 20_000);
            }
        }
    }
    for (most, effect) in [(20, 0.8), (40, 0.5), (40, 0.8), (100, 0.3), (100, 0.5)] {
        let rates = Experiment { most, border: 0.0 }.rates(effect, 20_000, Seed(21));
        let same = (2..=most).find(|it| fixed(*it, effect, 0.0, 20_000, Seed(4)) >= rates.worse);
        show(&format!(
            "| power of {most} at {effect}: {:.1} %, as {same:?} fixed pairs |",
            100.0 * rates.worse
        ));
    }
}

/// How often a second look alarms without any effect, by procedure.
#[derive(Debug, Default, Clone, Copy)]
struct SecondLook {
    /// Everything that does not hold at the level of the first of two looks is measured again.
    shared: f64,
    /// Only what has no verdict at 5 % is measured again.
    after_a_verdict: f64,
    /// The same, and the second look is at 5 %, too.
    uncorrected: f64,
}

fn second_look(first: usize, more: usize, trials: u64) -> SecondLook {
    let levels = look_levels(&[first, first + more], 0, ALPHA);
    let mut sum = SecondLook::default();
    for trial in 0..trials {
        let mut random = Seed(22).block(trial);
        let pairs: Vec<f64> = (0..first + more).map(|_| normal(&mut random)).collect();
        let p_value = |count: usize| {
            let replicates = Replicates::Pairs(pairs[..count].to_vec());
            replicates.difference(Confidence::P95).unwrap().p_value
        };
        let [early, late] = [p_value(first), p_value(first + more)];
        let alarm = |first: f64, second: f64| f64::from(u8::from(early <= first || late <= second));
        sum.shared += alarm(levels[0], levels[1]);
        sum.after_a_verdict += alarm(ALPHA, levels[1]);
        sum.uncorrected += alarm(ALPHA, ALPHA);
    }
    let trials = as_f64(usize::try_from(trials).unwrap());
    SecondLook {
        shared: sum.shared / trials,
        after_a_verdict: sum.after_a_verdict / trials,
        uncorrected: sum.uncorrected / trials,
    }
}

#[test]
fn measuring_again_keeps_the_error_rate() {
    for (first, more) in [(5, 5), (5, 15), (10, 10), (10, 30)] {
        let found = second_look(first, more, 10_000);
        show(&format!(
            "| {first} | {more} | {:.1} % | {:.1} % | {:.1} % |",
            100.0 * found.shared,
            100.0 * found.after_a_verdict,
            100.0 * found.uncorrected
        ));
        assert!(found.shared < 0.055, "{found:?}");
    }
}
