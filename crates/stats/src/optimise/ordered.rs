//! A Bayesian model of the response over factors whose levels are in an order, such as versions of packages.

use super::scales::{LevelKernel, SearchedScale, SurfaceFactor, SurfaceScales};
use super::surface::SurfacePrediction;
use crate::as_f64;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};

/// So many posteriors are mixed at most.
const LIKELY: usize = 8;

/// Scales whose logarithmic probability is lower by this are not mixed in.
const UNLIKELY: f64 = 4.0;

/// So often all scales are tried in turn at most.
const SWEEPS: usize = 4;

/// A run's levels and its response.
pub type MeasuredRun = (Vec<usize>, f64);

/// A posterior of the expected response over all settings, from noisy runs, which may repeat settings.
///
/// y = μ + Σ g_f(x_f) + Σ h_fg(x_f, x_g) + δ(x) + e, a Gaussian process: g_f has the covariance v_f r^|i−j| between
/// levels i and j of an ordered factor (an Ornstein–Uhlenbeck process over the order: smooth on the whole, and free
/// to jump), and v_f [i = j] of a block; h_fg has ρ √(v_f v_g) times the product of both correlations; δ is
/// independent of setting to setting; e is the noise of a run. v, ρ, r and the variances of δ and e are searched for
/// on a grid, coordinate by coordinate, by the marginal likelihood times a weak prior (a normal one on the decimal
/// logarithms of variances, with standard deviation 1, around [`SurfaceScales::usual`]); τ² is in closed form. The
/// posterior is the mixture of the most likely scales and those that differ from them in one, by their probabilities.
/// The uncertainty of τ² makes predictions Student's t with [`OrderedSurface::freedom`] degrees of freedom.
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
    /// The posteriors of likely scales with their probabilities, the most likely one first.
    posteriors: Vec<(f64, ScaledPosterior)>,
}

/// The posterior for given scales.
#[derive(Debug, Clone, PartialEq)]
struct ScaledPosterior {
    kernel: LevelKernel,
    factor: CholeskyFactor,
    weights: Vec<f64>,
    signal: f64,
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

    /// Returns the factor of the covariance of the means, its solution for them, and τ².
    fn posterior(&self, kernel: &LevelKernel) -> Option<(CholeskyFactor, Vec<f64>, f64)> {
        let settings = &self.settings;
        let mut matrix = SquareMatrix::symmetric(settings.len(), |one, other| {
            kernel.at(&settings[one], &settings[other])
        });
        let noise = kernel.scales.noise;
        for (at, count) in self.counts.iter().enumerate() {
            matrix.set(at, at, matrix.at(at, at) + noise / as_f64(*count));
        }
        let factor = CholeskyFactor::definite(&matrix)?;
        let mut weights = self.around.clone();
        factor.solve(&mut weights);
        let squares = dot(&self.around, &weights) + self.within / noise;
        let signal = squares / as_f64(self.runs);
        (signal > 0.0).then_some((factor, weights, signal))
    }
}

impl OrderedSurface {
    /// Returns the posterior over likely scales; `None` with fewer than two runs, with levels that do not exist, or
    /// if a response is not finite or all are equal.
    pub fn new(factors: &[SurfaceFactor], runs: &[MeasuredRun]) -> Option<Self> {
        let cells = SurfaceCells::of(factors, runs)?;
        let mut best = SurfaceScales::usual(factors);
        let mut most = evidence(factors, &cells, &best)?;
        // Those that differ from the best ones in one scale.
        let mut around: Vec<(f64, SurfaceScales)> = Vec::new();
        for _ in 0..SWEEPS {
            let before = most;
            around.clear();
            for scale in SearchedScale::all(factors) {
                for value in scale.grid() {
                    let mut tried = best.clone();
                    *scale.of(&mut tried) = *value;
                    let Some(likely) = evidence(factors, &cells, &tried) else {
                        continue;
                    };
                    around.push((likely, tried.clone()));
                    if likely > most {
                        (most, best) = (likely, tried);
                    }
                }
            }
            if most - before < 1e-3 {
                break;
            }
        }
        around.sort_by(|one, other| other.0.total_cmp(&one.0));
        around.dedup_by(|one, other| one.1 == other.1);
        around.retain(|own| own.1 != best && most - own.0 < UNLIKELY);
        around.insert(0, (most, best));
        around.truncate(LIKELY);
        Self::of_cells(factors, &cells, around)
    }

    /// Returns the posterior with scales that are given; `None` as [`OrderedSurface::new`].
    pub fn with_scales(
        factors: &[SurfaceFactor],
        runs: &[MeasuredRun],
        scales: SurfaceScales,
    ) -> Option<Self> {
        let cells = SurfaceCells::of(factors, runs)?;
        Self::of_cells(factors, &cells, vec![(0.0, scales)])
    }

    /// Returns the posterior over scales with their logarithmic weights, the largest first.
    fn of_cells(
        factors: &[SurfaceFactor],
        cells: &SurfaceCells,
        scales: Vec<(f64, SurfaceScales)>,
    ) -> Option<Self> {
        let most = scales.first()?.0;
        let posterior = |(likely, scales): (f64, SurfaceScales)| {
            let kernel = LevelKernel::new(factors, scales);
            let (factor, weights, signal) = cells.posterior(&kernel)?;
            let own = ScaledPosterior {
                kernel,
                factor,
                weights,
                signal,
            };
            Some(((likely - most).exp(), own))
        };
        let mut posteriors: Vec<(f64, ScaledPosterior)> =
            scales.into_iter().filter_map(posterior).collect();
        let total: f64 = posteriors.iter().map(|own| own.0).sum();
        for own in &mut posteriors {
            own.0 /= total;
        }
        (!posteriors.is_empty()).then(|| Self {
            cells: cells.settings.clone(),
            centre: cells.centre,
            freedom: cells.settings.len().max(2) - 1,
            posteriors,
        })
    }

    /// Returns the posterior for the most likely scales alone: quicker to ask, and with intervals that are a little
    /// narrower.
    #[must_use]
    pub fn most_likely(mut self) -> Self {
        self.posteriors.truncate(1);
        for own in &mut self.posteriors {
            own.0 = 1.0;
        }
        self
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
        self.mixed(|posterior| {
            let (mut mean, mut prior) = (0.0, 0.0);
            let mut sum = vec![0.0; self.cells.len()];
            for (weight, run) in runs {
                let (own, known) = posterior.known(&self.cells, run);
                mean += weight * own;
                for (entry, value) in sum.iter_mut().zip(known) {
                    *entry += weight * value;
                }
                let others = runs.iter();
                prior += others
                    .map(|(other, it)| weight * other * posterior.kernel.at(run, it))
                    .sum::<f64>();
            }
            (mean, posterior.signal * (prior - dot(&sum, &sum)).max(0.0))
        })
    }

    /// Returns the degrees of freedom of predictions: one less than the measured settings.
    pub fn freedom(&self) -> f64 {
        as_f64(self.freedom)
    }

    /// Returns the most likely scales, and τ².
    pub fn scales(&self) -> (&SurfaceScales, f64) {
        let own = &self.posteriors[0].1;
        (&own.kernel.scales, own.signal)
    }

    /// Returns mean and standard deviation of the mixture of all scales, from the mean and the variance of each.
    fn mixed(&self, of: impl Fn(&ScaledPosterior) -> (f64, f64)) -> SurfacePrediction {
        let (mut mean, mut square) = (0.0, 0.0);
        for (weight, posterior) in &self.posteriors {
            let (own, variance) = of(posterior);
            mean += weight * own;
            square += weight * (variance + own * own);
        }
        SurfacePrediction {
            mean,
            deviation: (square - mean * mean).max(0.0).sqrt(),
        }
    }
}

impl ScaledPosterior {
    /// Returns the expected response around the centre, and L⁻¹ k.
    fn known(&self, cells: &[Vec<usize>], run: &[usize]) -> (f64, Vec<f64>) {
        let mut cross: Vec<f64> = cells.iter().map(|cell| self.kernel.at(cell, run)).collect();
        let mean = dot(&cross, &self.weights);
        self.factor.solve_lower(&mut cross);
        (mean, cross)
    }
}

/// Returns the log marginal likelihood of scales, times their prior; `None` if the kernel is not definite.
fn evidence(
    factors: &[SurfaceFactor],
    cells: &SurfaceCells,
    scales: &SurfaceScales,
) -> Option<f64> {
    let kernel = LevelKernel::new(factors, scales.clone());
    let (factor, _, signal) = cells.posterior(&kernel)?;
    let repeats = as_f64(cells.runs - cells.settings.len());
    let determinant = factor.log_determinant() + repeats * scales.noise.ln();
    let likelihood = -0.5 * (as_f64(cells.runs) * signal.ln() + determinant);
    Some(likelihood + scales.log_prior(factors))
}
