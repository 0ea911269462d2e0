//! Where a series changes its level or its spread.
//!
//! A change point is the index of the first value of a new segment, so that segments are
//! `0..c₁`, `c₁..c₂`, … `cₘ..n`. A [`SegmentCost`] says how badly one segment is described
//! by one distribution, a penalty what another segment costs, and [`pelt`] finds the
//! segmentation with the smallest sum of both.

mod cost;
mod crops;
mod kneedle;
mod level;
mod pelt;

pub use cost::{NormalMean, NormalMeanVariance, SegmentCost};
pub use crops::{PenaltyRange, crops};
pub use kneedle::elbow;
pub use level::{
    LevelChange, LevelChanges, LevelDifference, LevelOptions, drift, level_changes,
    level_difference,
};
pub use pelt::{Segmentation, pelt, pelt_on_grid};
