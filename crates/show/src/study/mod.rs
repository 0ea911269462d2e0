//! Studies and advice in words and charts.

mod advice;
pub mod chart;
mod data_note;
mod finding;
mod overview;
mod scale;

pub use advice::{goal_value_text, stack_change_text};
pub use data_note::data_note;
pub use finding::{base_text, finding_title, fold_text, study_finding_text};
pub use overview::{
    MOST_OF_A_KIND, SEQUENCES, StudyOverview, component_charts, fit_charts, series_of, sorted_means,
};
pub use scale::StudyMetricText;
