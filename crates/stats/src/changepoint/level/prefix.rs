//! The best split of any interval of a series, from sums of all values before each index.

use std::ops::RangeInclusive;

use crate::number::as_f64;

/// Sums of the values and of their squares before each index.
pub(super) struct ScoreSums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

/// The split of an interval whose parts differ most.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreSplit {
    /// The index in the series of the first value after the split.
    pub(super) index: usize,
    /// The sum of the values before the split, less what was to be expected, in standard
    /// deviations of that sum when every order is equally likely. Below 0, the level rises.
    pub(super) z: f64,
}

impl ScoreSums {
    pub(super) fn of(values: &[f64]) -> Self {
        let running = |of: fn(f64) -> f64| {
            let mut sum = 0.0;
            let sums = values.iter().map(|value| {
                sum += of(*value);
                sum
            });
            [0.0].into_iter().chain(sums).collect()
        };
        Self {
            values: running(|value| value),
            squares: running(|value| value * value),
        }
    }

    /// Returns the split of `start..end` with the largest standardised difference, of those
    /// with a number of values before them that is in `splits`. None if all values are equal or there is no split.
    pub(super) fn largest_split(
        &self,
        start: usize,
        end: usize,
        splits: &RangeInclusive<usize>,
    ) -> Option<ScoreSplit> {
        let variance = self.variance(start, end);
        if splits.is_empty() || variance <= 1e-12 {
            return None;
        }
        let (mut best, mut before) = (-1.0, 0);
        let between = self.between(start, end, splits);
        for (split, explained) in between {
            if explained > best {
                (best, before) = (explained, split);
            }
        }
        let length = as_f64(end - start);
        let expected = as_f64(before) * (self.values[end] - self.values[start]) / length;
        let excess = self.values[start + before] - self.values[start] - expected;
        Some(ScoreSplit {
            index: start + before,
            z: excess.signum() * (best / (variance * length / (length - 1.0))).sqrt(),
        })
    }

    /// Returns for each split its number of values before it and the sum of squares between
    /// the two parts.
    pub(super) fn between(
        &self,
        start: usize,
        end: usize,
        splits: &RangeInclusive<usize>,
    ) -> impl Iterator<Item = (usize, f64)> {
        let length = as_f64(end - start);
        let mean = (self.values[end] - self.values[start]) / length;
        let (base, first) = (self.values[start], *splits.start());
        self.values[start + first..=start + splits.end()]
            .iter()
            .enumerate()
            .map(move |(i, sum)| {
                let before = as_f64(first + i);
                let excess = sum - base - before * mean;
                let explained = excess * excess * length / (before * (length - before));
                (first + i, explained)
            })
    }

    /// Returns the variance of `start..end`, with divisor n.
    pub(super) fn variance(&self, start: usize, end: usize) -> f64 {
        let length = as_f64(end - start);
        let mean = (self.values[end] - self.values[start]) / length;
        (self.squares[end] - self.squares[start]) / length - mean * mean
    }
}
