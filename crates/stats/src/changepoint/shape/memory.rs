//! How likely residuals are as noise with a memory.

use crate::number::as_f64;

/// Noise xₜ = φ xₜ₋₁ + eₜ + ψ eₜ₋₁ with independent normal e. With φ = 1 it is a random walk under white noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoiseMemory {
    phi: f64,
    psi: f64,
}

/// Noise that forgets within some values.
pub(super) const SHORT: [NoiseMemory; 10] = [
    memory(0.0, 0.0),
    memory(0.15, 0.0),
    memory(0.3, 0.0),
    memory(0.45, 0.0),
    memory(0.6, 0.0),
    memory(0.7, 0.0),
    memory(0.6, -0.3),
    memory(0.7, -0.3),
    memory(0.7, -0.5),
    memory(0.0, -0.2),
];

/// φ of noise that wanders, and the shares of it that −ψ has: the more, the more white noise there is above the
/// wandering.
const LONG: [f64; 4] = [0.8, 0.9, 0.95, 1.0];
const LONG_SHARES: [f64; 6] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9];

const fn memory(phi: f64, psi: f64) -> NoiseMemory {
    NoiseMemory { phi, psi }
}

/// Returns noise that wanders: random walks, slow waves, sticky levels.
pub(super) fn long() -> impl Iterator<Item = NoiseMemory> {
    let shares = |phi: f64| LONG_SHARES.map(|share| memory(phi, -share * phi));
    LONG.into_iter().flat_map(shares)
}

/// Returns the smallest −2 ln likelihood of the residuals among kinds of noise, as [`NoiseMemory::twice_log`] has it.
pub(super) fn least(
    residuals: &[f64],
    kinds: impl IntoIterator<Item = NoiseMemory>,
    floor: f64,
) -> f64 {
    let logs = kinds
        .into_iter()
        .map(|kind| kind.twice_log(residuals, floor));
    logs.fold(f64::INFINITY, f64::min)
}

impl NoiseMemory {
    /// Returns −2 ln likelihood of residuals up to a constant, with the variance at its most likely value plus `floor`:
    /// n ln(Σ uₜ²/vₜ / n + floor) + Σ ln vₜ with the innovations u and their relative variances v.
    fn twice_log(self, residuals: &[f64], floor: f64) -> f64 {
        let Some(first) = residuals.first().copied() else {
            return 0.0;
        };
        let Self { phi, psi } = self;
        let square = psi * psi;
        let is_walk = phi >= 1.0;
        // A walk has no level of its own: it starts at the first value.
        let (mut variance, mut innovation) = if is_walk {
            (1.0 + square, 0.0)
        } else {
            ((1.0 + 2.0 * phi * psi + square) / (1.0 - phi * phi), first)
        };
        let mut squares = innovation * innovation / variance;
        let mut product = if is_walk { 1.0 } else { variance };
        let mut at = 1;
        while at < residuals.len() && variance - 1.0 > 1e-15 {
            let predicted = phi * residuals[at - 1] + psi * innovation / variance;
            variance = 1.0 + square * (1.0 - 1.0 / variance);
            innovation = residuals[at] - predicted;
            squares += innovation * innovation / variance;
            product *= variance;
            at += 1;
        }
        // From here on the relative variance is 1.
        for pair in residuals[at - 1..].windows(2) {
            innovation = pair[1] - phi * pair[0] - psi * innovation;
            squares += innovation * innovation;
        }
        let all = as_f64(residuals.len());
        let terms = if is_walk { all - 1.0 } else { all };
        (terms * (squares / terms + floor).ln() + product.ln()) * all / terms
    }
}
