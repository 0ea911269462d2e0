//! History points: a value per run, benchmark and metric, so that change detection need not read every iteration.
//!
//! They are derived from what was measured (`history_…` tables). Writers add the points of the runs that they make, and
//! mark those of other runs as missing; readers make the missing ones.

mod gather;
mod read;
mod sums;

pub use gather::NO_POINTS;
pub(crate) use gather::{PointGatherer, forget};
pub use read::{BenchmarkPoints, HistoryPoint, HistoryPoints, PointRun};
