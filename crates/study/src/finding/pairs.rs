//! Treatments whose effects depend on each other.

use lapwing_stats::deltas::{DeltaPairing, EffectModifier, MeasuredSets};
use lapwing_stats::{Confidence, as_f64, mean, standard_deviation};

use super::{FALSE_DISCOVERIES, StudyFinding, is_sure};
use crate::average::{AverageEffects, AverageTerm};
use crate::data::StudyData;
use crate::fit::{FitOptions, ModelChoice, StudyFit};
use crate::scale::StudyScale;

/// An effect that is smaller than this part of another is nothing beside it.
const NEGLIGIBLE: f64 = 0.1;

/// The effects of two treatments alone and together.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatmentPair {
    /// The numbers of the treatments.
    pub treatments: [usize; 2],
    /// The effect of each without the other.
    pub alone: [f64; 2],
    /// The effect of both together.
    pub both: f64,
    /// By how much the effect of the first differs with the second from that without it.
    pub difference: f64,
    /// How the effects depend on each other.
    pub pattern: PairPattern,
}

/// How the effects of two treatments depend on each other.
#[derive(Debug, Clone, PartialEq)]
pub enum PairPattern {
    /// Both help, together more than the sum.
    HelpEachOther,
    /// Both help, together clearly less than the better one alone.
    UndoInPart,
    /// Both help, together no more than the better one alone.
    SameCost,
    /// Both help, together less than the sum.
    PartlySameCost,
    /// Both hurt, together more than the sum.
    MakeWorse,
    /// Both hurt, together less than either.
    UndoEachOther,
    /// Both hurt, together less than the sum.
    PartlySameHarm,
    /// The effect of one depends on the other in another way.
    Depends(TreatmentWithAnother),
}

/// The effect of a treatment with and without another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreatmentWithAnother {
    /// The number of the treatment.
    pub treatment: usize,
    /// The number of the other.
    pub other: usize,
    /// Its effect without the other.
    pub without: f64,
    /// Its effect with the other.
    pub with: f64,
}

impl From<&EffectModifier> for TreatmentWithAnother {
    fn from(modifier: &EffectModifier) -> Self {
        Self {
            treatment: modifier.factor,
            other: modifier.other,
            without: modifier.without,
            with: modifier.with,
        }
    }
}

/// Returns the findings about pairs of treatments: interactions, then treatments that change sign.
pub(super) fn findings(
    data: &StudyData,
    scale: StudyScale,
    confidence: Confidence,
    sets: &MeasuredSets,
    modifiers: &[EffectModifier],
    average: Option<&AverageEffects>,
) -> Vec<StudyFinding> {
    let fit = pairs_fit(data, scale);
    let pairs = sure_pairs(modifiers, |pair| is_pair_sure(data, fit.as_ref(), pair));
    let flips = |modifier: &&EffectModifier| surely_flips(sets, confidence, modifier);
    let mut found: Vec<StudyFinding> = Vec::new();
    for [one, other] in &pairs {
        // One of them with another sign is told by itself.
        if !flips(one) && !flips(other) {
            let effect = pair_effect(data, scale, one, other);
            found.push(StudyFinding::Interaction(effect));
        }
    }
    if let Some(average) = average {
        found.extend(model_pairs(average, modifiers));
    }
    let signs = pairs.iter().flatten().filter(|modifier| flips(modifier));
    found.extend(signs.map(|modifier| StudyFinding::Sign((*modifier).into())));
    found
}

/// Returns the model of all pairs, if there are enough instances.
fn pairs_fit(data: &StudyData, scale: StudyScale) -> Option<StudyFit> {
    if ModelChoice::usual(data) != ModelChoice::Pairs {
        return None;
    }
    let options = FitOptions {
        model: ModelChoice::Pairs,
        scale,
        ..FitOptions::default()
    };
    StudyFit::new(data, options).ok()
}

fn is_pair_sure(data: &StudyData, fit: Option<&StudyFit>, pair: &EffectModifier) -> bool {
    let [one, other] = [pair.factor, pair.other].map(|at| &data.treatments[at].name);
    let name = format!("{one}:{other}");
    let mut columns = fit.into_iter().flat_map(|fit| &fit.columns);
    match columns.find(|column| column.name == name) {
        Some(column) => (column.adjusted_p_value).is_some_and(|p| p <= FALSE_DISCOVERIES),
        None => is_sure(pair.adjusted_p_value),
    }
}

/// Returns the interactions that are sure, each from both sides, the largest first.
fn sure_pairs(
    modifiers: &[EffectModifier],
    is_pair_sure: impl Fn(&EffectModifier) -> bool,
) -> Vec<[&EffectModifier; 2]> {
    let sure = modifiers
        .iter()
        .filter(|one| one.factor < one.other && is_pair_sure(one));
    let mut pairs: Vec<[&EffectModifier; 2]> = sure
        .filter_map(|one| {
            let mut back = modifiers.iter();
            let back = back.find(|it| it.factor == one.other && it.other == one.factor);
            Some([one, back?])
        })
        .collect();
    pairs.sort_by(|one, other| {
        let size = |pair: &[&EffectModifier; 2]| pair[0].difference().abs();
        size(other).total_cmp(&size(one))
    });
    pairs
}

fn pair_effect(
    data: &StudyData,
    scale: StudyScale,
    one: &EffectModifier,
    other: &EffectModifier,
) -> TreatmentPair {
    let is_gain = |change: f64| data.metric.is_gain(scale, change);
    // Above zero what is gained, whichever direction of the metric that is.
    let gain = |change: f64| {
        if is_gain(change) {
            change.abs()
        } else {
            -change.abs()
        }
    };
    let alone = [one.without, other.without];
    let both = one.without + other.with;
    let together = gain(both);
    let gains = alone.map(gain);
    let larger = gains[0].abs().max(gains[1].abs());
    let smaller = gains[0].abs().min(gains[1].abs());
    let is_more = is_gain(one.difference());
    let pattern = match gains.map(|it| it > 0.0) {
        // One that does nothing alone is not said to help or to hurt.
        _ if smaller < NEGLIGIBLE * larger => {
            let first_is_smaller = gains[0].abs() < gains[1].abs();
            PairPattern::Depends(if first_is_smaller { other } else { one }.into())
        }
        [true, true] if is_more => PairPattern::HelpEachOther,
        [true, true] if together < larger - 0.25 * smaller => PairPattern::UndoInPart,
        [true, true] if together < larger + 0.25 * smaller => PairPattern::SameCost,
        [true, true] => PairPattern::PartlySameCost,
        [false, false] if !is_more => PairPattern::MakeWorse,
        [false, false] if together > gains[0].max(gains[1]) => PairPattern::UndoEachOther,
        [false, false] => PairPattern::PartlySameHarm,
        [_, _] => PairPattern::Depends(one.into()),
    };
    TreatmentPair {
        treatments: [one.factor, one.other],
        alone,
        both,
        difference: one.difference(),
        pattern,
    }
}

/// Returns whether the effect differs from zero both with and without the other treatment, in opposite directions.
fn surely_flips(sets: &MeasuredSets, confidence: Confidence, modifier: &EffectModifier) -> bool {
    let is_sure = |is_with: bool| {
        let deltas = sets.deltas(DeltaPairing::Means).into_iter();
        let changes: Vec<f64> = deltas
            .filter(|delta| {
                let has_other = delta.set >> modifier.other & 1 == 1;
                delta.factor == modifier.factor && has_other == is_with
            })
            .map(|delta| delta.change())
            .collect();
        let error = standard_deviation(&changes).map(|sd| sd / as_f64(changes.len()).sqrt());
        let quantile = confidence.t_quantile(as_f64(changes.len()) - 1.0);
        let estimate = mean(&changes).zip(error).zip(quantile);
        estimate.is_some_and(|((centre, error), quantile)| centre.abs() > quantile * error)
    };
    modifier.flips() && is_sure(true) && is_sure(false)
}

/// Returns the interactions that the model shows and no quadruple of settings does, the largest first.
fn model_pairs(average: &AverageEffects, modifiers: &[EffectModifier]) -> Vec<StudyFinding> {
    let has_quadruples = |one: usize, other: usize| {
        let is_pair = |it: &EffectModifier| (it.factor, it.other) == (one, other);
        modifiers.iter().any(|it| is_pair(it) && it.quadruples > 0)
    };
    let sure = average.effects.iter().filter(|effect| effect.is_sure());
    let pairs = sure.filter_map(|effect| match effect.term {
        AverageTerm::Pair(one, other)
            if !has_quadruples(one, other) && !has_quadruples(other, one) =>
        {
            Some(StudyFinding::ModelPair {
                treatments: [one, other],
                change: effect.coefficient?.estimate,
                interval: effect.interval,
            })
        }
        AverageTerm::One(_) | AverageTerm::Pair(..) => None,
    });
    let mut pairs: Vec<StudyFinding> = pairs.collect();
    let size = |pair: &StudyFinding| pair.size().unwrap_or(0.0).abs();
    pairs.sort_by(|one, other| size(other).total_cmp(&size(one)));
    pairs
}
