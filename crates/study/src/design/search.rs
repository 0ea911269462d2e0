//! The search for a good configuration: what was measured, and what to measure next.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::design::{DesignFactor, DesignSpace, DesignSpaceError};
use lapwing_stats::optimise::{
    OptimisationOptions, OptimisationStep, ResponseSurface, SurfacePrediction, next_runs,
};
use lapwing_stats::{Seed, mean};

use super::PlannedFactor;
use super::factor::{space, space_without};
use crate::data::StudyData;
use crate::scale::StudyScale;

/// The measurements of the configurations of some factors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredSettings {
    /// The level numbers and the logarithm of the cost of each instance, the sign changed if higher is better.
    pub instances: Vec<(Vec<usize>, f64)>,
    /// Configurations of which no instance has a value.
    pub failed: BTreeSet<Vec<usize>>,
}

impl MeasuredSettings {
    /// Returns the instances of a study in which all other factors are at their base.
    ///
    /// A factor that the study has not varied is taken for its base level. Costs without a logarithm are left out.
    pub fn of(data: &StudyData, factors: &[PlannedFactor]) -> Self {
        let sign = data.metric.sign(StudyScale::Log);
        let run = |levels: &[usize]| run_of(data, factors, levels);
        let instances = data.instances.iter().filter_map(|own| {
            let response = sign * StudyScale::Log.of(own.cost);
            Some((run(&own.levels)?, response)).filter(|_| response.is_finite())
        });
        let failed = data.failed.iter();
        Self {
            instances: instances.collect(),
            failed: failed
                .filter_map(|set| run(&data.levels_of(*set)))
                .collect(),
        }
    }

    /// Returns the responses of a configuration.
    pub fn of_run(&self, run: &[usize]) -> Vec<f64> {
        let own = self.instances.iter().filter(|(known, _)| known == run);
        own.map(|(_, response)| *response).collect()
    }

    /// Returns the factors with the levels, other than the base, that seem to break the program: none of their
    /// configurations has a value, and three failed that no other broken level explains.
    pub fn broken_levels(&self) -> Vec<(usize, usize)> {
        const FAILURES: usize = 3;
        let works = |(factor, level): (usize, usize)| {
            self.instances.iter().any(|(run, _)| run[factor] == level)
        };
        let mut unexplained: Vec<&Vec<usize>> = self.failed.iter().collect();
        let mut broken = Vec::new();
        loop {
            let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            let levels = unexplained
                .iter()
                .flat_map(|run| run.iter().copied().enumerate());
            for (factor, level) in levels.filter(|(_, level)| *level > 0) {
                if !works((factor, level)) {
                    *counts.entry((factor, level)).or_default() += 1;
                }
            }
            let worst = counts.into_iter().max_by_key(|(_, count)| *count);
            let Some(((factor, level), _)) = worst.filter(|(_, count)| *count >= FAILURES) else {
                return broken;
            };
            unexplained.retain(|run| run[factor] != level);
            broken.push((factor, level));
        }
    }

    /// Returns how many different configurations were tried.
    pub fn tried(&self) -> usize {
        let measured: BTreeSet<&Vec<usize>> = self.instances.iter().map(|(run, _)| run).collect();
        measured.union(&self.failed.iter().collect()).count()
    }

    /// Returns how many instances and failed configurations there are.
    pub fn attempts(&self) -> usize {
        self.instances.len() + self.failed.len()
    }
}

/// Returns the levels of an instance as numbers of the planned levels; `None` if it has one that is not planned.
fn run_of(data: &StudyData, factors: &[PlannedFactor], levels: &[usize]) -> Option<Vec<usize>> {
    let mut run = vec![0; factors.len()];
    for (own, level) in data.factors.iter().zip(levels) {
        match factors.iter().position(|it| it.name == own.name) {
            Some(at) => {
                let mut planned = factors[at].levels.iter();
                run[at] = planned.position(|it| *it == own.levels[*level])?;
            }
            None if *level == 0 => {}
            None => return None,
        }
    }
    Some(run)
}

/// The measurements of a configuration, in summary.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingSummary {
    /// The level numbers.
    pub run: Vec<usize>,
    /// The number of instances.
    pub instances: usize,
    /// The mean of their responses.
    pub mean: f64,
    /// The expectation of the model of all instances; `None` if there is no model yet.
    pub expected: Option<SurfacePrediction>,
}

/// A search for the configuration with the lowest response.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySearch {
    /// The factors, the base level of each first.
    pub factors: Vec<PlannedFactor>,
    /// The number of configurations, balanced at random, that are measured before the model is asked.
    pub first_runs: usize,
    model: Vec<DesignFactor>,
    options: OptimisationOptions,
    seed: Seed,
}

impl StudySearch {
    /// Returns a search among the feasible configurations of these factors; `None` without a factor.
    ///
    /// # Errors
    /// When requirements and exclusions leave no configuration.
    pub fn new(
        factors: Vec<PlannedFactor>,
        smallest_improvement: f64,
        seed: Seed,
    ) -> Result<Option<Self>, DesignSpaceError> {
        let counts: Vec<usize> = factors.iter().map(|it| it.levels.len()).collect();
        let usual = (counts.len() + 2).clamp(6, 20);
        let feasible = space(&factors, counts)?.feasible_runs(usual);
        let model = factors.iter().map(PlannedFactor::of_model).collect();
        let first_runs = feasible.map_or(usual, |all| all.len());
        Ok((!factors.is_empty()).then_some(Self {
            options: OptimisationOptions {
                smallest_improvement,
                ..OptimisationOptions::default()
            },
            first_runs,
            model,
            factors,
            seed,
        }))
    }

    /// Returns what to measure next, at most `count` different configurations; `None` if nothing feasible is left.
    ///
    /// The base is among the first ones: the result is compared with it.
    ///
    /// # Errors
    /// When failed configurations leave nothing.
    pub fn next(
        &self,
        measured: &MeasuredSettings,
        count: usize,
    ) -> Result<Option<OptimisationStep>, DesignSpaceError> {
        // Instances of few configurations, however many, say nothing of the others.
        let is_first = measured.tried() < self.first_runs;
        let instances = measured.instances.len();
        let first_runs = if is_first {
            instances + 1
        } else {
            self.first_runs.min(instances)
        };
        let options = OptimisationOptions {
            count,
            first_runs: Some(first_runs),
            ..self.options.clone()
        };
        self.step(measured, &options)
    }

    /// Returns random configurations that were not measured yet, at most `count`.
    ///
    /// # Errors
    /// When failed configurations leave nothing.
    pub fn random(
        &self,
        measured: &MeasuredSettings,
        count: usize,
    ) -> Result<Vec<Vec<usize>>, DesignSpaceError> {
        let options = OptimisationOptions {
            count,
            first_runs: Some(usize::MAX),
            ..self.options.clone()
        };
        let step = self.step(measured, &options)?;
        let proposed = step.map_or_else(Vec::new, |step| step.proposed).into_iter();
        let is_new = |run: &Vec<usize>| measured.of_run(run).is_empty();
        Ok(proposed.map(|own| own.run).filter(is_new).collect())
    }

    fn step(
        &self,
        measured: &MeasuredSettings,
        options: &OptimisationOptions,
    ) -> Result<Option<OptimisationStep>, DesignSpaceError> {
        let space = self.space(measured)?;
        let failed: Vec<Vec<usize>> = measured.failed.iter().cloned().collect();
        let runs = &measured.instances;
        Ok(next_runs(
            &space,
            &self.model,
            runs,
            &failed,
            options,
            self.seed,
        ))
    }

    /// Returns the configurations that may work.
    fn space(&self, measured: &MeasuredSettings) -> Result<DesignSpace, DesignSpaceError> {
        let counts: Vec<usize> = self.factors.iter().map(|it| it.levels.len()).collect();
        let failed = measured.failed.iter();
        let mut forbidden: Vec<Vec<(usize, usize)>> = failed
            .map(|run| run.iter().copied().enumerate().collect())
            .collect();
        forbidden.extend(measured.broken_levels().into_iter().map(|own| vec![own]));
        space_without(&self.factors, counts, &forbidden)
    }

    /// Returns what is known of each measured configuration, the one with the lowest expected response first.
    pub fn summaries(&self, measured: &MeasuredSettings) -> Vec<SettingSummary> {
        let surface = ResponseSurface::new(&self.model, &measured.instances);
        let mut responses: BTreeMap<&Vec<usize>, Vec<f64>> = BTreeMap::new();
        for (run, response) in &measured.instances {
            responses.entry(run).or_default().push(*response);
        }
        let mut found: Vec<SettingSummary> = (responses.into_iter())
            .filter_map(|(run, own)| {
                Some(SettingSummary {
                    run: run.clone(),
                    instances: own.len(),
                    mean: mean(&own)?,
                    expected: surface.as_ref().map(|it| it.predict(run)),
                })
            })
            .collect();
        let rank = |own: &SettingSummary| own.expected.map_or(own.mean, |it| it.mean);
        found.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_never_worked_is_broken_and_its_companions_are_not() {
        let runs = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 2]];
        let mut measured = MeasuredSettings {
            instances: vec![(vec![0, 0, 0], 1.0)],
            failed: runs.iter().map(|run| run.to_vec()).collect(),
        };
        // All failures but one have the first; the second and third never worked either, but that explains it.
        assert_eq!(measured.broken_levels(), [(0, 1)]);
        measured.instances.push((vec![1, 0, 0], 1.0));
        assert_eq!(measured.broken_levels(), [(1, 1)]);
        measured.instances.push((vec![0, 1, 0], 1.0));
        assert!(measured.broken_levels().is_empty());
    }
}
