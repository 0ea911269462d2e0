//! Standard errors that do not need equal variances or independent runs.

use super::fit::{Coefficient, LinearFit, LinearModelError, quadratic};
use crate::cholesky::SquareMatrix;
use crate::number::as_f64;

/// The covariance of coefficients from the residuals themselves ("sandwich").
///
/// A = (Xᵀ W X)⁻¹ (Σ u uᵀ) (Xᵀ W X)⁻¹ with scores u. The coefficients stay those of the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustErrors {
    covariance: SquareMatrix,
    freedom: usize,
}

impl RobustErrors {
    /// Returns errors that are right whatever the variance of each run (HC3): uᵢ = wᵢ eᵢ xᵢ / (1 − hᵢ), degrees of freedom n − rank.
    ///
    /// `None` without residual degrees of freedom, or if a run alone determines a coefficient (hᵢ = 1): it has no residual to learn from.
    ///
    /// Source: MacKinnon & White, *Journal of Econometrics* 1985; Long & Ervin, *American Statistician* 2000.
    pub fn by_run(fit: &LinearFit) -> Option<Self> {
        let leverages = fit.leverages();
        if fit.residual_freedom() == 0 || leverages.iter().any(|h| *h > 1.0 - 1e-10) {
            return None;
        }
        let weight = |row: usize| fit.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let square = |(row, (residual, leverage)): (usize, (&f64, &f64))| {
            (weight(row) * residual / (1.0 - leverage)).powi(2)
        };
        let squares: Vec<f64> = fit
            .residuals
            .iter()
            .zip(&leverages)
            .enumerate()
            .map(square)
            .collect();
        let middle = fit.centred.gram(&fit.factor.kept, Some(&squares));
        Some(Self {
            covariance: sandwich(&fit.inverse, &middle, 1.0),
            freedom: fit.residual_freedom(),
        })
    }

    /// Returns errors that are right when runs of the same cluster, such as a block, a day or a host, resemble each other.
    ///
    /// u is summed over each cluster; with G clusters the sum is multiplied by G / (G − 1) × (n − 1) / (n − rank), degrees of freedom are G − 1.
    /// `clusters` has a number per run. `None` with fewer than two clusters or without residual degrees of freedom. With fewer than
    /// about 20 clusters the errors are too small: give blocks a factor of their own instead.
    ///
    /// # Errors
    /// When their number is not that of the runs.
    ///
    /// Source: Liang & Zeger, *Biometrika* 1986; Cameron & Miller, *Journal of Human Resources* 2015.
    pub fn by_cluster(
        fit: &LinearFit,
        clusters: &[usize],
    ) -> Result<Option<Self>, LinearModelError> {
        let rows = fit.residuals.len();
        if clusters.len() != rows {
            let values = clusters.len();
            return Err(LinearModelError::Lengths { rows, values });
        }
        let mut scores: std::collections::BTreeMap<usize, Vec<f64>> =
            std::collections::BTreeMap::new();
        let sparse = fit.centred.sparse_rows(&fit.factor.kept, rows);
        for (row, entries) in sparse.iter().enumerate() {
            let weight = fit.weights.as_ref().map_or(1.0, |weights| weights[row]);
            let score = scores
                .entry(clusters[row])
                .or_insert_with(|| vec![0.0; fit.rank()]);
            for (at, value) in entries {
                score[*at] += weight * fit.residuals[row] * value;
            }
        }
        let count = scores.len();
        if count < 2 || fit.residual_freedom() == 0 {
            return Ok(None);
        }
        let mut middle = SquareMatrix::zero(fit.rank());
        for score in scores.values() {
            for (row, value) in score.iter().enumerate() {
                let line = &mut middle.entries[row * fit.rank()..(row + 1) * fit.rank()];
                for (entry, other) in line.iter_mut().zip(score) {
                    *entry += value * other;
                }
            }
        }
        let runs = as_f64(rows - 1) / as_f64(fit.residual_freedom());
        let factor = as_f64(count) / as_f64(count - 1) * runs;
        Ok(Some(Self {
            covariance: sandwich(&fit.inverse, &middle, factor),
            freedom: count - 1,
        }))
    }

    /// Returns the degrees of freedom of intervals and p-values.
    pub fn freedom(&self) -> usize {
        self.freedom
    }

    /// Returns a column's coefficient with its robust error; `None` if it is aliased.
    pub fn coefficient(&self, fit: &LinearFit, column: usize) -> Option<Coefficient> {
        fit.coefficient_with(column, self.freedom, |weights| {
            quadratic(&self.covariance, weights)
        })
    }
}

fn sandwich(bread: &SquareMatrix, middle: &SquareMatrix, factor: f64) -> SquareMatrix {
    let size = bread.size;
    let mut half = SquareMatrix::zero(size);
    for row in 0..size {
        let line = middle.times(bread.row(row));
        half.entries[row * size..(row + 1) * size].copy_from_slice(&line);
    }
    let mut covariance = SquareMatrix::zero(size);
    for row in 0..size {
        for (column, value) in bread.times(half.row(row)).into_iter().enumerate() {
            covariance.set(row, column, factor * value);
        }
    }
    covariance
}
