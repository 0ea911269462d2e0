//! Quadratic forms xᵀ A x of rows that change in few entries.

use crate::cholesky::{SquareMatrix, dot};

/// xᵀ (A + f u uᵀ) x with its gradient, so that changes of few entries cost little.
///
/// A stands for the inverse of the information of all runs, and the second part for the removal of one of them.
pub(super) struct QuadraticForm<'a> {
    matrix: &'a SquareMatrix,
    /// u and f.
    removed: (Vec<f64>, f64),
    /// (A + f u uᵀ) x.
    pub(super) image: Vec<f64>,
    pub(super) value: f64,
}

impl<'a> QuadraticForm<'a> {
    /// Returns the form of a row without this row itself among those that A is of: by Sherman and Morrison,
    /// (A⁻¹ − x xᵀ)⁻¹ = A + A x xᵀ A / (1 − xᵀ A x).
    pub(super) fn without(matrix: &'a SquareMatrix, row: &[f64]) -> Self {
        let direction = matrix.times(row);
        let spread = dot(&direction, row);
        let factor = 1.0 / (1.0 - spread);
        Self {
            matrix,
            value: spread * factor,
            image: direction.iter().map(|own| own * factor).collect(),
            removed: (direction, factor),
        }
    }

    /// Returns u, f, and (A + f u uᵀ) x.
    pub(super) fn into_parts(self) -> (Vec<f64>, f64, Vec<f64>) {
        let (direction, factor) = self.removed;
        (direction, factor, self.image)
    }

    /// Returns the value after a change of x, given as entries with their differences.
    pub(super) fn after(&self, change: &[(usize, f64)]) -> f64 {
        let (direction, factor) = &self.removed;
        let (mut sum, mut along) = (self.value, 0.0);
        for (at, own) in change {
            let line = self.matrix.row(*at);
            let cross: f64 = change
                .iter()
                .map(|(other, difference)| line[*other] * difference)
                .sum();
            sum += own * (2.0 * self.image[*at] + cross);
            along += own * direction[*at];
        }
        sum + factor * along * along
    }

    pub(super) fn apply(&mut self, change: &[(usize, f64)]) {
        self.value = self.after(change);
        let (direction, factor) = &self.removed;
        let mut along = 0.0;
        for (at, own) in change {
            for (entry, other) in self.image.iter_mut().zip(self.matrix.row(*at)) {
                *entry += own * other;
            }
            along += own * direction[*at];
        }
        for (entry, other) in self.image.iter_mut().zip(direction) {
            *entry += factor * along * other;
        }
    }
}

/// Returns the entries in which two rows differ, with the differences.
pub(super) fn changed_entries(old: &[f64], new: &[f64]) -> Vec<(usize, f64)> {
    let differences = old.iter().zip(new).map(|(old, new)| new - old).enumerate();
    differences
        .filter(|(_, difference)| difference.abs() > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_gives_the_value_of_the_new_row() {
        let mut matrix = SquareMatrix::zero(3);
        for (at, value) in [2.0, 0.5, 0.1, 0.5, 3.0, -0.2, 0.1, -0.2, 1.0]
            .iter()
            .enumerate()
        {
            matrix.entries[at] = *value;
        }
        let (old, new) = ([1.0, -1.0, 2.0], [1.0, 1.0, 0.5]);
        let change = changed_entries(&old, &new);
        assert_eq!(change, [(1, 2.0), (2, -1.5)]);
        let mut form = QuadraticForm::without(&matrix, &old);
        form.apply(&change);
        // The same matrix without the old row, for the new one.
        let (direction, factor, _) = QuadraticForm::without(&matrix, &old).into_parts();
        let mut rest = matrix.clone();
        for (at, entry) in rest.entries.iter_mut().enumerate() {
            *entry += factor * direction[at / 3] * direction[at % 3];
        }
        let image = rest.times(&new);
        let value = dot(&image, &new);
        assert!((form.value - value).abs() < 1e-9);
        assert!(
            form.image
                .iter()
                .zip(&image)
                .all(|(one, other)| (one - other).abs() < 1e-9)
        );
    }
}
