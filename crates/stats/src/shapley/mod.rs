//! Shapley values: how much of a difference each factor is responsible for, whatever the order of the story.

mod dividends;
mod exact;
mod orders;
mod sampled;
#[cfg(test)]
mod tests;

pub use dividends::{ModelAttribution, model_attribution};
pub use exact::{interaction_index, shapley_values};
pub use orders::{PathExtreme, PathStep, best_first_path, extreme_path, path_of_order};
pub use sampled::{SampledShapley, sampled_shapley};
