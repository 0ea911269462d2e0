//! Counts of replays.

use lapwing_stats::as_f64;

use super::JUDGED_NIGHTS;
use crate::judge::FoundCount;

/// Events in nights in which nothing changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AlarmCount {
    /// Findings, each counted in the night in which it is new.
    pub alarms: usize,
    /// Suspicions, counted in the same way.
    pub suspicions: usize,
    /// Number of nights.
    pub nights: usize,
}

impl AlarmCount {
    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            alarms: self.alarms + other.alarms,
            suspicions: self.suspicions + other.suspicions,
            nights: self.nights + other.nights,
        }
    }
}

/// In which nights planted steps were seen first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenStep {
    /// By replay, the number of nights at the new level that it took; `None` if it was not seen within
    /// [`JUDGED_NIGHTS`].
    pub nights: Vec<Option<usize>>,
}

impl SeenStep {
    /// Returns after how many nights this share of the steps is seen; `None` if it is not within [`JUDGED_NIGHTS`].
    pub fn within(&self, share: f64) -> Option<usize> {
        let seen = |night: usize| {
            let seen = self.nights.iter().flatten().filter(|it| **it <= night);
            as_f64(seen.count())
        };
        let wanted = share * as_f64(self.nights.len());
        let mut nights = (1..=JUDGED_NIGHTS).filter(|_| !self.nights.is_empty());
        nights.find(|night| seen(*night) >= wanted)
    }

    /// Returns how many were seen at all.
    pub fn seen(&self) -> FoundCount {
        FoundCount {
            found: self.nights.iter().flatten().count(),
            of: self.nights.len(),
        }
    }
}

/// How often planted drifts were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DriftShare {
    /// Those over the whole history.
    pub whole: FoundCount,
    /// Those over its last half.
    pub last_half: FoundCount,
}

impl DriftShare {
    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            whole: self.whole.and(other.whole),
            last_half: self.last_half.and(other.last_half),
        }
    }
}
