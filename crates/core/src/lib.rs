//! Lapwing as a library: measure real software, keep every measurement, judge
//! with honest statistics, show the answer.
//!
//! The modules are the stages that data passes, left to right. A module uses
//! only what stands to its left (a test in `tests/integration/one_way.rs` fails otherwise):
//!
//! ```text
//! model ← suite ← measure ← record ← sample ← clean ← judge ← detect ← explain ← show
//! ```

pub mod clean;
pub mod detect;
pub mod explain;
pub mod judge;
pub mod measure;
pub mod model;
pub mod record;
pub mod sample;
pub mod show;
pub mod suite;
pub mod text;
