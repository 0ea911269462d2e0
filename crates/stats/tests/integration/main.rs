//! The integration tests of this crate, in one program: linking one is quicker than many.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and says so when it did nothing"
)]

mod burn_in_simulation;
mod calibration;
mod detection_direct;
mod golden_changepoint;
mod golden_factors;
mod golden_family;
mod golden_surface;
mod histories;
mod krun;
mod otava;
mod reference_changepoint;
mod reference_detection;
mod reference_factors;
mod reference_samples;
mod segmentation_score;
mod steady_simulation;
mod variance_simulation;
