//! Where a series changes its level or its spread.
//!
//! A change point is the index of the first value of a new segment, so that segments are
//! `0..c₁`, `c₁..c₂`, … `cₘ..n`.

mod categories;
mod cost;
mod level;
mod ordered;
mod pelt;
mod resolution;
mod shape;

pub use categories::{CategoryEffects, category_effects, expected_effects};
pub(crate) use cost::NormalMean;
pub use level::{
    LevelChange, LevelChanges, LevelDifference, LevelNoise, LevelOptions, level_changes,
    level_difference,
};
pub use ordered::{LineOrStep, line_or_step};
pub(crate) use pelt::pelt_on_grid;
pub use resolution::{EvenlyRounded, evenly_rounded};
pub use shape::{Drift, SeriesChanges, Slope, series_changes, slope};
