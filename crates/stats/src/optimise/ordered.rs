//! A Bayesian model of the response over factors whose levels are in an order, such as versions of packages.

use super::cells::{ContrastTerm, ScaledPosterior, SurfaceCells};
use super::columns::LevelColumns;
use super::scales::{LevelKernel, SearchedScale, SurfaceFactor, SurfaceScales};
use super::search::ScaleSearch;
use super::surface::SurfacePrediction;
use crate::as_f64;

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
/// // Six versions, measured twice each, of which the last three are faster; the fifth was not measured: it is
/// // expected near its neighbours, with more doubt than about them.
/// let versions = [0, 1, 2, 3, 5, 0, 1, 2, 3, 5];
/// let runs: Vec<_> = versions.map(|at| (vec![at], if at < 3 { 1.0 } else { 0.8 })).into();
/// let surface = OrderedSurface::new(&[SurfaceFactor::Ordered(6)], &runs).expect("varies");
/// let (unmeasured, measured) = (surface.predict(&[4]), surface.predict(&[3]));
/// assert!((0.75..0.87).contains(&unmeasured.mean));
/// assert!(unmeasured.deviation > measured.deviation);
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
