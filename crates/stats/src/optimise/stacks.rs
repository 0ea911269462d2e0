//! The next settings of ordered factors to measure, for a goal of one or several responses.

use super::ordered::{MeasuredRun, OrderedSurface};
use super::propose::{
    OptimisationOptions, OptimisationStep, ProposedRun, most_promising, sampled_settings,
};
use super::scales::SurfaceFactor;
use super::surface::SurfacePrediction;
use crate::design::DesignSpace;
use crate::subset::draw_below;
use crate::{Seed, as_f64};

/// The runs of one response of a goal, each with the level of its block last.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalRuns {
    /// By how much a unit of the response counts for the goal.
    pub weight: f64,
    /// The runs.
    pub runs: Vec<MeasuredRun>,
}

/// A weighted sum of responses, each with its own [`OrderedSurface`], at one level of their common block.
///
/// The responses are taken for independent, given the setting: their variances add up.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalSurface {
    /// The weight and the surface of each response.
    pub parts: Vec<(f64, OrderedSurface)>,
    /// The level of the block, the last factor of all surfaces.
    pub block: usize,
}

impl GoalSurface {
    /// Returns the surfaces of all responses; `None` if one of them has none.
    pub fn new(factors: &[SurfaceFactor], goal: &[GoalRuns], block: usize) -> Option<Self> {
        Self::of_parts(goal, block, |runs| OrderedSurface::new(factors, runs))
    }

    /// Returns the surfaces for the most likely scales alone, as [`OrderedSurface::most_likely`].
    pub fn most_likely(factors: &[SurfaceFactor], goal: &[GoalRuns], block: usize) -> Option<Self> {
        Self::of_parts(goal, block, |runs| {
            OrderedSurface::most_likely(factors, runs)
        })
    }

    fn of_parts(
        goal: &[GoalRuns],
        block: usize,
        surface: impl Fn(&[MeasuredRun]) -> Option<OrderedSurface>,
    ) -> Option<Self> {
        let part = |own: &GoalRuns| Some((own.weight, surface(&own.runs)?));
        let parts: Option<Vec<(f64, OrderedSurface)>> = goal.iter().map(part).collect();
        let parts = parts.filter(|parts| !parts.is_empty())?;
        Some(Self { parts, block })
    }

    /// Returns what is expected of a setting, given without the block.
    pub fn predict(&self, run: &[usize]) -> SurfacePrediction {
        let run = self.with_block(run);
        self.sum(|surface| surface.predict(&run))
    }

    /// Returns what is expected of a sum of settings with weights, as [`OrderedSurface::contrast`].
    pub fn contrast(&self, runs: &[(f64, &[usize])]) -> SurfacePrediction {
        let whole: Vec<(f64, Vec<usize>)> = (runs.iter())
            .map(|(weight, run)| (*weight, self.with_block(run)))
            .collect();
        let runs: Vec<(f64, &[usize])> = (whole.iter())
            .map(|(weight, run)| (*weight, run.as_slice()))
            .collect();
        self.sum(|surface| surface.contrast(&runs))
    }

    /// Returns the degrees of freedom of predictions: the fewest of all responses.
    pub fn freedom(&self) -> f64 {
        let all = self.parts.iter().map(|(_, surface)| surface.freedom());
        all.fold(f64::INFINITY, f64::min)
    }

    /// Returns a setting with the level of the block.
    pub fn with_block(&self, run: &[usize]) -> Vec<usize> {
        run.iter().copied().chain([self.block]).collect()
    }

    fn sum(&self, of: impl Fn(&OrderedSurface) -> SurfacePrediction) -> SurfacePrediction {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (weight, surface) in &self.parts {
            let own = of(surface);
            mean += weight * own.mean;
            variance += (weight * own.deviation).powi(2);
        }
        SurfacePrediction {
            mean,
            deviation: variance.sqrt(),
        }
    }
}

/// Returns all feasible settings if there are at most `most`; else a random sample, and the settings on the way from
/// the best of these and of the measured ones to the best neighbours.
pub fn candidate_settings(
    space: &DesignSpace,
    surface: Option<&GoalSurface>,
    measured: &[Vec<usize>],
    most: usize,
    seed: Seed,
) -> Vec<Vec<usize>> {
    let measured = measured.iter().filter(|run| space.is_feasible(run));
    let mean = surface.map(|surface| |run: &[usize]| surface.predict(run).mean);
    let mean = mean.as_ref().map(|mean| mean as &dyn Fn(&[usize]) -> f64);
    sampled_settings(space, measured, mean, most, seed)
}

/// Returns the next settings to measure to find the one with the lowest goal, among candidates that are given without
/// the block.
///
/// At first those whose levels were measured least; then those with the largest expected improvement over the lowest
/// posterior mean of a measured candidate, as [`next_runs`](super::next_runs) has it. Several at once differ: each is
/// taken for measured as expected before the next is chosen. `None` without candidates.
pub fn next_settings(
    factors: &[SurfaceFactor],
    goal: &[GoalRuns],
    block: usize,
    candidates: &[Vec<usize>],
    options: &OptimisationOptions,
    seed: Seed,
) -> Option<OptimisationStep> {
    let (mut goal, mut proposed) = (goal.to_vec(), Vec::<ProposedRun>::new());
    let mut measured = measured_settings(&goal);
    let first = options.first_runs_of(factors.len());
    let fitted = |goal: &[GoalRuns]| GoalSurface::most_likely(factors, goal, block);
    let mut current = fitted(&goal);
    let best = (current.as_ref()).and_then(|surface| lowest(surface, &measured, candidates));
    for count in 0..options.count.max(1) {
        // No setting twice at once.
        let rest: Vec<Vec<usize>> = (candidates.iter())
            .filter(|run| !proposed.iter().any(|own| own.run == **run))
            .cloned()
            .collect();
        if rest.is_empty() && !proposed.is_empty() {
            break;
        }
        let own = match &current {
            Some(surface) if measured.len() >= first => {
                improving(surface, &measured, candidates, &rest)?
            }
            Some(_) | None => {
                // A measured setting is repeated only if nothing else is left.
                let fresh = rest.iter().filter(|run| !measured.contains(run));
                let fresh: Vec<Vec<usize>> = fresh.cloned().collect();
                let rest = if fresh.is_empty() { &rest } else { &fresh };
                let stream = seed.split(&(measured.len() + count).to_string());
                ProposedRun::first(least_measured(&measured, rest, stream)?)
            }
        };
        if let Some(surface) = &current {
            let run = surface.with_block(&own.run);
            for (part, (_, surface)) in goal.iter_mut().zip(&surface.parts) {
                part.runs.push((run.clone(), surface.predict(&run).mean));
            }
        }
        measured.push(own.run.clone());
        proposed.push(own);
        if count + 1 < options.count && current.is_some() {
            current = fitted(&goal);
        }
    }
    Some(OptimisationStep::of_improvements(proposed, best, options))
}

/// Returns the settings that were measured for every response, without the block.
fn measured_settings(goal: &[GoalRuns]) -> Vec<Vec<usize>> {
    let of = |part: &GoalRuns| -> Vec<Vec<usize>> {
        let mut own: Vec<Vec<usize>> = (part.runs.iter())
            .map(|(run, _)| run[..run.len().saturating_sub(1)].to_vec())
            .collect();
        own.sort_unstable();
        own.dedup();
        own
    };
    let Some((first, rest)) = goal.split_first() else {
        return Vec::new();
    };
    let mut all = of(first);
    for part in rest {
        let own = of(part);
        all.retain(|run| own.binary_search(run).is_ok());
    }
    all
}

/// Returns the measured candidate with the lowest posterior mean.
fn lowest(
    surface: &GoalSurface,
    measured: &[Vec<usize>],
    candidates: &[Vec<usize>],
) -> Option<(Vec<usize>, SurfacePrediction)> {
    let own = measured.iter().filter(|run| candidates.contains(run));
    own.map(|run| (run.clone(), surface.predict(run)))
        .min_by(|one, other| one.1.mean.total_cmp(&other.1.mean))
}

fn improving(
    surface: &GoalSurface,
    measured: &[Vec<usize>],
    candidates: &[Vec<usize>],
    rest: &[Vec<usize>],
) -> Option<ProposedRun> {
    // Before any candidate was measured, the lowest expectation of all takes its place.
    let of_all = || {
        let means = candidates.iter().map(|run| surface.predict(run).mean);
        means.fold(f64::INFINITY, f64::min)
    };
    let target = lowest(surface, measured, candidates).map_or_else(of_all, |own| own.1.mean);
    let (run, prediction) = most_promising(rest, target, |run| surface.predict(run))?;
    Some(ProposedRun::improving(run, prediction, target))
}

/// Returns a candidate whose levels were measured least, a random one of several.
fn least_measured(
    measured: &[Vec<usize>],
    candidates: &[Vec<usize>],
    seed: Seed,
) -> Option<Vec<usize>> {
    let start = draw_below(candidates.len().max(1), &mut seed.block(0));
    let familiar = |run: &Vec<usize>| -> f64 {
        let shared = measured.iter().map(|own| {
            let common = own.iter().zip(run).filter(|(a, b)| a == b).count();
            // The same levels in several factors count more than as often in one.
            as_f64(common).powi(2)
        });
        shared.sum()
    };
    let (before, after) = candidates.split_at(start.min(candidates.len()));
    let turned = after.iter().chain(before);
    turned
        .min_by(|one, other| familiar(one).total_cmp(&familiar(other)))
        .cloned()
}
