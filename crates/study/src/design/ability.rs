//! What a design can tell: aliases, analyses, and the effects that it detects.

use std::collections::BTreeMap;

use lapwing_stats::Confidence;
use lapwing_stats::design::{DesignModel, DesignPower, FractionalFactorial};
use lapwing_stats::linear_model::ModelTerm;

use super::factor::terms;
use super::{PlannedFactor, StudyModel};

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

/// The confidence of the tests for which power is stated.
const CONFIDENCE: Confidence = Confidence::P95;
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
    /// Returns the smallest effects that are detected with 80 % power at 95 % confidence, if instances differ by this
    /// share (the standard deviation of their logarithms). `None` if main effects cannot be estimated, or nothing is
    /// left to estimate noise from.
    ///
    /// Main effects are means over the other factors. That of a pair is a difference of two differences, which is
    /// twice the effect in coding −1, +1.
    pub fn new(
        factors: &[PlannedFactor],
        runs: &[Vec<usize>],
        replicates: u32,
        noise: f64,
    ) -> Option<Self> {
        let largest = |power: &DesignPower, wanted: fn(&ModelTerm) -> bool| {
            let effects = power.detectable(noise, CONFIDENCE, POWER).into_iter();
            let effects = effects.filter(|(term, _)| wanted(term));
            effects.map(|(_, effect)| effect).reduce(f64::max)
        };
        let share = |effect: f64| effect.exp_m1();
        let is_main = |term: &ModelTerm| matches!(term, ModelTerm::Main(_));
        let is_pair = |term: &ModelTerm| matches!(term, ModelTerm::Pair(..));
        let pairs = power(factors, runs, replicates, StudyModel::Pairs);
        let pair = pairs.as_ref().and_then(|power| largest(power, is_pair));
        let main = match &pairs {
            Some(power) if pair.is_some() => largest(power, is_main),
            Some(_) | None => {
                let power = power(factors, runs, replicates, StudyModel::Main)?;
                largest(&power, is_main)
            }
        };
        Some(Self {
            main: share(main?),
            pair: pair.map(|effect| share(2.0 * effect)),
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
