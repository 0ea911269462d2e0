//! A Bayesian model of the response over factors whose levels are in an order, such as versions of packages.

use super::columns::LevelColumns;
use super::scales::{
    LevelKernel, REST_WITHOUT_REPEATS, SearchedScale, SurfaceFactor, SurfaceScales,
};
use super::surface::SurfacePrediction;
use crate::as_f64;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};

/// The steps of the search for scales, in decades.
const STEPS: [f64; 3] = [0.5, 0.25, 0.125];

/// So often all scales are tried in turn at most, with each step.
const SWEEPS: usize = 4;

/// The least and the largest standard deviation of the posterior of a scale, in decades.
const DEVIATIONS: [f64; 2] = [0.05, 0.6];

/// A run's levels and its response.
pub type MeasuredRun = (Vec<usize>, f64);

/// A posterior of the expected response over all settings, from noisy runs, which may repeat settings.
///
/// y = μ + Σ g_f(x_f) + Σ h_fg(x_f, x_g) + δ(x) + e, a Gaussian process: g_f has the covariance v_f r^|i−j| between
/// levels i and j of an ordered factor (an Ornstein–Uhlenbeck process over the order: smooth on the whole, and free
/// to jump), and v_f [i = j] of a block; h_fg has ρ √(v_f v_g) times the product of both correlations; δ is
/// independent of setting to setting; e is the noise of a run. v, ρ, r and the variances of δ and e are searched for
/// coordinate by coordinate, by the marginal likelihood times a weak prior (a normal one on the decimal logarithms of
/// variances, with standard deviation 1, around [`SurfaceScales::usual`]); τ² is in closed form. The uncertainty of
/// each scale adds to that of predictions: the posteriors at ±√3 of its standard deviation count by their
/// probabilities, as in Gauss–Hermite quadrature with three points. The uncertainty of τ² makes predictions Student's
/// t with [`OrderedSurface::freedom`] degrees of freedom.
///
/// The likelihood cannot tell δ from e if no setting was repeated: what versions and pairs leave is then noise.
///
/// The covariance is inverted by settings or by columns (levels and pairs of levels), whichever are fewer.
///
/// Responses should be roughly additive: logarithms of times.
///
/// Source: Rasmussen & Williams, *Gaussian Processes for Machine Learning* 2006, ch. 2 and 5; additive kernels:
/// Duvenaud, Nickisch & Rasmussen, *NIPS* 2011.
///
/// ```
/// use lapwing_stats::optimise::{OrderedSurface, SurfaceFactor};
/// // Six versions, of which the last three are faster; the fifth was not measured.
/// let runs: Vec<_> = [0, 1, 2, 3, 5].map(|at| (vec![at], if at < 3 { 1.0 } else { 0.8 })).into();
/// let surface = OrderedSurface::new(&[SurfaceFactor::Ordered(6)], &runs).expect("varies");
/// let (unmeasured, measured) = (surface.predict(&[4]), surface.predict(&[3]));
/// assert!((unmeasured.mean - 0.8).abs() < 0.03 && unmeasured.deviation > measured.deviation);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedSurface {
    cells: Vec<Vec<usize>>,
    centre: f64,
    freedom: usize,
    columns: LevelColumns,
    /// The posterior of the most likely scales.
    centred: ScaledPosterior,
    /// Of each scale, the posteriors of smaller and larger ones with their probabilities.
    around: Vec<Vec<(f64, ScaledPosterior)>>,
}

/// The posterior for given scales.
#[derive(Debug, Clone, PartialEq)]
struct ScaledPosterior {
    kernel: LevelKernel,
    /// K⁻¹ y.
    weights: Vec<f64>,
    signal: f64,
    solver: SurfaceSolver,
}

/// What the variance of a posterior is computed from.
#[derive(Debug, Clone, PartialEq)]
enum SurfaceSolver {
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
struct FactoredScales {
    factor: CholeskyFactor,
    /// The posterior means of the columns, if it was factored by columns.
    means: Option<Vec<f64>>,
    weights: Vec<f64>,
    signal: f64,
    /// Of the covariance of the settings' means.
    log_determinant: f64,
}

/// Runs by setting.
struct SurfaceCells {
    settings: Vec<Vec<usize>>,
    counts: Vec<usize>,
    /// Means around the mean of all settings.
    around: Vec<f64>,
    centre: f64,
    /// The sum of squares within settings.
    within: f64,
    runs: usize,
}

impl SurfaceCells {
    fn of(factors: &[SurfaceFactor], runs: &[MeasuredRun]) -> Option<Self> {
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
    fn factored(&self, columns: &LevelColumns, kernel: &LevelKernel) -> Option<FactoredScales> {
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

    fn posterior(&self, columns: &LevelColumns, kernel: LevelKernel) -> Option<ScaledPosterior> {
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

/// The search for the most likely scales.
struct ScaleSearch<'a> {
    factors: &'a [SurfaceFactor],
    cells: &'a SurfaceCells,
    columns: &'a LevelColumns,
    searched: Vec<SearchedScale>,
    most: f64,
    best: SurfaceScales,
}

impl<'a> ScaleSearch<'a> {
    fn new(
        factors: &'a [SurfaceFactor],
        cells: &'a SurfaceCells,
        columns: &'a LevelColumns,
    ) -> Option<Self> {
        let repeats = cells.runs - cells.settings.len();
        let mut best = SurfaceScales::usual(factors);
        if repeats == 0 {
            best.rest = REST_WITHOUT_REPEATS * best.noise;
        }
        let searched = SearchedScale::all(factors, repeats);
        let mut search = Self {
            factors,
            cells,
            columns,
            searched,
            most: f64::NEG_INFINITY,
            best,
        };
        search.most = search.evidence(&search.best)?;
        for step in STEPS {
            search.climb(step);
        }
        Some(search)
    }

    /// Moves each scale in turn by steps as long as that is likelier.
    fn climb(&mut self, step: f64) {
        for _ in 0..SWEEPS {
            let before = self.most;
            for scale in self.searched.clone() {
                if !self.moves(scale, step) {
                    self.moves(scale, -step);
                }
            }
            if self.most - before < 0.02 {
                break;
            }
        }
    }

    fn moves(&mut self, scale: SearchedScale, step: f64) -> bool {
        let before = self.most;
        while let Some(tried) = scale.moved(&self.best, step) {
            let Some(likely) = self.evidence(&tried).filter(|own| *own > self.most) else {
                break;
            };
            (self.most, self.best) = (likely, tried);
        }
        self.most > before
    }

    /// Returns the log marginal likelihood of scales, times their prior; `None` if the kernel is not definite.
    fn evidence(&self, scales: &SurfaceScales) -> Option<f64> {
        let kernel = LevelKernel::new(self.factors, scales.clone());
        let own = self.cells.factored(self.columns, &kernel)?;
        let repeats = as_f64(self.cells.runs - self.cells.settings.len());
        let determinant = own.log_determinant + repeats * scales.noise.ln();
        let likelihood = -0.5 * (as_f64(self.cells.runs) * own.signal.ln() + determinant);
        Some(likelihood + scales.log_prior(self.factors))
    }

    /// Returns smaller and larger values of a scale with their probabilities, among the three of a quadrature.
    fn around(&self, scale: SearchedScale) -> Vec<(f64, SurfaceScales)> {
        let at = |decades: f64| {
            let scales = scale.moved(&self.best, decades)?;
            Some((self.evidence(&scales)? - self.most, scales))
        };
        let step = STEPS[1];
        let fall = [-step, step].map(|decades| at(decades).map(|own| own.0));
        // The end of what is searched is no reason to be sure.
        let falls: Vec<f64> = fall.into_iter().flatten().collect();
        let fall = -falls.iter().sum::<f64>() / as_f64(falls.len().max(1));
        let [least, largest] = DEVIATIONS;
        let deviation = (step / (2.0 * fall.max(1e-9)).sqrt()).clamp(least, largest);
        let sides = [-1.0, 1.0].map(|side| at(side * 3.0_f64.sqrt() * deviation));
        let mut sides: Vec<(f64, SurfaceScales)> = (sides.into_iter().flatten())
            .map(|(likely, scales)| (likely.min(0.0).exp(), scales))
            .collect();
        let total: f64 = 1.0 + sides.iter().map(|own| own.0).sum::<f64>();
        for own in &mut sides {
            own.0 /= total;
        }
        sides
    }
}

impl OrderedSurface {
    /// Returns the posterior over likely scales; `None` with fewer than two runs, with levels that do not exist, or
    /// if a response is not finite or all are equal.
    pub fn new(factors: &[SurfaceFactor], runs: &[MeasuredRun]) -> Option<Self> {
        let cells = SurfaceCells::of(factors, runs)?;
        let columns = LevelColumns::new(factors);
        let search = ScaleSearch::new(factors, &cells, &columns)?;
        // All other scales together are as good as the noise, of which τ² is made.
        let searched = (search.searched.iter()).filter(|own| **own != SearchedScale::Noise);
        let around: Vec<Vec<(f64, SurfaceScales)>> =
            searched.map(|scale| search.around(*scale)).collect();
        let best = search.best.clone();
        Self::of_cells(factors, &cells, best, around)
    }

    /// Returns the posterior for the most likely scales alone: quicker to make and to ask, and with intervals that
    /// are a little narrower; `None` as [`OrderedSurface::new`].
    pub fn most_likely(factors: &[SurfaceFactor], runs: &[MeasuredRun]) -> Option<Self> {
        let cells = SurfaceCells::of(factors, runs)?;
        let columns = LevelColumns::new(factors);
        let best = ScaleSearch::new(factors, &cells, &columns)?.best;
        Self::of_cells(factors, &cells, best, Vec::new())
    }

    /// Returns the posterior with scales that are given; `None` as [`OrderedSurface::new`].
    pub fn with_scales(
        factors: &[SurfaceFactor],
        runs: &[MeasuredRun],
        scales: SurfaceScales,
    ) -> Option<Self> {
        let cells = SurfaceCells::of(factors, runs)?;
        Self::of_cells(factors, &cells, scales, Vec::new())
    }

    fn of_cells(
        factors: &[SurfaceFactor],
        cells: &SurfaceCells,
        best: SurfaceScales,
        around: Vec<Vec<(f64, SurfaceScales)>>,
    ) -> Option<Self> {
        let columns = LevelColumns::new(factors);
        let posterior =
            |scales: SurfaceScales| cells.posterior(&columns, LevelKernel::new(factors, scales));
        let sides = |own: Vec<(f64, SurfaceScales)>| {
            let sides = own.into_iter();
            sides
                .filter_map(|(weight, scales)| Some((weight, posterior(scales)?)))
                .collect()
        };
        Some(Self {
            centred: posterior(best)?,
            around: around.into_iter().map(sides).collect(),
            cells: cells.settings.clone(),
            centre: cells.centre,
            freedom: cells.settings.len().max(2) - 1,
            columns,
        })
    }

    /// Returns what is expected of a setting.
    pub fn predict(&self, run: &[usize]) -> SurfacePrediction {
        let own = self.contrast(&[(1.0, run)]);
        SurfacePrediction {
            mean: self.centre + own.mean,
            ..own
        }
    }

    /// Returns what is expected of a sum of settings with weights, such as 1 and −1 for a difference; weights sum up
    /// to 0. Settings share what is unknown of their common levels.
    pub fn contrast(&self, runs: &[(f64, &[usize])]) -> SurfacePrediction {
        let mut terms: Vec<ContrastTerm<'_>> = Vec::new();
        for (weight, run) in runs {
            match terms.iter_mut().find(|own| own.run == *run) {
                Some(own) => own.weight += weight,
                None => terms.push(ContrastTerm {
                    weight: *weight,
                    run,
                    cell: (self.cells)
                        .binary_search_by(|own| own.as_slice().cmp(run))
                        .ok(),
                    columns: self.columns.of(run).collect(),
                }),
            }
        }
        terms.retain(|own| own.weight != 0.0);
        let (mean, variance) = self.centred.contrast(&self.cells, &terms);
        let mut all = (mean, variance);
        for sides in &self.around {
            let (mut shift, mut square) = (0.0, 0.0);
            for (weight, posterior) in sides {
                let own = posterior.contrast(&self.cells, &terms);
                shift += weight * (own.0 - mean);
                square += weight * ((own.0 - mean).powi(2) + own.1 - variance);
            }
            all = (all.0 + shift, all.1 + square - shift * shift);
        }
        SurfacePrediction {
            mean: all.0,
            deviation: all.1.max(0.0).sqrt(),
        }
    }

    /// Returns the degrees of freedom of predictions: one less than the measured settings.
    pub fn freedom(&self) -> f64 {
        as_f64(self.freedom)
    }

    /// Returns the most likely scales, and τ².
    pub fn scales(&self) -> (&SurfaceScales, f64) {
        (&self.centred.kernel.scales, self.centred.signal)
    }
}

/// A setting of a contrast.
struct ContrastTerm<'a> {
    weight: f64,
    run: &'a [usize],
    /// The number of the measured setting, if it is one.
    cell: Option<usize>,
    columns: Vec<usize>,
}

impl ScaledPosterior {
    /// Returns mean, around the centre, and variance of a sum of settings.
    fn contrast(&self, cells: &[Vec<usize>], terms: &[ContrastTerm<'_>]) -> (f64, f64) {
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
