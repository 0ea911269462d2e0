//! How often the intervals of variance components contain the truth, by simulation.
//!
//! Fixed seeds: a run gives the same counts always.

use lapwing_stats::{Confidence, Interval, Seed, variance_components};
use rand::{Rng, RngExt};

/// The noise of an iteration; that between instances is normal with a standard deviation of 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Iterations {
    /// Normal, 3 %.
    Normal,
    /// The same, and one in fifty is slower by 20 to 300 %.
    Spikes,
    /// Student's t with three degrees of freedom, scaled to 3 %.
    HeavyTails,
    /// Normal, with a standard deviation of its own for each instance.
    Uneven,
}

const KINDS: [Iterations; 4] = [
    Iterations::Normal,
    Iterations::Spikes,
    Iterations::HeavyTails,
    Iterations::Uneven,
];

const BETWEEN: f64 = 0.03;
const WITHIN: f64 = 0.03;

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

impl Iterations {
    fn instance(self, random: &mut impl Rng, iterations: usize) -> Vec<f64> {
        let level = BETWEEN * normal(random);
        let spread = match self {
            Self::Uneven => WITHIN * (0.5 * normal(random)).exp(),
            Self::Normal | Self::Spikes | Self::HeavyTails => WITHIN,
        };
        let mut value = || {
            let noise = spread * normal(random);
            match self {
                Self::Normal | Self::Uneven => noise,
                Self::Spikes if random.random::<f64>() < 0.02 => {
                    noise + (1.2 + 2.8 * random.random::<f64>()).ln()
                }
                Self::Spikes => noise,
                Self::HeavyTails => {
                    let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                    noise / squares.sqrt()
                }
            }
        };
        (0..iterations).map(|_| level + value()).collect()
    }

    /// Returns the variance of an iteration around the level of its instance, from many.
    fn variance(self) -> f64 {
        let mut random = Seed(8).stream(&format!("{self:?}"));
        let deviations = (0..4_000).map(|_| {
            let values = self.instance(&mut random, 200);
            let mean = values.iter().sum::<f64>() / 200.0;
            values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 199.0
        });
        deviations.sum::<f64>() / 4_000.0
    }
}

/// The shares of intervals, between and within instances, that contain the truth.
fn coverage(kind: Iterations, instances: usize, iterations: usize, rounds: u32) -> [f64; 2] {
    let mut random = Seed(7).stream(&format!("{kind:?} {instances} {iterations}"));
    let truth = [BETWEEN.powi(2), kind.variance()];
    let mut counts = [0_u32; 2];
    for _round in 0..rounds {
        let rows: Vec<Vec<f64>> = (0..instances)
            .map(|_| kind.instance(&mut random, iterations))
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let found = variance_components(&rows, Confidence::P95).expect("they vary");
        let intervals: [Option<Interval>; 2] = [found.between_interval, found.within_interval];
        for ((count, interval), truth) in counts.iter_mut().zip(intervals).zip(truth) {
            *count += u32::from(interval.is_some_and(|it| it.contains(truth)));
        }
    }
    counts.map(|count| f64::from(count) / f64::from(rounds))
}

#[test]
fn intervals_of_noise_contain_it_with_spikes_too() {
    for (kind, least) in [(Iterations::Normal, 0.94), (Iterations::Spikes, 0.85)] {
        let [between, within] = coverage(kind, 10, 30, 400);
        assert!(between >= 0.93, "{kind:?}: {between}");
        assert!(within >= least, "{kind:?}: {within}");
    }
}

#[test]
#[ignore = "its table is in docs/calibration.md"]
fn table_of_noise_intervals() {
    for (instances, iterations) in [(3, 10), (5, 10), (10, 10), (10, 30), (20, 30), (60, 30)] {
        for kind in KINDS {
            let [between, within] = coverage(kind, instances, iterations, 2_000);
            println!("{instances} × {iterations} {kind:?} {between:.3} {within:.3}");
        }
    }
}
