//! From which iteration on an instance is in its steady state.

mod benchmark;
mod cycle;
pub mod krun;
mod mser;
mod ours;
mod outliers;
mod robust;
pub mod traini;

pub use benchmark::{BurnIn, BurnInOptions, Consistency, InstanceStart, MaxCost, burn_in, consistency};
pub use mser::mser5;
pub use ours::{SteadyOptions, SteadyState, steady_state};
pub use outliers::{Fences, centred_outliers, outliers_of_any_window};

/// What an instance's iterations do.
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
    /// Too few iterations to tell.
    TooShort,
}
