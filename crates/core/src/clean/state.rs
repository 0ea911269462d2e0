//! Whether an iteration counts, and if not, why.

use std::collections::BTreeMap;

use super::{Policy, SteadyFrom};
use crate::model::{InstanceOutcome, Outcome};
use crate::record::InstanceData;

/// Whether an iteration counts, and if not, the first rule that left it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IterationState {
    /// It counts.
    Steady,
    /// Its instance was lost and measured anew.
    Lost,
    /// It came before the steady state, whatever became of it.
    BurnIn,
    /// It failed.
    Failed,
    /// It was ended at its time limit.
    TimedOut,
    /// It was skipped.
    Skipped,
    /// It ended well and has no value of this metric.
    NoValue,
}

impl IterationState {
    /// Every state, in the order of the rules.
    pub const ALL: [Self; 7] = [
        Self::Steady,
        Self::Lost,
        Self::BurnIn,
        Self::Failed,
        Self::TimedOut,
        Self::Skipped,
        Self::NoValue,
    ];

    /// Returns what it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Lost => "in lost instances",
            Self::BurnIn => "burn-in",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Skipped => "skipped",
            Self::NoValue => "without value",
        }
    }

    /// Returns the state of the iteration at `position` of an instance, which has `value`
    /// of the metric in question (NaN where it has none).
    pub fn of(instance: &InstanceData, position: usize, value: f64, policy: Policy) -> Self {
        let iterations = &instance.iterations;
        let before_steady = match policy.burn_in {
            SteadyFrom::Recorded => iterations.burn_in[position],
            SteadyFrom::Index(first) => iterations.index[position] < first,
        };
        if instance.end.as_ref().map(|end| end.outcome) == Some(InstanceOutcome::Lost) {
            return Self::Lost;
        }
        match iterations.outcome[position] {
            _ if before_steady => Self::BurnIn,
            Outcome::Failed => Self::Failed,
            Outcome::TimedOut => Self::TimedOut,
            Outcome::Skipped => Self::Skipped,
            Outcome::Ok if value.is_finite() => Self::Steady,
            Outcome::Ok => Self::NoValue,
        }
    }
}

/// How many iterations were left out, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<IterationState, usize>);

impl LeftOut {
    /// Returns the account of iterations in these states; those that count are not in it.
    pub fn of(states: impl IntoIterator<Item = IterationState>) -> Self {
        let mut left_out = Self::default();
        for state in states {
            left_out.note(state);
        }
        left_out
    }

    /// Takes an iteration of that state into account.
    pub fn note(&mut self, state: IterationState) {
        if state != IterationState::Steady {
            *self.0.entry(state).or_insert(0) += 1;
        }
    }

    /// Adds another account to this one.
    pub fn add(&mut self, other: &Self) {
        for (state, count) in &other.0 {
            *self.0.entry(*state).or_insert(0) += count;
        }
    }

    /// Returns whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many were left out in all.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns `5 burn-in, 1 failed`.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(state, count)| format!("{count} {}", state.name()))
            .collect();
        parts.join(", ")
    }
}
