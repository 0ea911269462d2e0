//! Which slowdowns would be detected: experiments on the measurements.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bounds;
mod draws;
mod ends;
mod experiment;
mod groups;
mod lanes;
mod measured;
mod rate;

pub use bounds::Bounds;
pub use draws::DrawPath;
pub use experiment::{ExperimentOptions, Experiments, experiments};
pub use measured::Measured;
pub use rate::{
    DetectableSlowdown, DetectionRate, detectable_slowdown, experiments_to_tell, wilson_interval,
};
