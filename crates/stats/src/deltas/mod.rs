//! Deltas: what changes when one factor is added to a set of others.

mod mean;
mod sequence;
#[cfg(test)]
mod tests;

pub use mean::{MeanDelta, mean_deltas};

use std::collections::HashMap;

use crate::{mean, median};

/// Runs by the set of factors that was present, and which sets differ by one factor.
///
/// A run is (set as a bit mask, value): bit i is factor i, up to 128 factors.
///
/// ```
/// use lapwing_stats::deltas::{DeltaPairing, MeasuredSets};
/// let runs = [(0b00, 10.0), (0b01, 7.0), (0b00, 12.0), (0b10, 9.0), (0b11, 8.0)];
/// let sets = MeasuredSets::new(&runs).expect("finite");
/// let deltas: Vec<f64> = sets.deltas(DeltaPairing::Medians).iter().map(|delta| delta.change()).collect();
/// assert_eq!(deltas, [-4.0, -2.0, 1.0, -1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredSets {
    sets: Vec<u128>,
    /// The values of each set, in the order of the runs.
    values: Vec<Vec<f64>>,
    /// Of each set, the factors that can be added with the positions of the sets that this gives, by factor.
    steps: Vec<Vec<(usize, usize)>>,
}

/// How the replicates of two sets make deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeltaPairing {
    /// One delta for two sets: of the medians of their runs. Sets that were measured often count no more than others.
    #[default]
    Medians,
    /// One delta for two sets: of the means of their runs.
    Means,
    /// Every run of the one with every run of the other.
    AllPairs,
}

/// The change when a factor is added to a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delta {
    /// The factor that is added.
    pub factor: usize,
    /// The set without it.
    pub set: u128,
    /// The value without it.
    pub before: f64,
    /// The value with it.
    pub after: f64,
    /// How many runs of either set the values come from: 1 and 1 if every run is paired with every other.
    pub runs: [usize; 2],
}

impl Delta {
    /// Returns after − before: negative is a saving.
    pub fn change(&self) -> f64 {
        self.after - self.before
    }
}

impl MeasuredSets {
    /// Groups runs by their sets, and finds all sets that differ by one factor by hashing; O(runs × factors).
    ///
    /// `None` if a value is not finite.
    pub fn new(runs: &[(u128, f64)]) -> Option<Self> {
        if !runs.iter().all(|(_, value)| value.is_finite()) {
            return None;
        }
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|at| runs[*at].0);
        let (mut sets, mut values): (Vec<u128>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for at in order {
            let (set, value) = runs[at];
            if sets.last() != Some(&set) {
                sets.push(set);
                values.push(Vec::new());
            }
            if let Some(own) = values.last_mut() {
                own.push(value);
            }
        }
        let positions: HashMap<u128, usize> = sets.iter().copied().zip(0..).collect();
        let used = sets.iter().fold(0, |used, set| used | set);
        let factors: Vec<usize> = (0..128).filter(|factor| used >> factor & 1 == 1).collect();
        let above = |set: &u128| {
            let absent = factors.iter().filter(|factor| set >> **factor & 1 == 0);
            absent
                .filter_map(|factor| Some((*factor, *positions.get(&(set | 1 << factor))?)))
                .collect()
        };
        let steps = sets.iter().map(above).collect();
        Some(Self {
            sets,
            values,
            steps,
        })
    }

    /// Returns the different sets, in increasing order.
    pub fn sets(&self) -> &[u128] {
        &self.sets
    }

    /// Returns the values of a set's runs; empty if it was not measured.
    pub fn values(&self, set: u128) -> &[f64] {
        self.sets
            .binary_search(&set)
            .map_or(&[], |at| &self.values[at])
    }

    /// Returns all deltas, by set and then by factor.
    pub fn deltas(&self, pairing: DeltaPairing) -> Vec<Delta> {
        let single: Vec<f64> = match pairing {
            DeltaPairing::Medians => self.values.iter().filter_map(|own| median(own)).collect(),
            DeltaPairing::Means => self.means(),
            DeltaPairing::AllPairs => Vec::new(),
        };
        let mut deltas = Vec::new();
        for (at, steps) in self.steps.iter().enumerate() {
            for (factor, other) in steps {
                let delta = |before: f64, after: f64, runs: [usize; 2]| Delta {
                    factor: *factor,
                    set: self.sets[at],
                    before,
                    after,
                    runs,
                };
                let (without, with) = (&self.values[at], &self.values[*other]);
                if pairing == DeltaPairing::AllPairs {
                    for before in without {
                        deltas.extend(with.iter().map(|after| delta(*before, *after, [1, 1])));
                    }
                } else {
                    deltas.push(delta(
                        single[at],
                        single[*other],
                        [without.len(), with.len()],
                    ));
                }
            }
        }
        deltas
    }

    fn means(&self) -> Vec<f64> {
        self.values.iter().filter_map(|own| mean(own)).collect()
    }
}
