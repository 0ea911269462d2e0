//! The answers of the commands: a type each, with what it says as text, Markdown, JSON and CSV.

mod analysed;
pub mod audit;
pub mod bisection;
pub mod dry_run;
pub mod indicators;
pub mod list;
pub mod not_judged;
mod row_fields;
pub mod session;
pub mod sharing;
pub mod stores;
pub mod variability;

pub use analysed::{Analysed, earlier_note};
pub use row_fields::{MetricFields, SettingFields, identity};
