//! The state of an iteration: included, or the reason of its exclusion.

use super::outlier::mark_outliers;
use super::{CleaningPolicy, FailureRule, SteadyFrom};
use lapwing_model::{InstanceOutcome, Outcome};
use lapwing_record::{ColumnEntry, InstanceData};

/// The state of an iteration: included, or the first rule that excluded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IterationState {
    /// It is included.
    Steady,
    /// Its benchmark is not among those requested by name.
    Unknown,
    /// Its instance was lost and measured again.
    Lost,
    /// It is before the steady state, whatever its outcome.
    BurnIn,
    /// It failed.
    Failed,
    /// It timed out.
    TimedOut,
    /// It was skipped.
    Skipped,
    /// It succeeded but has no value of this metric.
    NoValue,
    /// Its value is in a unit that cannot be converted to that of the latest run.
    OtherUnit,
    /// Its value is far from those of its instance.
    Outlier,
    /// Its benchmark never reaches a steady state.
    Unsteady,
    /// Its instance has too few remaining iterations.
    ShortInstance,
    /// Its benchmark has too few remaining instances.
    FewInstances,
}

impl ColumnEntry for IterationState {}

impl IterationState {
    /// Every state, in the order of the rules.
    pub const ALL: [Self; 13] = [
        Self::Steady,
        Self::Unknown,
        Self::Lost,
        Self::BurnIn,
        Self::Failed,
        Self::TimedOut,
        Self::Skipped,
        Self::NoValue,
        Self::OtherUnit,
        Self::Outlier,
        Self::Unsteady,
        Self::ShortInstance,
        Self::FewInstances,
    ];

    /// Returns its title.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns its name in data: `burn_in`.
    pub fn key(self) -> &'static str {
        self.words().1
    }

    /// Returns its title, and its name in data.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Steady => ("steady", "steady"),
            Self::Unknown => ("of benchmarks not in the burn-in file", "not_asked_for"),
            Self::Lost => ("in interrupted instances", "lost"),
            Self::BurnIn => ("burn-in", "burn_in"),
            Self::Failed => ("failed", "failed"),
            Self::TimedOut => ("timed out", "timed_out"),
            Self::Skipped => ("skipped", "skipped"),
            Self::NoValue => ("without value", "no_value"),
            Self::OtherUnit => ("in another unit", "other_unit"),
            Self::Outlier => ("outlying", "outlier"),
            Self::Unsteady => ("never steady", "never_steady"),
            Self::ShortInstance => ("in short instances", "short_instance"),
            Self::FewInstances => ("in benchmarks with too few instances", "few_instances"),
        }
    }

    /// Returns the states of the iterations of an instance, in their order.
    pub fn of_instance(instance: &InstanceData, metric: &str, policy: CleaningPolicy) -> Vec<Self> {
        let column = instance.iterations.values.get(metric);
        let value = |at: usize| column.map_or(f64::NAN, |column| column[at]);
        let mut states: Vec<Self> = (0..instance.iterations.len())
            .map(|at| Self::before_outliers(instance, at, value(at), policy))
            .collect();
        if let Some(rule) = policy.outliers
            && rule.applies_to(instance, metric)
        {
            mark_outliers(&mut states, value, rule);
        }
        let left = states.iter().filter(|it| **it == Self::Steady).count();
        if policy.burn_in == SteadyFrom::Never {
            replace_steady(&mut states, Self::Unsteady);
        } else if left < policy.min_iterations {
            replace_steady(&mut states, Self::ShortInstance);
        }
        states
    }

    /// Returns the state of the iteration at an index, as far as it depends on that iteration alone.
    fn before_outliers(
        instance: &InstanceData,
        at: usize,
        value: f64,
        policy: CleaningPolicy,
    ) -> Self {
        let iterations = &instance.iterations;
        let before_steady = match policy.burn_in {
            SteadyFrom::Unknown => return Self::Unknown,
            SteadyFrom::Recorded => iterations.burn_in[at],
            SteadyFrom::Index(first) => iterations.index(at) < first,
            SteadyFrom::Never => false,
        };
        if instance.end.as_ref().map(|end| end.outcome) == Some(InstanceOutcome::Lost) {
            return Self::Lost;
        }
        if before_steady {
            return Self::BurnIn;
        }
        match (iterations.outcome[at], policy.failures) {
            (Outcome::TimedOut, FailureRule::Drop) => Self::TimedOut,
            (Outcome::Skipped, _) => Self::Skipped,
            (Outcome::Failed, FailureRule::Drop) => Self::Failed,
            (Outcome::TimedOut, FailureRule::AsHail) => {
                if iterations.messages.contains_key(&at) {
                    Self::TimedOut
                } else {
                    Self::Steady
                }
            }
            (Outcome::Ok | Outcome::Failed, FailureRule::AsHail) => Self::Steady,
            (Outcome::Ok, FailureRule::Drop) if value.is_finite() => Self::Steady,
            (Outcome::Ok, FailureRule::Drop) => Self::NoValue,
        }
    }
}

/// Sets another state for the iterations included so far.
pub(super) fn replace_steady(states: &mut [IterationState], by: IterationState) {
    for state in states {
        if *state == IterationState::Steady {
            *state = by;
        }
    }
}
