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
    let rounds = std::env::var("ROUNDS").map_or(1000, |it| it.parse().unwrap());
    let mut table = String::from(
        "| noise | step | runs before / after | found | within 5 | range holds it | its mean width | interval holds the size | mean size / true |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise) in NOISES
        .iter()
        .filter(|it| !matches!(it.1, SeriesNoise::Failures))
    {
        for step in [1.0, 1.5, 2.0, 3.0, 5.0] {
            for place in [[100, 50], [100, 90], [30, 20]] {
                let [found, near, held, width, covered, size] =
                    place_and_size(name, *noise, step, place, rounds);
                table += &format!(
                    "| {name} | {step} σ | {} / {} | {:.1} % | {:.1} % | {:.1} % | {width:.1} | {:.1} % | {size:.2} |\n",
                    place[1],
                    place[0] - place[1],
                    100.0 * found,
                    100.0 * near,
                    100.0 * held,
                    100.0 * covered,
                );
            }
        }
    }
    show(&table);
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

#[test]
#[ignore = "probe"]
fn probe() {
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let welch = |a: &[f64], b: &[f64]| {
        let (na, nb) = (as_f64(a.len()), as_f64(b.len()));
        let (ma, mb) = (a.iter().sum::<f64>() / na, b.iter().sum::<f64>() / nb);
        let v = |x: &[f64], m: f64| {
            x.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (as_f64(x.len()) - 1.0)
        };
        let (ea, eb) = (v(a, ma) / na, v(b, mb) / nb);
        let df = (ea + eb).powi(2) / (ea * ea / (na - 1.0) + eb * eb / (nb - 1.0));
        2.0 * StudentsT::new(0.0, 1.0, df)
            .unwrap()
            .sf((mb - ma).abs() / (ea + eb).sqrt())
    };
    let spread = |values: &[f64]| {
        // pooled autocorrelation of the log absolute differences two or more apart
        let d: Vec<f64> = values
            .windows(2)
            .map(|w| ((w[1] - w[0]).abs()).max(1e-12))
            .collect();
        let mut sorted = d.clone();
        sorted.sort_by(f64::total_cmp);
        let n = as_f64(sorted.len() + 1);
        let score = |v: f64| as_f64(sorted.partition_point(|x| *x < v)) / n - 0.5;
        let s: Vec<f64> = d.iter().map(|v| score(*v)).collect();
        let var = s.iter().map(|v| v * v).sum::<f64>();
        let mut sum = 0.0;
        for lag in 2..=6 {
            sum += s.windows(lag + 1).map(|w| w[0] * w[lag]).sum::<f64>() / var;
        }
        sum / 5.0 * as_f64(values.len()).sqrt() * 5.0_f64.sqrt()
    };
    let of = |name: &str, noise: SeriesNoise, length: usize, step: f64, at: usize| {
        let r: [f64; 10] = average(name, 4000, |random| {
            let mut values = noise.series(random, length);
            for value in &mut values[at..] {
                *value += step * noise.deviation();
            }
            let found = level_changes(&values, &LevelOptions::default());
            let changes = &found.changes;
            let mut out = [0.0; 10];
            let h = spread(&values);
            out[7] = count(h > 1.5);
            out[8] = count(h > 2.0);
            out[9] = count(h > 3.0);
            for k in 0..changes.len() {
                let c = &changes[k];
                if step > 0.0 && c.index.abs_diff(at) > 5 {
                    continue;
                }
                let start = k.checked_sub(1).map_or(0, |b| changes[b].index);
                let end = changes.get(k + 1).map_or(length, |a| a.index);
                out[0] = 1.0;
                if end - c.index <= 5 {
                    out[1] = 1.0;
                }
                let p = welch(&values[start..c.index], &values[c.index..end]);
                for (i, level) in [0.01, 0.001, 0.0001, 0.00001, 0.000001]
                    .into_iter()
                    .enumerate()
                {
                    if p < level {
                        out[2 + i] = 1.0;
                    }
                }
            }
            out
        });
        println!(
            "{name} {length} {step} {at}: {:?}",
            r.map(|it| (it * 1000.0).round() / 10.0)
        );
    };
    println!("any, late, 1e-2 .. 1e-6, h>1.5 2 3");
    for (name, noise) in NOISES {
        for length in [30, 60, 100, 365] {
            of(name, noise, length, 0.0, 0);
        }
    }
    for (name, noise) in NOISES {
        if matches!(noise, SeriesNoise::Failures) {
            continue;
        }
        of(name, noise, 100, 1.5, 50);
        of(name, noise, 100, 2.0, 90);
        of(name, noise, 100, 5.0, 97);
        of(name, noise, 30, 3.0, 20);
    }
}
