//! Correlations of columns, swept on those of a model (Goodnight, *American Statistician* 1979).

use super::factor::CentredColumns;
use super::matrix::ModelMatrix;
use crate::cholesky::{SquareMatrix, dot};

/// Sweeps a symmetric matrix on one column, or with −1 takes a sweep back.
pub(super) fn sweep(matrix: &mut SquareMatrix, column: usize, direction: f64) {
    let pivot = matrix.at(column, column);
    let line = matrix.row(column).to_vec();
    for row in 0..matrix.size {
        let factor = line[row] / pivot;
        if row == column || factor == 0.0 {
            continue;
        }
        let entries = &mut matrix.entries[row * matrix.size..(row + 1) * matrix.size];
        for (entry, other) in entries.iter_mut().zip(&line) {
            *entry -= factor * other;
        }
    }
    for (row, entry) in line.iter().enumerate() {
        matrix.set_both(row, column, direction * entry / pivot);
    }
    matrix.set(column, column, -1.0 / pivot);
}

/// Returns the correlations of all columns but the intercept, and last the response; `None` if that does not vary.
pub(super) fn correlations(matrix: &ModelMatrix, responses: &[f64]) -> Option<SquareMatrix> {
    let centred = CentredColumns::new(matrix);
    let columns: Vec<usize> = (0..matrix.columns()).collect();
    let gram = centred.gram(&columns, None);
    let size = columns.len();
    let runs = gram.at(0, 0);
    let mean = responses.iter().sum::<f64>() / runs;
    let around: Vec<f64> = responses.iter().map(|response| response - mean).collect();
    let total = dot(&around, &around);
    if total <= 0.0 {
        return None;
    }
    let cross = centred.inner(&columns, &around);
    let covariance =
        |one: usize, other: usize| gram.at(one, other) - gram.at(one, 0) * gram.at(other, 0) / runs;
    // What hardly varies beside its size cannot be told from the intercept.
    let inverse_length = |at: usize| {
        let square = covariance(at, at);
        if square > 1e-12 * gram.at(at, at) {
            square.sqrt().recip()
        } else {
            0.0
        }
    };
    let lengths: Vec<f64> = columns.iter().map(|at| inverse_length(*at)).collect();
    let mut correlations = SquareMatrix::zero(size);
    for one in 1..size {
        for other in 1..=one {
            let value = covariance(one, other) * lengths[one] * lengths[other];
            correlations.set_both(one - 1, other - 1, value);
        }
        let value = cross[one] * lengths[one] / total.sqrt();
        correlations.set_both(one - 1, size - 1, value);
    }
    correlations.set(size - 1, size - 1, 1.0);
    Some(correlations)
}
