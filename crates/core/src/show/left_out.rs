//! Which iterations count, and why the others don't.

use std::collections::BTreeMap;

use super::sample::Point;

/// Whether an iteration counts, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointState {
    /// It counts.
    Steady,
    /// It was planned as burn-in.
    BurnIn,
    /// It failed.
    Failed,
    /// It was ended at its time limit.
    TimedOut,
    /// It was skipped.
    Skipped,
    /// Its instance was lost.
    Lost,
    /// It ended well and has no value of this metric.
    NoValue,
}

impl PointState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Steady,
        Self::BurnIn,
        Self::Failed,
        Self::TimedOut,
        Self::Skipped,
        Self::Lost,
        Self::NoValue,
    ];

    /// Returns what it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::BurnIn => "burn-in",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Skipped => "skipped",
            Self::Lost => "lost",
            Self::NoValue => "without value",
        }
    }
}

/// How many iterations were left out, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<PointState, usize>);

impl LeftOut {
    pub(super) fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Self {
        let mut counts = BTreeMap::new();
        for point in points {
            if point.state != PointState::Steady {
                *counts.entry(point.state).or_insert(0) += 1;
            }
        }
        Self(counts)
    }

    /// Returns whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
