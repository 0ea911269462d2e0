//! Metrics and their units.

pub(super) mod local_metrics;
pub(super) mod metric;
pub(super) mod unit;
