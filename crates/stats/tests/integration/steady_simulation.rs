//! How well the steady state is found where the truth is known, by simulation.
//!
//! Fixed seeds: a run gives the same counts always. `docs/calibration.md` keeps the large table.

use lapwing_stats::Seed;
use lapwing_stats::steady::{Class, SteadyOptions, steady_state};
use rand::{Rng, RngExt};

use crate::krun::{Reach, krun};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Flat,
    StepWarmUp,
    ExponentialWarmUp,
    LinearWarmUp,
    Slowdown,
    Drift,
    Restless,
    Cycle,
}

const SHAPES: [Shape; 8] = [
    Shape::Flat,
    Shape::StepWarmUp,
    Shape::ExponentialWarmUp,
    Shape::LinearWarmUp,
    Shape::Slowdown,
    Shape::Drift,
    Shape::Restless,
    Shape::Cycle,
];

/// The shapes that have a steady state whose start is known.
const STEADY: [Shape; 5] = [
    Shape::Flat,
    Shape::StepWarmUp,
    Shape::ExponentialWarmUp,
    Shape::LinearWarmUp,
    Shape::Slowdown,
];

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::StepWarmUp => "warm-up, step",
            Self::ExponentialWarmUp => "warm-up, exponential",
            Self::LinearWarmUp => "warm-up, linear",
            Self::Slowdown => "slowdown, step",
            Self::Drift => "no steady state, drift",
            Self::Restless => "no steady state, steps",
            Self::Cycle => "cyclic",
        }
    }
}

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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small and positive"
)]
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
    let step = |level: f64| {
        (0..n)
            .map(|i| if i < change { level } else { 1.0 })
            .collect()
    };
    match shape {
        Shape::Flat => (vec![1.0; n], Class::Flat),
        Shape::StepWarmUp => (step(1.0 + height), Class::WarmUp),
        Shape::ExponentialWarmUp => {
            let start = 0.1 + height;
            let pace = real(change) / (start / MARGIN).ln();
            let at = |i: usize| 1.0 + start * (-real(i) / pace).exp();
            ((0..n).map(at).collect(), Class::WarmUp)
        }
        Shape::LinearWarmUp => {
            let at = |i: usize| 1.0 + height * (1.0 - real(i) / real(change)).max(0.0);
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
                level *= if random.random() {
                    height
                } else {
                    1.0 / height
                };
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
                NoiseKind::LogNormal => (2.0 * spread * normal(random)).exp(),
                NoiseKind::Autocorrelated => {
                    previous = 0.5 * previous + 0.75_f64.sqrt() * normal(random);
                    1.0 + spread * previous
                }
                NoiseKind::Spikes => {
                    let spike = random.random::<f64>() < 0.02;
                    let height = if spike {
                        between(random, 0.2, 3.0)
                    } else {
                        0.0
                    };
                    (1.0 + spread * normal(random)) * (1.0 + height)
                }
            };
            scale * level * noise
        })
        .collect();
    let start = match class {
        Class::Flat => Some(0),
        Class::WarmUp | Class::Slowdown => {
            let outside = levels
                .iter()
                .rposition(|level| (level - 1.0).abs() > MARGIN);
            Some(outside.map_or(0, |last| last + 1))
        }
        Class::Cyclic | Class::NoSteadyState | Class::TooShort => None,
    };
    Simulated {
        values,
        class,
        start,
    }
}

/// Whether a start lies within the first 5 % of the steady part, or is its first or second iteration.
fn start_is_good(truth: usize, found: Option<usize>, n: usize) -> bool {
    let slack = whole(real(n - truth) * 0.05).max(1);
    found.is_some_and(|found| truth <= found && found <= truth + slack)
}

/// What one method said.
struct Answer {
    class: Class,
    start: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Ours,
    Krun(Reach),
}

impl Method {
    fn answer(self, values: &[f64]) -> Answer {
        match self {
            Self::Ours => {
                let found = steady_state(values, &SteadyOptions::default()).expect("positive");
                Answer {
                    class: found.class,
                    start: found.start,
                }
            }
            Self::Krun(reach) => {
                let (class, start) = krun(values, reach);
                Answer { class, start }
            }
        }
    }

    /// How many series a method gets of each shape, noise and length; some take their time.
    fn rounds(self, n: usize) -> u32 {
        match (self, n) {
            (Self::Ours, _) => 500,
            (Self::Krun(_), 0..=500) => 100,
            (Self::Krun(_), _) => 20,
        }
    }
}

/// How often a method named the class, and how often its start was good.
#[derive(Default, Clone, Copy)]
struct Score {
    rounds: u32,
    classes: u32,
    starts: u32,
}

impl Score {
    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.classes += other.classes;
        self.starts += other.starts;
    }

    fn share(self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.rounds.max(1))
    }
}

fn score(method: Method, shape: Shape, kind: NoiseKind, n: usize, rounds: u32) -> Score {
    let name = format!("{shape:?} {kind:?} {n}");
    let mut random = Seed(7).stream(&name);
    let mut score = Score::default();
    for _ in 0..rounds {
        let simulated = simulate(&mut random, shape, kind, n);
        let answer = method.answer(&simulated.values);
        let is_good = |start| start_is_good(start, answer.start, n);
        score.rounds += 1;
        score.classes += u32::from(answer.class == simulated.class);
        score.starts += u32::from(simulated.start.is_some_and(is_good));
    }
    score
}

fn over_noises(method: Method, shape: Shape, n: usize, rounds: u32) -> Score {
    let mut sum = Score::default();
    for kind in NOISES {
        sum.add(score(method, shape, kind, n, rounds));
    }
    sum
}

#[test]
fn starts_and_classes_are_found() {
    const ROUNDS: u32 = 25;
    let mut starts = Score::default();
    for shape in SHAPES {
        let mut of_shape = Score::default();
        for n in [30, 100, 500] {
            of_shape.add(over_noises(Method::Ours, shape, n, ROUNDS));
        }
        let classes = of_shape.share(of_shape.classes);
        assert!(classes > 0.93, "{shape:?}: {classes}");
        if STEADY.contains(&shape) {
            starts.add(of_shape);
        }
    }
    let good = starts.share(starts.starts);
    assert!(good > 0.95, "{good}");
}

#[test]
#[ignore = "takes minutes; its tables stand in docs/calibration.md"]
fn table_of_steady_states() {
    const METHODS: [Method; 3] = [
        Method::Ours,
        Method::Krun(Reach::Variance),
        Method::Krun(Reach::Deviation),
    ];
    let mut classes = String::new();
    let mut starts = String::new();
    let mut of_classes = String::new();
    let mut all = Score::default();
    for shape in SHAPES {
        let mut sums = [Score::default(); METHODS.len()];
        for n in LENGTHS {
            let row = format!("| {} | {n} |", shape.name());
            let (mut of_class, mut of_start) = (row.clone(), row);
            for (k, method) in METHODS.iter().enumerate() {
                let found = over_noises(*method, shape, n, method.rounds(n));
                sums[k].add(found);
                let cell = |count| format!(" {:.1} |", 100.0 * found.share(count));
                of_class.push_str(&cell(found.classes));
                of_start.push_str(&cell(found.starts));
            }
            classes.push_str(&format!("{of_class}\n"));
            if STEADY.contains(&shape) {
                starts.push_str(&format!("{of_start}\n"));
            }
        }
        let [ours, krun, ..] = sums.map(|sum| sum.share(sum.classes));
        assert!(ours >= krun, "{shape:?}: {ours} {krun}");
        of_classes.push_str(&format!("{}: {ours:.3} {krun:.3}\n", shape.name()));
        if STEADY.contains(&shape) {
            all.add(sums[0]);
        }
    }
    let good = all.share(all.starts);
    {
        println!("{classes}\n{starts}\n{of_classes}\nstarts: {good:.4}");
    }
    assert!(good >= 0.95, "{good}");
}
