//! Runs what a plan says and hands on every iteration as it happens.

pub mod doctor;
mod environment;
mod execute;
pub mod local;
mod observe;
mod outputs;
mod version;

pub use environment::Environment;
pub use execute::*;
pub use observe::{Snapshot, observed};
pub use outputs::command_outputs;
pub use version::version;
