//! Steps planted in known noise, and the share of them that [`detect`] finds.

use lapwing_stats::{Seed, as_f64};
use rand::Rng;
use rayon::prelude::*;

use super::super::search::detect;
use super::super::testing::{add, days};
use super::table::{NIGHTS_BEFORE, STEPS, TOGETHER};
use super::*;

/// A finding counts as the planted step if it may be so many nights earlier, or later.
const NEAR: usize = 5;

/// Suites in whose first history a step is planted.
#[derive(Debug, Clone, Copy)]
struct NightSuite {
    histories: usize,
    /// The number of metrics that they are of, in turn.
    metrics: usize,
    /// The nights before the step.
    before: usize,
    noise: NightDistribution,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum NightDistribution {
    Normal,
    /// Student's t with four degrees of freedom.
    Heavy,
    /// Normal, with this autocorrelation.
    Autocorrelated(f64),
}

const NIGHTLY: NightSuite = NightSuite {
    histories: 30,
    metrics: 1,
    before: 45,
    noise: NightDistribution::Normal,
};

impl NightDistribution {
    fn values(self, number: usize, seed: Seed) -> Vec<f64> {
        let mut random = seed.stream("nights");
        let mut uniform = move || (as_f64(random.next_u64() >> 11) + 0.5) / 9_007_199_254_740_992.0;
        let mut before = 0.0;
        let mut value = || {
            let radius = (-2.0 * uniform().ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * uniform()).cos();
            match self {
                Self::Normal => normal,
                Self::Heavy => normal / (-0.5 * (uniform() * uniform()).ln()).sqrt(),
                Self::Autocorrelated(rho) => {
                    before = rho * before + (1.0 - rho * rho).sqrt() * normal;
                    before
                }
            }
        };
        (0..20 + number).map(|_| value()).skip(20).collect()
    }
}

impl NightSuite {
    /// Returns the logarithms of each history around its level. Their noise differs: its logarithm by a standard
    /// deviation of 0.7, around 2 %.
    fn noise(self, more: usize, seed: Seed) -> Vec<Vec<f64>> {
        let number = self.before + more;
        let scales = NightDistribution::Normal.values(self.histories, seed.split("scales"));
        let histories = scales.iter().enumerate().map(|(at, scale)| {
            let values = self.noise.values(number, seed.split(&format!("{at}")));
            let scale = 0.02 * (0.7 * scale).exp();
            values.into_iter().map(|it| scale * it).collect()
        });
        histories.collect()
    }

    /// Returns the histories with a step in the first of them.
    fn histories(self, noise: &[Vec<f64>], since: usize, step: f64) -> Histories {
        let number = self.before + since;
        let mut histories = days(u16::try_from(number).expect("few"));
        for (at, values) in noise.iter().enumerate() {
            let level = |night: usize| {
                let is_stepped = at == 0 && night >= self.before;
                if is_stepped { step } else { 0.0 }
            };
            let values = values[..number].iter().enumerate();
            let values: Vec<f64> = values
                .map(|(night, it)| (level(night) + it).exp())
                .collect();
            add(&mut histories, &format!("b{at:04}"), &values);
        }
        for (at, series) in histories.series.iter_mut().enumerate() {
            series.subject.metric = format!("metric {}", at % self.metrics);
        }
        histories
    }

    /// Returns whether the step is found so many nights later.
    fn is_found(self, noise: &[Vec<f64>], since: usize, step: f64) -> bool {
        let histories = self.histories(noise, since, step);
        let detection = detect(&histories, &DetectOptions::default());
        let earliest = self.before - NEAR;
        let is_it = |it: &Finding| it.series == 0 && *it.range.end() >= earliest && it.size.rises();
        detection.findings.iter().any(is_it)
    }
}

/// Returns the step in terms of the estimated noise that is found in four of five cases, by stochastic approximation
/// (Robbins & Monro, *Annals of Mathematical Statistics* 1951) from a step, averaged over the last three quarters.
fn four_of_five(suite: NightSuite, since: usize, replays: usize, from: f64) -> f64 {
    let mut step = from;
    let mut sum = 0.0;
    for replay in 0..replays {
        let seed = Seed(45).split(&format!("{} {} {replay}", suite.before, suite.histories));
        let noise = suite.noise(since, seed);
        let deviation = night_deviation(&noise[0][..suite.before]).expect("noise");
        let found = f64::from(u8::from(suite.is_found(&noise, since, step * deviation)));
        step -= 0.8 * from * (found - 0.8) / as_f64(replay + 4).powf(0.8);
        if 4 * replay >= replays {
            sum += step;
        }
    }
    sum / as_f64(replays - replays.div_ceil(4))
}

#[test]
#[ignore = "takes an hour; its table stands in table.rs"]
fn table_of_night_steps() {
    let mut cells = Vec::new();
    for (of_nights, before) in STEPS.iter().zip(NIGHTS_BEFORE) {
        for (steps, histories) in of_nights.iter().zip(TOGETHER) {
            let steps = steps.iter().zip(NIGHTS_SINCE);
            cells.extend(steps.map(|(step, since)| (before, histories, since, *step)));
        }
    }
    let steps = cells.par_iter().map(|(before, histories, since, from)| {
        let suite = NightSuite {
            histories: *histories,
            before: *before,
            ..NIGHTLY
        };
        let replays = if *histories > 500 { 100 } else { 400 };
        four_of_five(suite, *since, replays, *from)
    });
    let steps: Vec<f64> = steps.collect();
    for of_nights in steps.chunks(NIGHTS_SINCE.len() * TOGETHER.len()) {
        let of_number = of_nights.chunks(NIGHTS_SINCE.len());
        let steps: Vec<String> = of_number.map(|it| format!("{it:.2?}")).collect();
        println!("    [{}],", steps.join(", "));
    }
}

/// Of steps as large as is stated, the number that was found so many nights later, and of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct FoundSteps {
    found: usize,
    all: usize,
}

impl FoundSteps {
    fn share(self) -> f64 {
        as_f64(self.found) / as_f64(self.all)
    }
}

impl NightSuite {
    /// Returns by [`NIGHTS_SINCE`] how many of the steps are found that are stated for the first history.
    fn found_as_stated(self, replays: usize) -> [FoundSteps; NIGHTS_SINCE.len()] {
        let most = NIGHTS_SINCE[NIGHTS_SINCE.len() - 1];
        let replays = (0..replays).into_par_iter().map(|replay| {
            let noise = self.noise(most, Seed(46).split(&format!("{self:?} {replay}")));
            let known = self.histories(&noise, 0, 0.0);
            let options = DetectOptions::default();
            let mut stated = detect(&known, &options).night_noise(&known, &options);
            let steps = stated.swap_remove(0).ok().and_then(|it| it.steps.ok());
            let mut found = [FoundSteps::default(); NIGHTS_SINCE.len()];
            for (at, step) in steps.into_iter().flatten().enumerate() {
                let is_found = self.is_found(&noise, NIGHTS_SINCE[at], step.ln_1p());
                found[at] = FoundSteps {
                    found: usize::from(is_found),
                    all: 1,
                };
            }
            found
        });
        replays.reduce(Default::default, |mut one, other| {
            for (sum, it) in one.iter_mut().zip(other) {
                sum.found += it.found;
                sum.all += it.all;
            }
            one
        })
    }
}

#[test]
fn steps_as_large_as_stated_are_found_in_four_of_five_cases() {
    let short = NightSuite {
        before: 12,
        ..NIGHTLY
    };
    for suite in [NIGHTLY, short] {
        for found in suite.found_as_stated(60) {
            assert!(found.all > 50, "{suite:?}: {found:?}");
            assert!((0.7..0.92).contains(&found.share()), "{suite:?}: {found:?}");
        }
    }
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_stated_night_steps() {
    let heavy = NightDistribution::Heavy;
    let correlated = NightDistribution::Autocorrelated(0.2);
    let suites = [
        (
            "60 × 45, of three metrics",
            NightSuite {
                histories: 60,
                metrics: 3,
                ..NIGHTLY
            },
            200,
        ),
        (
            "30 × 45, noise of t with 4 degrees of freedom",
            NightSuite {
                noise: heavy,
                ..NIGHTLY
            },
            100,
        ),
        (
            "30 × 45, autocorrelation of 0.2",
            NightSuite {
                noise: correlated,
                ..NIGHTLY
            },
            100,
        ),
        ("30 × 45 nights", NIGHTLY, 200),
        (
            "30 × 12",
            NightSuite {
                before: 12,
                ..NIGHTLY
            },
            200,
        ),
        (
            "30 × 25",
            NightSuite {
                before: 25,
                ..NIGHTLY
            },
            200,
        ),
        (
            "30 × 150",
            NightSuite {
                before: 150,
                ..NIGHTLY
            },
            100,
        ),
        (
            "1 × 45",
            NightSuite {
                histories: 1,
                ..NIGHTLY
            },
            400,
        ),
        (
            "178 × 45",
            NightSuite {
                histories: 178,
                ..NIGHTLY
            },
            100,
        ),
        (
            "1,400 × 45",
            NightSuite {
                histories: 1400,
                ..NIGHTLY
            },
            40,
        ),
    ];
    println!("| histories | stated | found after 3 nights | after 5 | after 10 |");
    println!("|---|--:|--:|--:|--:|");
    for (name, suite, replays) in suites {
        let found = suite.found_as_stated(replays);
        let shares = found.map(|it| match it.all {
            0 => String::new(),
            _ => format!("{:.0} %", 100.0 * it.share()),
        });
        let stated = found[0].all;
        println!(
            "| {name} | {stated} of {replays} | {} |",
            shares.join(" | ")
        );
    }
}
