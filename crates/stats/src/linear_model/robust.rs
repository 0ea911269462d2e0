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
        let scores = leverages
            .iter()
            .enumerate()
            .map(|(row, leverage)| fit.weight(row) * fit.residuals[row] / (1.0 - leverage));
        let squares: Vec<f64> = scores.map(|score| score.powi(2)).collect();
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
    // Row by row; both are symmetric.
    let row = |row: usize| bread.times(&middle.times(bread.row(row)));
    SquareMatrix {
        size: bread.size,
        entries: (0..bread.size).flat_map(row).collect(),
    }
}
