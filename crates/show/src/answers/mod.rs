//! The answers of the commands: a type each, with what it says as text, Markdown, JSON and CSV.

mod analysed;
pub mod audit;
pub mod burn_in;
pub mod compare;
pub mod detect;
mod listing;
pub mod mds;
pub mod not_judged;
pub mod plan;
mod row_fields;
pub mod variability;

pub use analysed::{Analysed, earlier_note};
pub use listing::Listing;
pub use row_fields::{
    MetricFields, SettingFields, identity, identity_cells, identity_columns, subject_title,
};
