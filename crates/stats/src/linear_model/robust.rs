//! Standard errors that do not need equal variances.

use super::fit::{Coefficient, LinearFit, quadratic};
use crate::cholesky::SquareMatrix;

/// The covariance of coefficients from the residuals themselves ("sandwich").
///
/// A = (Xᵀ W X)⁻¹ (Σ u uᵀ) (Xᵀ W X)⁻¹ with scores u. The coefficients stay those of the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustErrors {
    covariance: SquareMatrix,
    freedom: usize,
}

impl RobustErrors {
    /// Returns errors that are right whatever the variance of each run (HC3): uᵢ = wᵢ eᵢ xᵢ / (1 − hᵢ), degrees of
    /// freedom n − rank.
    ///
    /// `None` without residual degrees of freedom, or if a run alone determines a coefficient (hᵢ = 1): it has no
    /// residual to learn from.
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
            covariance: sandwich(&fit.inverse, &middle),
            freedom: fit.residual_freedom(),
        })
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

fn sandwich(bread: &SquareMatrix, middle: &SquareMatrix) -> SquareMatrix {
    let size = bread.size;
    let mut half = SquareMatrix::zero(size);
    for row in 0..size {
        let line = middle.times(bread.row(row));
        half.entries[row * size..(row + 1) * size].copy_from_slice(&line);
    }
    let mut covariance = SquareMatrix::zero(size);
    for row in 0..size {
        for (column, value) in bread.times(half.row(row)).into_iter().enumerate() {
            covariance.set(row, column, value);
        }
    }
    covariance
}
