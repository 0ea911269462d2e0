//! The integration tests of this crate, in one program: linking one is quicker than many.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod calibration;
mod drift;
mod hosts;
mod points;
mod reference_plan;
