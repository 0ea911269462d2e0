//! The answers of the commands: a type each, with what it says as text, Markdown, JSON and CSV.

pub mod advise;
mod analysed;
pub mod annotating;
pub mod audit;
pub mod bisection;
pub mod burn_in;
pub mod campaign;
pub mod compare;
pub mod detect;
pub mod doctor;
pub mod dry_run;
pub mod error;
pub mod imported;
pub mod indicators;
pub mod judgement;
pub mod kinds;
pub mod list;
mod list_rows;
pub mod mds;
mod named_value;
pub mod not_judged;
pub mod plan;
pub mod private;
mod row_fields;
pub mod session;
pub mod sharing;
pub mod stacks;
pub mod stores;
pub mod study;
pub mod trace;
pub mod upkeep;
pub mod variability;
pub mod withdraw;
pub mod written;

pub use analysed::{Analysed, earlier_note};
pub use row_fields::{
    MetricFields, SettingFields, identity, identity_cells, identity_columns, subject_title,
};
