//! Ordinary and weighted least squares.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::column::weighted;
use super::factor::CentredColumns;
use super::matrix::ModelMatrix;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::interval::t_p_value;
use crate::number::as_f64;
use crate::{Confidence, Interval};

/// How a linear model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LeastSquares<'a> {
    /// A positive weight per run, such as its number of iterations: the inverse of its variance, up to a factor. By
    /// default all runs count the same.
    pub weights: Option<&'a [f64]>,
}

/// What cannot be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinearModelError {
    /// There are more or fewer responses or weights than rows.
    #[error("the model has {rows} runs, and {values} values were given")]
    Lengths {
        /// Rows of the model matrix.
        rows: usize,
        /// Values given.
        values: usize,
    },
    /// A response is not finite, or a weight not positive and finite.
    #[error("run {row} has no finite response or no positive weight")]
    NotFinite {
        /// The run's number.
        row: usize,
    },
}

/// A coefficient of a linear model with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The estimate, in the unit of the response per unit of the column.
    pub estimate: f64,
    /// Its standard error; `NaN` without residual degrees of freedom.
    pub standard_error: f64,
    /// estimate / standard error.
    pub t: f64,
    /// The two-sided p-value of "it is 0", by t; `None` without residual degrees of freedom, or spread.
    pub p_value: Option<f64>,
}

/// A linear model fitted to the responses of runs.
///
/// β̂ = (Xᵀ W X)⁻¹ Xᵀ W y; residual sd s with s² = Σ w e² / (n − rank); standard errors s √diag (Xᵀ W X)⁻¹; R² = 1 −
/// Σ w e² / Σ w (y − ȳ_w)². A column that depends on those before it is *aliased*, as in R's `lm` (the tolerance,
/// 1e-7 of its length, is the same): it has no coefficient, and what could be its effect is part of the coefficients
/// of the others.
///
/// Columns of 0 and 1 give whole cross products, counted 64 runs at a time; one step of refinement with the residuals
/// gives the digits back that cross products lose.
///
/// Source: Seber & Lee, *Linear Regression Analysis* 2003, ch. 3 and 11; Björck, *Numerical Methods for Least Squares
/// Problems* 1996, §2.9.
///
/// ```
/// use lapwing_stats::linear_model::{FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm};
/// let factors = FactorValues::treatments(&[0b00, 0b01, 0b10, 0b11], 2);
/// let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(2)).expect("fits");
/// // The factors each save 500, but together only 700.
/// let fit = LinearFit::new(&matrix, &[1182.0, 682.0, 682.0, 482.0], LeastSquares::default()).expect("finite");
/// let estimates: Vec<f64> = (0..4).filter_map(|at| fit.coefficient(at)).map(|c| c.estimate.round()).collect();
/// assert_eq!(estimates, [1182.0, -500.0, -500.0, 300.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearFit {
    pub(super) centred: CentredColumns,
    pub(super) factor: CholeskyFactor,
    /// (Xᵀ W X)⁻¹ of the kept centred columns.
    pub(super) inverse: SquareMatrix,
    /// Of the kept centred columns.
    pub(super) coefficients: Vec<f64>,
    /// Fitted values, one per run.
    pub fitted: Vec<f64>,
    /// Responses minus fitted values.
    pub residuals: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
    /// Σ w e².
    pub residual_sum_of_squares: f64,
    /// Σ w (y − ȳ)².
    pub total_sum_of_squares: f64,
}

impl LinearFit {
    /// Fits the model to one response per run.
    ///
    /// # Errors
    /// When a response is not finite, a weight not positive, or their number is not that of the rows.
    pub fn new(
        matrix: &ModelMatrix,
        responses: &[f64],
        options: LeastSquares<'_>,
    ) -> Result<Self, LinearModelError> {
        check(matrix.rows(), responses, options.weights)?;
        let centred = CentredColumns::new(matrix);
        let factor = centred.factored(options.weights, matrix.rows());
        let (coefficients, fitted) = solve(&centred, &factor, responses, options.weights);
        let residuals = differences(responses, &fitted);
        Ok(Self {
            inverse: factor.inverse(),
            residual_sum_of_squares: sum_of_squares(&residuals, options.weights),
            total_sum_of_squares: total(responses, options.weights),
            centred,
            factor,
            coefficients,
            fitted,
            residuals,
            weights: options.weights.map(<[f64]>::to_vec),
        })
    }

    /// Returns the number of coefficients, without the aliased ones.
    pub fn rank(&self) -> usize {
        self.factor.rank()
    }

    /// Returns the columns that are not aliased.
    pub fn kept(&self) -> &[usize] {
        &self.factor.kept
    }

    /// Returns the columns that depend on columns before them.
    pub fn aliased(&self) -> Vec<usize> {
        let is_aliased = |at: &usize| self.position(*at).is_none();
        (0..self.centred.columns.len()).filter(is_aliased).collect()
    }

    /// Returns the residual degrees of freedom: runs minus rank.
    pub fn residual_freedom(&self) -> usize {
        self.residuals.len() - self.rank()
    }

    /// Returns s²; `NaN` without residual degrees of freedom.
    pub(super) fn variance(&self) -> f64 {
        self.residual_sum_of_squares / as_f64(self.residual_freedom())
    }

    /// Returns the residual standard deviation; `None` without residual degrees of freedom.
    pub fn residual_deviation(&self) -> Option<f64> {
        (self.residual_freedom() > 0).then(|| self.variance().sqrt())
    }

    /// Returns R²; `None` if the responses are all equal.
    pub fn r_squared(&self) -> Option<f64> {
        (self.total_sum_of_squares > 0.0)
            .then(|| 1.0 - self.residual_sum_of_squares / self.total_sum_of_squares)
    }

    /// Returns the R² adjusted for the number of coefficients; `None` without residual degrees of freedom or when the
    /// responses are all equal.
    pub fn adjusted_r_squared(&self) -> Option<f64> {
        let total = self.total_sum_of_squares / as_f64(self.residuals.len() - 1);
        (self.residual_freedom() > 0 && total > 0.0).then(|| 1.0 - self.variance() / total)
    }

    /// Returns the p-value of "a narrower model of the same responses fits as well" (the F-test of nested models);
    /// `None` if it has as many coefficients, or nothing is left to tell noise from.
    pub fn gain_over(&self, narrower: &Self) -> Option<f64> {
        let rank = self
            .rank()
            .checked_sub(narrower.rank())
            .filter(|it| *it > 0)?;
        let gain = narrower.residual_sum_of_squares - self.residual_sum_of_squares;
        let statistic = (gain / as_f64(rank) / self.variance()).max(0.0);
        let freedom = as_f64(self.residual_freedom());
        let spread = FisherSnedecor::new(as_f64(rank), freedom).ok()?;
        statistic.is_finite().then(|| spread.sf(statistic))
    }

    /// Returns the p-value of lack of fit: whether settings differ more from the model than runs of a setting from each
    /// other, by the number of each run's setting. `None` without replicates, or where the model has a coefficient for each
    /// setting.
    ///
    /// The residuals must differ within a setting by noise alone: there are no weights, and all columns are of settings.
    ///
    /// Source: Draper & Smith, *Applied Regression Analysis* 1998, § 2.1.
    pub fn lack_of_fit(&self, settings: &[usize]) -> Option<f64> {
        let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (setting, residual) in settings.iter().zip(&self.residuals) {
            groups.entry(*setting).or_default().push(*residual);
        }
        let within = |own: &Vec<f64>| {
            let mean = own.iter().sum::<f64>() / as_f64(own.len());
            own.iter().map(|it| (it - mean).powi(2)).sum::<f64>()
        };
        let pure: f64 = groups.values().map(within).sum();
        let pure_freedom = self.residuals.len() - groups.len();
        let freedom = self.residual_freedom().checked_sub(pure_freedom)?;
        if freedom == 0 || pure_freedom == 0 {
            return None;
        }
        let lack = (self.residual_sum_of_squares - pure).max(0.0) / as_f64(freedom);
        let statistic = lack / (pure / as_f64(pure_freedom));
        let spread = FisherSnedecor::new(as_f64(freedom), as_f64(pure_freedom)).ok()?;
        statistic.is_finite().then(|| spread.sf(statistic))
    }

    /// Returns the coefficient of a column; `None` if it is aliased.
    pub fn coefficient(&self, column: usize) -> Option<Coefficient> {
        let variance = self.variance();
        self.coefficient_with(column, self.residual_freedom(), |weights| {
            variance * self.quadratic(weights)
        })
    }

    /// Returns a coefficient whose variance is that of the contrast with the given weights on the kept columns.
    pub(super) fn coefficient_with(
        &self,
        column: usize,
        freedom: usize,
        variance: impl Fn(&[f64]) -> f64,
    ) -> Option<Coefficient> {
        let weights = self.unit(column)?;
        Some(coefficient(
            dot(&weights, &self.coefficients),
            variance(&weights).sqrt(),
            freedom,
        ))
    }

    /// Returns Σ `weights` × coefficients over all columns with its uncertainty, such as the effect of a factor when
    /// others are present.
    ///
    /// `None` if a weight other than 0 is on an aliased column, or their number is not that of the columns.
    pub fn contrast(&self, weights: &[f64]) -> Option<Coefficient> {
        if weights.len() != self.centred.columns.len() {
            return None;
        }
        let mut kept = vec![0.0; self.rank()];
        for (column, weight) in weights.iter().enumerate() {
            if *weight != 0.0 {
                for (entry, unit) in kept.iter_mut().zip(self.unit(column)?) {
                    *entry += weight * unit;
                }
            }
        }
        let error = (self.variance() * self.quadratic(&kept)).sqrt();
        let estimate = dot(&kept, &self.coefficients);
        Some(coefficient(estimate, error, self.residual_freedom()))
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    pub(super) fn position(&self, column: usize) -> Option<usize> {
        self.factor.kept.binary_search(&column).ok()
    }

    /// Returns the weights on the kept centred columns that make a column's coefficient.
    fn unit(&self, column: usize) -> Option<Vec<f64>> {
        let mut weights = vec![0.0; self.rank()];
        weights[self.position(column)?] = 1.0;
        if column == 0 {
            // Numbers were centred, and the intercept is where they are 0.
            for (weight, kept) in weights.iter_mut().zip(&self.factor.kept).skip(1) {
                *weight = -self.centred.centres[*kept];
            }
        }
        Some(weights)
    }

    /// Returns wᵀ (Xᵀ W X)⁻¹ w for weights on the kept centred columns.
    ///
    /// As |L⁻¹ w|², which keeps twice as many digits as the inverse where columns are nearly dependent.
    pub(super) fn quadratic(&self, weights: &[f64]) -> f64 {
        let mut solved = weights.to_vec();
        self.factor.solve_lower(&mut solved);
        dot(&solved, &solved)
    }
}

/// Returns wᵀ A w; most weights are 0.
pub(super) fn quadratic(matrix: &SquareMatrix, weights: &[f64]) -> f64 {
    let used = (weights.iter().enumerate()).filter(|(_, weight)| **weight != 0.0);
    used.map(|(at, weight)| weight * dot(matrix.row(at), weights))
        .sum()
}

impl Coefficient {
    /// Returns estimate ± t × standard error; `None` unless the degrees of freedom are positive and the standard
    /// error finite.
    pub fn interval(&self, freedom: f64, confidence: Confidence) -> Option<Interval> {
        let reach = confidence.t_quantile(freedom)? * self.standard_error;
        reach
            .is_finite()
            .then_some(Interval::around(self.estimate, reach))
    }
}

fn coefficient(estimate: f64, standard_error: f64, freedom: usize) -> Coefficient {
    let t = estimate / standard_error;
    let p_value = if freedom > 0 && t.is_finite() {
        t_p_value(t, as_f64(freedom))
    } else {
        None
    };
    Coefficient {
        estimate,
        standard_error,
        t,
        p_value,
    }
}

pub(super) fn check(
    rows: usize,
    responses: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), LinearModelError> {
    for values in std::iter::once(responses).chain(weights) {
        if values.len() != rows {
            let values = values.len();
            return Err(LinearModelError::Lengths { rows, values });
        }
    }
    let bad_weight = |weight: &f64| !(*weight > 0.0 && weight.is_finite());
    let bad = responses
        .iter()
        .position(|response| !response.is_finite())
        .or_else(|| weights?.iter().position(bad_weight));
    bad.map_or(Ok(()), |row| Err(LinearModelError::NotFinite { row }))
}

/// Returns the coefficients of the kept centred columns, and the fitted values.
fn solve(
    centred: &CentredColumns,
    factor: &CholeskyFactor,
    responses: &[f64],
    weights: Option<&[f64]>,
) -> (Vec<f64>, Vec<f64>) {
    let mut coefficients = vec![0.0; factor.rank()];
    let mut fitted = vec![0.0; responses.len()];
    // The first step solves the normal equations, the other two correct what rounding left.
    for _ in 0..3 {
        let mut rest = differences(responses, &fitted);
        if let Some(weights) = weights {
            rest = weighted(&rest, weights);
        }
        let mut step = centred.inner(&factor.kept, &rest);
        factor.solve(&mut step);
        for (coefficient, change) in coefficients.iter_mut().zip(step) {
            *coefficient += change;
        }
        fitted = centred.times(&factor.kept, &coefficients, responses.len());
    }
    (coefficients, fitted)
}

fn differences(ones: &[f64], others: &[f64]) -> Vec<f64> {
    ones.iter()
        .zip(others)
        .map(|(one, other)| one - other)
        .collect()
}

fn sum_of_squares(values: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        None => dot(values, values),
        Some(weights) => dot(&weighted(values, values), weights),
    }
}

fn total(responses: &[f64], weights: Option<&[f64]>) -> f64 {
    let (sum, count) = match weights {
        None => (responses.iter().sum::<f64>(), as_f64(responses.len())),
        Some(weights) => (dot(responses, weights), weights.iter().sum()),
    };
    let centre = sum / count;
    let around: Vec<f64> = responses.iter().map(|response| response - centre).collect();
    sum_of_squares(&around, weights)
}
