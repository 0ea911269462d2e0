//! What a design can detect.

use super::model::DesignModel;
use crate::cholesky::CholeskyFactor;
use crate::linear_model::ModelTerm;
use crate::number::as_f64;
use crate::{Confidence, NoncentralT};

/// Returns the smallest effect that a two-sided t test detects with the wanted power.
///
/// The δ at which |T| exceeds the quantile of t with probability `power`, T noncentral t with δ / `standard_error`;
/// in the unit of the standard error. On logarithms 0.03 is 3 %. `None` unless the standard error is positive and
/// finite, the degrees of freedom positive and the power strictly between 1 − confidence and 1.
///
/// Source: Johnson, Kotz & Balakrishnan, *Continuous Univariate Distributions* 2, 1995, ch. 31.
///
/// ```
/// use lapwing_stats::{Confidence, design::minimal_detectable_effect};
/// // 16 runs, five coefficients: 11 degrees of freedom.
/// let effect = minimal_detectable_effect(0.025, 11.0, Confidence::P95, 0.8).expect("possible");
/// assert!((effect - 0.076_99).abs() < 1e-4);
/// ```
pub fn minimal_detectable_effect(
    standard_error: f64,
    freedom: f64,
    confidence: Confidence,
    power: f64,
) -> Option<f64> {
    let valid = standard_error > 0.0
        && standard_error.is_finite()
        && power > 1.0 - confidence.level()
        && power < 1.0;
    let critical = confidence.t_quantile(freedom).filter(|_| valid)?;
    let detected = |noncentrality: f64| {
        let spread = NoncentralT::new(freedom, noncentrality)?;
        Some(spread.sf(critical) + spread.cdf(-critical))
    };
    let (mut lower, mut upper) = (0.0, 1.0);
    while detected(upper)? < power {
        upper *= 2.0;
        if upper > 1e9 {
            return None;
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        if detected(middle)? < power {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    Some(0.5 * (lower + upper) * standard_error)
}

/// How well a design estimates the terms of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignPower {
    /// Of each term, the standard error of its effect for σ = 1: twice that of the coefficient in coding −1, +1, the
    /// largest if the term has several columns.
    pub standard_errors: Vec<(ModelTerm, f64)>,
    /// Residual degrees of freedom: runs minus columns.
    pub freedom: usize,
}

impl DesignPower {
    /// Returns the power of a design for a model, from (Xᵀ X)⁻¹; `None` if the design cannot estimate it.
    pub fn new(model: &DesignModel, runs: &[Vec<usize>]) -> Option<Self> {
        let factor = CholeskyFactor::definite(&model.information(runs))?;
        let inverse = factor.inverse();
        let mut standard_errors: Vec<(ModelTerm, f64)> = Vec::new();
        for (at, term) in model.column_terms().iter().enumerate() {
            let error = 2.0 * inverse.at(at, at).sqrt();
            match standard_errors.last_mut() {
                Some((last, largest)) if last == term => *largest = largest.max(error),
                Some(_) | None => standard_errors.push((*term, error)),
            }
        }
        Some(Self {
            standard_errors,
            freedom: runs.len() - model.column_terms().len(),
        })
    }

    /// Returns the smallest effect of each term that is detected with the wanted power, for runs of this standard
    /// deviation.
    ///
    /// Empty without residual degrees of freedom, or if the power cannot be.
    pub fn detectable(
        &self,
        deviation: f64,
        confidence: Confidence,
        power: f64,
    ) -> Vec<(ModelTerm, f64)> {
        let freedom = as_f64(self.freedom);
        let detectable = |(term, error): &(ModelTerm, f64)| {
            let effect = minimal_detectable_effect(error * deviation, freedom, confidence, power);
            Some((*term, effect?))
        };
        self.standard_errors.iter().filter_map(detectable).collect()
    }
}
