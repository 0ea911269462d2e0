//! How often fifty benchmarks that are judged every night alarm in a year, and how soon they show a step.

use std::collections::BTreeSet;

use lapwing_stats::{Seed, as_f64};
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::tests::histories;
use super::*;

/// Nights before the first judgement.
const BEFORE: usize = 30;
const NIGHTS: usize = 365;
const BENCHMARKS: usize = 50;
/// Alarms at places so near are one.
const SAME_PLACE: usize = 5;

/// Noise around one level.
#[derive(Debug, Clone, Copy)]
enum NightNoise {
    Normal,
    Lognormal,
    /// 2 % of the nights half as slow again.
    Spikes,
    /// Two levels, a tenth apart.
    TwoModes,
    Autocorrelated(f64),
    /// A standard deviation that wanders with a correlation of 0.9.
    Clusters,
    /// Faster at weekends.
    Weekly,
    /// Rounded to a standard deviation.
    Rounded,
}

const NOISES: [(&str, NightNoise); 9] = [
    ("normal", NightNoise::Normal),
    ("log-normal", NightNoise::Lognormal),
    ("2 % spikes × 1.5", NightNoise::Spikes),
    ("two modes", NightNoise::TwoModes),
    ("AR(1), ρ = 0.3", NightNoise::Autocorrelated(0.3)),
    ("AR(1), ρ = 0.6", NightNoise::Autocorrelated(0.6)),
    ("volatility clusters", NightNoise::Clusters),
    ("weekly", NightNoise::Weekly),
    ("rounded to σ", NightNoise::Rounded),
];

impl NightNoise {
    /// Returns times around a second, with a standard deviation of about 3 %.
    fn series(self, random: &mut impl Rng, length: usize) -> Vec<f64> {
        let mut normal = || {
            let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
            radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
        };
        let share = match self {
            Self::Autocorrelated(share) => share,
            Self::Clusters => 0.9,
            _ => 0.0,
        };
        let mut before = normal();
        let one = |night: usize| {
            before = share * before + (1.0 - share * share).sqrt() * normal();
            match self {
                Self::Normal => 1.0 + 0.03 * before,
                Self::Lognormal => 1.0 + 0.03 * before.exp(),
                // 2 % of normal numbers are above 2.054.
                Self::Spikes if normal() > 2.054 => 1.5 * (1.0 + 0.03 * before),
                Self::Spikes => 1.0 + 0.03 * before,
                Self::TwoModes if normal() > 0.0 => 1.1 * (1.0 + 0.01 * before),
                Self::TwoModes => 1.0 + 0.01 * before,
                Self::Autocorrelated(_) => (0.03 * before).exp(),
                Self::Clusters => (0.03 * normal() * (0.8 * before).exp()).exp(),
                Self::Weekly if night % 7 >= 5 => 0.97 * (1.0 + 0.03 * before),
                Self::Weekly => 1.0 + 0.03 * before,
                Self::Rounded => 1.0 + 0.03 * before.round().clamp(-1.0, 1.0),
            }
        };
        (0..length).map(one).collect()
    }

    /// Returns the values of each benchmark in a year.
    fn year(self, name: &str, year: u64) -> Vec<Vec<f64>> {
        let of = |benchmark: usize| {
            let mut random = Seed(year).stream(&format!("{name} {benchmark}"));
            self.series(&mut random, BEFORE + NIGHTS)
        };
        (0..BENCHMARKS).map(of).collect()
    }
}

fn on_night(values: &[Vec<f64>], night: usize) -> Detection {
    let until: Vec<Vec<f64>> = values.iter().map(|it| it[..night].to_vec()).collect();
    detect(&histories(&until), &DetectOptions::default())
}

/// Returns the numbers of new regressions, of new improvements and of suspicions on some nights, each counted once per
/// benchmark and place.
fn alarms(values: &[Vec<f64>], nights: impl Iterator<Item = usize>) -> [usize; 3] {
    let mut seen: [BTreeSet<(usize, usize)>; 3] = Default::default();
    let note = |seen: &mut BTreeSet<(usize, usize)>, series: usize, place: usize| {
        let near = place.saturating_sub(SAME_PLACE)..=place + SAME_PLACE;
        if !near
            .into_iter()
            .any(|place| seen.contains(&(series, place)))
        {
            seen.insert((series, place));
        }
    };
    for night in nights {
        let detection = on_night(values, night);
        for finding in detection.findings.iter().filter(|it| it.is_open()) {
            let at = usize::from(finding.direction != Direction::Regression);
            note(&mut seen[at], finding.series, finding.first_after);
        }
        for it in &detection.suspicions {
            note(&mut seen[2], it.finding.series, it.finding.first_after);
        }
    }
    seen.map(|it| it.len())
}

/// Returns the number of nights until a step of so many standard deviations of normal noise is found in the first
/// benchmark; `None` if it takes more than the most.
fn delay(mut values: Vec<Vec<f64>>, deviations: f64, before: usize, most: usize) -> Option<usize> {
    for value in &mut values[0][before..] {
        *value *= 1.0 + 0.03 * deviations;
    }
    (1..=most).find(|nights| {
        let found = on_night(&values, before + nights).findings;
        let is_it = |it: &Finding| it.series == 0 && it.first_after.abs_diff(before) <= SAME_PLACE;
        found.iter().any(is_it)
    })
}

#[test]
fn stationary_noise_rarely_alarms_on_many_nights() {
    for (name, noise) in NOISES {
        let values = noise.year(name, 100);
        let some: Vec<Vec<f64>> = values.into_iter().take(20).collect();
        let [worse, better, suspected] = alarms(&some, (30..=150).step_by(8));
        assert!(
            worse + better <= 2 && suspected <= 2,
            "{name}: {worse} {better} {suspected}"
        );
    }
}

#[test]
fn a_large_step_is_found_on_the_third_night() {
    for (name, noise) in [NOISES[0], NOISES[4], NOISES[8]] {
        assert_eq!(delay(noise.year(name, 3), 10.0, 60, 3), Some(3), "{name}");
    }
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_delays() {
    let sizes = [1.0, 2.0, 3.0, 5.0, 10.0];
    println!("| noise | 1 σ | 2 σ | 3 σ | 5 σ | 10 σ |\n|---|--:|--:|--:|--:|--:|");
    for (name, noise) in NOISES {
        let cells = sizes.map(|deviations| {
            let (rounds, most) = (10_u64, 60);
            let years = (200..200 + rounds).into_par_iter();
            let delays = years.map(|year| delay(noise.year(name, year), deviations, 60, most));
            let mut delays: Vec<usize> = delays.map(|it| it.unwrap_or(most + 1)).collect();
            delays.sort_unstable();
            let show = |at: usize| match delays[at] {
                nights if nights > most => format!("> {most}"),
                nights => nights.to_string(),
            };
            format!(
                "{}, {}",
                show(delays.len() / 2 - 1),
                show(delays.len() * 9 / 10)
            )
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_alarms() {
    let years = 6_u64;
    println!("| noise | regressions per year | improvements | suspicions |\n|---|--:|--:|--:|");
    for (name, noise) in NOISES {
        let counts = (0..years).into_par_iter();
        let counts = counts.map(|year| alarms(&noise.year(name, year), BEFORE..=BEFORE + NIGHTS));
        let counts: Vec<[usize; 3]> = counts.collect();
        let mean = [0, 1, 2].map(|at| {
            let sum: usize = counts.iter().map(|it| it[at]).sum();
            format!("{:.2}", as_f64(sum) / as_f64(counts.len()))
        });
        println!("| {name} | {} |", mean.join(" | "));
    }
}
