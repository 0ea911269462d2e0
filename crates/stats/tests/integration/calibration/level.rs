//! Changes of a level: how often a series without a change has a finding, and how often a step is found.

use lapwing_stats::changepoint::{LevelOptions, level_changes, level_difference};
use lapwing_stats::{Confidence, as_f64};
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
    /// A standard deviation that wanders with a correlation of 0.9.
    Clusters,
}

const NOISES: [(&str, SeriesNoise); 9] = [
    ("normal", SeriesNoise::Normal),
    ("log-normal", SeriesNoise::Lognormal),
    ("AR(1), ρ = 0.3", SeriesNoise::Autocorrelated(0.3)),
    ("AR(1), ρ = 0.6", SeriesNoise::Autocorrelated(0.6)),
    ("2 % spikes × 1.5", SeriesNoise::Spikes),
    ("bimodal", SeriesNoise::Bimodal),
    ("failures of 10 %", SeriesNoise::Failures),
    ("rounded to σ", SeriesNoise::Rounded),
    ("volatility clusters", SeriesNoise::Clusters),
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
            Self::Clusters => {
                before = 0.9 * before + (1.0_f64 - 0.81).sqrt() * normal(random);
                normal(random) * (0.8 * before).exp()
            }
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
            // √e^(2 · 0.8²)
            Self::Clusters => 1.896,
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

/// Returns, for the finding that is nearest to a step: the share of series with one and of those within 5 runs; and
/// among them the shares of ranges that hold the place, their mean width, the shares of intervals that hold the size,
/// and the mean size in terms of the true one.
fn place_and_size(
    name: &str,
    noise: SeriesNoise,
    step: f64,
    [length, at]: [usize; 2],
    rounds: u32,
) -> [f64; 6] {
    let [found, near, held, width, covered, size] = average(name, rounds, |random| {
        let mut values = noise.series(random, length);
        let size = step * noise.deviation();
        for value in &mut values[at..] {
            *value += size;
        }
        let found = level_changes(&values, &LevelOptions::default());
        let changes = &found.changes;
        let nearest = (0..changes.len()).min_by_key(|change| changes[*change].index.abs_diff(at));
        let Some(nearest) = nearest else {
            return [0.0; 6];
        };
        let change = &changes[nearest];
        let start = nearest
            .checked_sub(1)
            .map_or(0, |before| changes[before].index);
        let end = changes.get(nearest + 1).map_or(length, |after| after.index);
        let difference = level_difference(
            &values[start..change.index],
            &values[change.index..end],
            found.autocorrelation,
            Some(0.05),
            Confidence::P95,
        );
        let difference = difference.unwrap();
        [
            1.0,
            count(change.index.abs_diff(at) <= 5),
            count(change.range.contains(&at)),
            as_f64(change.range.end() - change.range.start() + 1),
            count(difference.interval.contains(size)),
            (difference.after - difference.before) / size,
        ]
    });
    [
        found,
        near,
        held / found,
        width / found,
        covered / found,
        size / found,
    ]
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_places_and_sizes() {
    let mut table = String::from(
        "| noise | runs before / after | 1 σ | 1.5 σ | 2 σ | 3 σ | 5 σ |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let continuous = |it: &&(&str, SeriesNoise)| !matches!(it.1, SeriesNoise::Failures);
    for (name, noise) in NOISES.iter().filter(continuous) {
        for place in [[100, 50], [100, 90], [30, 20]] {
            let cells = [1.0, 1.5, 2.0, 3.0, 5.0].map(|step| {
                let [found, _, held, width, covered, size] =
                    place_and_size(name, *noise, step, place, 2000);
                let [found, held, covered] = [found, held, covered].map(|it| 100.0 * it);
                format!("{found:.0}: {held:.0} ({width:.1}), {covered:.0} ({size:.2})")
            });
            let [length, at] = place;
            table += &format!(
                "| {name} | {at} / {} | {} |\n",
                length - at,
                cells.join(" | ")
            );
        }
    }
    show(&table);
}

#[test]
fn ranges_and_sizes_of_what_is_found_hold() {
    for (name, noise) in NOISES {
        if matches!(noise, SeriesNoise::Failures) {
            continue;
        }
        let [found, _, held, width, covered, size] =
            place_and_size(name, noise, 3.0, [100, 60], 400);
        assert!(found >= 0.9 && held >= 0.93, "{name}: {found} {held}");
        assert!(covered >= 0.92 && width <= 6.0, "{name}: {covered} {width}");
        assert!((size - 1.0).abs() < 0.05, "{name}: {size}");
    }
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
    let steps = [
        (1.5, [100, 50]),
        (2.0, [100, 90]),
        (5.0, [100, 97]),
        (3.0, [30, 20]),
        (1.0, [500, 250]),
    ];
    let mut table = String::from(
        "| noise | quiet: 15 runs | 30 | 100 | 365 | p ≤ 0.001 in 100 | 1.5 σ, 50 / 50 | 2 σ, 90 / 10 | 5 σ, 97 / 3 | 3 σ, 20 / 10 | 1 σ, 250 / 250 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise) in NOISES {
        let lengths = [15, 30, 100, 365].map(|length| alarms(name, noise, length, 4000));
        let quiet = lengths.map(|[any, _]| any);
        let found = steps.map(|(step, place)| found(name, noise, step, place, 2000)[0]);
        let shares = quiet.iter().chain([&lengths[2][1]]).chain(&found);
        let shares: Vec<String> = shares.map(|it| format!("{:.1} %", 100.0 * it)).collect();
        table += &format!("| {name} | {} |\n", shares.join(" | "));
    }
    show(&table);
}
