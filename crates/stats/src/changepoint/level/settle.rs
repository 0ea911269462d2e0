//! Changes moved to their best places between their neighbours.

use super::prefix::ScoreSplit;
use super::search::{FoundSplit, Search};
use super::volatility::p_value_with_own_spreads;

impl Search<'_> {
    /// Moves each change to the best split between its neighbours, and drops the least significant one as long as
    /// one is not significant there. No p-value is below that between the neighbours.
    pub(super) fn settle(&self, found: &mut Vec<FoundSplit>) {
        for at in 0..found.len() {
            if let Some(split) = self.between_neighbours(found, at) {
                found[at].index = split.index;
            }
        }
        let p_value = |found: &[FoundSplit], at: usize| {
            let (start, end) = self.neighbours(found, at);
            self.between_neighbours(found, at).map_or(1.0, |split| {
                self.p_value(start, end, &self.splits(start, end), split)
            })
        };
        let mut p_values: Vec<f64> = (0..found.len()).map(|at| p_value(found, at)).collect();
        while let Some((at, largest)) =
            (p_values.iter().copied().enumerate()).max_by(|one, other| one.1.total_cmp(&other.1))
            && largest > self.options.false_alarms
        {
            found.remove(at);
            p_values.remove(at);
            let neighbours = at.saturating_sub(1)..(at + 1).min(found.len());
            for (neighbour, value) in neighbours.clone().zip(&mut p_values[neighbours]) {
                *value = p_value(found, neighbour);
            }
        }
        for (split, p_value) in found.iter_mut().zip(p_values) {
            split.p_value = split.p_value.max(p_value);
        }
    }

    /// Drops the changes that are not significant with the spread of each side, the least significant one first. No
    /// p-value is below that with these spreads.
    pub(super) fn keep_with_own_spreads(
        &self,
        values: &[f64],
        autocorrelation: f64,
        found: &mut Vec<FoundSplit>,
    ) {
        let p_value = |found: &[FoundSplit], at: usize| {
            let (start, end) = self.neighbours(found, at);
            let split = found[at].index - start;
            p_value_with_own_spreads(&values[start..end], split, autocorrelation)
        };
        loop {
            let p_values = (0..found.len()).map(|at| p_value(found, at));
            let p_values: Vec<f64> = p_values.collect();
            let largest = p_values.iter().copied().enumerate();
            let largest = largest.max_by(|one, other| one.1.total_cmp(&other.1));
            match largest {
                Some((at, largest)) if largest > self.options.false_alarms => {
                    found.remove(at);
                }
                _ => {
                    for (split, p_value) in found.iter_mut().zip(p_values) {
                        split.p_value = split.p_value.max(p_value);
                    }
                    return;
                }
            }
        }
    }

    fn between_neighbours(&self, found: &[FoundSplit], at: usize) -> Option<ScoreSplit> {
        let (start, end) = self.neighbours(found, at);
        self.sums
            .largest_split(start, end, &self.splits(start, end))
    }

    /// Returns the index of the change before, or the start, and that of the change after, or the end.
    pub(super) fn neighbours(&self, found: &[FoundSplit], at: usize) -> (usize, usize) {
        let start = at.checked_sub(1).map_or(0, |before| found[before].index);
        let end = found
            .get(at + 1)
            .map_or(self.scores.len(), |after| after.index);
        (start, end)
    }
}
