//! The runs of an [`OrderedSurface`](super::OrderedSurface) by setting, and its posterior for given scales.

use super::columns::LevelColumns;
use super::ordered::MeasuredRun;
use super::scales::{LevelKernel, SurfaceFactor, SurfaceScales};
use crate::as_f64;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};

/// The posterior for given scales.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScaledPosterior {
    pub kernel: LevelKernel,
    /// K⁻¹ y.
    weights: Vec<f64>,
    pub signal: f64,
    solver: SurfaceSolver,
}

/// The parts of a posterior that its variance is computed from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SurfaceSolver {
    /// The factor of the covariance of the settings.
    Settings(CholeskyFactor),
    /// The posterior means and covariance of the columns, and of each setting the share of its residual that is its
    /// own.
    Columns {
        means: Vec<f64>,
        covariance: SquareMatrix,
        shares: Vec<f64>,
    },
}

/// A covariance of settings that was factored.
pub(super) struct FactoredScales {
    factor: CholeskyFactor,
    /// The posterior means of the columns, if it was factored by columns.
    means: Option<Vec<f64>>,
    weights: Vec<f64>,
    pub signal: f64,
    /// Of the covariance of the settings' means.
    pub log_determinant: f64,
}

/// Runs by setting.
pub(super) struct SurfaceCells {
    pub settings: Vec<Vec<usize>>,
    counts: Vec<usize>,
    /// Means around the mean of all settings.
    around: Vec<f64>,
    pub centre: f64,
    /// The sum of squares within settings.
    within: f64,
    pub runs: usize,
}

impl SurfaceCells {
    pub fn of(factors: &[SurfaceFactor], runs: &[MeasuredRun]) -> Option<Self> {
        let exists = |run: &[usize]| {
            run.len() == factors.len()
                && (run.iter().zip(factors)).all(|(level, factor)| *level < factor.levels())
        };
        let is_usable = |(run, response): &MeasuredRun| exists(run) && response.is_finite();
        if runs.len() < 2 || !runs.iter().all(is_usable) {
            return None;
        }
        let mut settings: Vec<Vec<usize>> = runs.iter().map(|(run, _)| run.clone()).collect();
        settings.sort_unstable();
        settings.dedup();
        let (mut counts, mut sums) = (vec![0; settings.len()], vec![0.0; settings.len()]);
        let place = |run: &Vec<usize>| settings.binary_search(run).unwrap_or_default();
        for (run, response) in runs {
            counts[place(run)] += 1;
            sums[place(run)] += response;
        }
        let means: Vec<f64> = (sums.iter().zip(&counts))
            .map(|(sum, count)| sum / as_f64(*count))
            .collect();
        let within = runs
            .iter()
            .map(|(run, response)| (response - means[place(run)]).powi(2))
            .sum();
        let centre = means.iter().sum::<f64>() / as_f64(means.len());
        let around: Vec<f64> = means.iter().map(|mean| mean - centre).collect();
        let varies = around.iter().any(|value| value.abs() > 0.0) || within > 0.0;
        varies.then_some(Self {
            settings,
            counts,
            around,
            centre,
            within,
            runs: runs.len(),
        })
    }

    /// Returns the variance of what the mean of each setting has beyond levels and pairs.
    fn residual_variances(&self, scales: &SurfaceScales) -> Vec<f64> {
        let counts = self.counts.iter();
        counts
            .map(|count| scales.rest + scales.noise / as_f64(*count))
            .collect()
    }

    /// Returns the factored covariance; `None` if it is not definite.
    pub fn factored(&self, columns: &LevelColumns, kernel: &LevelKernel) -> Option<FactoredScales> {
        let mut own = if self.settings.len() <= columns.count {
            self.by_settings(kernel)?
        } else {
            self.by_columns(columns, kernel)?
        };
        let squares = dot(&self.around, &own.weights) + self.within / kernel.scales.noise;
        own.signal = squares / as_f64(self.runs);
        (own.signal > 0.0).then_some(own)
    }

    fn by_settings(&self, kernel: &LevelKernel) -> Option<FactoredScales> {
        let settings = &self.settings;
        let mut matrix = SquareMatrix::symmetric(settings.len(), |one, other| {
            kernel.at(&settings[one], &settings[other])
        });
        for (at, count) in self.counts.iter().enumerate() {
            let noise = kernel.scales.noise / as_f64(*count);
            matrix.set(at, at, matrix.at(at, at) + noise);
        }
        let factor = CholeskyFactor::definite(&matrix)?;
        let mut weights = self.around.clone();
        factor.solve(&mut weights);
        Some(FactoredScales {
            log_determinant: factor.log_determinant(),
            factor,
            means: None,
            weights,
            signal: 0.0,
        })
    }

    /// K = X Λ Xᵀ + D has K⁻¹ y = D⁻¹ (y − X m) and |K| = |D| |Λ| |A|, where A = Λ⁻¹ + Xᵀ D⁻¹ X and A m = Xᵀ D⁻¹ y.
    fn by_columns(&self, columns: &LevelColumns, kernel: &LevelKernel) -> Option<FactoredScales> {
        let variances = self.residual_variances(&kernel.scales);
        let (mut precision, prior) = columns.precision(kernel);
        let mut means = vec![0.0; columns.count];
        let mut own = Vec::new();
        for (at, setting) in self.settings.iter().enumerate() {
            own.clear();
            own.extend(columns.of(setting));
            let inverse = variances[at].recip();
            for (place, row) in own.iter().enumerate() {
                means[*row] += self.around[at] * inverse;
                let start = row * columns.count;
                for column in &own[..=place] {
                    precision.entries[start + column] += inverse;
                }
            }
        }
        let factor = CholeskyFactor::definite(&precision)?;
        factor.solve(&mut means);
        let weights = (self.settings.iter().enumerate()).map(|(at, setting)| {
            let fitted: f64 = columns.of(setting).map(|column| means[column]).sum();
            (self.around[at] - fitted) / variances[at]
        });
        let weights = weights.collect();
        let residual: f64 = variances.iter().map(|own| own.ln()).sum();
        Some(FactoredScales {
            log_determinant: residual + prior + factor.log_determinant(),
            factor,
            means: Some(means),
            weights,
            signal: 0.0,
        })
    }

    pub fn posterior(
        &self,
        columns: &LevelColumns,
        kernel: LevelKernel,
    ) -> Option<ScaledPosterior> {
        let own = self.factored(columns, &kernel)?;
        Some(self.solved(own, kernel))
    }

    fn solved(&self, own: FactoredScales, kernel: LevelKernel) -> ScaledPosterior {
        let solver = match own.means {
            None => SurfaceSolver::Settings(own.factor),
            Some(means) => SurfaceSolver::Columns {
                means,
                covariance: own.factor.inverse(),
                shares: (self.residual_variances(&kernel.scales).iter())
                    .map(|variance| kernel.scales.rest / variance)
                    .collect(),
            },
        };
        ScaledPosterior {
            kernel,
            weights: own.weights,
            signal: own.signal,
            solver,
        }
    }
}

/// A setting of a contrast.
pub(super) struct ContrastTerm<'a> {
    pub weight: f64,
    pub run: &'a [usize],
    /// The number of the measured setting, if it is one.
    pub cell: Option<usize>,
    pub columns: Vec<usize>,
}

impl ScaledPosterior {
    /// Returns mean, around the centre, and variance of a sum of settings.
    pub fn contrast(&self, cells: &[Vec<usize>], terms: &[ContrastTerm<'_>]) -> (f64, f64) {
        let (mean, variance) = match &self.solver {
            SurfaceSolver::Settings(factor) => self.by_settings(factor, cells, terms),
            SurfaceSolver::Columns {
                means,
                covariance,
                shares,
            } => self.by_columns(means, covariance, shares, terms),
        };
        (mean, self.signal * variance.max(0.0))
    }

    fn by_settings(
        &self,
        factor: &CholeskyFactor,
        cells: &[Vec<usize>],
        terms: &[ContrastTerm<'_>],
    ) -> (f64, f64) {
        let covariance = |run: &[usize]| -> f64 {
            let terms = terms.iter();
            terms
                .map(|own| own.weight * self.kernel.at(run, own.run))
                .sum()
        };
        let mut cross: Vec<f64> = cells.iter().map(|cell| covariance(cell)).collect();
        let mean = dot(&cross, &self.weights);
        factor.solve_lower(&mut cross);
        let prior: f64 = (terms.iter())
            .map(|own| own.weight * covariance(own.run))
            .sum();
        (mean, prior - dot(&cross, &cross))
    }

    /// With s the share of a measured setting's residual that is its own, it is (1 − s) x β + s y, and of its own
    /// variance 1 − s remains.
    fn by_columns(
        &self,
        means: &[f64],
        covariance: &SquareMatrix,
        shares: &[f64],
        terms: &[ContrastTerm<'_>],
    ) -> (f64, f64) {
        let (mut mean, mut variance) = (0.0, 0.0);
        let mut sum: Vec<(usize, f64)> = Vec::new();
        for own in terms {
            let share = own.cell.map_or(0.0, |cell| shares[cell]);
            variance += own.weight.powi(2) * self.kernel.scales.rest * (1.0 - share);
            // The residual is D K⁻¹ y, and s D is the variance of what is the setting's own.
            let residual = own.cell.map_or(0.0, |cell| self.weights[cell]);
            let fitted: f64 = own.columns.iter().map(|column| means[*column]).sum();
            mean += own.weight * (fitted + self.kernel.scales.rest * residual);
            let weight = own.weight * (1.0 - share);
            sum.extend(own.columns.iter().map(|column| (*column, weight)));
        }
        for (at, (row, weight)) in sum.iter().enumerate() {
            let entries = covariance.row(*row);
            let before = sum[..at].iter();
            let twice: f64 = before.map(|(column, other)| other * entries[*column]).sum();
            variance += weight * (2.0 * twice + weight * entries[*row]);
        }
        (mean, variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_columns_give_the_same_posterior() {
        let factors = [
            SurfaceFactor::Ordered(4),
            SurfaceFactor::Ordered(3),
            SurfaceFactor::Ordered(2),
            SurfaceFactor::Block(2),
        ];
        // Some settings once, some twice, some never.
        let runs: Vec<MeasuredRun> = (0..60_usize)
            .filter(|at| at % 5 != 3)
            .map(|at| {
                let run = vec![at % 4, at / 4 % 3, at / 12 % 2, at / 24 % 2];
                (run, as_f64(at * 7919 % 101) / 50.0)
            })
            .collect();
        let cells = SurfaceCells::of(&factors, &runs).expect("varies");
        let columns = LevelColumns::new(&factors);
        let scales = SurfaceScales {
            main: vec![0.7, 2.0, 0.1, 100.0],
            pairs: 0.2,
            rest: 0.05,
            noise: 0.3,
            correlation: 0.6,
        };
        let kernel = LevelKernel::new(&factors, scales);
        let both = [
            cells.by_settings(&kernel).expect("definite"),
            cells.by_columns(&columns, &kernel).expect("definite"),
        ];
        let close = |one: f64, other: f64| {
            assert!(
                (one - other).abs() < 1e-9 * (1.0 + one.abs()),
                "{one} {other}"
            );
        };
        close(both[0].log_determinant, both[1].log_determinant);
        let both = both.map(|mut own| {
            own.signal = 1.0;
            cells.solved(own, kernel.clone())
        });
        let (measured, other) = (&cells.settings[3], vec![3, 1, 1, 1]);
        assert!(!cells.settings.contains(&other), "never measured");
        for weights in [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]] {
            let runs = [measured, &other].into_iter().zip(weights);
            let terms: Vec<ContrastTerm<'_>> = runs
                .map(|(run, weight)| ContrastTerm {
                    weight,
                    run,
                    cell: cells.settings.iter().position(|own| own == run),
                    columns: columns.of(run).collect(),
                })
                .collect();
            let [one, two] = (both.each_ref()).map(|own| own.contrast(&cells.settings, &terms));
            close(one.0, two.0);
            close(one.1, two.1);
        }
    }
}
