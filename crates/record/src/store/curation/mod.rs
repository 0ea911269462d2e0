//! What people said later, and what was shared.

pub(super) mod annotate;
pub(super) mod curated;
pub(super) mod curated_metrics;
pub(super) mod remotes;
pub(super) mod trust;
pub(super) mod unshared;
