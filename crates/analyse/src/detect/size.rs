//! The levels before and after a change, and the size of it.

use lapwing_stats::changepoint::level_difference;
use lapwing_stats::{Confidence, Interval};

/// The size of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSize {
    /// The level before, in the metric's unit.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// The ratio of the levels, or their difference in the metric's unit if values are not all positive.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Whether `change` is a ratio.
    pub is_ratio: bool,
}

impl ChangeSize {
    /// Returns the size of a change between values before and after on the scale of the series, which was found because
    /// its p-value was at most `selected_at`; `None` if there are too few.
    pub(super) fn of(
        [before, after]: [&[f64]; 2],
        autocorrelation: f64,
        selected_at: Option<f64>,
        is_ratio: bool,
    ) -> Option<Self> {
        let found = level_difference(before, after, autocorrelation, selected_at, Confidence::P95)?;
        let unscaled = |value: f64| if is_ratio { value.exp() } else { value };
        Some(Self {
            before: unscaled(found.before),
            after: unscaled(found.after),
            change: unscaled(found.after - found.before),
            interval: Interval {
                lower: unscaled(found.interval.lower),
                upper: unscaled(found.interval.upper),
            },
            is_ratio,
        })
    }

    /// Returns the same change at levels higher by this much on the scale of the series.
    pub(super) fn raised(self, by: f64) -> Self {
        let raised = |level: f64| {
            if self.is_ratio {
                level * by.exp()
            } else {
                level + by
            }
        };
        Self {
            before: raised(self.before),
            after: raised(self.after),
            ..self
        }
    }

    /// Returns whether the level rises.
    pub fn rises(&self) -> bool {
        self.after > self.before
    }

    /// Returns the change as a share of the level before: 0.1 for a tenth more, and for a tenth less by a factor of
    /// 1.1. Infinite if the level before is 0.
    pub fn relative(&self) -> f64 {
        if self.is_ratio {
            self.change.max(1.0 / self.change) - 1.0
        } else {
            (self.change / self.before).abs()
        }
    }
}
