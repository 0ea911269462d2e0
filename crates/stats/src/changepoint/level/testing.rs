//! Noise for tests.

use rand_chacha::rand_core::Rng;

use crate::number::as_f64;
use crate::seed::Seed;

/// A kind of noise, with a standard deviation of about 1 but for the lognormal one.
#[derive(Debug, Clone, Copy)]
pub(in crate::changepoint) enum Noise {
    Normal,
    Lognormal,
    Autocorrelated(f64),
    Spikes,
    Bimodal,
    Failures,
    /// A standard deviation that wanders with a correlation of 0.9.
    Clusters,
}

/// Returns a series of noise.
pub(in crate::changepoint) fn series(noise: Noise, length: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("noise");
    let mut uniform = move || (as_f64(random.next_u64() >> 11) + 0.5) / 9_007_199_254_740_992.0;
    let mut before = normal(&mut uniform);
    let value = |_| {
        let normal = normal(&mut uniform);
        match noise {
            Noise::Normal => normal,
            Noise::Lognormal => normal.exp(),
            Noise::Autocorrelated(share) => {
                before = share * before + (1.0 - share * share).sqrt() * normal;
                before
            }
            Noise::Spikes if uniform() < 0.02 => normal + 10.0,
            Noise::Spikes => normal,
            Noise::Bimodal if uniform() < 0.5 => 0.2 * normal + 2.0,
            Noise::Bimodal => 0.2 * normal,
            Noise::Clusters => {
                let other = self::normal(&mut uniform);
                before = 0.9 * before + 0.19_f64.sqrt() * normal;
                other * (0.8 * before).exp()
            }
            Noise::Failures if uniform() < 0.1 => 1.0,
            Noise::Failures => 0.0,
        }
    };
    (0..length).map(value).collect()
}

fn normal(uniform: &mut impl FnMut() -> f64) -> f64 {
    let radius = (-2.0 * uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}
