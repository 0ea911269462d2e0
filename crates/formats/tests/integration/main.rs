//! The integration tests of this crate, in one program.

#![expect(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, and says so when it did nothing"
)]

mod conservation;
mod grown;
mod mutations;
mod python;
mod readers;
mod reference_hail;
mod reference_reports;
