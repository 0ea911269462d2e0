//! The search for the most likely scales of an [`OrderedSurface`](super::OrderedSurface).

use super::cells::SurfaceCells;
use super::columns::LevelColumns;
use super::scales::{
    LevelKernel, REST_WITHOUT_REPEATS, SearchedScale, SurfaceFactor, SurfaceScales,
};
use crate::as_f64;

/// The steps of the search for scales, in decades.
const STEPS: [f64; 3] = [0.5, 0.25, 0.125];

/// So often all scales are tried in turn at most, with each step.
const SWEEPS: usize = 4;

/// The least and the largest standard deviation of the posterior of a scale, in decades.
const DEVIATIONS: [f64; 2] = [0.05, 0.6];

/// The search for the most likely scales.
pub(super) struct ScaleSearch<'a> {
    factors: &'a [SurfaceFactor],
    cells: &'a SurfaceCells,
    columns: &'a LevelColumns,
    pub searched: Vec<SearchedScale>,
    most: f64,
    pub best: SurfaceScales,
}

impl<'a> ScaleSearch<'a> {
    pub fn new(
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
    pub fn around(&self, scale: SearchedScale) -> Vec<(f64, SurfaceScales)> {
        let at = |decades: f64| {
            let scales = scale.moved(&self.best, decades)?;
            Some((self.evidence(&scales)? - self.most, scales))
        };
        let step = STEPS[1];
        let fall = [-step, step].map(|decades| at(decades).map(|own| own.0));
        // A normal density falls by h² / 2 σ² within h; the end of what is searched is no reason to be sure.
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
