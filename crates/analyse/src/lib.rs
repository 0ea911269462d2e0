//! Judges measurements: types with numbers, no words, no charts.
//!
//! The modules are the stages that data passes, left to right. A module uses only what stands to its left (the tests in
//! `crates/testing/tests/house` fail otherwise):
//!
//! ```text
//! sample ← clean ← judge ← detect ← explain
//! ```

pub mod clean;
pub mod detect;
pub mod explain;
pub mod judge;
pub mod sample;
