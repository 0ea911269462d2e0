//! Benchmarks that are tests: pytest collects and executes them, and its plugin writes what is recorded.

mod collect;
mod confined;
mod ending;
mod instance;
mod interpreter;
mod left_over;
mod output;
#[cfg(test)]
mod tests;

pub use collect::{CollectError, collect};
pub use ending::RECORDED_NOTHING;
pub(super) use instance::measure_test;
pub use interpreter::interpreters;
pub(super) use left_over::CUT_SHORT;
pub use left_over::left_over;
