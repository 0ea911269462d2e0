//! The ends of a percentile interval, quickly.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::bootstrap::position;
use crate::number::as_f64;
use crate::{Confidence, Interval};

/// Finds the ends that [`crate::percentile_interval`] has.
///
/// Both lie among the few smallest and the few largest replicates. As bootstrapped means are nearly
/// normal, it is known beforehand where more than enough of those lie; only they are put in
/// order. Where that fails all are.
#[derive(Debug, Clone)]
pub(super) struct ReplicateEnds {
    /// The positions in the order of the replicates; `None` without replicates.
    positions: Option<(usize, usize)>,
    /// So many standard deviations off the mean those looked at begin.
    reach: f64,
    /// Room for them.
    smallest: Vec<f64>,
    largest: Vec<f64>,
}

impl ReplicateEnds {
    pub(super) fn new(replicates: usize, confidence: Confidence) -> Self {
        let tail = confidence.tail();
        let low = position(tail, replicates);
        let positions = low.zip(position(1.0 - tail, replicates));
        let wanted = positions.map_or(0, |(low, high)| (low + 1).max(replicates - high));
        // Twice as many, and some standard deviations of their number.
        let looked_at = 2.0 * as_f64(wanted) + 4.0 * as_f64(wanted).sqrt();
        let share = (looked_at / as_f64(replicates).max(1.0)).min(0.5);
        Self {
            positions,
            reach: -Normal::standard().inverse_cdf(share),
            smallest: vec![0.0; replicates],
            largest: vec![0.0; replicates],
        }
    }

    /// Returns the ends; `NaN` without replicates. What is undefined counts as largest.
    pub(super) fn of(&mut self, replicates: &[f64]) -> Interval {
        let Some((low, high)) = self.positions else {
            return Interval {
                lower: f64::NAN,
                upper: f64::NAN,
            };
        };
        let (smallest, largest) = self.outermost(replicates);
        let above = replicates.len() - 1 - high;
        if smallest <= low || largest <= above {
            let all = &mut self.smallest;
            all.copy_from_slice(replicates);
            return Interval {
                lower: *all.select_nth_unstable_by(low, f64::total_cmp).1,
                upper: *all.select_nth_unstable_by(high, f64::total_cmp).1,
            };
        }
        let (smallest, largest) = (&mut self.smallest[..smallest], &mut self.largest[..largest]);
        let from_end = largest.len() - 1 - above;
        Interval {
            lower: *smallest.select_nth_unstable_by(low, f64::total_cmp).1,
            upper: *largest.select_nth_unstable_by(from_end, f64::total_cmp).1,
        }
    }

    /// Puts the replicates that lie far below and above their mean into the rooms; returns how
    /// many there are. Without a mean there are none.
    fn outermost(&mut self, replicates: &[f64]) -> (usize, usize) {
        let count = as_f64(replicates.len());
        let mean = sum_of(replicates, |value| value) / count;
        let variance = sum_of(replicates, |value| (value - mean) * (value - mean)) / count;
        let reach = self.reach * variance.sqrt();
        let (below, above) = (mean - reach, mean + reach);
        let (mut smallest, mut largest) = (0, 0);
        for value in replicates {
            self.smallest[smallest] = *value;
            smallest += usize::from(*value < below);
            self.largest[largest] = *value;
            largest += usize::from(*value > above);
        }
        (smallest, largest)
    }
}

/// Returns a sum of which eight parts run side by side.
fn sum_of(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|value| of(*value)).sum();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += of(*value);
        }
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::percentile_interval;

    fn assert_same(values: &[f64], level: f64) {
        let confidence = Confidence::new(level).expect("a level");
        let actual = ReplicateEnds::new(values.len(), confidence).of(values);
        let expected = percentile_interval(values.to_vec(), confidence).expect("replicates");
        let bits = |it: Interval| (it.lower.to_bits(), it.upper.to_bits());
        assert_eq!(bits(actual), bits(expected), "{values:?} {level}");
    }

    #[test]
    fn what_is_undefined_is_largest() {
        let mut values: Vec<f64> = (0..1_000).map(f64::from).collect();
        values[7..60].fill(f64::NAN);
        assert_same(&values, 0.95);
        values.fill(f64::NAN);
        assert_same(&values, 0.95);
        assert!(
            ReplicateEnds::new(0, Confidence::P95)
                .of(&[])
                .lower
                .is_nan()
        );
    }

    #[test]
    fn replicates_far_from_normal_have_their_ends_too() {
        for level in [0.5, 0.9, 0.95, 0.99, 0.999] {
            assert_same(&[1.0; 1_000], level);
            let steps: Vec<f64> = (0..1_000).map(|k| f64::from(k / 400)).collect();
            assert_same(&steps, level);
            let mut spikes = vec![1.0; 1_000];
            spikes[3] = 1e9;
            assert_same(&spikes, level);
        }
    }

    proptest! {
        #[test]
        fn the_ends_are_those_of_all_in_order(
            values in prop::collection::vec(-1e3..1e3_f64, 1..300),
            level in 0.01..0.999_f64,
        ) {
            assert_same(&values, level);
        }
    }
}
