//! Sequences of measured sets that change one factor at a time.

use std::collections::BTreeSet;

use super::MeasuredSets;
use crate::design::extend_walk;
use crate::subset::draw_subset;
use crate::{Seed, mean};

/// So many random orders are tried for each sequence.
const TRIES: usize = 20;

impl MeasuredSets {
    /// Returns up to so many different sequences from `base` to `target` through measured sets, one factor at a time,
    /// in random orders.
    ///
    /// A random order that meets a set without runs takes its next factor that fits, and goes back where none does;
    /// so sequences through sparsely measured regions are more alike than random ones. Fewer if that many are not
    /// found, none if there is no way.
    ///
    /// ```
    /// use lapwing_stats::{Seed, deltas::MeasuredSets};
    /// let sets = MeasuredSets::new(&[(0b00, 10.0), (0b01, 7.0), (0b11, 8.0)]).expect("finite");
    /// assert_eq!(sets.sequences(0b00, 0b11, 5, Seed(7)), [[0b00, 0b01, 0b11]]);
    /// assert_eq!(sets.sequence_deltas(&[0b00, 0b01, 0b11]), [(0, -3.0), (1, 1.0)]);
    /// ```
    pub fn sequences(&self, base: u128, target: u128, count: usize, seed: Seed) -> Vec<Vec<u128>> {
        let is_measured = |set: u128| self.sets.binary_search(&set).is_ok();
        let mut order: Vec<usize> = (0..128)
            .filter(|factor| (base ^ target) >> factor & 1 == 1)
            .collect();
        let (mut random, mut dead) = (seed.block(0), BTreeSet::new());
        let (mut found, mut sequences) = (BTreeSet::new(), Vec::new());
        for _ in 0..count.saturating_mul(TRIES) {
            if sequences.len() == count || !is_measured(base) {
                break;
            }
            let all = order.len();
            draw_subset(&mut order, all, &mut random);
            let mut sequence = vec![base];
            if !extend_walk(&mut sequence, target, &order, &is_measured, &mut dead) {
                break;
            }
            if found.insert(sequence.clone()) {
                sequences.push(sequence);
            }
        }
        sequences
    }

    /// Returns what each step of a sequence changes, by factor: the observation of this sequence for principal
    /// components.
    ///
    /// Values of sets are the means of their runs. Steps from or to a set without runs, or of several factors at
    /// once, are left out.
    pub fn sequence_deltas(&self, sequence: &[u128]) -> Vec<(usize, f64)> {
        let step = |pair: &[u128]| {
            let changed = pair[0] ^ pair[1];
            let change = mean(self.values(pair[1]))? - mean(self.values(pair[0]))?;
            changed
                .is_power_of_two()
                .then(|| (changed.trailing_zeros() as usize, change))
        };
        let mut deltas: Vec<(usize, f64)> = sequence.windows(2).filter_map(step).collect();
        deltas.sort_by_key(|(factor, _)| *factor);
        deltas
    }
}
