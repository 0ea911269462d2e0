//! Reads suite files and holds what is to be measured.

mod plan;

pub use plan::*;
