//! How long finding the steady state takes: `cargo bench -p lapwing-stats --bench steady`.

use divan::{Bencher, black_box};
use lapwing_stats::Seed;
use lapwing_stats::steady::{SteadyOptions, steady_state};
use rand::{Rng, RngExt};

fn main() {
    divan::main();
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// An exponential warm-up over a tenth of the series, 2 % of noise and a few spikes.
fn warming_up(n: u32) -> Vec<f64> {
    let mut random = Seed(7).stream("bench");
    (0..n)
        .map(|i| {
            let level = 1.0 + (-30.0 * f64::from(i) / f64::from(n)).exp();
            let spike = if random.random::<f64>() < 0.01 {
                1.5
            } else {
                1.0
            };
            level * spike * (1.0 + 0.02 * normal(&mut random))
        })
        .collect()
}

const LENGTHS: [u32; 3] = [30, 300, 3000];

#[divan::bench(args = LENGTHS)]
fn default_method(bencher: Bencher, n: u32) {
    let values = warming_up(n);
    bencher.bench(|| steady_state(black_box(&values), &SteadyOptions::default()));
}
