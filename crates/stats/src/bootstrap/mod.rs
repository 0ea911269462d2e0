//! Intervals by drawing again from the measurements.
//!
//! Replicates are computed in blocks, each with a random stream of its own, so that a result depends
//! on the seed alone and not on how many threads share the blocks.

mod bca;
mod hierarchical;
mod kernel;
mod studentised;
mod thresholds;

pub use bca::bca_ratio;
pub(crate) use hierarchical::position;
pub use hierarchical::{HierarchicalReplicates, hierarchical_replicates, percentile_interval};
pub use studentised::studentised_ratio;
pub use thresholds::{ThresholdShare, threshold_shares};

/// What stands for a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The median: of an even number of values the mean of the two in the middle.
    Median,
}

/// So many resamples the default methods draw: with one more, the 90, 95 and 99 % quantiles are whole
/// order statistics.
pub const RESAMPLES: usize = 2_999;
