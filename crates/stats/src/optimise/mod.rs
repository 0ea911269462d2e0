//! Optimisation: which settings to measure next to find a good one in few runs.

mod propose;
mod surface;
#[cfg(test)]
mod tests;

pub use propose::{OptimisationOptions, OptimisationStep, ProposedRun, next_runs};
pub use surface::{ResponseSurface, SurfacePrediction};
