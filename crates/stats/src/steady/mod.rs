//! From which iteration on an instance is in its steady state.
//!
//! [`steady_state`] classifies one instance, and [`burn_in`] makes one burn-in for a benchmark of
//! the starts of its instances. How well it does where the truth is known stands in
//! `docs/calibration.md`.

mod approach;
mod benchmark;
mod cycle;
mod instance_start;
mod number;
mod ours;
mod robust;
mod transition;

pub use benchmark::{
    BurnIn, BurnInOptions, Consistency, MaxCost, burn_in, burn_in_from, consistency,
};
pub use instance_start::{InstanceStart, is_long_enough};
pub use ours::{ITERATIONS_TO_TELL, SteadyOptions, SteadyState, steady_state};

/// The classification of an instance's iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Steady from the first iteration on.
    Flat,
    /// Slower at first.
    WarmUp,
    /// Faster at first.
    Slowdown,
    /// Up and down again and again, with the same period.
    Cyclic,
    /// Still changing at the end.
    NoSteadyState,
    /// Too few iterations to classify.
    TooShort,
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use crate::Seed;

    /// Levels of so many iterations each, with noise of that standard deviation relative to them.
    pub fn noisy(levels: &[(usize, f64)], deviation: f64) -> Vec<f64> {
        let mut random = Seed(7).stream("noise");
        let mut values = Vec::new();
        for (length, level) in levels {
            for _ in 0..*length {
                // Twelve uniform numbers have a variance of 1 together.
                let sum: f64 = (0..12)
                    .map(|_| f64::from(random.next_u32()) / 2.0_f64.powi(32))
                    .sum();
                values.push(level * (1.0 + deviation * (sum - 6.0)));
            }
        }
        values
    }
}
