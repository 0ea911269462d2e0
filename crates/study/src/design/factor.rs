//! Factors of a study, and the combinations that their requirements and exclusions forbid.

use lapwing_model::Level;
use lapwing_stats::design::{DesignFactor, DesignSpace, DesignSpaceError};
use lapwing_stats::linear_model::ModelTerm;
use serde::{Deserialize, Serialize};

use super::StudyModel;
use crate::factor::numbers;

/// A factor of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFactor {
    /// Its name.
    pub name: String,
    /// Its levels, that of the base first.
    pub levels: Vec<Level>,
    /// The factors that must not be at their base level unless this one is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The factors that must be at their base level unless this one is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excludes: Vec<String>,
    /// What kind of change it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its place in the order from harmless to drastic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i64>,
    /// The hash of what it changes.
    pub definition: String,
}

impl PlannedFactor {
    /// Returns the name of a level: that of the factor if it is a present treatment, else `factor=level`.
    pub fn level_name(&self, level: usize) -> String {
        match self.levels.get(level) {
            Some(Level::Bool(true)) => self.name.clone(),
            Some(level) => format!("{}={level}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the factor as a model has it.
    pub(super) fn of_model(&self) -> DesignFactor {
        match numbers(&self.levels) {
            Some(numbers) => DesignFactor::Numbers(numbers),
            None => DesignFactor::Levels(self.levels.len()),
        }
    }
}

/// Returns the terms of a model; a factor with more than two numbers has a square, too. Pairs of which some
/// combination is forbidden are left out: no design can estimate how they interact.
pub(super) fn terms(factors: &[PlannedFactor], model: StudyModel) -> Vec<ModelTerm> {
    let mut terms = match model {
        StudyModel::Main => ModelTerm::main_effects(factors.len()),
        StudyModel::Pairs => ModelTerm::all_pairs(factors.len()),
    };
    let forbidden = forbidden_pairs(factors);
    terms.retain(
        |term| !matches!(term, ModelTerm::Pair(one, other) if forbidden.contains(&(*one, *other))),
    );
    let numeric = factors.iter().enumerate();
    let numeric = numeric.filter(|(_, factor)| numbers(&factor.levels).is_some());
    terms.extend(numeric.map(|(at, _)| ModelTerm::Square(at)));
    terms
}

/// Returns the pairs of factors of which some combination of levels is forbidden.
pub(super) fn forbidden_pairs(factors: &[PlannedFactor]) -> Vec<(usize, usize)> {
    let counts: Vec<usize> = factors.iter().map(|it| it.levels.len()).collect();
    let Ok(space) = space(factors, counts.clone()) else {
        return Vec::new();
    };
    let is_whole = |one: usize, other: usize| {
        (0..counts[one]).all(|level| {
            (0..counts[other]).all(|second| space.can_be(&[(one, level), (other, second)]))
        })
    };
    let pairs =
        (0..counts.len()).flat_map(|one| (one + 1..counts.len()).map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| !is_whole(*one, *other))
        .collect()
}

/// Returns the space of these factors: level 0 is the base, and what is required or excluded concerns all other levels.
pub(super) fn space(
    factors: &[PlannedFactor],
    counts: Vec<usize>,
) -> Result<DesignSpace, DesignSpaceError> {
    space_without(factors, counts, &[])
}

/// Returns the space without some further combinations of factors and levels.
pub(super) fn space_without(
    factors: &[PlannedFactor],
    counts: Vec<usize>,
    combinations: &[Vec<(usize, usize)>],
) -> Result<DesignSpace, DesignSpaceError> {
    let find = |name: &String| factors.iter().position(|it| it.name == *name);
    let mut forbidden = combinations.to_vec();
    for (own, factor) in factors.iter().enumerate() {
        for level in 1..counts[own] {
            // Those that take no part stay at their base.
            let required = factor.requires.iter().map(find);
            forbidden.extend(required.map(|other| match other {
                Some(other) => vec![(own, level), (other, 0)],
                None => vec![(own, level)],
            }));
            for other in factor.excludes.iter().filter_map(find) {
                forbidden
                    .extend((1..counts[other]).map(|second| vec![(own, level), (other, second)]));
            }
        }
    }
    DesignSpace::new(counts, forbidden)
}
