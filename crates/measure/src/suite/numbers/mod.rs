//! Settings and limits of benchmarks, and how they are read.

pub(super) mod duration;
pub(super) mod judging;
pub(super) mod limits;
pub(super) mod settings;
