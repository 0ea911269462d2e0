//! The answers of the commands: a type each, with what it says as text, Markdown, JSON and CSV.

pub mod advise;
mod analysed;
pub mod audit;
pub mod bisection;
pub mod burn_in;
pub mod compare;
pub mod detect;
pub mod dry_run;
pub mod error;
pub mod indicators;
pub mod kinds;
pub mod list;
pub mod mds;
pub mod not_judged;
pub mod plan;
mod row_fields;
pub mod session;
pub mod sharing;
pub mod stores;
pub mod study;
pub mod trace;
pub mod variability;

pub use analysed::{Analysed, earlier_note};
pub use row_fields::{
    MetricFields, SettingFields, identity, identity_cells, identity_columns, subject_title,
};
