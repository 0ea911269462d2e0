//! Runs what a plan says and hands on every iteration as it happens.

mod execute;
pub mod local;

pub use execute::*;
