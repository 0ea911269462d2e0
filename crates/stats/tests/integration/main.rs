//! The integration tests of this crate, in one program: linking one is quicker than many.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and says so when it did nothing"
)]

mod calibration;
mod detection_direct;
mod reference_detection;
mod reference_samples;
mod reference_steady;
mod steady_simulation;
