//! Findings of a study in sentences.

mod effects;
mod next;
mod words;

use lapwing_stats::deltas::{
    DeltaPairing, EffectModifier, MeasuredSets, effect_modifiers, mean_deltas,
};
use lapwing_stats::{Confidence, PValue};

use self::effects::{MainEffect, main_effects};
use self::words::Words;
use lapwing_study::AverageEffects;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;
use lapwing_study::{FitOptions, ModelChoice, StudyFit};

/// The accepted share of false findings.
const FALSE_DISCOVERIES: f64 = 0.05;

/// The subject of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// A factor with an effect.
    Effect,
    /// Two factors whose effects depend on each other.
    Interaction,
    /// A factor that helps or hurts, depending on another.
    Sign,
    /// Factors without an effect that can be distinguished from none.
    Undecided,
    /// What to measure next.
    Next,
}

impl FindingKind {
    /// Every kind, in the order of a report.
    pub const ALL: [Self; 5] = [
        Self::Effect,
        Self::Interaction,
        Self::Sign,
        Self::Undecided,
        Self::Next,
    ];

    /// Returns its name in data.
    pub fn key(self) -> &'static str {
        match self {
            Self::Effect => "effect",
            Self::Interaction => "interaction",
            Self::Sign => "sign",
            Self::Undecided => "undecided",
            Self::Next => "next",
        }
    }

    /// Returns its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Effect => "Strongest factors",
            Self::Interaction => "Strongest interactions",
            Self::Sign => "Factors whose sign depends on another",
            Self::Undecided => "Not distinguishable from zero",
            Self::Next => "What to measure next",
        }
    }
}

/// A sentence about a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFinding {
    /// What it is about.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
    /// The numbers of the treatments in it.
    pub treatments: Vec<usize>,
    /// The size of the effect or interaction on the scale; `None` for others.
    pub size: Option<f64>,
}

/// Returns the findings of a study on a scale, by kind, the strongest first.
///
/// An effect or an interaction is a finding if its p-value, adjusted for all of them, is at most 5 %. Effects are those of the [model](AverageEffects), averaged over
/// all combinations of the other factors, where the instances can tell them; else mean deltas. Interactions are tested in the model of all pairs where there are
/// enough instances for it, since that knows the noise from all of them; else by quadruples of settings.
pub fn findings(data: &StudyData, scale: StudyScale, confidence: Confidence) -> Vec<StudyFinding> {
    let Some(sets) = MeasuredSets::new(&data.sets(scale)) else {
        return Vec::new();
    };
    let words = Words {
        data,
        scale,
        sets: &sets,
        confidence,
        fit: pairs_fit(data, scale),
    };
    let means = mean_deltas(&sets, DeltaPairing::Means, confidence);
    let modifiers = effect_modifiers(&sets, confidence);
    let average = AverageEffects::new(data, &data.instances, scale, confidence).ok();
    let average = average.filter(|it| it.freedom >= FEWEST_FREEDOM);
    let effects = main_effects(data, scale, average.as_ref(), &means);
    let (decided, undecided): (Vec<&MainEffect>, Vec<&MainEffect>) =
        effects.iter().partition(|own| own.is_sure);
    let mut found: Vec<StudyFinding> = decided.iter().map(|own| words.effect(own)).collect();
    let pairs = pairs(&modifiers, |own| words.is_pair_sure(own));
    found.extend(
        pairs
            .iter()
            .filter_map(|[one, other]| words.interaction(one, other)),
    );
    found.extend(
        average
            .iter()
            .flat_map(|it| words.model_pairs(it, &modifiers)),
    );
    found.extend(pairs.iter().flat_map(|pair| words.signs(pair)));
    found.extend(words.undecided(&undecided));
    found.extend(words.next(&sets, &effects, average.as_ref(), &modifiers));
    found
}

/// The fewest residual degrees of freedom of a model that decides.
const FEWEST_FREEDOM: f64 = 3.0;

fn is_sure(p_value: Option<PValue>) -> bool {
    p_value.is_some_and(|own| own.value() <= FALSE_DISCOVERIES)
}

/// Returns the interactions that are sure, each from both sides, the largest first.
fn pairs(
    modifiers: &[EffectModifier],
    is_pair_sure: impl Fn(&EffectModifier) -> bool,
) -> Vec<[&EffectModifier; 2]> {
    let sure = modifiers
        .iter()
        .filter(|own| own.factor < own.other && is_pair_sure(own));
    let mut pairs: Vec<[&EffectModifier; 2]> = sure
        .filter_map(|own| {
            let back = modifiers.iter();
            let mut back = back.filter(|it| it.factor == own.other && it.other == own.factor);
            Some([own, back.next()?])
        })
        .collect();
    pairs.sort_by(|one, other| {
        other[0]
            .difference()
            .abs()
            .total_cmp(&one[0].difference().abs())
    });
    pairs
}

/// Returns the model of all pairs, if there are enough instances.
fn pairs_fit(data: &StudyData, scale: StudyScale) -> Option<StudyFit> {
    let model = ModelChoice::usual(data);
    let options = FitOptions {
        model,
        scale,
        ..FitOptions::default()
    };
    let fit = (model == ModelChoice::Pairs).then(|| StudyFit::new(data, options));
    fit?.ok()
}
