//! Effects that the settings of a study cannot tell apart, and the fold-over that would.

use std::collections::BTreeSet;

use lapwing_stats::linear_model::{FactorValues, ModelMatrix, ModelTerm, main_effect_aliases};

use crate::data::StudyData;
use crate::design::{DesignKind, DesignRequest, StudyDesign, StudyDesignError};
use crate::explained::ExplainedStudy;

/// With more factors not every choice of exchanged ones is tried.
const MOST_TRIED: usize = 12;

/// Further settings: those that were measured, with the levels of some factors exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldOver {
    /// The numbers of the treatments that are exchanged with the base.
    pub treatments: Vec<usize>,
    /// Whether these are all of the study.
    pub is_whole: bool,
    /// The number of settings.
    pub settings: usize,
    /// The number of effects and interactions that it tells from all that they could be instead.
    pub told: usize,
    /// The number of those that were found and could be others.
    pub aliased: usize,
}

/// Returns the pairs that the settings of a study cannot tell from each of its factors.
pub(crate) fn factor_aliases(data: &StudyData) -> Vec<Vec<ModelTerm>> {
    let settings: BTreeSet<&Vec<usize>> = data.instances.iter().map(|it| &it.levels).collect();
    let values = data.factors.iter().enumerate().map(|(at, factor)| {
        let levels = settings.iter().map(|setting| setting[at]);
        match factor.levels.len() {
            0..=2 => FactorValues::Treatment(levels.map(|level| level == 1).collect()),
            count => FactorValues::Levels {
                levels: levels.collect(),
                count,
            },
        }
    });
    let terms = ModelTerm::all_pairs(data.factors.len());
    let mut aliases = vec![Vec::new(); data.factors.len()];
    if let Ok(matrix) = ModelMatrix::new(&values.collect::<Vec<_>>(), &terms) {
        for (term, pairs) in main_effect_aliases(&matrix) {
            if let ModelTerm::Main(factor) = term {
                aliases[factor] = pairs;
            }
        }
    }
    aliases
}

impl ExplainedStudy<'_> {
    /// Returns the fold-over that tells most of what was found from what it could be instead; `None` if nothing was
    /// found that could be something else, or no fold-over would tell.
    ///
    /// Two terms that agree in the measured settings have opposite signs in the others if an odd number of the factors
    /// of one of them and an even number of those of the other are exchanged. Exchanging all factors tells them from all
    /// pairs.
    ///
    /// Source: Box & Hunter, *Technometrics* 1961; Montgomery & Runger, *Journal of Quality Technology* 1996.
    pub fn fold_over(&self) -> Option<FoldOver> {
        let aliased = self.aliased();
        let two_level = |at: &usize| self.data.factors[*at].levels.len() == 2;
        let factors: Vec<usize> = (0..self.data.factors.len()).filter(two_level).collect();
        let singles = factors.iter().map(|at| vec![*at]);
        let choices: Vec<Vec<usize>> = if factors.len() > MOST_TRIED {
            std::iter::once(factors.clone()).chain(singles).collect()
        } else {
            let chosen = |mask: usize| {
                let all = factors.iter().enumerate();
                let own = all.filter(move |(place, _)| mask >> place & 1 == 1);
                own.map(|(_, at)| *at).collect()
            };
            (1..1_usize << factors.len()).map(chosen).collect()
        };
        let measured: BTreeSet<Vec<usize>> = self
            .data
            .instances
            .iter()
            .map(|it| it.levels.clone())
            .collect();
        let fold = |chosen: Vec<usize>| {
            let is_odd = |term: &ModelTerm| {
                let exchanged = own_factors(*term)
                    .into_iter()
                    .filter(|at| chosen.contains(at));
                exchanged.count() % 2 == 1
            };
            let tells = |(term, others): &&(ModelTerm, Vec<ModelTerm>)| {
                others.iter().all(|other| is_odd(other) != is_odd(term))
            };
            let all = self.data.treatments.iter().enumerate();
            let own = all.filter(|(_, own)| chosen.contains(&own.factor));
            FoldOver {
                treatments: own.map(|(at, _)| at).collect(),
                is_whole: chosen.len() == self.data.factors.len(),
                settings: folded(&measured, &chosen).len(),
                told: aliased.iter().filter(tells).count(),
                aliased: aliased.len(),
            }
        };
        // Of equal ones all factors, else the fewest.
        let found = choices.into_iter().map(fold);
        let found = found.filter(|it| it.told > 0 && it.settings > 0);
        found.max_by_key(|it| (it.told, it.is_whole, std::cmp::Reverse(it.treatments.len())))
    }

    /// Returns the terms that were found and could be others, with these: of factors also pairs of which a part looks
    /// like them, if their factors were found too.
    pub(crate) fn aliased(&self) -> Vec<(ModelTerm, Vec<ModelTerm>)> {
        let found = &self.model.found;
        let is_found = |factor: usize| self.model.has_main(factor);
        let of_factors = factor_aliases(self.data);
        let parents = self.model.parent_aliases.iter().cloned();
        let all = found.iter().map(|own| (own.term, own.aliases.clone()));
        let all = all.chain(parents).map(|(term, mut others)| {
            if let ModelTerm::Main(factor) = term {
                let parts = of_factors.get(factor).into_iter().flatten();
                others.extend(parts.filter(|pair| {
                    !self.model.terms.contains(pair)
                        && own_factors(**pair).into_iter().all(is_found)
                }));
            }
            (term, others)
        });
        all.filter(|(_, others)| !others.is_empty()).collect()
    }
}

fn own_factors(term: ModelTerm) -> Vec<usize> {
    match term {
        ModelTerm::Intercept => Vec::new(),
        ModelTerm::Main(at) => vec![at],
        ModelTerm::Square(at) => vec![at, at],
        ModelTerm::Pair(one, other) => vec![one, other],
    }
}

/// Returns the settings with the two levels of some factors exchanged, without those that were measured.
fn folded(measured: &BTreeSet<Vec<usize>>, factors: &[usize]) -> BTreeSet<Vec<usize>> {
    let exchanged = measured.iter().map(|setting| {
        let mut setting = setting.clone();
        for at in factors {
            setting[*at] = 1 - setting[*at].min(1);
        }
        setting
    });
    exchanged
        .filter(|setting| !measured.contains(setting))
        .collect()
}

impl StudyDesign {
    /// Returns the design of further configurations: those that were measured, with the two levels of some factors
    /// exchanged.
    ///
    /// Combinations that are forbidden are left out.
    ///
    /// # Errors
    /// When nothing remains.
    pub fn folded(
        &self,
        measured: &[Vec<usize>],
        factors: &[&str],
    ) -> Result<Self, StudyDesignError> {
        let exchanged = self.factors.iter().enumerate();
        let exchanged = exchanged.filter(|(_, own)| factors.contains(&own.name.as_str()));
        let exchanged: Vec<usize> = exchanged.map(|(at, _)| at).collect();
        let known: BTreeSet<Vec<usize>> = measured.iter().cloned().collect();
        let mut listed: Vec<Vec<usize>> = folded(&known, &exchanged).into_iter().collect();
        let space = self.space()?;
        listed.retain(|setting| space.is_feasible(setting));
        if listed.is_empty() {
            return Err(StudyDesignError::Complete);
        }
        let request = DesignRequest {
            kind: Some(DesignKind::List),
            listed,
            model: self.model,
            existing: measured.to_vec(),
            replicates: self.replicates,
            // Another order than that of the first settings.
            seed: self.seed.wrapping_add(measured.len() as u64),
            ..DesignRequest::default()
        };
        let suite = (self.suite.as_str(), self.suite_file.as_str());
        Self::new(suite, self.factors.clone(), &request)
    }
}

#[cfg(test)]
mod tests {
    use lapwing_stats::design::{best_fraction, plackett_burman};
    use lapwing_stats::{Seed, as_f64};

    use super::*;
    use crate::average::tests::study;
    use crate::design::StudyModel;
    use crate::scale::StudyScale;
    use crate::stability::{StabilityOptions, StudyStability};

    /// A study of some sets, two instances each with 1 % of noise.
    fn measured(factors: usize, sets: &[u128], cost: impl Fn(u128) -> f64, seed: u64) -> StudyData {
        let noise = |set: u128, replicate: usize| {
            let parts =
                (0..12).map(|part| Seed(seed).split(&format!("{set} {replicate} {part}")).0);
            parts.map(|it| as_f64(it % 1_000_000) / 1e6).sum::<f64>() - 6.0
        };
        let mut data = study(factors, 2, |set, replicate| {
            cost(set) * (1.0 + 0.01 * noise(set, replicate))
        });
        data.instances.retain(|it| sets.contains(&it.set));
        data
    }

    fn has(set: u128, at: usize) -> bool {
        set >> at & 1 == 1
    }

    #[test]
    fn a_fold_over_is_proposed_of_what_was_found_and_could_be_another_and_tells_it() {
        // Of resolution III: each factor is aliased with pairs of others.
        let sets = best_fraction(7, 3).unwrap().runs();
        let cost = |set: u128| {
            let factor = if has(set, 0) { 0.7 } else { 1.0 };
            factor * if has(set, 1) { 1.4 } else { 1.0 }
        };
        let mut told = 0;
        for seed in 0..20 {
            let data = measured(7, &sets, cost, seed);
            let explained = ExplainedStudy::new(&data, Some(StudyScale::Log)).unwrap();
            let Some(fold) = explained.fold_over() else {
                continue;
            };
            told += 1;
            assert!(
                fold.is_whole && fold.settings == 8 && fold.told == fold.aliased,
                "{fold:?}"
            );
            // With these settings there is nothing left to tell.
            let mut all = sets.clone();
            all.extend(sets.iter().map(|set| !set & 127));
            let both = measured(7, &all, cost, seed);
            let explained = ExplainedStudy::new(&both, Some(StudyScale::Log)).unwrap();
            let aliases = factor_aliases(&both);
            assert!(aliases.iter().all(Vec::is_empty), "{aliases:?}");
            assert!(
                explained
                    .average(0)
                    .is_some_and(|it| explained.is_sure(&it))
            );
        }
        assert!(told >= 18, "{told} of 20");
    }

    #[test]
    fn no_fold_over_is_proposed_where_nothing_is_found_or_nothing_could_be_another() {
        let mut proposed = [0, 0];
        let sets = best_fraction(7, 3).unwrap().runs();
        let full: Vec<u128> = (0..32).collect();
        let effect = |set: u128| if has(set, 0) { 0.7 } else { 1.0 };
        for seed in 0..20 {
            let nothing = measured(7, &sets, |_| 1.0, seed);
            let clear = measured(5, &full, effect, seed);
            for (count, data) in proposed.iter_mut().zip([nothing, clear]) {
                let found = ExplainedStudy::new(&data, Some(StudyScale::Log));
                *count += u32::from(found.is_ok_and(|it| it.fold_over().is_some()));
            }
        }
        // In 5 % of studies something is found where nothing is.
        assert!(proposed[0] <= 2 && proposed[1] == 0, "{proposed:?} of 20");
    }

    #[test]
    fn two_interactions_that_agree_are_told_by_exchanging_one_factor() {
        // Of resolution IV: pairs are aliased with pairs, and exchanging all factors would not tell them.
        let sets = best_fraction(4, 3).unwrap().runs();
        let cost = |set: u128| if has(set, 0) && has(set, 1) { 0.5 } else { 1.0 };
        let data = measured(4, &sets, cost, 3);
        let explained = ExplainedStudy::new(&data, Some(StudyScale::Log)).unwrap();
        let fold = explained.fold_over().unwrap();
        assert_eq!((fold.treatments.len(), fold.settings), (1, 8), "{fold:?}");
    }

    #[test]
    fn effects_that_could_be_of_pairs_are_not_known_unless_pairs_are_assumed_to_have_none() {
        let screening: Vec<u128> = plackett_burman(12).unwrap();
        let screening: Vec<u128> = screening.iter().map(|set| set & 255).collect();
        let designs = [
            (7, best_fraction(7, 3).unwrap().runs(), true),
            (8, screening, true),
            (6, best_fraction(6, 5).unwrap().runs(), false),
        ];
        for (factors, sets, is_aliased) in designs {
            let data = measured(factors, &sets, |_| 1.0, 5);
            let stability = |model| {
                let options = StabilityOptions {
                    model,
                    ..StabilityOptions::default()
                };
                StudyStability::new(&data, &options).unwrap()
            };
            let usual = stability(StudyModel::Pairs);
            assert_eq!(usual.aliased.len(), if is_aliased { factors } else { 0 });
            assert_eq!(usual.reaches().iter().all(Option::is_none), is_aliased);
            assert_eq!(
                usual.stable_since().is_none(),
                is_aliased,
                "{factors} factors"
            );
            let assumed = stability(StudyModel::Main);
            assert!(assumed.stable_since().is_some(), "{factors} factors");
        }
    }
}
