//! Differences of two sides at a look, in words.

use lapwing_model::text::counted;
use lapwing_stats::LookedDifference;

use crate::ratio;

/// The words for a difference at a look.
pub trait LookedText {
    /// Returns `1.10× [1.07, 1.13]`.
    fn text(&self) -> String;

    /// Returns `7 instances each`.
    fn instances_text(&self) -> String;
}

impl LookedText for LookedDifference {
    fn text(&self) -> String {
        let (value, interval) = self.ratio();
        format!(
            "{} [{}, {}]",
            ratio(value),
            ratio(interval.lower).trim_end_matches('×'),
            ratio(interval.upper).trim_end_matches('×')
        )
    }

    fn instances_text(&self) -> String {
        let [one, other] = self.instances;
        if one == other {
            format!("{} each", counted(one, "instance"))
        } else {
            format!("{one} and {other} instances")
        }
    }
}
