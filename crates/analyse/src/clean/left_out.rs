//! Numbers of excluded iterations, by reason.

use std::collections::BTreeMap;

use super::IterationState;

/// Numbers of excluded iterations, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<IterationState, usize>);

impl LeftOut {
    /// Returns the numbers of iterations in these states, without those that remain.
    pub fn of(states: impl IntoIterator<Item = IterationState>) -> Self {
        let mut left_out = Self::default();
        for state in states {
            left_out.note(state);
        }
        left_out
    }

    /// Adds an iteration of that state.
    pub fn note(&mut self, state: IterationState) {
        if state != IterationState::Steady {
            *self.0.entry(state).or_default() += 1;
        }
    }

    /// Adds the numbers of another.
    pub fn add(&mut self, other: &Self) {
        for (state, count) in &other.0 {
            *self.0.entry(*state).or_insert(0) += count;
        }
    }

    /// Returns the number excluded for that reason.
    pub fn count(&self, state: IterationState) -> usize {
        self.0.get(&state).copied().unwrap_or(0)
    }

    /// Returns the reasons with their numbers, in the order of the rules.
    pub fn reasons(&self) -> impl Iterator<Item = (IterationState, usize)> + '_ {
        self.0.iter().map(|(state, count)| (*state, *count))
    }

    /// Returns whether nothing was excluded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the total number of exclusions.
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
