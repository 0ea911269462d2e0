//! How well the steady state is found where the truth is known, by simulation.
//!
//! Fixed seeds: a run gives the same counts always. `docs/calibration.md` keeps the large table.

use lapwing_stats::Seed;
use lapwing_stats::steady::krun::{Krun, Reach, krun};
use lapwing_stats::steady::traini::{Traini, traini};
use lapwing_stats::steady::{Class, SteadyOptions, mser5, steady_state};
use rand::{Rng, RngExt};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Flat,
    StepWarmUp,
    ExponentialWarmUp,
    Slowdown,
    Drift,
    Restless,
    Cycle,
}

const SHAPES: [Shape; 7] = [
    Shape::Flat,
    Shape::StepWarmUp,
    Shape::ExponentialWarmUp,
    Shape::Slowdown,
    Shape::Drift,
    Shape::Restless,
    Shape::Cycle,
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum NoiseKind {
    Normal,
    LogNormal,
    Autocorrelated,
    Spikes,
}

const NOISES: [NoiseKind; 4] = [
    NoiseKind::Normal,
    NoiseKind::LogNormal,
    NoiseKind::Autocorrelated,
    NoiseKind::Spikes,
];

const LENGTHS: [usize; 4] = [30, 100, 500, 3000];

/// The margin within which a level counts as steady, for the truth as for the default.
const MARGIN: f64 = 0.03;

/// A simulated series and the truth about it.
struct Simulated {
    values: Vec<f64>,
    class: Class,
    /// The first iteration whose expectation is within the margin of the steady level.
    start: Option<usize>,
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

fn between(random: &mut impl Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.random::<f64>()
}

/// Uniform on a log scale.
fn around(random: &mut impl Rng, low: f64, high: f64) -> f64 {
    between(random, low.ln(), high.ln()).exp()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn whole(value: f64) -> usize {
    value as usize
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn real(value: usize) -> f64 {
    value as f64
}

/// Relative levels of a shape, 1 being the steady one, with its class.
fn levels(random: &mut impl Rng, shape: Shape, n: usize) -> (Vec<f64>, Class) {
    let length = real(n);
    let change = whole(between(random, 0.03 * length, 0.4 * length)).max(2);
    let height = around(random, 0.15, 1.5);
    let step = |level: f64| (0..n).map(|i| if i < change { level } else { 1.0 }).collect();
    match shape {
        Shape::Flat => (vec![1.0; n], Class::Flat),
        Shape::StepWarmUp => (step(1.0 + height), Class::WarmUp),
        Shape::ExponentialWarmUp => {
            let start = 0.1 + height;
            let pace = real(change) / (start / MARGIN).ln();
            let at = |i: usize| 1.0 + start * (-real(i) / pace).exp();
            ((0..n).map(at).collect(), Class::WarmUp)
        }
        Shape::Slowdown => (step(1.0 / (1.0 + height)), Class::Slowdown),
        Shape::Drift => {
            let total = between(random, 0.3, 1.0) * if random.random() { 1.0 } else { -1.0 };
            let at = |i: usize| (total * real(i) / length).exp();
            ((0..n).map(at).collect(), Class::NoSteadyState)
        }
        Shape::Restless => {
            let pieces = 6 + whole(between(random, 0.0, 4.0));
            let mut level = 1.0;
            let mut levels = Vec::with_capacity(n);
            for piece in 0..pieces {
                let end = n * (piece + 1) / pieces;
                while levels.len() < end {
                    levels.push(level);
                }
                let height = 1.0 + around(random, 0.1, 0.6);
                level *= if random.random() { height } else { 1.0 / height };
            }
            (levels, Class::NoSteadyState)
        }
        Shape::Cycle => {
            let period = whole(around(random, 4.0, (length / 6.0).max(5.0))).max(4);
            let height = between(random, 0.1, 0.5);
            let square: bool = random.random();
            let at = |i: usize| {
                let phase = real(i % period) / real(period);
                let wave = (std::f64::consts::TAU * phase).sin();
                1.0 + height * if square { wave.signum() / 2.0 } else { wave }
            };
            ((0..n).map(at).collect(), Class::Cyclic)
        }
    }
}

fn simulate(random: &mut impl Rng, shape: Shape, kind: NoiseKind, n: usize) -> Simulated {
    let (levels, class) = levels(random, shape, n);
    let scale = around(random, 0.02, 5.0);
    let spread = around(random, 0.005, 0.02);
    let mut previous = normal(random);
    let values = levels
        .iter()
        .map(|level| {
            let noise = match kind {
                NoiseKind::Normal => 1.0 + spread * normal(random),
                NoiseKind::LogNormal => (spread * normal(random)).exp(),
                NoiseKind::Autocorrelated => {
                    previous = 0.5 * previous + 0.75_f64.sqrt() * normal(random);
                    1.0 + spread * previous
                }
                NoiseKind::Spikes => {
                    let spike = random.random::<f64>() < 0.02;
                    let height = if spike { between(random, 0.2, 3.0) } else { 0.0 };
                    (1.0 + spread * normal(random)) * (1.0 + height)
                }
            };
            scale * level * noise
        })
        .collect();
    let start = match class {
        Class::Flat => Some(0),
        Class::WarmUp | Class::Slowdown => {
            let outside = levels.iter().rposition(|level| (level - 1.0).abs() > MARGIN);
            Some(outside.map_or(0, |last| last + 1))
        }
        Class::Cyclic | Class::NoSteadyState | Class::TooShort => None,
    };
    Simulated { values, class, start }
}

/// Whether a start lies within the first 5 % of the steady part, or is its first or second iteration.
fn start_is_good(truth: usize, found: Option<usize>, n: usize) -> bool {
    let slack = whole(real(n - truth) * 0.05).max(1);
    found.is_some_and(|found| truth <= found && found <= truth + slack)
}

/// What one method said.
struct Answer {
    class: Option<Class>,
    start: Option<usize>,
}

const METHODS: [&str; 5] = ["ours", "krun", "krun sd", "traini", "mser-5"];

fn answer(method: &str, values: &[f64], name: &str) -> Answer {
    let n = values.len();
    match method {
        "ours" => {
            let found = steady_state(values, &SteadyOptions::default()).expect("positive");
            Answer { class: Some(found.class), start: found.start }
        }
        "krun" | "krun sd" => {
            let reach = if method == "krun" { Reach::Variance } else { Reach::Deviation };
            let options = Krun { steady: n / 4, reach, ..Krun::default() };
            let found = krun(values, &options);
            Answer { class: Some(found.class), start: found.start }
        }
        "traini" => {
            let options = Traini { latest_start: n * 5 / 6, resamples: 1000, ..Traini::default() };
            let found = traini(values, &options, &mut Seed(7).stream(name));
            let start = found.start.map(|at| if at == 0 { 0 } else { at + 1 });
            Answer { class: None, start }
        }
        _ => Answer { class: None, start: mser5(values) },
    }
}

/// How often a method named the class, and how often its start was good.
#[derive(Default, Clone, Copy)]
struct Score {
    rounds: u32,
    classes: u32,
    starts: u32,
}

fn score(method: &str, shape: Shape, kind: NoiseKind, n: usize, rounds: u32) -> Score {
    let name = format!("{shape:?} {kind:?} {n}");
    let mut random = Seed(7).stream(&name);
    let mut score = Score::default();
    for _ in 0..rounds {
        let simulated = simulate(&mut random, shape, kind, n);
        let answer = answer(method, &simulated.values, &name);
        score.rounds += 1;
        score.classes += u32::from(answer.class == Some(simulated.class));
        score.starts += u32::from(
            simulated.start.is_some_and(|start| start_is_good(start, answer.start, n)),
        );
    }
    score
}

#[test]
#[ignore = "for tuning"]
fn tuning() {
    let rounds: u32 = std::env::var("ROUNDS").map_or(300, |it| it.parse().expect("a number"));
    let methods = std::env::var("METHODS").unwrap_or_else(|_| "ours".to_owned());
    #[expect(clippy::print_stdout, reason = "the table is what this is run for")]
    for shape in SHAPES {
        for method in METHODS.iter().filter(|it| methods.split(',').any(|one| one == **it)) {
            for n in LENGTHS {
                let mut line = format!("{shape:?} {method} {n}");
                for kind in NOISES {
                    let score = score(method, shape, kind, n, rounds);
                    let share = |count: u32| 100.0 * f64::from(count) / f64::from(score.rounds);
                    line.push_str(&format!("   {:5.1} {:5.1}", share(score.classes), share(score.starts)));
                }
                println!("{line}");
            }
        }
    }
}

#[test]
#[ignore = "for tuning"]
fn confusion() {
    let rounds: u32 = std::env::var("ROUNDS").map_or(300, |it| it.parse().expect("a number"));
    let mut options = SteadyOptions::default();
    if let Ok(p) = std::env::var("PENALTY") { options.penalty = p.parse().expect("a number"); }
    if let Ok(p) = std::env::var("GUARD") { options.guard = p.parse().expect("a number"); }
    #[expect(clippy::print_stdout, reason = "the table is what this is run for")]
    for n in LENGTHS {
        for shape in SHAPES {
            let mut line = format!("{n} {shape:?}: ");
            for kind in NOISES {
                let name = format!("{shape:?} {kind:?} {n}");
                let mut random = Seed(8).stream(&name);
                let mut good = [0, 0];
                for _ in 0..rounds {
                    let s = simulate(&mut random, shape, kind, n);
                    let found = steady_state(&s.values, &options).expect("positive");
                    good[0] += u32::from(s.class == found.class);
                    good[1] += u32::from(s.start.is_some_and(|start| start_is_good(start, found.start, n)));
                }
                line.push_str(&format!(" {:3} {:3}  ", 100 * good[0] / rounds, 100 * good[1] / rounds));
            }
            println!("{line}");
        }
    }
}
