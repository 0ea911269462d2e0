//! Predictions of a linear model, and what its runs say of it.

use super::column::weighted;
use super::factor::CentredColumns;
use super::fit::LinearFit;
use super::matrix::ModelMatrix;
use crate::cholesky::dot;
use crate::number::as_f64;
use crate::{Confidence, Interval};

/// If what the other columns leave of each column has at least such a share of its squares, the inverse is precise to
/// ten digits.
const PRECISE: f64 = 1e-5;

/// Runs whose entries are gathered together, so that they stay in the processor's cache.
const BLOCK: usize = 256;

/// What a linear model predicts for one setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearPrediction {
    /// The expected response x β̂.
    pub mean: f64,
    /// The standard error of the mean, s √(xᵀ (Xᵀ W X)⁻¹ x).
    pub standard_error: f64,
    /// The confidence interval of the mean.
    pub mean_interval: Interval,
    /// The prediction interval of one further run of weight 1: s² is added to the variance.
    pub run_interval: Interval,
    /// Whether the model can predict this setting at all: an aliased column has the value that its dependence on the
    /// others implies. If not, the numbers are those of a setting that differs in a way that was never measured.
    pub is_estimable: bool,
}

/// What a run says of the model, and the model of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunDiagnostics {
    /// h: the share of the run's own response in its fitted value, between 0 and 1.
    pub leverage: f64,
    /// The residual over its standard deviation s √((1 − h) / w); `None` if the run alone determines a coefficient (h
    /// = 1).
    pub standardised_residual: Option<f64>,
    /// Cook's distance; `None` as above.
    pub cooks_distance: Option<f64>,
}

impl LinearFit {
    /// Returns the leverage w xᵀ (Xᵀ W X)⁻¹ x of each run.
    pub fn leverages(&self) -> Vec<f64> {
        let rows = self.residuals.len();
        let dense = |entries: &[(usize, f64)]| {
            let mut weights = vec![0.0; self.rank()];
            for (at, value) in entries {
                weights[*at] = *value;
            }
            self.quadratic(&weights)
        };
        // With the inverse only the entries that are not 0 count, which is quicker and less precise.
        let is_precise = self.factor.least_share > PRECISE;
        let mut leverages = Vec::with_capacity(rows);
        for first in (0..rows).step_by(BLOCK) {
            let block = first..rows.min(first + BLOCK);
            let sparse = self.centred.sparse_rows(&self.factor.kept, block.clone());
            leverages.extend(block.zip(&sparse).map(|(row, entries)| {
                let spread = if is_precise {
                    self.spread(entries)
                } else {
                    dense(entries)
                };
                self.weight(row) * spread
            }));
        }
        leverages
    }

    /// Returns xᵀ (Xᵀ W X)⁻¹ x for the entries of x that are not 0.
    ///
    /// Four sums side by side, because each addition waits for the one before.
    fn spread(&self, entries: &[(usize, f64)]) -> f64 {
        let mut sum = 0.0;
        for (count, (row, value)) in entries.iter().enumerate() {
            let line = &self.inverse.row(*row)[..=*row];
            let product = |(column, other): &(usize, f64)| line[*column] * other;
            let (chunks, rest) = entries[..count].as_chunks::<4>();
            let mut sums = [0.0; 4];
            for chunk in chunks {
                for (sum, entry) in sums.iter_mut().zip(chunk) {
                    *sum += product(entry);
                }
            }
            let off = sums.iter().sum::<f64>() + rest.iter().map(product).sum::<f64>();
            sum += value * (2.0 * off + line[*row] * value);
        }
        sum
    }

    /// Returns leverage, standardised residual and Cook's distance of each run; empty without residual degrees of
    /// freedom.
    ///
    /// Source: Cook & Weisberg, *Residuals and Influence in Regression* 1982.
    pub fn diagnostics(&self) -> Vec<RunDiagnostics> {
        let Some(deviation) = self.residual_deviation() else {
            return Vec::new();
        };
        let rank = as_f64(self.rank());
        let own = |(row, leverage): (usize, f64)| {
            let weight = self.weight(row);
            let rest = 1.0 - leverage;
            let scaled = self.residuals[row] * weight.sqrt() / (deviation * rest.sqrt());
            let standardised_residual = (rest > 1e-10 && scaled.is_finite()).then_some(scaled);
            RunDiagnostics {
                leverage,
                standardised_residual,
                cooks_distance: standardised_residual.map(|r| r * r * leverage / (rest * rank)),
            }
        };
        self.leverages().into_iter().enumerate().map(own).collect()
    }

    /// Predicts the settings of a matrix of the same terms, one per row.
    ///
    /// Without residual degrees of freedom the intervals are infinite. Empty if the number of columns differs.
    pub fn predict(&self, settings: &ModelMatrix, confidence: Confidence) -> Vec<LinearPrediction> {
        if settings.columns() != self.centred.columns.len() {
            return Vec::new();
        }
        let variance = self.variance();
        let reach = confidence.t_quantile(as_f64(self.residual_freedom()));
        let predict = |row: usize| {
            let full: Vec<f64> = (settings.row(row).iter().zip(&self.centred.centres))
                .map(|(value, centre)| value - centre)
                .collect();
            let kept: Vec<f64> = self.factor.kept.iter().map(|at| full[*at]).collect();
            let mean = dot(&kept, &self.coefficients);
            let spread = variance * self.quadratic(&kept);
            let around = |variance: f64| {
                let reach = reach.map_or(f64::INFINITY, |reach| reach * variance.sqrt());
                Interval::around(mean, reach)
            };
            LinearPrediction {
                mean,
                standard_error: spread.sqrt(),
                mean_interval: around(spread),
                run_interval: around(spread + variance),
                is_estimable: true,
            }
        };
        let mut predictions: Vec<LinearPrediction> = (0..settings.rows()).map(predict).collect();
        self.mark_estimable(settings, &mut predictions);
        predictions
    }

    /// Compares each aliased column with the combination of kept ones that it was in the runs.
    fn mark_estimable(&self, settings: &ModelMatrix, predictions: &mut [LinearPrediction]) {
        let kept = &self.factor.kept;
        let dependent: Vec<(usize, Vec<f64>)> = self
            .aliased()
            .into_iter()
            .map(|column| (column, dependence(&self.centred, self, column)))
            .collect();
        for (row, prediction) in predictions.iter_mut().enumerate() {
            let values = settings.row(row);
            let centred = |at: usize| values[at] - self.centred.centres[at];
            prediction.is_estimable = dependent.iter().all(|(column, weights)| {
                let parts = weights
                    .iter()
                    .zip(kept)
                    .map(|(weight, at)| weight * centred(*at));
                let implied: f64 = parts.sum();
                (implied - centred(*column)).abs() <= 1e-6 * (1.0 + centred(*column).abs())
            });
        }
    }
}

/// Returns the weights on the kept columns that make up an aliased column.
fn dependence(columns: &CentredColumns, fit: &LinearFit, column: usize) -> Vec<f64> {
    let rows = fit.residuals.len();
    let entries = (0..rows).map(|row| columns.columns[column].at(row));
    let mut entries: Vec<f64> = entries.collect();
    if let Some(weights) = &fit.weights {
        entries = weighted(&entries, weights);
    }
    let mut solved = columns.inner(&fit.factor.kept, &entries);
    fit.factor.solve(&mut solved);
    solved
}
