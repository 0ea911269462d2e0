//! Variances, modes, and numbers of replicates.

pub(super) mod dip;
pub(super) mod dip_table;
pub(super) mod moderation;
pub(super) mod modes;
pub(super) mod population;
pub(super) mod replicates;
pub(super) mod sessions;
pub(super) mod variance;
