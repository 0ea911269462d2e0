//! How long and how often to measure: the same keys in suite files and on the command line.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::super::node::{Located, Node, Table, Value};
use super::super::plan::{BurnIn, Case};
use super::duration::parse_duration;

/// The most instances of a benchmark: every one of them has a place in the random order, which is kept in memory.
pub const MOST_INSTANCES: u32 = 100_000;

/// The most iterations of an instance that count, and as many before those.
pub const MOST_ITERATIONS: u32 = 1_000_000;

/// The most instances of all benchmarks and variants together.
pub const MOST_INSTANCES_IN_ALL: u64 = 5_000_000;

/// How many instances a benchmark may have, in suite files and plans alike.
pub(in crate::suite) const INSTANCE_LIMITS: RangeInclusive<u32> = 1..=MOST_INSTANCES;

/// How many iterations of an instance may count.
pub(in crate::suite) const ITERATION_LIMITS: RangeInclusive<u32> = 1..=MOST_ITERATIONS;

/// How many iterations there may be before those that count.
pub(in crate::suite) const BURN_IN_LIMITS: RangeInclusive<u32> = 0..=MOST_ITERATIONS;

/// Settings of which some may be left to others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// How many instances.
    pub instances: Option<u32>,
    /// How many iterations are planned as burn-in.
    pub burn_in: Option<BurnIn>,
    /// How many iterations after those, at least.
    pub iterations: Option<u32>,
    /// The longest that one iteration may take.
    pub time_limit: Option<Duration>,
    /// Consecutive failures after which an instance is given up; 0 for never.
    pub max_failures: Option<u32>,
    /// Iterations go on until this much time was measured over all instances.
    pub min_time: Option<Duration>,
    /// No iteration begins once this much time was spent over all instances.
    pub max_time: Option<Duration>,
    /// The processors that benchmarks may run on, such as `0-1,3`.
    pub cpus: Option<String>,
}

impl Settings {
    /// How many instances where nobody says.
    pub const INSTANCES: u32 = 5;
    /// How many burn-in iterations where nobody says.
    pub const BURN_IN: BurnIn = BurnIn::Fixed(1);
    /// How many iterations where nobody says.
    pub const ITERATIONS: u32 = 5;
    /// Consecutive failures that end an instance where nobody says.
    pub const MAX_FAILURES: u32 = 3;

    /// Returns the settings of a table, which has other keys too.
    pub(in crate::suite) fn read(keys: &mut Table) -> Result<Self, Located> {
        Ok(Self {
            instances: keys.read("instances", |it, key| it.whole(key, INSTANCE_LIMITS))?,
            burn_in: keys.read("burn_in", burn_in)?,
            iterations: keys.read("iterations", |it, key| it.whole(key, ITERATION_LIMITS))?,
            time_limit: keys.read("time_limit", duration)?,
            max_failures: keys.read("max_failures", |it, key| it.whole(key, 0..=u32::MAX))?,
            min_time: keys.read("min_time", duration)?,
            max_time: keys.read("max_time", duration)?,
            cpus: None,
        })
    }

    /// Returns these settings with the gaps filled from `other`.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            instances: self.instances.or(other.instances),
            burn_in: self.burn_in.or(other.burn_in),
            iterations: self.iterations.or(other.iterations),
            time_limit: self.time_limit.or(other.time_limit),
            max_failures: self.max_failures.or(other.max_failures),
            min_time: self.min_time.or(other.min_time),
            max_time: self.max_time.or(other.max_time),
            cpus: self.cpus.clone().or_else(|| other.cpus.clone()),
        }
    }

    /// Puts what is set into a case (but for `cpus`, which belongs to the whole plan).
    pub fn apply(&self, case: &mut Case) {
        case.instances = self.instances.unwrap_or(case.instances);
        case.burn_in = self.burn_in.unwrap_or(case.burn_in);
        case.iterations = self.iterations.unwrap_or(case.iterations);
        case.time_limit = self.time_limit.or(case.time_limit);
        case.max_failures = self.max_failures.unwrap_or(case.max_failures);
        // Tests of pytest are measured by the plugin, which counts iterations.
        if let Some(test) = &mut case.pytest {
            test.given.burn_in |= self.burn_in.is_some();
            test.given.iterations |= self.iterations.is_some();
        } else {
            case.min_time = self.min_time.or(case.min_time);
            case.max_time = self.max_time.or(case.max_time);
        }
    }
}

fn burn_in(node: &Node, key: &str) -> Result<BurnIn, Located> {
    match &node.value {
        Value::Text(text) if text == "auto" => Ok(BurnIn::Auto),
        Value::Integer(_) => node.whole(key, BURN_IN_LIMITS).map(BurnIn::Fixed),
        _ => Err(node.wrong(key, "a whole number or \"auto\"")),
    }
}

pub(in crate::suite) fn duration(node: &Node, key: &str) -> Result<Duration, Located> {
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(_) | Value::Number(_) => node.number(key)?.to_string(),
        _ => return Err(node.wrong(key, "a time such as \"200s\"")),
    };
    match parse_duration(&text) {
        Ok(duration) if duration.is_zero() => Err(node.senseless(key, "must be above zero")),
        Ok(duration) => Ok(duration),
        Err(reason) => Err(node.senseless(key, reason)),
    }
}
