//! Sentences about comparisons, changes, noise and detection.

pub(super) mod detected;
pub(super) mod detection;
pub(super) mod enough;
pub(super) mod estimate;
pub(super) mod finding;
pub(super) mod looked;
pub(super) mod meaning;
pub(super) mod noise;
pub(super) mod replication;
pub(super) mod self_test;
pub(super) mod steady;
pub(super) mod summary;
pub(super) mod verdict;
