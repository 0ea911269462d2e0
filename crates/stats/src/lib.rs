//! The statistics of Lapwing: pure functions on numbers.
//!
//! No input or output, no names, no clock, no global randomness. Every function
//! says which formula it computes, for which shapes and units, and where it is from.
//! `docs/method.md` says which question each one answers and when it misleads.

pub mod changepoint;
mod describe;
mod interval;
mod ratio;
mod seed;
pub mod steady;

pub use describe::{
    coefficient_of_variation, geometric_mean, mean, median, quantile, standard_deviation,
};
pub use interval::{Confidence, ConfidenceError, Interval, mean_interval};
pub use ratio::{Ratio, ratio_of_means};
pub use seed::Seed;
