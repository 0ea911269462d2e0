//! A Bayesian model of the response over all settings.

use crate::as_f64;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::design::DesignModel;
use crate::linear_model::ModelTerm;

/// Variances of noise that are tried, as multiples of the variance of a main effect's coefficient.
const NOISE: [f64; 7] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];

/// Variances of the coefficients of pairs and squares that are tried, likewise.
const PAIRS: [f64; 4] = [0.01, 0.1, 0.3, 1.0];

/// The variance of the intercept, around the mean of the responses, likewise.
const INTERCEPT: f64 = 10.0;

/// What the model expects of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePrediction {
    /// The mean of the posterior.
    pub mean: f64,
    /// Its standard deviation, without the noise of a run.
    pub deviation: f64,
}

/// A posterior of the expected response over all settings, from noisy runs.
///
/// y = X β + e in the coding of the [`DesignModel`], with independent normal priors: β of main effects has variance
/// τ², of pairs and squares ρ τ², e has λ τ². So pairs are shrunk towards 0 as far as the runs don't show them, and
/// there may be fewer runs than coefficients. ρ and λ are those of a small grid with the largest marginal likelihood,
/// τ² is then in closed form (empirical Bayes). The same as a Gaussian process with the kernel Σ v φ(x) φ(z) over
/// columns φ.
///
/// Responses should be roughly additive: logarithms of times.
///
/// Source: Rasmussen & Williams, *Gaussian Processes for Machine Learning* 2006, ch. 2 and 5.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSurface {
    model: DesignModel,
    /// √ of the prior variances of the columns, in τ.
    scales: Vec<f64>,
    /// The scaled rows of the runs.
    rows: Vec<Vec<f64>>,
    factor: CholeskyFactor,
    centre: f64,
    /// The posterior mean of the scaled coefficients.
    coefficients: Vec<f64>,
    signal: f64,
    noise: f64,
}

impl ResponseSurface {
    /// Returns the posterior after some runs with their responses; `None` with fewer than two, with levels that do
    /// not exist, or if a response is not finite or all are equal.
    pub fn new(model: &DesignModel, runs: &[(Vec<usize>, f64)]) -> Option<Self> {
        let levels = model.levels();
        let exists = |run: &[usize]| {
            run.len() == levels.len() && run.iter().zip(&levels).all(|(level, count)| level < count)
        };
        let mut all = runs.iter();
        if runs.len() < 2 || !all.all(|(run, response)| exists(run) && response.is_finite()) {
            return None;
        }
        let centre = runs.iter().map(|(_, response)| response).sum::<f64>() / as_f64(runs.len());
        let around: Vec<f64> = runs.iter().map(|(_, response)| response - centre).collect();
        if around.iter().all(|value| *value == 0.0) {
            return None;
        }
        let plain: Vec<Vec<f64>> = runs.iter().map(|(run, _)| model.row(run)).collect();
        let mut best: Option<(f64, Self)> = None;
        for pairs in PAIRS {
            let scales = scales(model, pairs);
            let rows: Vec<Vec<f64>> = plain.iter().map(|row| scaled(row, &scales)).collect();
            let kernel =
                SquareMatrix::symmetric(rows.len(), |one, other| dot(&rows[one], &rows[other]));
            for noise in NOISE {
                let Some((evidence, factor, weights, signal)) = posterior(&kernel, noise, &around)
                else {
                    continue;
                };
                if best.as_ref().is_none_or(|(most, _)| evidence > *most) {
                    let column = |at: usize| {
                        let weighted = rows.iter().zip(&weights);
                        weighted.map(|(row, weight)| row[at] * weight).sum()
                    };
                    let own = Self {
                        model: model.clone(),
                        coefficients: (0..scales.len()).map(column).collect(),
                        scales: scales.clone(),
                        rows: rows.clone(),
                        factor,
                        centre,
                        signal,
                        noise: noise * signal,
                    };
                    best = Some((evidence, own));
                }
            }
        }
        best.map(|(_, own)| own)
    }

    /// Returns what is expected of a setting.
    pub fn predict(&self, run: &[usize]) -> SurfacePrediction {
        let row = scaled(&self.model.row(run), &self.scales);
        let mut cross: Vec<f64> = self.rows.iter().map(|own| dot(own, &row)).collect();
        self.factor.solve_lower(&mut cross);
        let variance = self.signal * (dot(&row, &row) - dot(&cross, &cross));
        SurfacePrediction {
            mean: self.centre + dot(&row, &self.coefficients),
            deviation: variance.max(0.0).sqrt(),
        }
    }
}

fn scales(model: &DesignModel, pairs: f64) -> Vec<f64> {
    let scale = |term: &ModelTerm| match term {
        ModelTerm::Intercept => INTERCEPT.sqrt(),
        ModelTerm::Main(_) => 1.0,
        ModelTerm::Square(_) | ModelTerm::Pair(..) => pairs.sqrt(),
    };
    model.column_terms().iter().map(scale).collect()
}

fn scaled(row: &[f64], scales: &[f64]) -> Vec<f64> {
    row.iter()
        .zip(scales)
        .map(|(entry, scale)| entry * scale)
        .collect()
}

/// Returns the log marginal likelihood, the factor of the kernel with noise, its solution for the responses, and τ².
fn posterior(
    kernel: &SquareMatrix,
    noise: f64,
    around: &[f64],
) -> Option<(f64, CholeskyFactor, Vec<f64>, f64)> {
    let mut noisy = kernel.clone();
    for at in 0..noisy.size {
        noisy.set(at, at, noisy.at(at, at) + noise);
    }
    let factor = CholeskyFactor::definite(&noisy)?;
    let mut weights = around.to_vec();
    factor.solve(&mut weights);
    let count = as_f64(around.len());
    let signal = dot(around, &weights) / count;
    let evidence = -0.5 * (count * signal.ln() + factor.log_determinant());
    (signal > 0.0).then_some((evidence, factor, weights, signal))
}
