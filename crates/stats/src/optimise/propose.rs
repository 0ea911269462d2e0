//! The next runs: where the best setting may be.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::ordered::MeasuredRun;
use super::surface::{ResponseSurface, SurfacePrediction};
use crate::Seed;
use crate::design::{DesignFactor, DesignSpace, balanced_runs, one_factor_at_a_time};

/// How runs are proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimisationOptions {
    /// How many runs to propose at once, such as one per machine; by default 1.
    pub count: usize,
    /// Below this expected improvement of the response the search is done: 0.01 by default, which is 1 % for
    /// logarithms.
    pub smallest_improvement: f64,
    /// So many settings are measured, balanced at random, before the model is asked; by default a number by the
    /// factors, at least 6 and at most 20.
    pub first_runs: Option<usize>,
    /// With more feasible settings than this a random sample is considered, and the neighbours of the best ones; by
    /// default 2,000.
    pub candidates: usize,
}

impl Default for OptimisationOptions {
    fn default() -> Self {
        Self {
            count: 1,
            smallest_improvement: 0.01,
            first_runs: None,
            candidates: 2_000,
        }
    }
}

impl OptimisationOptions {
    /// Returns how many settings are measured before the model is asked.
    pub(super) fn first_runs_of(&self, factors: usize) -> usize {
        self.first_runs.unwrap_or((factors + 2).clamp(6, 20))
    }
}

/// A setting that is worth a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedRun {
    /// One level per factor.
    pub run: Vec<usize>,
    /// What is expected of it; `None` for the first runs.
    pub prediction: Option<SurfacePrediction>,
    /// By how much it is expected to fall below the best measured setting; infinite for the first runs.
    pub expected_improvement: f64,
}

impl ProposedRun {
    /// Returns a run from before the model is asked.
    pub(super) fn first(run: Vec<usize>) -> Self {
        Self {
            run,
            prediction: None,
            expected_improvement: f64::INFINITY,
        }
    }

    /// Returns a run that is expected to improve on the lowest response.
    pub(super) fn improving(run: &[usize], prediction: SurfacePrediction, lowest: f64) -> Self {
        Self {
            run: run.to_vec(),
            prediction: Some(prediction),
            expected_improvement: expected_improvement(lowest, prediction),
        }
    }
}

/// The state of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimisationStep {
    /// The next runs, the most promising one first. They may repeat a setting: then its noise is in doubt.
    pub proposed: Vec<ProposedRun>,
    /// The measured setting with the lowest expected response, and what is expected of it; `None` before the model
    /// can be fitted.
    pub best: Option<(Vec<usize>, SurfacePrediction)>,
    /// Whether no further run is expected to improve the response by the smallest improvement.
    pub is_done: bool,
}

impl OptimisationStep {
    pub(super) fn of_improvements(
        proposed: Vec<ProposedRun>,
        best: Option<(Vec<usize>, SurfacePrediction)>,
        options: &OptimisationOptions,
    ) -> Self {
        let improvements = proposed.iter().map(|run| run.expected_improvement);
        let most = improvements.fold(0.0, f64::max);
        Self {
            proposed,
            best,
            is_done: most < options.smallest_improvement,
        }
    }
}

/// Returns the runs to measure next to find the setting with the lowest response.
///
/// First balanced random runs, then those with the largest expected improvement: with the posterior N(m, s²) of a
/// setting and the lowest posterior mean μ of a measured one, EI = (μ − m) Φ(z) + s φ(z), z = (μ − m) / s. Posterior
/// means instead of the lowest *value* keep a lucky run from stopping the search. With several runs at once each is
/// taken for measured as expected before the next is chosen. Done when the largest EI is below the smallest
/// improvement. From three times as many runs as the first ones on, every fifth is another balanced random one, so that a
/// model that is wrong finds out.
///
/// `measured` are runs with their responses, lower being better, best as logarithms. `failed` settings are not
/// proposed again, and count against those that are like them. `None` if the factors and the space differ or no run is
/// feasible.
///
/// Source: Jones, Schonlau & Welch, *Journal of Global Optimization* 1998; Picheny, Wagner & Ginsbourger, *Structural
/// and Multidisciplinary Optimization* 2013.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignFactor, DesignSpace};
/// use lapwing_stats::optimise::{OptimisationOptions, next_runs};
/// let (space, factors) = (DesignSpace::treatments(4), vec![DesignFactor::Levels(2); 4]);
/// let (mut measured, options) = (Vec::new(), OptimisationOptions::default());
/// loop {
///     let step = next_runs(&space, &factors, &measured, &[], &options, Seed(7)).expect("feasible");
///     if step.is_done {
///         // The second treatment costs, the others save.
///         assert_eq!(step.best.expect("measured").0, [1, 0, 1, 1]);
///         break;
///     }
///     let run = step.proposed[0].run.clone();
///     let cost = 5.0 - 0.5 * run[0] as f64 + 0.3 * run[1] as f64 - 0.2 * run[2] as f64 - 0.1 * run[3] as f64;
///     measured.push((run, cost));
/// }
/// assert!(measured.len() < 14);
/// ```
pub fn next_runs(
    space: &DesignSpace,
    factors: &[DesignFactor],
    measured: &[MeasuredRun],
    failed: &[Vec<usize>],
    options: &OptimisationOptions,
    seed: Seed,
) -> Option<OptimisationStep> {
    let counts = factors.iter().map(DesignFactor::count);
    if !counts.eq(space.levels().iter().copied()) {
        return None;
    }
    let search = RunSearch {
        space,
        measured,
        failed,
        options,
        // A stream of its own for each number of runs, so that the next ones are others.
        seed: seed.split(&(measured.len() + failed.len()).to_string()),
    };
    match ResponseSurface::new(factors, measured) {
        Some(surface) if measured.len() >= options.first_runs_of(factors.len()) => {
            search.improving_runs(factors, surface)
        }
        surface => search.first_runs(surface.as_ref()),
    }
}

/// Every so many-th run is a balanced random one.
const RANDOM_SHARE: usize = 5;

/// From so many times the first runs on.
const RANDOM_START: usize = 3;

/// A search is done only if nothing is expected by a model whose standard deviations are so many times as large.
const CAUTION: f64 = 1.5;

struct RunSearch<'a> {
    space: &'a DesignSpace,
    measured: &'a [MeasuredRun],
    failed: &'a [Vec<usize>],
    options: &'a OptimisationOptions,
    seed: Seed,
}

impl RunSearch<'_> {
    /// Returns balanced random runs, given those that are chosen already.
    fn balanced(&self, count: usize, chosen: &[ProposedRun]) -> Vec<ProposedRun> {
        let measured = self.measured.iter().map(|(run, _)| run);
        let chosen = chosen.iter().map(|own| &own.run);
        let existing: Vec<Vec<usize>> =
            measured.chain(self.failed).chain(chosen).cloned().collect();
        let seed = self.seed.split(&existing.len().to_string());
        // Some more than needed, since what failed is not tried again, and what was measured only if nothing is left.
        let runs = balanced_runs(self.space, 4 * count, &existing, seed);
        let is_new = |run: &Vec<usize>| !existing.contains(run);
        let (fresh, known): (Vec<_>, Vec<_>) = runs.into_iter().partition(is_new);
        let known = known.into_iter().filter(|run| !self.failed.contains(run));
        let runs = fresh.into_iter().chain(known).take(count);
        runs.map(ProposedRun::first).collect()
    }

    fn first_runs(&self, surface: Option<&ResponseSurface>) -> Option<OptimisationStep> {
        let proposed = self.balanced(self.options.count.max(1), &[]);
        (!proposed.is_empty()).then(|| OptimisationStep {
            proposed,
            best: surface.and_then(|surface| best(surface, self.measured)),
            is_done: false,
        })
    }

    fn improving_runs(
        &self,
        factors: &[DesignFactor],
        surface: ResponseSurface,
    ) -> Option<OptimisationStep> {
        let incumbent = best(&surface, self.measured);
        let works = self.working(factors);
        let works = |run: &[usize]| match &works {
            Some(surface) => surface.predict(run).mean.clamp(0.02, 1.0),
            None => 1.0,
        };
        let lowest = incumbent.as_ref()?.1.mean;
        let (mut surface, mut most) = (surface, 0.0);
        let mut proposed: Vec<ProposedRun> = Vec::new();
        for count in 0..self.options.count.max(1) {
            let number = self.measured.len() + self.failed.len() + count;
            let promise =
                |run: &[usize]| works(run) * expected_improvement(lowest, surface.predict(run));
            let candidates = self.candidates(&promise, number);
            let promises = candidates.iter().map(|run| (promise(run), run));
            let best = promises.max_by(|(one, _), (other, _)| one.total_cmp(other));
            let Some((_, run)) = best else { break };
            if count == 0 {
                most = self.cautious_promise(&candidates, &surface, &works, lowest);
            }
            let first = self.options.first_runs_of(factors.len());
            let is_random =
                (number + 1).is_multiple_of(RANDOM_SHARE) && number >= RANDOM_START * first;
            let balanced = || self.balanced(1, &proposed).pop();
            let own = is_random
                .then(balanced)
                .flatten()
                .unwrap_or_else(|| ProposedRun::improving(run, surface.predict(run), lowest));
            if count + 1 < self.options.count {
                surface = surface.after(&own.run);
            }
            proposed.push(own);
        }
        (!proposed.is_empty()).then_some(OptimisationStep {
            is_done: most < self.options.smallest_improvement,
            proposed,
            best: incumbent,
        })
    }

    /// Returns the largest expected improvement, were the model less sure of itself.
    fn cautious_promise(
        &self,
        candidates: &[Vec<usize>],
        surface: &ResponseSurface,
        works: &dyn Fn(&[usize]) -> f64,
        lowest: f64,
    ) -> f64 {
        let promises = candidates.iter().map(|run| {
            let own = surface.predict(run);
            let doubted = SurfacePrediction {
                deviation: CAUTION * own.deviation,
                ..own
            };
            works(run) * expected_improvement(lowest, doubted)
        });
        promises.fold(0.0, f64::max)
    }

    /// Returns a model of what works, 1, and what fails, 0; `None` if nothing failed.
    fn working(&self, factors: &[DesignFactor]) -> Option<ResponseSurface> {
        let worked = self.measured.iter().map(|(run, _)| (run.clone(), 1.0));
        let failed = self.failed.iter().map(|run| (run.clone(), 0.0));
        if self.failed.is_empty() {
            return None;
        }
        ResponseSurface::new(factors, &worked.chain(failed).collect::<Vec<_>>())
    }

    /// Returns the settings to choose from, of which larger promises are better.
    fn candidates(&self, promise: &dyn Fn(&[usize]) -> f64, number: usize) -> Vec<Vec<usize>> {
        let measured = self.measured.iter().map(|(run, _)| run);
        let measured = measured.filter(|run| self.space.is_feasible(run));
        let cost = |run: &[usize]| -promise(run);
        let seed = self.seed.split(&number.to_string());
        let most = self.options.candidates;
        let mut candidates = sampled_settings(self.space, measured, Some(&cost), most, seed);
        candidates.retain(|run| !self.failed.contains(run));
        candidates
    }
}

/// Returns the last of the runs with the largest expected improvement, and what is expected of it.
pub(super) fn most_promising(
    runs: &[Vec<usize>],
    lowest: f64,
    predict: impl Fn(&[usize]) -> SurfacePrediction,
) -> Option<(&Vec<usize>, SurfacePrediction)> {
    let improvements = runs.iter().map(|run| {
        let prediction = predict(run);
        (expected_improvement(lowest, prediction), run, prediction)
    });
    let most = improvements.max_by(|(one, ..), (other, ..)| one.total_cmp(other));
    most.map(|(_, run, prediction)| (run, prediction))
}

fn best(
    surface: &ResponseSurface,
    measured: &[(Vec<usize>, f64)],
) -> Option<(Vec<usize>, SurfacePrediction)> {
    let predicted = measured.iter().map(|(run, _)| (run, surface.predict(run)));
    let lowest = predicted.min_by(|one, other| one.1.mean.total_cmp(&other.1.mean))?;
    Some((lowest.0.clone(), lowest.1))
}

fn expected_improvement(lowest: f64, prediction: SurfacePrediction) -> f64 {
    let gain = lowest - prediction.mean;
    if prediction.deviation <= 0.0 {
        return gain.max(0.0);
    }
    let (normal, z) = (Normal::standard(), gain / prediction.deviation);
    gain * normal.cdf(z) + prediction.deviation * normal.pdf(z)
}

/// The expected response of a setting.
type ExpectedMean<'a> = &'a dyn Fn(&[usize]) -> f64;

/// Returns all feasible settings if there are at most `most`; else a random sample with the measured ones, and, if the
/// expected response is known, what is on the way from the most promising of these to the best neighbours.
pub(super) fn sampled_settings<'m>(
    space: &DesignSpace,
    measured: impl Iterator<Item = &'m Vec<usize>>,
    mean: Option<ExpectedMean<'_>>,
    most: usize,
    seed: Seed,
) -> Vec<Vec<usize>> {
    if let Some(all) = space.feasible_runs(most) {
        return all;
    }
    let mut random = seed.block(0);
    let drawn = (0..most / 2).filter_map(|_| space.random_run(&mut random));
    let mut sample: Vec<Vec<usize>> = drawn.collect();
    sample.extend(measured.cloned());
    if let Some(mean) = mean {
        climb(space, mean, &mut sample);
    }
    sample.sort_unstable();
    sample.dedup();
    sample
}

/// Climbs from the most promising settings, and adds all that were looked at on the way.
fn climb(space: &DesignSpace, mean: ExpectedMean<'_>, sample: &mut Vec<Vec<usize>>) {
    let mut ranked: Vec<(f64, Vec<usize>)> =
        sample.iter().map(|run| (mean(run), run.clone())).collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    ranked.truncate(5);
    for (mut lowest, mut run) in ranked {
        // Moves to the best neighbour as long as that is better.
        loop {
            let neighbours = one_factor_at_a_time(space, &run);
            let predicted = neighbours
                .iter()
                .map(|neighbour| (mean(neighbour), neighbour));
            let best = predicted.min_by(|one, other| one.0.total_cmp(&other.0));
            let better = best.filter(|(lower, _)| *lower < lowest - 1e-12);
            let next = better.map(|(lower, neighbour)| (lower, neighbour.clone()));
            sample.extend(neighbours);
            let Some(next) = next else { break };
            (lowest, run) = next;
        }
    }
}
