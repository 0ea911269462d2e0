//! The units of replication of two sides, and what else differs between them.

pub(super) mod environments;
pub(super) mod pairs;
pub(super) mod session_sides;
pub(super) mod side_sample;
pub(super) mod size;
pub(super) mod starts;
pub(super) mod together;
pub(super) mod unit;
