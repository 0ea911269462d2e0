//! What to measure next.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::text::{counted, first_names};
use lapwing_stats::deltas::{EffectModifier, MeasuredSets};

use super::effects::MainEffect;
use super::words::{Words, capitalised_name};
use super::{FindingKind, StudyFinding};
use lapwing_study::StudyScale;
use lapwing_study::{AverageEffects, AverageTerm};

/// More settings are not proposed.
const PROPOSALS: usize = 3;

impl Words<'_> {
    pub(super) fn next(
        &self,
        sets: &MeasuredSets,
        effects: &[MainEffect],
        average: Option<&AverageEffects>,
        modifiers: &[EffectModifier],
    ) -> Vec<StudyFinding> {
        let undecided: Vec<&MainEffect> = effects.iter().filter(|own| !own.is_sure).collect();
        let mut texts: Vec<(String, Vec<usize>)> = Vec::new();
        let has_effect = |at: usize| effects.iter().any(|own| own.treatment == at);
        let never: Vec<usize> = (0..self.data.treatments.len())
            .filter(|at| !has_effect(*at))
            .collect();
        if !never.is_empty() {
            let names: Vec<String> = never.iter().map(|at| self.name(*at)).collect();
            texts.push((
                format!(
                    "no pair of settings differs by {} alone: measure some with and without",
                    first_names(&names, 5)
                ),
                never.clone(),
            ));
        }
        let replicates = sets
            .sets()
            .iter()
            .map(|set| sets.values(*set).len() - 1)
            .sum::<usize>();
        if replicates < 3 {
            texts.push((
                "Replicate a few settings: without replicates noise and interactions cannot be told apart".to_owned(),
                Vec::new(),
            ));
        }
        texts.extend(self.more_instances(&undecided));
        let wanted: BTreeSet<usize> = undecided
            .iter()
            .map(|own| own.treatment)
            .chain(never)
            .collect();
        for (set, count) in self.proposals(sets, &wanted) {
            let what = counted(count, "more delta");
            texts.push((
                format!(
                    "Measure {}: {what} of the factors that are undecided",
                    self.data.set_text(set)
                ),
                Vec::new(),
            ));
        }
        if let Some((open, pairs)) = self.open_pairs(average, modifiers) {
            let verb = if open == 1 { "has" } else { "have" };
            texts.push((
                format!(
                    "{open} of {} {verb} too few settings to be told",
                    counted(pairs, "interaction")
                ),
                Vec::new(),
            ));
        }
        texts
            .into_iter()
            .map(|(text, treatments)| StudyFinding {
                kind: FindingKind::Next,
                text: capitalised_name(text),
                treatments,
                size: None,
            })
            .collect()
    }

    /// Returns the number of interactions of different factors of which nothing can be said, and that of all, if there are any of the former.
    fn open_pairs(
        &self,
        average: Option<&AverageEffects>,
        modifiers: &[EffectModifier],
    ) -> Option<(usize, usize)> {
        let factors: Vec<usize> = self.data.treatments.iter().map(|own| own.factor).collect();
        let is_known = |one: usize, other: usize| {
            let mut of_model = average.iter().flat_map(|it| &it.effects);
            let by_model = of_model.any(|it| {
                let is_own = it.term == AverageTerm::Pair(one, other)
                    || it.term == AverageTerm::Pair(other, one);
                is_own && it.coefficient.is_some()
            });
            by_model
                || modifiers.iter().any(|it| {
                    let pair = [it.factor, it.other];
                    (pair == [one, other] || pair == [other, one]) && it.quadruples >= 2
                })
        };
        let pairs = (0..factors.len())
            .flat_map(|one| (one + 1..factors.len()).map(move |other| (one, other)));
        let pairs: Vec<(usize, usize)> = pairs
            .filter(|(one, other)| factors[*one] != factors[*other])
            .collect();
        let open = pairs
            .iter()
            .filter(|(one, other)| !is_known(*one, *other))
            .count();
        (open > 0).then_some((open, pairs.len()))
    }

    /// Returns how many times the instances would resolve 5 % for the undecided treatments.
    fn more_instances(&self, undecided: &[&MainEffect]) -> Option<(String, Vec<usize>)> {
        const WANTED: f64 = 0.05;
        let reach = |own: &&MainEffect| {
            let wanted = match self.scale {
                StudyScale::Log => WANTED.ln_1p(),
                StudyScale::Time | StudyScale::Rate => WANTED * own.level,
            };
            Some(0.5 * (own.interval?.upper - own.interval?.lower) / wanted)
        };
        let widest = undecided.iter().filter_map(reach).fold(0.0, f64::max);
        let times = (widest * widest).ceil();
        (times > 1.0).then(|| {
            let times = lapwing_model::text::grouped(format_args!("{times:.0}"));
            let text = format!("Intervals of all undecided factors within ±5 % need about {times}× as many instances like these");
            (text, undecided.iter().map(|own| own.treatment).collect())
        })
    }

    /// Returns settings that were not measured, by the number of deltas of wanted treatments that each would give.
    fn proposals(&self, sets: &MeasuredSets, wanted: &BTreeSet<usize>) -> Vec<(u128, usize)> {
        let measured: BTreeSet<u128> = sets.sets().iter().copied().collect();
        let mut counts: BTreeMap<u128, usize> = BTreeMap::new();
        for set in &measured {
            for treatment in wanted {
                let neighbour = set ^ 1 << treatment;
                if !measured.contains(&neighbour) && self.is_possible(neighbour) {
                    *counts.entry(neighbour).or_default() += 1;
                }
            }
        }
        let mut best: Vec<(u128, usize)> = counts.into_iter().collect();
        best.sort_by_key(|(set, count)| (std::cmp::Reverse(*count), set.count_ones(), *set));
        best.truncate(PROPOSALS);
        best
    }

    fn is_possible(&self, set: u128) -> bool {
        let present = self.data.treatments.iter().enumerate();
        let mut factors: Vec<usize> = present
            .filter(|(at, _)| set >> at & 1 == 1)
            .map(|(_, own)| own.factor)
            .collect();
        let count = factors.len();
        factors.dedup();
        factors.len() == count && !self.data.failed.contains(&set)
    }
}
