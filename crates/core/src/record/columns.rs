//! Iterations on their way into the store, in columns.

use std::collections::BTreeMap;

use crate::model::{MetricName, Object, Outcome};

/// Iterations of one instance in columns: number `k` of them has index `first + k`.
///
/// An empty column means that every iteration has what is usual: no burn-in, one loop,
/// an unknown offset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IterationColumns {
    /// The index of the first.
    pub first: u32,
    /// How many there are.
    pub count: usize,
    /// Whether the runner planned them as burn-in.
    pub burn_in: Vec<bool>,
    /// How many executions their values are the means of.
    pub loops: Vec<u64>,
    /// Seconds from the start of the instance to their own; NaN where unknown.
    pub offsets: Vec<f64>,
    /// The values of each metric; NaN where an iteration has none.
    pub values: BTreeMap<MetricName, Vec<f64>>,
    /// What else there is to say of single ones, by number.
    pub marks: BTreeMap<u32, Mark>,
}

/// What there is to say of one iteration besides its values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, where it did not end well.
    pub message: Option<String>,
    /// Whatever else is known of it.
    pub attributes: Object,
}

impl IterationColumns {
    /// Returns whether number `k` was planned as burn-in.
    pub fn is_burn_in(&self, k: usize) -> bool {
        self.burn_in.get(k).copied().unwrap_or(false)
    }

    /// Returns how many executions the values of number `k` are the means of.
    pub fn loops_of(&self, k: usize) -> u64 {
        self.loops.get(k).copied().unwrap_or(1)
    }

    /// Returns when number `k` began, in seconds from the start of the instance.
    pub fn offset_of(&self, k: usize) -> Option<f64> {
        self.offsets.get(k).copied().filter(|it| !it.is_nan())
    }
}
