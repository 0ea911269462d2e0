//! Designs: which combinations of levels to measure.
//!
//! A run is one level per factor; where all factors are treatments, a set of the present ones as a bit mask (bit i is
//! factor i).

mod balanced;
mod covering;
mod covering_shrink;
mod covering_tuples;
mod fraction;
mod fraction_choice;
mod hadamard;
mod model;
mod optimal;
mod power;
mod quadratic_form;
mod space;
#[cfg(test)]
mod tests;
mod walk;

pub use balanced::balanced_runs;
pub use covering::{covering_array, is_covering, pairs_of_treatments};
pub use fraction::{FractionalFactorial, full_factorial};
pub use fraction_choice::{best_fraction, smallest_fraction};
pub use hadamard::{fold_over, plackett_burman, plackett_burman_runs};
pub use model::{DesignFactor, DesignModel};
pub use optimal::{OptimalDesignError, OptimalDesignOptions, d_efficiency, optimal_design};
pub use power::{DesignPower, minimal_detectable_effect};
pub use space::{DesignSpace, DesignSpaceError, run_of_set, set_of_run};
pub(crate) use walk::extend_walk;
pub use walk::{one_factor_at_a_time, walks};
