//! What could be detected.

mod configuration;

pub use configuration::{Configuration, DetectionMethod, Strategy};
