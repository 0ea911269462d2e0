//! Quadratic forms xᵀ A x of rows that change in few entries.

use crate::cholesky::{SquareMatrix, dot};

/// xᵀ A x with A x, so that changes of few entries cost little.
pub(super) struct QuadraticForm<'a> {
    matrix: &'a SquareMatrix,
    image: Vec<f64>,
    pub(super) value: f64,
}

impl<'a> QuadraticForm<'a> {
    pub(super) fn new(matrix: &'a SquareMatrix, row: &[f64]) -> Self {
        let image = matrix.times(row);
        Self {
            matrix,
            value: dot(&image, row),
            image,
        }
    }

    /// Returns the value after a change of x, given as entries with their differences.
    pub(super) fn after(&self, change: &[(usize, f64)]) -> f64 {
        let mut sum = self.value;
        for (at, own) in change {
            let line = self.matrix.row(*at);
            let cross: f64 = change
                .iter()
                .map(|(other, difference)| line[*other] * difference)
                .sum();
            sum += own * (2.0 * self.image[*at] + cross);
        }
        sum
    }

    pub(super) fn apply(&mut self, change: &[(usize, f64)]) {
        self.value = self.after(change);
        for (at, own) in change {
            for (entry, other) in self.image.iter_mut().zip(self.matrix.row(*at)) {
                *entry += own * other;
            }
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
        let mut form = QuadraticForm::new(&matrix, &old);
        form.apply(&change);
        let expected = QuadraticForm::new(&matrix, &new);
        assert!((form.value - expected.value).abs() < 1e-12);
        assert!(
            form.image
                .iter()
                .zip(&expected.image)
                .all(|(one, other)| (one - other).abs() < 1e-12)
        );
    }
}
