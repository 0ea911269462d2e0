//! The sections of the page of a benchmark.

pub(super) mod burn_in;
pub(super) mod cleaning;
pub(super) mod detection;
pub(super) mod environment_part;
pub(super) mod failures;
pub(super) mod metric;
pub(super) mod nightly;
pub(super) mod power;
pub(super) mod raw;
pub(super) mod remarks;
pub(super) mod runs;
pub(super) mod variability;
