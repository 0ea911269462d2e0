//! What to measure next.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::deltas::{EffectModifier, MeasuredSets};

use super::effects::MainEffect;
use crate::average::{AverageEffects, AverageTerm};
use crate::data::StudyData;
use crate::scale::StudyScale;

/// More settings are not proposed.
const PROPOSALS: usize = 3;

/// Something to measure next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextMeasurement {
    /// Settings with and without treatments that no pair of settings differs by alone.
    NeverAlone {
        /// The numbers of the treatments.
        treatments: Vec<usize>,
    },
    /// Replicates of a few settings: there are too few to tell noise from interactions.
    Replicates,
    /// More instances, so that the intervals of undecided treatments are within ±5 %.
    MoreInstances {
        /// How many times as many.
        times: f64,
        /// The numbers of the treatments.
        treatments: Vec<usize>,
    },
    /// A setting that was not measured.
    Setting {
        /// The set of its treatments.
        set: u128,
        /// The number of deltas of undecided treatments that it would give.
        deltas: usize,
    },
    /// Interactions with too few settings.
    OpenPairs {
        /// Their number.
        open: usize,
        /// The number of all interactions.
        pairs: usize,
    },
}

/// Returns what to measure next, the most general first.
pub(super) fn findings(
    data: &StudyData,
    scale: StudyScale,
    sets: &MeasuredSets,
    effects: &[MainEffect],
    average: Option<&AverageEffects>,
    modifiers: &[EffectModifier],
) -> Vec<NextMeasurement> {
    let undecided: Vec<&MainEffect> = effects.iter().filter(|effect| !effect.is_sure).collect();
    let has_effect = |at: usize| effects.iter().any(|effect| effect.treatment == at);
    let never: Vec<usize> = (0..data.treatments.len())
        .filter(|at| !has_effect(*at))
        .collect();
    let wanted = undecided.iter().map(|effect| effect.treatment);
    let wanted: BTreeSet<usize> = wanted.chain(never.iter().copied()).collect();
    let mut found = Vec::new();
    if !never.is_empty() {
        found.push(NextMeasurement::NeverAlone { treatments: never });
    }
    let replicates = sets.sets().iter().map(|set| sets.values(*set).len() - 1);
    if replicates.sum::<usize>() < 3 {
        found.push(NextMeasurement::Replicates);
    }
    found.extend(more_instances(scale, &undecided));
    let proposals = proposals(data, sets, &wanted).into_iter();
    found.extend(proposals.map(|(set, deltas)| NextMeasurement::Setting { set, deltas }));
    if let Some((open, pairs)) = open_pairs(data, average, modifiers) {
        found.push(NextMeasurement::OpenPairs { open, pairs });
    }
    found
}

/// Returns the number of interactions of different factors of which nothing can be said, and that of all, if there
/// are any of the former.
fn open_pairs(
    data: &StudyData,
    average: Option<&AverageEffects>,
    modifiers: &[EffectModifier],
) -> Option<(usize, usize)> {
    let factors: Vec<usize> = data.treatments.iter().map(|own| own.factor).collect();
    let mut known: BTreeSet<[usize; 2]> = BTreeSet::new();
    for effect in average.iter().flat_map(|average| &average.effects) {
        if let (AverageTerm::Pair(one, other), Some(_)) = (effect.term, effect.coefficient) {
            known.extend([[one, other], [other, one]]);
        }
    }
    for modifier in modifiers.iter().filter(|modifier| modifier.quadruples >= 2) {
        let (one, other) = (modifier.factor, modifier.other);
        known.extend([[one, other], [other, one]]);
    }
    let (mut open, mut pairs) = (0, 0);
    for one in 0..factors.len() {
        for other in (one + 1..factors.len()).filter(|other| factors[one] != factors[*other]) {
            pairs += 1;
            open += usize::from(!known.contains(&[one, other]));
        }
    }
    (open > 0).then_some((open, pairs))
}

/// Returns how many times the instances would resolve 5 % for the undecided treatments.
fn more_instances(scale: StudyScale, undecided: &[&MainEffect]) -> Option<NextMeasurement> {
    const WANTED: f64 = 0.05;
    let reach = |effect: &&MainEffect| {
        let wanted = match scale {
            StudyScale::Log => WANTED.ln_1p(),
            StudyScale::Time | StudyScale::Rate => WANTED * effect.level,
        };
        Some(0.5 * effect.interval?.width() / wanted)
    };
    let widest = undecided.iter().filter_map(reach).fold(0.0, f64::max);
    let times = (widest * widest).ceil();
    (times > 1.0).then(|| NextMeasurement::MoreInstances {
        times,
        treatments: undecided.iter().map(|effect| effect.treatment).collect(),
    })
}

/// Returns settings that were not measured, by the number of deltas of wanted treatments that each would give.
fn proposals(
    data: &StudyData,
    sets: &MeasuredSets,
    wanted: &BTreeSet<usize>,
) -> Vec<(u128, usize)> {
    let measured: BTreeSet<u128> = sets.sets().iter().copied().collect();
    let mut counts: BTreeMap<u128, usize> = BTreeMap::new();
    for set in &measured {
        for treatment in wanted {
            let neighbour = set ^ 1 << treatment;
            let is_untried = !measured.contains(&neighbour) && !data.failed.contains(&neighbour);
            if is_untried && data.is_possible(neighbour) {
                *counts.entry(neighbour).or_default() += 1;
            }
        }
    }
    let mut best: Vec<(u128, usize)> = counts.into_iter().collect();
    best.sort_by_key(|(set, count)| (std::cmp::Reverse(*count), set.count_ones(), *set));
    best.truncate(PROPOSALS);
    best
}
