//! Optimisation: which settings to measure next to find a good one in few runs.

mod cells;
mod columns;
mod interactions;
mod ordered;
mod propose;
mod scales;
mod search;
mod stacks;
mod surface;
#[cfg(test)]
mod tests;

pub use ordered::{MeasuredRun, OrderedSurface};
pub use propose::{OptimisationOptions, OptimisationStep, ProposedRun, next_runs};
pub use scales::{BLOCK_VARIANCE, SurfaceFactor, SurfaceScales};
pub use stacks::{GoalRuns, GoalSurface, candidate_settings, next_settings};
pub use surface::{ResponseSurface, SurfacePrediction};
