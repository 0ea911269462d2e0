//! The model across stacks: the expected response of each stack, and the candidates for advice.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::Seed;
use lapwing_stats::design::DesignSpace;
use lapwing_stats::optimise::{
    GoalSurface, OptimisationOptions, SurfaceFactor, SurfacePrediction, candidate_settings,
    next_settings,
};

use super::data::StackData;
use super::requirement::{PackagePin, PackageRequirement, package_name};
use super::rules::AdviceRules;

/// With more stacks than this a random sample is considered, and the way from the best of it to the best neighbours.
const CANDIDATES: usize = 4_000;

/// A version, or a pair of versions, is avoided if it failed in all of so many stacks or more.
const FAILED_STACKS: usize = 2;

/// A model of stacks, and those that can be advised.
#[derive(Debug, Clone)]
pub struct StackModel<'d> {
    /// The data.
    pub data: &'d StackData,
    /// The expected response.
    pub surface: GoalSurface,
    /// The rules.
    pub rules: &'d AdviceRules,
    /// The stacks that can be advised.
    pub candidates: Vec<Vec<usize>>,
    /// The number of candidates excluded because they, or versions of them, always failed.
    pub avoided: usize,
    hardware: usize,
}

/// A stack that is worth measuring.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploredStack {
    /// The stack.
    pub stack: Vec<usize>,
    /// The expected response; `None` for the first ones.
    pub prediction: Option<SurfacePrediction>,
    /// By how much the logarithm of its cost is expected to be below that of the best measured one; infinite for the
    /// first ones.
    pub expected_improvement: f64,
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StackModelError {
    /// Too few measurements.
    #[error("the stacks have {stacks} measured, all alike or too few to compare")]
    TooFew {
        /// The number of measured stacks.
        stacks: String,
    },
    /// Nothing fulfils all requirements and rules.
    #[error("no stack fulfils the requirements and rules{}", example.as_ref().map_or_else(String::new, |own| format!(" ({own})")))]
    NoCandidate {
        /// The reason why a measured stack is excluded.
        example: Option<String>,
    },
    /// No hardware has this name.
    #[error("no stack was measured on `{name}`")]
    Hardware {
        /// The request.
        name: String,
    },
}

impl<'d> StackModel<'d> {
    /// Returns the model for some hardware, the one of the latest measurement by default.
    ///
    /// Candidates are the listed stacks, or else all combinations of versions, as far as they fulfil requirements and
    /// rules and did not always fail.
    ///
    /// # Errors
    /// When there are too few measurements, or no candidate.
    pub fn new(
        data: &'d StackData,
        required: &[PackageRequirement],
        rules: &'d AdviceRules,
        listed: Option<&[Vec<PackagePin>]>,
        hardware: Option<&str>,
        seed: Seed,
    ) -> Result<Self, StackModelError> {
        let block = match hardware {
            None => data.hardware.len().saturating_sub(1),
            Some(name) => (data.hardware.iter())
                .position(|own| own.contains(name))
                .ok_or_else(|| StackModelError::Hardware {
                    name: name.to_owned(),
                })?,
        };
        let factors = factors(data);
        let surface = GoalSurface::new(&factors, &data.responses, block).ok_or_else(|| {
            let count = data.measured().len();
            StackModelError::TooFew {
                stacks: lapwing_model::text::counted(count, "stack"),
            }
        })?;
        let measured: Vec<Vec<usize>> = data.measured().into_iter().collect();
        let failed = FailedStacks::of(data);
        let fulfils = |stack: &Vec<usize>| {
            is_required(data, required, stack) && rules.objection(data, stack).is_none()
        };
        let all = match listed {
            Some(listed) => {
                let own = listed.iter().filter_map(|pins| data.pinned(pins));
                own.collect::<BTreeSet<Vec<usize>>>().into_iter().collect()
            }
            None => {
                let space = space(data, required);
                space.map_or_else(Vec::new, |space| {
                    candidate_settings(&space, Some(&surface), &measured, CANDIDATES, seed)
                })
            }
        };
        let fulfilling: Vec<Vec<usize>> = all.into_iter().filter(fulfils).collect();
        let before = fulfilling.len();
        let candidates: Vec<Vec<usize>> = fulfilling
            .into_iter()
            .filter(|stack| !failed.concerns(stack))
            .collect();
        if candidates.is_empty() {
            let example = measured.iter().find_map(|own| rules.objection(data, own));
            return Err(StackModelError::NoCandidate { example });
        }
        Ok(Self {
            data,
            surface,
            rules,
            avoided: before - candidates.len(),
            candidates,
            hardware: block,
        })
    }

    /// Returns the name of the hardware that the advice is for.
    pub fn hardware(&self) -> &str {
        &self.data.hardware[self.hardware]
    }

    /// Returns how many instances of a stack were measured on the hardware.
    pub fn instances(&self, stack: &[usize]) -> usize {
        self.data.instances(stack, self.hardware)
    }

    /// Returns the model of each benchmark of the goal alone.
    pub fn parts(&self) -> Vec<Self> {
        let parts = self.surface.parts.iter();
        parts
            .map(|(_, part)| Self {
                surface: GoalSurface {
                    parts: vec![(1.0, part.clone())],
                    block: self.surface.block,
                },
                ..self.clone()
            })
            .collect()
    }

    /// Returns the expected response with what the rules' scores are worth, the lower the better.
    pub fn worth(&self, stack: &[usize]) -> f64 {
        self.surface.predict(stack).mean + self.rules.score(self.data, stack).0
    }

    /// Returns the next stacks to measure: those that are expected to be most below the best one known, or at first
    /// those whose versions were measured least.
    pub fn explore(&self, count: usize, seed: Seed) -> Vec<ExploredStack> {
        let options = OptimisationOptions {
            count,
            ..OptimisationOptions::default()
        };
        let step = next_settings(
            &factors(self.data),
            &self.data.responses,
            self.hardware,
            &self.candidates,
            &options,
            seed,
        );
        let proposed = step.map(|step| step.proposed).unwrap_or_default();
        let explored = proposed.into_iter().map(|own| ExploredStack {
            stack: own.run,
            prediction: own.prediction,
            expected_improvement: own.expected_improvement,
        });
        explored.collect()
    }
}

/// Returns the packages as factors of the model, the hardware last.
fn factors(data: &StackData) -> Vec<SurfaceFactor> {
    let packages = data.factors.iter();
    let packages = packages.map(|own| SurfaceFactor::Ordered(own.versions.len()));
    packages
        .chain([SurfaceFactor::Block(data.hardware.len())])
        .collect()
}

fn is_allowed(
    data: &StackData,
    required: &[PackageRequirement],
    factor: usize,
    level: usize,
) -> bool {
    let own = &data.factors[factor];
    let name = package_name(&own.name);
    let mut concerned = required.iter().filter(|it| it.package == name);
    concerned.all(|it| it.allows(&own.versions[level]))
}

fn is_required(data: &StackData, required: &[PackageRequirement], stack: &[usize]) -> bool {
    let mut levels = stack.iter().enumerate();
    levels.all(|(factor, level)| is_allowed(data, required, factor, *level))
}

/// Returns all combinations of versions that the requirements allow; `None` if a package has none.
fn space(data: &StackData, required: &[PackageRequirement]) -> Option<DesignSpace> {
    let levels: Vec<usize> = data.factors.iter().map(|own| own.versions.len()).collect();
    let mut forbidden = Vec::new();
    for (factor, count) in levels.iter().enumerate() {
        let own: Vec<usize> = (0..*count)
            .filter(|level| !is_allowed(data, required, factor, *level))
            .collect();
        if own.len() == *count {
            return None;
        }
        forbidden.extend(own.into_iter().map(|level| vec![(factor, level)]));
    }
    DesignSpace::new(levels, forbidden).ok()
}

/// Stacks that never worked, and the versions and pairs of versions that all of their stacks have failed with.
struct FailedStacks {
    stacks: BTreeSet<Vec<usize>>,
    /// Of each version or pair of versions, whether any stack worked with it, and how many did not.
    parts: BTreeMap<Vec<(usize, usize)>, (bool, usize)>,
}

impl FailedStacks {
    fn of(data: &StackData) -> Self {
        let mut found = Self {
            stacks: BTreeSet::new(),
            parts: BTreeMap::new(),
        };
        for (stack, outcome) in &data.outcomes {
            let has_failed = outcome.failures == outcome.attempts;
            if has_failed {
                found.stacks.insert(stack.clone());
            }
            for part in parts(stack) {
                let entry = found.parts.entry(part).or_default();
                entry.0 |= !has_failed;
                entry.1 += usize::from(has_failed);
            }
        }
        found
            .parts
            .retain(|_, (worked, failed)| !*worked && *failed >= FAILED_STACKS);
        found
    }

    fn concerns(&self, stack: &[usize]) -> bool {
        self.stacks.contains(stack) || parts(stack).any(|part| self.parts.contains_key(&part))
    }
}

fn parts(stack: &[usize]) -> impl Iterator<Item = Vec<(usize, usize)>> {
    let own: Vec<(usize, usize)> = stack.iter().copied().enumerate().collect();
    (0..own.len()).flat_map(move |one| {
        let own = own.clone();
        (one..own.len()).map(move |other| match one == other {
            true => vec![own[one]],
            false => vec![own[one], own[other]],
        })
    })
}
