//! Changes of a level: how often a series without a change has a finding, and how often a step is found.

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::{average, count, show};

/// Noise of a series of runs.
#[derive(Clone, Copy)]
enum SeriesNoise {
    Normal,
    Lognormal,
    /// With this correlation between neighbours.
    Autocorrelated(f64),
    /// 2 % of the values half as large again.
    Spikes,
    /// Two levels, a tenth apart.
    Bimodal,
    /// Failures: 1 with a probability of 10 %.
    Failures,
    /// Rounded to a standard deviation.
    Rounded,
}

const NOISES: [(&str, SeriesNoise); 8] = [
    ("normal", SeriesNoise::Normal),
    ("log-normal", SeriesNoise::Lognormal),
    ("AR(1), ρ = 0.3", SeriesNoise::Autocorrelated(0.3)),
    ("AR(1), ρ = 0.6", SeriesNoise::Autocorrelated(0.6)),
    ("2 % spikes × 1.5", SeriesNoise::Spikes),
    ("bimodal", SeriesNoise::Bimodal),
    ("failures of 10 %", SeriesNoise::Failures),
    ("rounded to σ", SeriesNoise::Rounded),
];

impl SeriesNoise {
    fn series(self, random: &mut impl Rng, length: usize) -> Vec<f64> {
        let mut before = normal(random);
        let one = |_| match self {
            Self::Normal => normal(random),
            Self::Lognormal => normal(random).exp(),
            Self::Autocorrelated(share) => {
                before = share * before + (1.0 - share * share).sqrt() * normal(random);
                before
            }
            Self::Spikes => {
                let spike = if random.random::<f64>() < 0.02 {
                    1.5
                } else {
                    1.0
                };
                spike + 0.05 * normal(random)
            }
            Self::Bimodal => {
                let level = if random.random::<bool>() { 1.1 } else { 1.0 };
                level + 0.02 * normal(random)
            }
            Self::Failures => count(random.random::<f64>() < 0.1),
            Self::Rounded => normal(random).round(),
        };
        (0..length).map(one).collect()
    }

    /// The standard deviation.
    fn deviation(self) -> f64 {
        match self {
            Self::Normal | Self::Autocorrelated(_) => 1.0,
            // √(e (e − 1))
            Self::Lognormal => 2.161,
            // √(0.05² + 0.25 · 0.02 · 0.98)
            Self::Spikes => 0.0860,
            // √(0.02² + 0.05²)
            Self::Bimodal => 0.0539,
            Self::Failures => 0.3,
            // √(1 + 1 / 12)
            Self::Rounded => 1.041,
        }
    }
}

/// Returns the shares of series with a finding, and with one below 0.1 % after its own correction.
fn alarms(name: &str, noise: SeriesNoise, length: usize, rounds: u32) -> [f64; 2] {
    average(name, rounds, |random| {
        let found = level_changes(&noise.series(random, length), &LevelOptions::default());
        let smallest = found.changes.iter().map(|change| change.p_value);
        let smallest = smallest.fold(1.0, f64::min);
        [count(smallest <= 0.05), count(smallest <= 0.001)]
    })
}

/// Returns the shares of series in which a step is found within 5 runs, found and covered by its range, and in which
/// something else is found.
fn found(
    name: &str,
    noise: SeriesNoise,
    step: f64,
    [length, at]: [usize; 2],
    rounds: u32,
) -> [f64; 3] {
    average(name, rounds, |random| {
        let mut values = noise.series(random, length);
        for value in &mut values[at..] {
            *value += step * noise.deviation();
        }
        let found = level_changes(&values, &LevelOptions::default()).changes;
        let near = found.iter().find(|change| change.index.abs_diff(at) <= 5);
        let covered = found.iter().any(|change| change.range.contains(&at));
        let other = found.iter().any(|change| change.index.abs_diff(at) > 5);
        [count(near.is_some()), count(covered), count(other)]
    })
}

#[test]
fn quiet_series_alarm_no_more_often_than_stated() {
    for (name, noise) in NOISES {
        let [any, _] = alarms(name, noise, 100, 1000);
        assert!(any <= 0.05, "{name}: {any}");
    }
}

#[test]
fn steps_are_found() {
    let [near, _, _] = found("step", SeriesNoise::Normal, 1.5, [100, 50], 1000);
    assert!(near >= 0.93, "{near}");
    let [late, _, _] = found("late step", SeriesNoise::Normal, 3.0, [100, 95], 1000);
    assert!(late >= 0.93, "{late}");
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_level_changes() {
    let mut table =
        String::from("| noise | runs | series with a finding | p ≤ 0.001 |\n|---|--:|--:|--:|\n");
    for (name, noise) in NOISES {
        for length in [15, 30, 100, 500] {
            let [any, rare] = alarms(name, noise, length, 10_000);
            table += &format!(
                "| {name} | {length} | {:.1} % | {:.2} % |\n",
                100.0 * any,
                100.0 * rare
            );
        }
    }
    show(&table);
    let mut table = String::from(
        "| noise | step | runs before / after | found within 5 | range covers it | another finding |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise) in &NOISES[..6] {
        for step in [1.0, 1.5, 2.0, 5.0] {
            for place in [
                [100, 50],
                [100, 90],
                [100, 95],
                [100, 97],
                [30, 20],
                [500, 250],
            ] {
                let [near, covered, other] = found(name, *noise, step, place, 2000);
                table += &format!(
                    "| {name} | {step} σ | {} / {} | {:.1} % | {:.1} % | {:.1} % |\n",
                    place[1],
                    place[0] - place[1],
                    100.0 * near,
                    100.0 * covered,
                    100.0 * other
                );
            }
        }
    }
    show(&table);
}
