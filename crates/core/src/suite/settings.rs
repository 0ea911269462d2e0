//! How long and how often to measure: the same keys in suite files and on the command line.

use std::time::Duration;

use super::plan::{BurnIn, Case};

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
