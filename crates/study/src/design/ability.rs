//! What a design can tell: aliases, analyses, and the effects that it detects.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::design::{
    DesignModel, DesignPower, FractionalFactorial, minimal_detectable_effect,
};
use lapwing_stats::linear_model::{
    FactorValues, ModelMatrix, ModelTerm, discovery_size, holm_threshold,
};
use lapwing_stats::{Confidence, as_f64};

use super::factor::terms;
use super::{PlannedFactor, StudyModel};
use crate::explained::FALSE_FINDINGS;
use crate::factor::StudyFactor;

/// What can be computed from the configurations of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignAbility {
    /// Of each factor, the number of pairs of configurations that differ by it alone, one of them at its base.
    pub deltas: Vec<usize>,
    /// Whether all main effects can be estimated.
    pub main_effects: bool,
    /// Whether all main effects and pairs can be estimated.
    pub pairs: bool,
    /// The number of measured orders in which factors are added to the base one by one, up to the configuration with
    /// the most.
    pub walks: u64,
}

/// The smallest effects that a design detects, as shares of the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyPower {
    /// The mean effect of a factor.
    pub main: f64,
    /// How much the effect of one factor changes with another; `None` if pairs cannot be estimated.
    pub pair: Option<f64>,
}

/// Analyses by their names.
pub(super) const FIT_MAIN: &str = "fit (main effects)";
pub(super) const FIT_PAIRS: &str = "fit (main effects and pairs)";

/// The power that is stated.
const POWER: f64 = 0.8;

impl DesignAbility {
    /// Returns what these runs can tell of the factors.
    pub fn new(factors: &[PlannedFactor], runs: &[Vec<usize>]) -> Self {
        Self {
            deltas: (0..factors.len())
                .map(|factor| deltas(factor, runs))
                .collect(),
            main_effects: power(factors, runs, 1, StudyModel::Main).is_some(),
            pairs: power(factors, runs, 1, StudyModel::Pairs).is_some(),
            walks: count_walks(runs),
        }
    }

    /// Returns the analyses that make sense, by the names of their commands.
    pub fn supports(&self) -> Vec<String> {
        let has_deltas = self.deltas.iter().all(|count| *count > 0);
        let known = [
            ("deltas", has_deltas),
            ("means", has_deltas),
            ("scatter", self.deltas.iter().all(|count| *count > 2)),
            ("colour", has_deltas),
            (FIT_MAIN, self.main_effects && !self.pairs),
            (FIT_PAIRS, self.pairs),
            ("paths (measured)", self.walks > 0),
            ("paths (from the fit)", self.walks == 0 && self.pairs),
            ("pca", self.walks > 2),
        ];
        let possible = known.into_iter().filter(|(_, is_possible)| *is_possible);
        possible.map(|(name, _)| name.to_owned()).collect()
    }
}

impl StudyPower {
    /// Returns the smallest effects that [`findings`](crate::findings) states with 80 % power if nothing else has an
    /// effect, if instances differ by this share (the standard deviation of their logarithms). `None` if main effects
    /// cannot be estimated, or nothing is left to estimate noise from.
    ///
    /// An effect is stated if its t-test has a p-value of at most 5 % over the number of all factors and pairs, because
    /// all of them are looked at. Main effects are means over the other factors. That of a pair is a difference of two
    /// differences, which is twice the effect in coding −1, +1.
    pub fn new(
        factors: &[PlannedFactor],
        runs: &[Vec<usize>],
        replicates: u32,
        noise: f64,
    ) -> Option<Self> {
        let copies = usize::try_from(replicates.max(1)).unwrap_or(1);
        let rows: Vec<&Vec<usize>> = std::iter::repeat_n(runs, copies).flatten().collect();
        let values: Vec<FactorValues> = (factors.iter().enumerate())
            .map(|(at, factor)| {
                let own = StudyFactor {
                    name: factor.name.clone(),
                    levels: factor.levels.clone(),
                };
                own.values(rows.iter().map(|run| run[at]))
            })
            .collect();
        let all = terms(factors, StudyModel::Pairs);
        let matrix = ModelMatrix::new(&values, &all).ok()?;
        let settings = runs.iter().collect::<BTreeSet<_>>().len();
        let size = discovery_size(&matrix, settings);
        let own: Vec<_> = factors.iter().map(PlannedFactor::of_model).collect();
        let repeated: Vec<Vec<usize>> = rows.into_iter().cloned().collect();
        // Nothing else is in the model then, but the factors of a pair.
        let error = |term: &ModelTerm| {
            let model = [vec![ModelTerm::Intercept], term.parents(), vec![*term]].concat();
            let power = DesignPower::new(&DesignModel::new(&own, &model)?, &repeated)?;
            power.standard_errors.last().map(|(_, error)| *error)
        };
        // The largest of a kind, if all of them can be told.
        let largest = |is_wanted: fn(&&ModelTerm) -> bool| -> Option<f64> {
            let errors: Option<Vec<f64>> = all.iter().filter(is_wanted).map(error).collect();
            errors?.into_iter().reduce(f64::max)
        };
        let detected = |error: f64, candidates: usize| {
            let threshold = holm_threshold(FALSE_FINDINGS, candidates, 1);
            let confidence = Confidence::new(1.0 - threshold).ok()?;
            minimal_detectable_effect(error * noise, as_f64(size.freedom), confidence, POWER)
        };
        let is_main = |term: &&ModelTerm| matches!(term, ModelTerm::Main(_));
        let is_pair = |term: &&ModelTerm| matches!(term, ModelTerm::Pair(..));
        let has_pairs = power(factors, runs, replicates, StudyModel::Pairs).is_some();
        power(factors, runs, replicates, StudyModel::Main)?;
        let pair = largest(is_pair).filter(|_| has_pairs);
        let pair = pair.and_then(|error| detected(error, size.pairs));
        let main = largest(is_main).and_then(|error| detected(error, size.factors));
        Some(Self {
            main: main?.exp_m1(),
            pair: pair.map(|effect| (2.0 * effect).exp_m1()),
        })
    }
}

fn power(
    factors: &[PlannedFactor],
    runs: &[Vec<usize>],
    replicates: u32,
    model: StudyModel,
) -> Option<DesignPower> {
    let own: Vec<_> = factors.iter().map(PlannedFactor::of_model).collect();
    let model = DesignModel::new(&own, &terms(factors, model))?;
    let copies = usize::try_from(replicates.max(1)).unwrap_or(1);
    if runs.len() * copies < model.column_terms().len() {
        return None;
    }
    let rows = std::iter::repeat_n(runs, copies).flatten().cloned();
    DesignPower::new(&model, &rows.collect::<Vec<_>>())
}

fn deltas(factor: usize, runs: &[Vec<usize>]) -> usize {
    let mut groups: BTreeMap<Vec<usize>, (usize, usize)> = BTreeMap::new();
    for run in runs {
        let mut others = run.clone();
        let level = others.remove(factor);
        let (base, changed) = groups.entry(others).or_default();
        *(if level == 0 { base } else { changed }) += 1;
    }
    groups.values().map(|(base, changed)| base * changed).sum()
}

/// Counts the orders by the number of ways to each configuration, from the smaller to the larger ones.
fn count_walks(runs: &[Vec<usize>]) -> u64 {
    let present = |run: &Vec<usize>| run.iter().filter(|level| **level > 0).count();
    let mut ordered: Vec<&Vec<usize>> = runs.iter().collect();
    ordered.sort_by_key(|run| present(run));
    ordered.dedup();
    let mut ways: BTreeMap<&[usize], u64> = BTreeMap::new();
    for run in &ordered {
        let mut count = u64::from(present(run) == 0);
        for factor in (0..run.len()).filter(|at| run[*at] > 0) {
            let mut before = (*run).clone();
            before[factor] = 0;
            let known = ways.get(before.as_slice()).copied();
            count = count.saturating_add(known.unwrap_or(0));
        }
        ways.insert(run, count);
    }
    let most = ordered.last().map_or(0, |run| present(run));
    // A walk of one step is a delta.
    let whole = ordered
        .iter()
        .filter(|run| most > 1 && present(run) == most);
    whole.filter_map(|run| ways.get(run.as_slice())).sum()
}

/// Returns the effects of one and two factors of a fraction that share a column, in words.
pub(super) fn aliases(
    factors: &[PlannedFactor],
    fraction: &FractionalFactorial,
) -> Vec<Vec<String>> {
    let name = |effect: &u128| {
        let members = factors.iter().enumerate();
        let members = members.filter(|(at, _)| effect >> at & 1 == 1);
        let names: Vec<&str> = members.map(|(_, factor)| factor.name.as_str()).collect();
        if names.is_empty() {
            "the mean".to_owned()
        } else {
            names.join(":")
        }
    };
    let groups = fraction.aliases(2).into_iter();
    let shared = groups.filter(|group| group.len() > 1);
    shared
        .map(|group| group.iter().map(name).collect())
        .collect()
}
