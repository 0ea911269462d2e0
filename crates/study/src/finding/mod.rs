//! Findings of a study, as numbers.

mod effects;
mod next;
mod pairs;

use lapwing_stats::deltas::{DeltaPairing, MeasuredSets, effect_modifiers, mean_deltas};
use lapwing_stats::{Confidence, Interval, PValue};

use self::effects::main_effects;
pub use self::effects::{AveragedOver, MainEffect};
pub use self::next::NextMeasurement;
pub use self::pairs::{PairPattern, TreatmentPair, TreatmentWithAnother};
use crate::average::AverageEffects;
use crate::data::StudyData;
use crate::scale::StudyScale;

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
}

/// A finding of a study. Changes are on the scale of the analysis.
#[derive(Debug, Clone, PartialEq)]
pub enum StudyFinding {
    /// A treatment with an effect.
    Effect(MainEffect),
    /// Two treatments whose effects depend on each other, by quadruples of settings.
    Interaction(TreatmentPair),
    /// Two treatments that together change something beyond the sum of both, by the model alone.
    ModelPair {
        /// The treatments.
        treatments: [usize; 2],
        /// The change.
        change: f64,
        /// Its interval.
        interval: Option<Interval>,
    },
    /// A treatment that helps or hurts, depending on another.
    Sign(TreatmentWithAnother),
    /// A treatment whose effect cannot be told from none.
    Undecided(MainEffect),
    /// Something to measure next.
    Next(NextMeasurement),
}

impl StudyFinding {
    /// Returns what it is about.
    pub fn kind(&self) -> FindingKind {
        match self {
            Self::Effect(_) => FindingKind::Effect,
            Self::Interaction(_) | Self::ModelPair { .. } => FindingKind::Interaction,
            Self::Sign(_) => FindingKind::Sign,
            Self::Undecided(_) => FindingKind::Undecided,
            Self::Next(_) => FindingKind::Next,
        }
    }

    /// Returns the numbers of its treatments.
    pub fn treatments(&self) -> Vec<usize> {
        match self {
            Self::Effect(effect) | Self::Undecided(effect) => vec![effect.treatment],
            Self::Interaction(pair) => pair.treatments.to_vec(),
            Self::ModelPair { treatments, .. } => treatments.to_vec(),
            Self::Sign(sign) => vec![sign.treatment, sign.other],
            Self::Next(NextMeasurement::NeverAlone { treatments })
            | Self::Next(NextMeasurement::MoreInstances { treatments, .. }) => treatments.clone(),
            Self::Next(
                NextMeasurement::Replicates
                | NextMeasurement::Setting { .. }
                | NextMeasurement::OpenPairs { .. },
            ) => Vec::new(),
        }
    }

    /// Returns the size of the effect or interaction; `None` for others.
    pub fn size(&self) -> Option<f64> {
        match self {
            Self::Effect(effect) | Self::Undecided(effect) => Some(effect.change),
            Self::Interaction(pair) => Some(pair.difference),
            Self::ModelPair { change, .. } => Some(*change),
            Self::Sign(sign) => Some(sign.with - sign.without),
            Self::Next(_) => None,
        }
    }
}

/// Returns the findings of a study on a scale, by kind, the strongest first.
///
/// An effect or an interaction is a finding if its p-value, adjusted for all of them, is at most 5 %. Effects are
/// those of the [model](AverageEffects), averaged over all combinations of the other factors, where the instances can
/// tell them; else mean deltas. Interactions are tested in the model of all pairs where there are enough instances
/// for it, since that knows the noise from all of them; else by quadruples of settings.
pub fn findings(data: &StudyData, scale: StudyScale, confidence: Confidence) -> Vec<StudyFinding> {
    let Some(sets) = MeasuredSets::new(&data.sets(scale)) else {
        return Vec::new();
    };
    let means = mean_deltas(&sets, DeltaPairing::Means, confidence);
    let modifiers = effect_modifiers(&sets, confidence);
    let average = AverageEffects::new(data, &data.instances, scale, confidence).ok();
    let average = average.filter(|it| it.freedom >= FEWEST_FREEDOM);
    let effects = main_effects(data, scale, average.as_ref(), &means);
    let of_pairs = pairs::findings(data, scale, confidence, &sets, &modifiers, average.as_ref());
    let next = next::findings(data, scale, &sets, &effects, average.as_ref(), &modifiers);
    let (decided, undecided): (Vec<MainEffect>, Vec<MainEffect>) =
        effects.into_iter().partition(|effect| effect.is_sure);
    let decided = decided.into_iter().map(StudyFinding::Effect);
    let undecided = undecided.into_iter().map(StudyFinding::Undecided);
    let next = next.into_iter().map(StudyFinding::Next);
    decided
        .chain(of_pairs)
        .chain(undecided)
        .chain(next)
        .collect()
}

/// The fewest residual degrees of freedom of a model that decides.
const FEWEST_FREEDOM: f64 = 3.0;

fn is_sure(p_value: Option<PValue>) -> bool {
    p_value.is_some_and(|p| p.value() <= FALSE_DISCOVERIES)
}
