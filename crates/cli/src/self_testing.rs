//! Options of the commands that test themselves on the user's own measurements.

use clap::Args;

use crate::commands::parse_slowdown;

/// Whether a command tests itself, and with which changes.
#[derive(Debug, Clone, Args)]
pub struct SelfTestOption {
    /// Test the method on these measurements instead: how often it alarms where nothing changed, and what it
    /// finds of planted slowdowns
    #[arg(long, help_heading = "Self-test")]
    pub self_test: bool,
    /// Planted slowdowns, such as 3%,5%,10% [default: 3%, 5%, 10%]
    #[arg(long, value_name = "SLOWDOWN", value_delimiter = ',', value_parser = parse_slowdown, requires = "self_test", help_heading = "Self-test")]
    slowdown: Vec<f64>,
}

impl SelfTestOption {
    /// The planted slowdowns if there are no others.
    const USUAL: [f64; 3] = [1.03, 1.05, 1.1];

    /// Returns the planted slowdowns as factors.
    pub fn slowdowns(&self) -> Vec<f64> {
        if self.slowdown.is_empty() {
            Self::USUAL.to_vec()
        } else {
            self.slowdown.clone()
        }
    }
}
