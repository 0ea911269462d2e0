//! Shows what was measured: numbers with units, charts, the HTML report.

mod estimate;
mod quantity;

pub use estimate::{
    Estimate, RatioEstimate, SampleSize, comparison_sentence, cv_text, difference_text,
};
pub use quantity::{Scale, count, percent, quantity, ratio};
