//! What happened in a series as a whole: nothing, steps, a slow change, or wandering.
//!
//! Descriptions of the series compete: a level, steps, a straight line, a ramp between two levels, a bent line, and a
//! line with a step, each with noise of a short memory around it, and the level also with noise of a long memory. So
//! a clean drift is not taken for autocorrelation, as it is if autocorrelation is taken out first. The search for
//! steps by ranks decides where their noise has no long memory; the descriptions decide elsewhere.
//!
//! Sources: the penalty of steps, Zhang & Siegmund, *Biometrics* 2007; the likelihood of autocorrelated noise,
//! Brockwell & Davis, *Time Series: Theory and Methods* 1991, chapter 5.

mod described;
mod descriptions;
mod memory;
mod segments;
mod slope;
mod standardised;
mod steps;
mod straight;
#[cfg(test)]
mod tests;
mod verdict;

pub use slope::{Slope, slope};
pub use verdict::{Drift, SeriesChanges, series_changes};
