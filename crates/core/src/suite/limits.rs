//! How often a benchmark can be measured at most, in suite files and plans alike.

use super::case::at_least_one;
use super::node::{Located, Node, Value};

/// The most instances of a benchmark: every one of them has a place in the random order, which is kept in memory.
pub const MOST_INSTANCES: u32 = 100_000;

/// The most iterations of an instance that count, and as many before those.
pub const MOST_ITERATIONS: u32 = 1_000_000;

/// The most instances of all benchmarks and variants together.
pub const MOST_INSTANCES_IN_ALL: u64 = 5_000_000;

/// Returns how many instances are wanted.
pub(super) fn instances(node: &Node, key: &str) -> Result<u32, Located> {
    refuse_above(MOST_INSTANCES, node, key)?;
    at_least_one(node, key)
}

/// Returns how many iterations that count are wanted.
pub(super) fn iterations(node: &Node, key: &str) -> Result<u32, Located> {
    refuse_above(MOST_ITERATIONS, node, key)?;
    at_least_one(node, key)
}

/// Returns how many iterations are wanted before those that count.
pub(super) fn burn_in(node: &Node, key: &str) -> Result<u32, Located> {
    refuse_above(MOST_ITERATIONS, node, key)?;
    node.whole(key)
}

fn refuse_above(most: u32, node: &Node, key: &str) -> Result<(), Located> {
    match node.value {
        Value::Integer(value) if value > i64::from(most) => {
            Err(node.senseless(key, format!("must be at most {most}, not {value}")))
        }
        _ => Ok(()),
    }
}
