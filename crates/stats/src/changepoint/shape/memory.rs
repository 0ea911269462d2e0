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

/// Noise that wanders: random walks, slow waves, sticky levels. Of each φ, −ψ has several shares: the more, the more white
/// noise there is above the wandering.
pub(super) const LONG: [NoiseMemory; 24] = {
    let phis = [0.8, 0.9, 0.95, 1.0];
    let shares = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9];
    let mut kinds = [memory(0.0, 0.0); 24];
    let mut at = 0;
    while at < 24 {
        let phi = phis[at / 6];
        kinds[at] = memory(phi, -shares[at % 6] * phi);
        at += 1;
    }
    kinds
};

const fn memory(phi: f64, psi: f64) -> NoiseMemory {
    NoiseMemory { phi, psi }
}

/// Returns the smallest −2 ln likelihood of the residuals among kinds of noise up to a constant, with the variance at its
/// most likely value plus `floor`: n ln(Σ uₜ²/vₜ / n + floor) + Σ ln vₜ with the innovations u and their relative
/// variances v.
pub(super) fn least<const KINDS: usize>(
    residuals: &[f64],
    kinds: &[NoiseMemory; KINDS],
    floor: f64,
) -> f64 {
    let Some(first) = residuals.first() else {
        return 0.0;
    };
    let begun = kinds.map(|kind| Innovations::of(kind, *first, residuals));
    let all = as_f64(residuals.len());
    // All kinds side by side: each value of one kind waits for the one before it.
    let phi = kinds.map(|kind| kind.phi);
    let psi = kinds.map(|kind| kind.psi);
    let mut squares = begun.map(|it| it.squares);
    let mut last = begun.map(|it| it.last);
    let from = begun.map(|it| it.next);
    let together = from.into_iter().max().unwrap_or(1);
    for kind in 0..KINDS {
        for pair in residuals[from[kind] - 1..together].windows(2) {
            last[kind] = pair[1] - phi[kind] * pair[0] - psi[kind] * last[kind];
            squares[kind] += last[kind] * last[kind];
        }
    }
    for pair in residuals[together - 1..].windows(2) {
        for kind in 0..KINDS {
            last[kind] = pair[1] - phi[kind] * pair[0] - psi[kind] * last[kind];
            squares[kind] += last[kind] * last[kind];
        }
    }
    let logs = (0..KINDS).map(|kind| {
        let terms = if kinds[kind].is_walk() {
            all - 1.0
        } else {
            all
        };
        (terms * (squares[kind] / terms + floor).ln() + begun[kind].variances.ln()) * all / terms
    });
    logs.fold(f64::INFINITY, f64::min)
}

/// The first innovations of a kind of noise, up to where their relative variance is 1.
#[derive(Debug, Clone, Copy)]
struct Innovations {
    /// The sum of their squares over their variances.
    squares: f64,
    /// The product of the variances.
    variances: f64,
    /// The last of them.
    last: f64,
    /// The index of the value after it.
    next: usize,
}

impl Innovations {
    fn of(kind: NoiseMemory, first: f64, residuals: &[f64]) -> Self {
        let NoiseMemory { phi, psi } = kind;
        let square = psi * psi;
        // A walk has no level of its own: it starts at the first value.
        let (mut variance, mut last) = if kind.is_walk() {
            (1.0 + square, 0.0)
        } else {
            ((1.0 + 2.0 * phi * psi + square) / (1.0 - phi * phi), first)
        };
        let mut squares = last * last / variance;
        let mut variances = if kind.is_walk() { 1.0 } else { variance };
        let mut next = 1;
        while next < residuals.len() && variance - 1.0 > 1e-15 {
            let predicted = phi * residuals[next - 1] + psi * last / variance;
            variance = 1.0 + square * (1.0 - 1.0 / variance);
            last = residuals[next] - predicted;
            squares += last * last / variance;
            variances *= variance;
            next += 1;
        }
        Self {
            squares,
            variances,
            last,
            next,
        }
    }
}

impl NoiseMemory {
    fn is_walk(self) -> bool {
        self.phi >= 1.0
    }
}
