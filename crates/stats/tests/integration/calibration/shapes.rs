//! What happened in a history: how often quiet series have a verdict, and how often steps, drifts and wandering are
//! found and called what they are.

use std::f64::consts::TAU;

use lapwing_stats::as_f64;
use lapwing_stats::changepoint::{LevelOptions, SeriesChanges, series_changes, slope};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::{average, count, show};

/// Noise of a series, with a standard deviation of about 1.
#[derive(Clone, Copy, PartialEq)]
enum Quiet {
    Normal,
    Lognormal,
    /// 2 % of the values 20 standard deviations higher.
    Spikes,
    /// 30 % of the values four standard deviations of the whole higher.
    Bimodal,
    /// 10 % of the values eight standard deviations higher.
    RareMode,
    Autocorrelated(f64),
    /// Standard deviations that themselves are autocorrelated.
    Clusters,
    /// Two days of seven higher by two standard deviations.
    Weekly,
    /// Multiples of this many standard deviations.
    Rounded(f64),
}

const QUIET: [(&str, Quiet); 11] = [
    ("normal", Quiet::Normal),
    ("log-normal", Quiet::Lognormal),
    ("2 % spikes of 20 σ", Quiet::Spikes),
    ("two modes, 30 %", Quiet::Bimodal),
    ("two modes, 10 %", Quiet::RareMode),
    ("AR(1), ρ = 0.3", Quiet::Autocorrelated(0.3)),
    ("AR(1), ρ = 0.6", Quiet::Autocorrelated(0.6)),
    ("volatility clusters", Quiet::Clusters),
    ("weekly rhythm", Quiet::Weekly),
    ("rounded to σ", Quiet::Rounded(1.0)),
    ("rounded to 2.5 σ", Quiet::Rounded(2.5)),
];

impl Quiet {
    fn series(self, random: &mut impl Rng, length: usize) -> Vec<f64> {
        let (mut before, mut volatility) = (normal(random), normal(random));
        let weekday = random.random_range(0..7_usize);
        let one = |at: usize| match self {
            Self::Normal => normal(random),
            Self::Lognormal => ((0.8 * normal(random)).exp() - 0.32_f64.exp()) / 1.2,
            Self::Spikes => normal(random) + 20.0 * chosen(random, 0.02),
            Self::Bimodal => 0.5 * normal(random) + 4.0 * chosen(random, 0.3),
            Self::RareMode => normal(random) + 8.0 * chosen(random, 0.1),
            Self::Autocorrelated(share) => {
                before = share * before + (1.0 - share * share).sqrt() * normal(random);
                before
            }
            Self::Clusters => {
                volatility = 0.95 * volatility + (1.0 - 0.95_f64.powi(2)).sqrt() * normal(random);
                normal(random) * (0.7 * volatility).exp()
            }
            Self::Weekly => normal(random) + 2.0 * count((at + weekday) % 7 >= 5),
            Self::Rounded(unit) => (normal(random) / unit).round() * unit,
        };
        (0..length).map(one).collect()
    }
}

/// Returns 1 with this probability, else 0.
fn chosen(random: &mut impl Rng, probability: f64) -> f64 {
    count(random.random::<f64>() < probability)
}

/// A series that wanders.
#[derive(Clone, Copy)]
enum Wandering {
    /// A random walk of 0.2 σ a run under noise.
    Walk,
    /// A random walk without other noise.
    PureWalk,
    /// A wave of 90 runs and 1 σ under noise.
    Wave,
    /// Four hosts that differ by 2 σ, changed in one of ten runs.
    Pools,
}

const WANDERING: [(&str, Wandering); 4] = [
    ("walk of 0.2 σ a run", Wandering::Walk),
    ("wave of 90 runs", Wandering::Wave),
    ("four hosts, kept for ten runs", Wandering::Pools),
    ("walk without noise", Wandering::PureWalk),
];

impl Wandering {
    fn series(self, random: &mut impl Rng, length: usize) -> Vec<f64> {
        let phase: f64 = random.random();
        let hosts: [f64; 4] = std::array::from_fn(|_| 2.0 * normal(random));
        let (mut walk, mut host) = (0.0, 0);
        let noise = count(!matches!(self, Self::PureWalk));
        let one = |at: usize| {
            let level = match self {
                Self::Walk => {
                    walk += 0.2 * normal(random);
                    walk
                }
                Self::PureWalk => {
                    walk += normal(random);
                    walk
                }
                Self::Wave => (TAU * (as_f64(at) / 90.0 + phase)).sin(),
                Self::Pools => {
                    if random.random::<f64>() < 0.1 {
                        host = random.random_range(0..4);
                    }
                    hosts[host]
                }
            };
            level + noise * normal(random)
        };
        (0..length).map(one).collect()
    }
}

/// How the logarithm of a level changes.
#[derive(Clone, Copy)]
enum Trend {
    Line,
    FlatThenLine,
    Falling,
    Slowing,
    Stairs(usize),
}

const TRENDS: [(&str, Trend); 7] = [
    ("line", Trend::Line),
    ("flat, then a line", Trend::FlatThenLine),
    ("falling line", Trend::Falling),
    ("slowing rise", Trend::Slowing),
    ("2 stairs", Trend::Stairs(2)),
    ("4 stairs", Trend::Stairs(4)),
    ("9 stairs", Trend::Stairs(9)),
];

impl Trend {
    /// Returns a history whose level changes by `total` in all, with noise of 1 %.
    fn series(self, random: &mut impl Rng, length: usize, total: f64) -> Vec<f64> {
        let level = |at: usize| {
            let share = as_f64(at) / as_f64(length);
            match self {
                Self::Line => (total * share).ln_1p(),
                Self::FlatThenLine => (total * (2.0 * share - 1.0).max(0.0)).ln_1p(),
                Self::Falling => -(total * share).ln_1p(),
                Self::Slowing => (total * (1.0 - (-3.0 * share).exp())).ln_1p(),
                Self::Stairs(steps) => {
                    (total * as_f64(at * (steps + 1) / length) / as_f64(steps)).ln_1p()
                }
            }
        };
        (0..length)
            .map(|at| level(at) + 0.01 * normal(random))
            .collect()
    }
}

fn changes(values: &[f64]) -> SeriesChanges {
    series_changes(values, &LevelOptions::default())
}

/// Returns the shares of series with steps alone, with a drift, and of those that wander, and the mean number of findings.
fn verdicts(
    name: &str,
    rounds: u32,
    series: impl Fn(&mut rand_xoshiro::Xoshiro256PlusPlus) -> Vec<f64> + Sync,
) -> [f64; 4] {
    average(name, rounds, |random| {
        let found = changes(&series(random));
        let is_drift = found.drift.is_some();
        [
            count(!is_drift && !found.steps.is_empty()),
            count(is_drift),
            count(found.wanders),
            as_f64(found.steps.len()) + count(is_drift),
        ]
    })
}

fn quiet(name: &str, noise: Quiet, length: usize, rounds: u32) -> [f64; 4] {
    verdicts(name, rounds, |random| noise.series(random, length))
}

fn step(noise: Quiet, size: f64, [length, at]: [usize; 2], rounds: u32) -> [f64; 4] {
    verdicts("step of a history", rounds, |random| {
        let mut values = noise.series(random, length);
        for value in &mut values[at..] {
            *value += size;
        }
        values
    })
}

/// Returns the shares of 120 staircases in which nothing is found, and in which each step is at its place.
fn staircases() -> [f64; 2] {
    let (mut missed, mut exact) = (0.0, 0.0);
    for steps in 1..=4_usize {
        for length in [24, 40, 60_usize] {
            let [none, all] = average(&format!("{steps} of {length}"), 100, |random| {
                let level = |at: usize| 100.0 + 50.0 * as_f64(at * (steps + 1) / length);
                let values: Vec<f64> = (0..length)
                    .map(|at| (level(at) + 0.5 * normal(random)).ln())
                    .collect();
                let found = changes(&values);
                let places: Vec<usize> = found.steps.iter().map(|step| step.index).collect();
                let expected: Vec<usize> = (1..=steps)
                    .map(|step| (length * step).div_ceil(steps + 1))
                    .collect();
                [
                    count(found.steps.is_empty() && found.drift.is_none()),
                    count(found.drift.is_none() && places == expected),
                ]
            });
            missed += none / 12.0;
            exact += all / 12.0;
        }
    }
    [missed, exact]
}

/// Returns the coverage of the slope's interval and the mean half width in terms of the slope.
fn slopes(noise: Quiet, length: usize, total: f64, rounds: u32) -> [f64; 2] {
    average("slope", rounds, |random| {
        let times: Vec<f64> = (0..length).map(as_f64).collect();
        let truth = total / as_f64(length);
        let mut values = noise.series(random, length);
        for (value, time) in values.iter_mut().zip(&times) {
            *value += truth * time;
        }
        let found = slope(&values, &times).unwrap();
        [
            count(found.interval.contains(truth)),
            found.interval.width() / 2.0 / truth,
        ]
    })
}

#[test]
fn quiet_series_rarely_have_a_verdict() {
    for (name, noise) in QUIET {
        for (length, most) in [(15, 0.09), (30, 0.06), (100, 0.08)] {
            let [steps, drift, wanders, _] = quiet(name, noise, length, 200);
            let any = steps + drift + wanders;
            assert!(any <= most, "{name}, {length}: {any}");
        }
    }
}

#[test]
fn drifts_of_ten_times_the_noise_are_found_and_called_drifts() {
    for (name, trend) in &TRENDS[..3] {
        for length in [30, 60, 100] {
            for total in [0.1, 1.0] {
                let [_, drift, _, _] =
                    verdicts("drift", 100, |random| trend.series(random, length, total));
                assert!(drift >= 0.95, "{name}, {length}, {total}: {drift}");
            }
        }
    }
}

#[test]
fn staircases_are_staircases() {
    let [missed, exact] = staircases();
    assert!(missed <= 0.0 && exact >= 0.95, "{missed} {exact}");
}

#[test]
fn single_steps_are_steps() {
    let [steps, drift, _, _] = step(Quiet::Normal, 1.5, [100, 50], 200);
    assert!(steps >= 0.88 && drift <= 0.06, "{steps} {drift}");
    let [steps, drift, _, _] = step(Quiet::Normal, 5.0, [15, 7], 400);
    assert!(steps + drift >= 0.87, "{steps} {drift}");
}

#[test]
fn what_wanders_for_a_year_is_said_to_wander() {
    for ((name, kind), least) in WANDERING.into_iter().zip([0.85, 0.9, 0.7, 0.8]) {
        let [_, _, wanders, findings] = verdicts(name, 100, |random| kind.series(random, 365));
        assert!(
            wanders >= least && findings <= 1.3,
            "{name}: {wanders} {findings}"
        );
    }
}

#[test]
fn slopes_keep_their_intervals() {
    for (noise, length, least) in [
        (Quiet::Normal, 30, 0.93),
        (Quiet::Autocorrelated(0.6), 60, 0.9),
        (Quiet::Clusters, 60, 0.88),
    ] {
        let [covered, _] = slopes(noise, length, 10.0, 400);
        assert!(covered >= least, "{length}: {covered}");
    }
}

/// Returns, of drifts that begin half-way and rise by ten standard deviations, the share whose slope is covered where one
/// without a bend is found, and the share of these.
fn found_slopes(noise: Quiet, length: usize, rounds: u32) -> [f64; 2] {
    let truth = 20.0 / as_f64(length);
    let [found, covered] = average("found slope", rounds, |random| {
        let mut values = noise.series(random, length);
        for (at, value) in values.iter_mut().enumerate() {
            *value += truth * (as_f64(at) - as_f64(length) / 2.0).max(0.0);
        }
        let drift = changes(&values).drift.filter(|drift| drift.bend.is_none());
        drift.map_or([0.0; 2], |drift| {
            let times: Vec<f64> = drift.range.clone().map(as_f64).collect();
            let found = slope(&values[drift.range], &times).unwrap();
            [1.0, count(found.interval.contains(truth))]
        })
    });
    [covered / found, found]
}

/// A level by the share of the runs that have passed.
type LevelAt = fn(f64) -> f64;

/// Histories of more than one part.
const MIXED: [(&str, LevelAt); 6] = [
    ("level, step of 5 σ and at once a line of 10 σ", |time| {
        count(time >= 0.5) * (5.0 + 20.0 * (time - 0.5))
    }),
    ("step of 5 σ, later a line of 10 σ", |time| {
        5.0 * count(time >= 0.3) + 25.0 * (time - 0.6).max(0.0)
    }),
    ("line of 6.7 σ, back by a step", |time| {
        10.0 * time * count(time < 0.67)
    }),
    ("line of 6 σ and a step of 6 σ", |time| {
        6.0 * time + 6.0 * count(time >= 0.7)
    }),
    ("6 σ up, and back", |time| {
        6.0 * count((0.5..0.75).contains(&time))
    }),
    ("two steps of 3 σ", |time| {
        3.0 * (count(time >= 0.33) + count(time >= 0.66))
    }),
];

/// Returns shares in per cent, as cells of a table.
fn cells(shares: &[f64]) -> String {
    let cell = |share: &f64| format!(" {:.1} |", 100.0 * share);
    shares.iter().map(cell).collect()
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_quiet_histories() {
    let lengths = [(15, 2000), (30, 2000), (60, 2000), (100, 2000), (365, 400)];
    let mut table = String::new();
    for (name, noise) in QUIET {
        table += &format!("| {name} |");
        for (length, rounds) in lengths {
            let [steps, drift, wanders, _] = quiet(name, noise, length, rounds);
            table += &format!(
                " {:.1} / {:.1} / {:.1} |",
                100.0 * steps,
                100.0 * drift,
                100.0 * wanders
            );
        }
        table += "\n";
    }
    show(&table);
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_drifts() {
    let mut table = String::new();
    for (name, trend) in TRENDS {
        for total in [0.05, 0.1, 0.2, 1.0] {
            table += &format!("| {name} | {:.0} % |", 100.0 * total);
            for length in [30, 60, 100] {
                let [steps, drift, _, _] =
                    verdicts(name, 300, |random| trend.series(random, length, total));
                table += &format!(" {:.0} / {:.0} |", 100.0 * (steps + drift), 100.0 * drift);
            }
            table += "\n";
        }
    }
    show(&table);
    let [missed, exact] = staircases();
    show(&format!("1,200 staircases: missed {missed}, exact {exact}"));
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_steps_and_wandering() {
    let mut table = String::new();
    for (noise, name, size, place) in [
        (Quiet::Normal, "normal", 3.0, [12, 6]),
        (Quiet::Normal, "normal", 3.0, [15, 7]),
        (Quiet::Normal, "normal", 5.0, [15, 7]),
        (Quiet::Normal, "normal", 3.0, [19, 9]),
        (Quiet::Normal, "normal", 3.0, [30, 15]),
        (Quiet::Normal, "normal", 1.5, [100, 50]),
        (Quiet::Normal, "normal", 2.0, [100, 90]),
        (Quiet::Autocorrelated(0.3), "AR(1), ρ = 0.3", 3.0, [100, 50]),
        (Quiet::Autocorrelated(0.6), "AR(1), ρ = 0.6", 3.0, [100, 50]),
    ] {
        let shares = step(noise, size, place, 1000);
        table += &format!("| {name} | {size} σ | {} of {} |", place[1], place[0]);
        table += &(cells(&shares[..3]) + "\n");
    }
    show(&table);
    let mut table = String::new();
    for (name, kind) in WANDERING {
        for (length, rounds) in [(60, 500), (100, 500), (365, 300)] {
            let shares = verdicts(name, rounds, |random| kind.series(random, length));
            table += &format!(
                "| {name} | {length} |{} {:.1} |\n",
                cells(&shares[..3]),
                shares[3]
            );
        }
    }
    show(&table);
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_slopes() {
    let mut table = String::new();
    for at in [0, 5, 6, 7, 8] {
        let (name, noise) = QUIET[at];
        table += &format!("| {name} |");
        for length in [30, 60, 100] {
            let [covered, width] = slopes(noise, length, 10.0, 4000);
            table += &format!(" {covered:.3} ({width:.2}) |");
        }
        for length in [60, 100] {
            let [covered, found] = found_slopes(noise, length, 1000);
            table += &format!(" {covered:.2} ({:.0} %) |", 100.0 * found);
        }
        table += "\n";
    }
    show(&table);
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_mixed_histories() {
    let mut table = String::new();
    for (name, level) in MIXED {
        table += &format!("| {name} |");
        for length in [30_usize, 60, 100, 365] {
            let shares = average(name, 300, |random| {
                let values: Vec<f64> = (0..length)
                    .map(|at| level(as_f64(at) / as_f64(length)) + normal(random))
                    .collect();
                let found = changes(&values);
                let [steps, drift] = [!found.steps.is_empty(), found.drift.is_some()];
                [
                    count(steps && !drift),
                    count(drift && !steps),
                    count(steps && drift),
                    count(found.wanders),
                ]
            });
            let shares = shares.map(|share| format!("{:.0}", 100.0 * share));
            table += &format!(" {} |", shares.join(" / "));
        }
        table += "\n";
    }
    show(&table);
}
