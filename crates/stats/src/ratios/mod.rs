//! Ratios of two sides and their intervals.

pub(super) mod expected;
pub(super) mod fieller;
pub(super) mod hodges_lehmann;
pub(super) mod kalibera_jones;
pub(super) mod ratio;
pub(super) mod ratio_interval;
pub(super) mod suite_ratio;
