//! Counts of replays.

use lapwing_stats::as_f64;

/// How many of some replays something was found in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FoundCount {
    /// Number of replays in which it was found.
    pub found: usize,
    /// Number of all replays.
    pub of: usize,
}

impl FoundCount {
    /// Returns the share; `None` without replays.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| as_f64(self.found) / as_f64(self.of))
    }

    /// Adds one replay.
    pub fn add(&mut self, is_found: bool) {
        self.of += 1;
        self.found += usize::from(is_found);
    }

    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            found: self.found + other.found,
            of: self.of + other.of,
        }
    }
}
