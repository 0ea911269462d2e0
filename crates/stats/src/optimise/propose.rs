//! The next runs: where the best setting may be.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::surface::{ResponseSurface, SurfacePrediction};
use crate::Seed;
use crate::design::{DesignModel, DesignSpace, balanced_runs};

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

/// Returns the runs to measure next to find the setting with the lowest response.
///
/// First balanced random runs, then those with the largest expected improvement: with the posterior N(m, s²) of a
/// setting and the lowest posterior mean μ of a measured one, EI = (μ − m) Φ(z) + s φ(z), z = (μ − m) / s. Posterior
/// means instead of the lowest *value* keep a lucky run from stopping the search. With several runs at once each is
/// taken for measured as expected before the next is chosen. Done when the largest EI is below the smallest
/// improvement.
///
/// `measured` are runs with their responses, lower being better, best as logarithms; failed settings belong into the
/// constraints of the space. `None` if the model and the space have different factors or no run is feasible.
///
/// Source: Jones, Schonlau & Welch, *Journal of Global Optimization* 1998; Picheny, Wagner & Ginsbourger, *Structural
/// and Multidisciplinary Optimization* 2013.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignModel, DesignSpace};
/// use lapwing_stats::linear_model::ModelTerm;
/// use lapwing_stats::optimise::{OptimisationOptions, next_runs};
/// let (space, model) = (DesignSpace::treatments(4), DesignModel::treatments(4, &ModelTerm::all_pairs(4)).expect("fits"));
/// let (mut measured, options) = (Vec::new(), OptimisationOptions::default());
/// loop {
///     let step = next_runs(&space, &model, &measured, &options, Seed(7)).expect("feasible");
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
    model: &DesignModel,
    measured: &[(Vec<usize>, f64)],
    options: &OptimisationOptions,
    seed: Seed,
) -> Option<OptimisationStep> {
    if model.levels() != space.levels() {
        return None;
    }
    let first = options
        .first_runs
        .unwrap_or_else(|| (space.levels().len() + 2).clamp(6, 20));
    let surface = ResponseSurface::new(model, measured);
    match surface {
        Some(surface) if measured.len() >= first => {
            improving_runs(space, model, measured, surface, options, seed)
        }
        surface => first_runs(space, measured, surface.as_ref(), options, seed),
    }
}

fn first_runs(
    space: &DesignSpace,
    measured: &[(Vec<usize>, f64)],
    surface: Option<&ResponseSurface>,
    options: &OptimisationOptions,
    seed: Seed,
) -> Option<OptimisationStep> {
    let existing: Vec<Vec<usize>> = measured.iter().map(|(run, _)| run.clone()).collect();
    // A stream of its own for each number of runs, so that the next ones are others.
    let own = seed.split(&existing.len().to_string());
    let runs = balanced_runs(space, options.count.max(1), &existing, own);
    let proposed = |run: Vec<usize>| ProposedRun {
        run,
        prediction: None,
        expected_improvement: f64::INFINITY,
    };
    (!runs.is_empty()).then(|| OptimisationStep {
        proposed: runs.into_iter().map(proposed).collect(),
        best: surface.and_then(|surface| best(surface, measured)),
        is_done: false,
    })
}

fn improving_runs(
    space: &DesignSpace,
    model: &DesignModel,
    measured: &[(Vec<usize>, f64)],
    surface: ResponseSurface,
    options: &OptimisationOptions,
    seed: Seed,
) -> Option<OptimisationStep> {
    let incumbent = best(&surface, measured);
    let (mut surface, mut assumed) = (surface, measured.to_vec());
    let mut proposed: Vec<ProposedRun> = Vec::new();
    for count in 0..options.count.max(1) {
        let own = seed.split(&(measured.len() + count).to_string());
        let candidates = candidates(space, &surface, &assumed, options.candidates, own);
        let lowest = best(&surface, &assumed)?.1.mean;
        let improvements = candidates.into_iter().map(|run| {
            let prediction = surface.predict(&run);
            ProposedRun {
                expected_improvement: expected_improvement(lowest, prediction),
                prediction: Some(prediction),
                run,
            }
        });
        let next = improvements.max_by(|one, other| {
            one.expected_improvement
                .total_cmp(&other.expected_improvement)
        })?;
        if let Some(prediction) = next.prediction {
            assumed.push((next.run.clone(), prediction.mean));
        }
        proposed.push(next);
        if count + 1 < options.count {
            surface = ResponseSurface::new(model, &assumed)?;
        }
    }
    let most = proposed
        .iter()
        .map(|own| own.expected_improvement)
        .fold(0.0, f64::max);
    Some(OptimisationStep {
        proposed,
        best: incumbent,
        is_done: most < options.smallest_improvement,
    })
}

fn best(
    surface: &ResponseSurface,
    measured: &[(Vec<usize>, f64)],
) -> Option<(Vec<usize>, SurfacePrediction)> {
    let predicted = measured.iter().map(|(run, _)| (run, surface.predict(run)));
    let lowest = predicted.min_by(|one, other| one.1.mean.total_cmp(&other.1.mean))?;
    Some((lowest.0.clone(), lowest.1))
}

pub(super) fn expected_improvement(lowest: f64, prediction: SurfacePrediction) -> f64 {
    let gain = lowest - prediction.mean;
    if prediction.deviation <= 0.0 {
        return gain.max(0.0);
    }
    let (normal, z) = (Normal::standard(), gain / prediction.deviation);
    gain * normal.cdf(z) + prediction.deviation * normal.pdf(z)
}

/// All feasible settings, or a random sample with the neighbours of the most promising ones, climbing from each.
fn candidates(
    space: &DesignSpace,
    surface: &ResponseSurface,
    measured: &[(Vec<usize>, f64)],
    most: usize,
    seed: Seed,
) -> Vec<Vec<usize>> {
    if let Some(all) = space.feasible_runs(most) {
        return all;
    }
    let mut random = seed.block(0);
    let mut sample: Vec<Vec<usize>> = (0..most / 2)
        .filter_map(|_| space.random_run(&mut random))
        .collect();
    sample.extend(measured.iter().map(|(run, _)| run.clone()));
    climb(space, &|run| surface.predict(run).mean, &mut sample);
    sample.sort_unstable();
    sample.dedup();
    sample
}

/// Climbs from the most promising settings, and adds all that were looked at on the way.
pub(super) fn climb(
    space: &DesignSpace,
    mean: &dyn Fn(&[usize]) -> f64,
    sample: &mut Vec<Vec<usize>>,
) {
    let mut ranked: Vec<(f64, Vec<usize>)> =
        sample.iter().map(|run| (mean(run), run.clone())).collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    ranked.truncate(5);
    for (lowest, run) in ranked {
        climb_from(space, mean, run, lowest, sample);
    }
}

/// Moves to the best neighbour as long as that is better, and collects all that were looked at.
fn climb_from(
    space: &DesignSpace,
    mean: &dyn Fn(&[usize]) -> f64,
    mut run: Vec<usize>,
    mut lowest: f64,
    seen: &mut Vec<Vec<usize>>,
) {
    loop {
        let neighbours = crate::design::one_factor_at_a_time(space, &run);
        let predicted = neighbours.iter().map(|own| (mean(own), own));
        let best = predicted.min_by(|one, other| one.0.total_cmp(&other.0));
        let next = best
            .filter(|(own, _)| *own < lowest - 1e-12)
            .map(|(own, run)| (own, run.clone()));
        seen.extend(neighbours);
        let Some((lower, better)) = next else { return };
        (lowest, run) = (lower, better);
    }
}
