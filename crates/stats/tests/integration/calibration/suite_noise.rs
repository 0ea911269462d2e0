//! Noise of the benchmarks of a suite, on logarithms of instance means.

use lapwing_stats::{Replicates, as_f64};
use rand::{Rng, RngExt};

use super::noise::normal;

/// How the instances of a benchmark vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SuiteNoise {
    /// Normal with this standard deviation.
    Normal(f64),
    /// ln(1 + 0.02 e^N).
    LogNormalTail,
    /// ln(1 + 0.02 E), with an exponential E.
    Exponential,
    /// ln(1 + 0.02 P), with a Pareto variable of this exponent (less 1), and 1 %.
    Pareto(f64),
    /// 2 %, and one instance of fifty half as slow again.
    Spikes,
    /// 2 %, and this share of the instances slower by this factor.
    Modes { share: f64, factor: f64 },
    /// Normal; the standard deviations of benchmarks are log-uniform from 0.3 to 20 %.
    Varied,
    /// Normal; half of the benchmarks 0.5 %, the others 10 %.
    HalfQuiet,
    /// Normal with this standard deviation, rounded to 1 %.
    Rounded(f64),
    /// 2 %, and 15 % that both instances of a block share; in half of the suites all benchmarks share it as well.
    Blocks,
    /// An autoregressive process of order 1 (0.95, 5 %) in the order a b a b …, and 1 %.
    Drift,
    /// Each benchmark has another of these.
    Mixed,
}

use SuiteNoise::{
    Blocks, Drift, Exponential, HalfQuiet, LogNormalTail, Mixed, Modes, Normal, Pareto, Rounded,
    Spikes, Varied,
};

/// All noises with their names; those that need pairs are the last before the mixture.
pub const NOISES: [(&str, SuiteNoise); 16] = [
    ("normal 2 %", Normal(0.02)),
    ("normal 10 %", Normal(0.1)),
    ("log-normal tail", LogNormalTail),
    ("exponential", Exponential),
    ("Pareto 2.5", Pareto(2.5)),
    ("Pareto 1.5", Pareto(1.5)),
    ("spikes", Spikes),
    ("modes 50/50", MODES_EVEN),
    ("modes 10/90", MODES_RARE),
    ("0.3 to 20 %", Varied),
    ("half quiet", HalfQuiet),
    ("rounded", Rounded(0.02)),
    ("rounded, ties", Rounded(0.003)),
    ("block noise", Blocks),
    ("drift", Drift),
    ("mixed", Mixed),
];

const MODES_EVEN: SuiteNoise = Modes {
    share: 0.5,
    factor: 1.5,
};
const MODES_RARE: SuiteNoise = Modes {
    share: 0.1,
    factor: 1.5,
};
/// Two modes 20 % apart.
pub const NEAR_MODES: SuiteNoise = Modes {
    share: 0.1,
    factor: 1.2,
};

/// How a suite is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// So many instances on each side.
    Sides(usize),
    /// So many blocks with both sides.
    Pairs(usize),
}

impl Design {
    pub fn instances(self) -> usize {
        match self {
            Self::Sides(number) | Self::Pairs(number) => number,
        }
    }

    pub fn text(self) -> String {
        match self {
            Self::Sides(number) => format!("{number} per side"),
            Self::Pairs(number) => format!("{number} pairs"),
        }
    }

    /// Returns the noises that occur in it.
    pub fn noises(self) -> impl Iterator<Item = (&'static str, SuiteNoise)> {
        let is_possible = move |noise: &SuiteNoise| match self {
            Self::Pairs(_) => true,
            Self::Sides(_) => !matches!(noise, Blocks | Drift),
        };
        NOISES.into_iter().filter(move |(_, it)| is_possible(it))
    }

    /// Returns the replicates of two sides.
    pub fn replicates(self, [one, other]: [Vec<f64>; 2]) -> Replicates {
        match self {
            Self::Sides(_) => Replicates::Sides([one, other]),
            Self::Pairs(_) => Replicates::Pairs(
                one.iter()
                    .zip(&other)
                    .map(|(one, other)| other - one)
                    .collect(),
            ),
        }
    }
}

/// Returns a suite: the replicates of each benchmark, whose candidates are slower by these logarithms.
pub fn suite(
    noise: SuiteNoise,
    design: Design,
    shifts: &[f64],
    random: &mut impl Rng,
) -> Vec<Replicates> {
    let instances = design.instances();
    let shared: Option<Vec<f64>> = (noise == Blocks && random.random::<bool>())
        .then(|| (0..instances).map(|_| 0.15 * normal(random)).collect());
    let noises: Vec<SuiteNoise> = design
        .noises()
        .map(|(_, it)| it)
        .filter(|it| *it != Mixed)
        .collect();
    let benchmark = |shift: &f64| {
        let own = match noise {
            Mixed => noises[random.random_range(0..noises.len())],
            noise => noise,
        };
        let sides = own.sides(instances, *shift, shared.as_deref(), random);
        design.replicates(sides)
    };
    shifts.iter().map(benchmark).collect()
}

impl SuiteNoise {
    /// Returns the logarithms of both sides of a benchmark.
    fn sides(
        self,
        instances: usize,
        shift: f64,
        shared: Option<&[f64]>,
        random: &mut impl Rng,
    ) -> [Vec<f64>; 2] {
        let deviation = match self {
            Normal(deviation) => deviation,
            Varied => (0.003_f64.ln() + random.random::<f64>() * (0.2_f64 / 0.003).ln()).exp(),
            HalfQuiet if random.random::<bool>() => 0.005,
            HalfQuiet => 0.1,
            _ => 0.02,
        };
        let level = 0.1 * random.random::<f64>();
        let blocks: Vec<f64> = match (self, shared) {
            (Blocks, Some(shared)) => shared.to_vec(),
            (Blocks, None) => (0..instances).map(|_| 0.15 * normal(random)).collect(),
            _ => vec![0.0; instances],
        };
        let mut drift = 0.05 * normal(random);
        let mut sides = [Vec::new(), Vec::new()];
        for block in blocks {
            for (side, values) in sides.iter_mut().enumerate() {
                let shift = if side == 1 { shift } else { 0.0 };
                drift = 0.95 * drift + 0.05 * (1.0 - 0.95_f64.powi(2)).sqrt() * normal(random);
                let value = match self {
                    Rounded(deviation) => {
                        let exact = (deviation * normal(random) + level + shift).exp();
                        ((exact * 100.0).round() / 100.0).ln()
                    }
                    Drift => drift + 0.01 * normal(random) + shift,
                    noise => block + noise.draw(deviation, random) + shift,
                };
                values.push(value);
            }
        }
        sides
    }

    fn draw(self, deviation: f64, random: &mut impl Rng) -> f64 {
        let uniform = |random: &mut _| 1.0 - RngExt::random::<f64>(random);
        match self {
            LogNormalTail => (0.02 * normal(random).exp()).ln_1p(),
            Exponential => (-0.02 * uniform(random).ln()).ln_1p(),
            Pareto(exponent) => {
                let tail = uniform(random).powf(-1.0 / exponent) - 1.0;
                0.01 * normal(random) + (0.02 * tail).ln_1p()
            }
            Spikes => mode(0.02, 1.5, random),
            Modes { share, factor } => mode(share, factor, random),
            Normal(_) | Varied | HalfQuiet | Rounded(_) | Blocks | Drift | Mixed => {
                deviation * normal(random)
            }
        }
    }
}

fn mode(share: f64, factor: f64, random: &mut impl Rng) -> f64 {
    let slow = random.random::<f64>() < share;
    0.02 * normal(random) + if slow { factor.ln() } else { 0.0 }
}

/// Returns the shifts of a suite of which the first benchmarks changed by a ratio.
pub fn shifts(benchmarks: usize, changed: usize, ratio: f64) -> Vec<f64> {
    (0..benchmarks)
        .map(|at| if at < changed { ratio.ln() } else { 0.0 })
        .collect()
}

/// Returns a share as a number between 0 and 1.
pub fn share(some: usize, all: usize) -> f64 {
    as_f64(some) / as_f64(all.max(1))
}
