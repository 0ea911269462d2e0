//! The cost of describing a segment of a series by one distribution.

use crate::number::as_f64;

/// The sum of squared deviations from the segment's mean, over a known variance: twice the
/// negative log-likelihood of normal values whose mean alone changes, but for a constant.
pub struct NormalMean {
    /// Sums of the first k values and of their squares.
    sums: Vec<(f64, f64)>,
    precision: f64,
}

impl NormalMean {
    /// Returns the cost for a series of finite values with noise of `variance` (1 gives
    /// the plain sum of squares, L2).
    pub fn new(values: &[f64], variance: f64) -> Self {
        // Without the mean, squares of small deviations do not drown in the square of the level.
        let centre = crate::mean(values).unwrap_or(0.0);
        let (mut sum, mut squares) = (CompensatedSum::default(), CompensatedSum::default());
        let mut sums = Vec::with_capacity(values.len() + 1);
        sums.push((0.0, 0.0));
        for value in values {
            let value = value - centre;
            sums.push((sum.add(value), squares.add(value * value)));
        }
        Self {
            sums,
            precision: 1.0 / variance,
        }
    }

    /// Returns the number of values of the series.
    pub fn length(&self) -> usize {
        self.sums.len() - 1
    }

    /// Returns the cost of the values `start..end`, of which there is at least one.
    pub fn segment(&self, start: usize, end: usize) -> f64 {
        let ((sum_before, squares_before), (sum, squares)) = (self.sums[start], self.sums[end]);
        let sum = sum - sum_before;
        let within = squares - squares_before - sum * sum / as_f64(end - start);
        within.max(0.0) * self.precision
    }
}

/// A sum that keeps what rounding took away (Neumaier 1974).
#[derive(Default)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    /// Adds `value` and returns the sum so far.
    fn add(&mut self, value: f64) -> f64 {
        let next = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
        self.sum + self.lost
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Levels 3, 2 and 2.5 with noise 0.2, 0.1, 0.4 (from 32 on) and 0.1 (from 50 on).
    pub const STEPS: [f64; 65] = [
        3.0, 3.06, 2.945, 2.822, 2.909, 2.802, 3.012, 3.268, 2.902, 2.876, 3.098, 3.071, 2.011,
        1.907, 1.997, 2.07, 1.866, 1.954, 1.81, 1.871, 1.816, 1.976, 1.873, 2.027, 2.016, 1.981,
        1.748, 1.946, 1.995, 2.011, 1.847, 1.952, 1.629, 1.696, 2.444, 1.697, 2.007, 2.374, 1.787,
        1.975, 2.064, 2.046, 1.53, 2.05, 2.564, 1.401, 2.364, 2.068, 1.763, 2.82, 2.576, 2.38,
        2.507, 2.558, 2.481, 2.568, 2.493, 2.567, 2.644, 2.432, 2.52, 2.454, 2.513, 2.381, 2.442,
    ];

    fn assert_close(actual: f64, expected: f64) {
        assert!(
            (actual / expected - 1.0).abs() < 1e-9,
            "{actual} {expected}"
        );
    }

    #[test]
    fn costs_are_those_of_numpy() {
        // numpy 2.4.6: ((x[:12] - x[:12].mean())**2).sum()
        assert_close(
            NormalMean::new(&STEPS, 1.0).segment(0, 12),
            0.19278491666666653,
        );
        assert_close(
            NormalMean::new(&STEPS, 4.0).segment(0, 12),
            0.19278491666666653 / 4.0,
        );
    }
}
