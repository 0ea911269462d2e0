//! Benchmarks that are tests: pytest collects and executes them, and its plugin writes what is recorded.

mod collect;
mod confined;
mod ending;
mod instance;
mod output;
#[cfg(test)]
mod tests;

pub use collect::{CollectError, collect};
pub use ending::RECORDED_NOTHING;
pub(super) use instance::measure_test;
