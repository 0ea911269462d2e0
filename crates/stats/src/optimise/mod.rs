//! Optimisation: which settings to measure next to find a good one in few runs.

mod ordered;
mod propose;
mod stacks;
mod surface;
#[cfg(test)]
mod tests;

pub use ordered::{BLOCK_VARIANCE, MeasuredRun, OrderedSurface, SurfaceFactor, SurfaceScales};
pub use propose::{OptimisationOptions, OptimisationStep, ProposedRun, next_runs};
pub use stacks::{GoalRuns, GoalSurface, candidate_settings, next_settings};
pub use surface::{ResponseSurface, SurfacePrediction};
