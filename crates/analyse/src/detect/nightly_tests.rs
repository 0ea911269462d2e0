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
            let seed = Seed(year).stream(&format!("{name} {benchmark}"));
            let mut random = seed;
            self.series(&mut random, BEFORE + NIGHTS)
        };
        (0..BENCHMARKS).map(of).collect()
    }
}

fn on_night(values: &[Vec<f64>], night: usize) -> Detection {
    let until: Vec<Vec<f64>> = values.iter().map(|it| it[..night].to_vec()).collect();
    detect(&histories(&until), &DetectOptions::default())
}

/// Returns the numbers of new regressions and of new improvements, each counted once per benchmark and place, and of
/// suspicions.
fn alarms(values: &[Vec<f64>]) -> [usize; 3] {
    let mut seen: [BTreeSet<(usize, usize)>; 3] = Default::default();
    let note = |seen: &mut BTreeSet<(usize, usize)>, series: usize, place: usize| {
        let near = place.saturating_sub(SAME_PLACE)..=place + SAME_PLACE;
        let is_known = seen.iter().any(|it| it.0 == series && near.contains(&it.1));
        if !is_known {
            seen.insert((series, place));
        }
    };
    for night in BEFORE..=BEFORE + NIGHTS {
        let detection = on_night(values, night);
        for finding in detection.findings.iter().filter(|it| it.is_open()) {
            let at = usize::from(finding.direction != Direction::Regression);
            if std::env::var("SHOW").is_ok() {
                let near = finding.first_after.saturating_sub(SAME_PLACE)
                    ..=finding.first_after + SAME_PLACE;
                if !seen[at]
                    .iter()
                    .any(|it| it.0 == finding.series && near.contains(&it.1))
                {
                    println!(
                        "NEW night {night} runs {:?} {:?} {:?}",
                        finding.runs, finding.kind, finding.evidence
                    );
                }
            }
            note(&mut seen[at], finding.series, finding.first_after);
        }
        for it in &detection.suspicions {
            note(&mut seen[2], it.finding.series, it.finding.first_after);
        }
    }
    seen.map(|it| it.len())
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_alarms() {
    let years: u64 = std::env::var("YEARS").map_or(4, |it| it.parse().expect("a number"));
    let only = std::env::var("NOISE").unwrap_or_default();
    println!("| noise | regressions per year | improvements | suspicions |\n|---|--:|--:|--:|");
    for (name, noise) in NOISES.iter().filter(|it| it.0.contains(&only)) {
        let counts = (0..years).into_par_iter();
        let counts = counts.map(|year| alarms(&noise.year(name, year)));
        let counts: Vec<[usize; 3]> = counts.collect();
        let mean = [0, 1, 2].map(|at| {
            let sum: usize = counts.iter().map(|it| it[at]).sum();
            format!("{:.2}", as_f64(sum) / as_f64(counts.len()))
        });
        println!("| {name} | {} |", mean.join(" | "));
    }
}
