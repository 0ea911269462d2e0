//! The sentences about effects and interactions.

use crate::study::StudyMetricText;
use lapwing_model::text::capitalised;
use lapwing_stats::deltas::{DeltaPairing, EffectModifier, MeasuredSets};
use lapwing_stats::{Confidence, as_f64, mean, standard_deviation};

use super::effects::MainEffect;
use super::{FALSE_DISCOVERIES, FindingKind, StudyFinding, is_sure};
use lapwing_study::StudyData;
use lapwing_study::StudyFit;
use lapwing_study::StudyScale;
use lapwing_study::{AverageEffects, AverageTerm};

/// An effect that is smaller than this part of another is nothing beside it.
const NEGLIGIBLE: f64 = 0.1;

/// The words for findings of one study.
pub(super) struct Words<'a> {
    pub(super) data: &'a StudyData,
    pub(super) scale: StudyScale,
    pub(super) sets: &'a MeasuredSets,
    pub(super) confidence: Confidence,
    pub(super) fit: Option<StudyFit>,
}

impl Words<'_> {
    pub(super) fn name(&self, treatment: usize) -> String {
        format!("`{}`", self.data.treatments[treatment].name)
    }

    pub(super) fn is_pair_sure(&self, own: &EffectModifier) -> bool {
        let [one, other] = [own.factor, own.other].map(|at| &self.data.treatments[at].name);
        let name = format!("{one}:{other}");
        let mut columns = self.fit.iter().flat_map(|fit| &fit.columns);
        match columns.find(|column| column.name == name) {
            Some(column) => column
                .adjusted_p_value
                .is_some_and(|p| p <= FALSE_DISCOVERIES),
            None => is_sure(own.adjusted_p_value),
        }
    }

    fn change(&self, change: f64) -> String {
        self.data.metric.change_text(self.scale, change)
    }

    fn is_gain(&self, change: f64) -> bool {
        self.data.metric.is_gain(self.scale, change)
    }

    pub(super) fn effect(&self, own: &MainEffect) -> StudyFinding {
        let verb = if self.is_gain(own.value) {
            "helps"
        } else {
            "hurts"
        };
        let change = self
            .data
            .metric
            .change_with_interval(self.scale, own.value, own.interval);
        StudyFinding {
            kind: FindingKind::Effect,
            text: format!("{} {verb}: {change} {}", self.name(own.treatment), own.over),
            treatments: vec![own.treatment],
            size: Some(own.value),
        }
    }

    pub(super) fn interaction(
        &self,
        one: &EffectModifier,
        other: &EffectModifier,
    ) -> Option<StudyFinding> {
        // One of them with another sign is told by itself.
        if self.surely_flips(one) || self.surely_flips(other) {
            return None;
        }
        let [first, second] = [one, other].map(|own| self.name(own.factor));
        let [alone, other_alone, both] = [one.without, other.without, one.without + other.with]
            .map(|change| self.change(change));
        let numbers = format!("alone {alone} and {other_alone}, both {both}");
        // Above zero what is gained, whichever direction of the metric that is.
        let gain = |change: f64| match self.is_gain(change) {
            true => change.abs(),
            false => -change.abs(),
        };
        let together = gain(one.without + other.with);
        let gains = [one.without, other.without].map(gain);
        let larger = gains[0].abs().max(gains[1].abs());
        let smaller = gains[0].abs().min(gains[1].abs());
        let is_more = self.is_gain(one.difference());
        let text = match gains.map(|it| it > 0.0) {
            // One that does nothing alone is not said to help or to hurt.
            _ if smaller < NEGLIGIBLE * larger => {
                let (own, by, with) = match gains[0].abs() < gains[1].abs() {
                    true => (&second, &first, other),
                    false => (&first, &second, one),
                };
                format!(
                    "the effect of {own} is {} without {by} and {} with it",
                    self.change(with.without),
                    self.change(with.with)
                )
            }
            [true, true] if is_more => format!("{first} and {second} help each other: {numbers}"),
            [true, true] if together < larger - 0.25 * smaller => {
                format!("{first} and {second} undo each other in part: {numbers}")
            }
            [true, true] if together < larger + 0.25 * smaller => {
                format!("either of {first} and {second} removes the same cost: {numbers}")
            }
            [true, true] => format!("{first} and {second} remove partly the same cost: {numbers}"),
            [false, false] if !is_more => {
                format!("{first} and {second} make each other worse: {numbers}")
            }
            [false, false] if together > gains[0].max(gains[1]) => {
                format!("{first} and {second} undo each other's cost: {numbers}")
            }
            [false, false] => format!("{first} and {second} cost partly the same: {numbers}"),
            [_, _] => format!(
                "the effect of {first} is {alone} without {second} and {} with it",
                self.change(one.with)
            ),
        };
        Some(StudyFinding {
            kind: FindingKind::Interaction,
            text: capitalised_name(text),
            treatments: vec![one.factor, one.other],
            size: Some(one.difference()),
        })
    }

    /// Returns whether the effect differs from zero both with and without the other treatment, in opposite directions.
    fn surely_flips(&self, own: &EffectModifier) -> bool {
        let is_sure = |is_with: bool| {
            let deltas = self.sets.deltas(DeltaPairing::Means).into_iter();
            let changes: Vec<f64> = deltas
                .filter(|it| it.factor == own.factor && (it.set >> own.other & 1 == 1) == is_with)
                .map(|it| it.change())
                .collect();
            let error = standard_deviation(&changes).map(|own| own / as_f64(changes.len()).sqrt());
            let quantile = self.confidence.t_quantile(as_f64(changes.len()) - 1.0);
            let estimate = mean(&changes).zip(error).zip(quantile);
            estimate.is_some_and(|((centre, error), quantile)| centre.abs() > quantile * error)
        };
        own.flips() && is_sure(true) && is_sure(false)
    }

    pub(super) fn signs(&self, pair: &[&EffectModifier; 2]) -> Vec<StudyFinding> {
        let flips = pair.iter().filter(|own| self.surely_flips(own));
        flips
            .map(|own| {
                let verb = |change: f64| {
                    if self.is_gain(change) {
                        "helps"
                    } else {
                        "hurts"
                    }
                };
                let [factor, other] = [own.factor, own.other].map(|at| self.name(at));
                StudyFinding {
                    kind: FindingKind::Sign,
                    text: format!(
                        "{factor} {} ({}) without {other} and {} ({}) with it",
                        verb(own.without),
                        self.change(own.without),
                        verb(own.with),
                        self.change(own.with)
                    ),
                    treatments: vec![own.factor, own.other],
                    size: Some(own.difference()),
                }
            })
            .collect()
    }

    pub(super) fn undecided(&self, own: &[&MainEffect]) -> Vec<StudyFinding> {
        let text = |own: &&MainEffect| {
            let change = self
                .data
                .metric
                .change_with_interval(self.scale, own.value, own.interval);
            // Several effects are tested, so that one of them seems to differ more easily.
            let excludes_zero = own
                .interval
                .is_some_and(|it| it.lower > 0.0 || it.upper < 0.0);
            let correction = if excludes_zero {
                "; not significant after correction for all effects"
            } else {
                ""
            };
            format!(
                "{}: {change} {}{correction}",
                self.name(own.treatment),
                own.over
            )
        };
        own.iter()
            .map(|own| StudyFinding {
                kind: FindingKind::Undecided,
                text: text(own),
                treatments: vec![own.treatment],
                size: Some(own.value),
            })
            .collect()
    }

    /// Returns the interactions that the model shows and no quadruple of settings does.
    pub(super) fn model_pairs(
        &self,
        average: &AverageEffects,
        modifiers: &[EffectModifier],
    ) -> Vec<StudyFinding> {
        let has_quadruples = |one: usize, other: usize| {
            let mut of_pair = modifiers
                .iter()
                .filter(|it| (it.factor, it.other) == (one, other));
            of_pair.any(|it| it.quadruples > 0)
        };
        let sure = average.effects.iter().filter(|own| own.is_sure());
        let pairs = sure.filter_map(|own| match own.term {
            AverageTerm::Pair(one, other) if !has_quadruples(one, other) && !has_quadruples(other, one) => {
                let value = own.coefficient?.estimate;
                let change = self.data.metric.change_with_interval(self.scale, value, own.interval);
                Some(StudyFinding {
                    kind: FindingKind::Interaction,
                    text: format!(
                        "{} and {} together change {change} beyond the sum of both (estimated by the model)",
                        self.name(one),
                        self.name(other)
                    ),
                    treatments: vec![one, other],
                    size: Some(value),
                })
            }
            AverageTerm::One(_) | AverageTerm::Pair(..) => None,
        });
        let mut pairs: Vec<StudyFinding> = pairs.collect();
        let size = |own: &StudyFinding| own.size.unwrap_or(0.0).abs();
        pairs.sort_by(|one, other| size(other).total_cmp(&size(one)));
        pairs
    }
}

/// Returns the sentence with a capital letter, unless it begins with a name.
pub(super) fn capitalised_name(text: String) -> String {
    if text.starts_with('`') {
        text
    } else {
        capitalised(&text)
    }
}
