//! Differences of two sides at a look, in words.

use lapwing_model::text::counted;
use lapwing_stats::{Confidence, Interval, LookedDifference, PairDifference};

use crate::ratio;

/// The words for a difference of two sides.
pub trait LookedText {
    /// Returns the ratio, and its interval.
    fn ratio_interval(&self) -> (f64, Interval);

    /// Returns the number of instances of each side.
    fn side_instances(&self) -> [usize; 2];

    /// Returns `1.10× [1.07, 1.13]`, or that there is no interval.
    fn text(&self) -> String {
        let (value, interval) = self.ratio_interval();
        if interval.upper.is_infinite() {
            return format!("{}, too few instances for an interval", ratio(value));
        }
        format!(
            "{} [{}, {}]",
            ratio(value),
            ratio(interval.lower).trim_end_matches('×'),
            ratio(interval.upper).trim_end_matches('×')
        )
    }

    /// Returns whether the interval is on one side of no difference.
    fn may_differ(&self) -> bool {
        let (_, interval) = self.ratio_interval();
        interval.lower > 1.0 || interval.upper < 1.0
    }

    /// Returns `7 instances each`.
    fn instances_text(&self) -> String {
        let [one, other] = self.side_instances();
        if one == other {
            format!("{} each", counted(one, "instance"))
        } else {
            format!("{one} and {other} instances")
        }
    }
}

impl LookedText for LookedDifference {
    fn ratio_interval(&self) -> (f64, Interval) {
        self.ratio()
    }

    fn side_instances(&self) -> [usize; 2] {
        self.instances
    }
}

/// With intervals of 95 %.
impl LookedText for PairDifference {
    fn ratio_interval(&self) -> (f64, Interval) {
        let interval = self.interval(Confidence::P95);
        let of_ratio = Interval {
            lower: interval.lower.exp(),
            upper: interval.upper.exp(),
        };
        (self.value.exp(), of_ratio)
    }

    fn side_instances(&self) -> [usize; 2] {
        self.instances
    }
}
