//! Shapley values: how much of a difference each factor is responsible for, whatever the order of the story.

mod dividends;
mod exact;
mod orders;
#[cfg(test)]
mod tests;

pub use dividends::{ModelAttribution, model_attribution};
pub use exact::shapley_values;
pub use orders::{PathStep, best_first_path, path_of_order};
