//! Comparisons as other tools make them.

pub(super) mod coiled;
pub(super) mod hail;
