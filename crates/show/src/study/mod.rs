//! Studies and advice in words and charts.

mod advice;
pub mod chart;
mod finding;
mod scale;

pub use advice::{goal_value_text, stack_change_text};
pub use finding::{FindingKind, StudyFinding, findings};
pub use scale::StudyMetricText;
