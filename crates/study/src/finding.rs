//! Findings of a study in sentences.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_core::text::{capitalised, counted, first_names};
use lapwing_stats::deltas::{
    DeltaPairing, EffectModifier, MeanDelta, MeasuredSets, effect_modifiers, mean_deltas,
};
use lapwing_stats::{Confidence, Interval, PValue, as_f64, mean, standard_deviation};

use crate::average::{AverageEffects, AverageTerm};
use crate::data::StudyData;
use crate::fit::{FitOptions, ModelChoice, StudyFit};
use crate::scale::StudyScale;

/// The accepted share of false findings.
const FALSE_DISCOVERIES: f64 = 0.05;

/// More settings are not proposed.
const PROPOSALS: usize = 3;

/// What a finding is about.
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

/// The effect of a treatment, from the model or from deltas.
struct MainEffect {
    treatment: usize,
    value: f64,
    interval: Option<Interval>,
    /// What it is an average over.
    over: String,
    /// The level that 5 % of it is compared with.
    level: f64,
    is_sure: bool,
}

/// Returns the effect of each treatment that has one, the largest first.
fn main_effects(
    data: &StudyData,
    scale: StudyScale,
    average: Option<&AverageEffects>,
    means: &[MeanDelta],
) -> Vec<MainEffect> {
    let costs: Vec<f64> = data
        .instances
        .iter()
        .map(|own| scale.of(own.cost))
        .collect();
    let level = mean(&costs).unwrap_or(0.0).abs();
    let of_model = |treatment: usize| {
        let own = average?
            .of_treatments()
            .find(|it| it.term == AverageTerm::One(treatment))?;
        Some(MainEffect {
            treatment,
            value: own.coefficient?.estimate,
            interval: own.interval,
            over: "on average over all combinations of the others".to_owned(),
            level,
            is_sure: own.is_sure(),
        })
    };
    let of_deltas = |treatment: usize| {
        let own = means.iter().find(|it| it.factor == treatment)?;
        Some(MainEffect {
            treatment,
            value: own.mean,
            interval: own.interval,
            over: format!(
                "on average over {} of settings",
                counted(own.set_pairs, "pair")
            ),
            level: own.mean_before.abs(),
            is_sure: is_sure(own.adjusted_p_value),
        })
    };
    let treatments = 0..data.treatments.len();
    let effects = treatments.filter_map(|it| of_model(it).or_else(|| of_deltas(it)));
    let mut effects: Vec<MainEffect> = effects.collect();
    effects.sort_by(|one, other| other.value.abs().total_cmp(&one.value.abs()));
    effects
}

/// An effect that is smaller than this part of another is nothing beside it.
const NEGLIGIBLE: f64 = 0.1;

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

struct Words<'a> {
    data: &'a StudyData,
    scale: StudyScale,
    sets: &'a MeasuredSets,
    confidence: Confidence,
    fit: Option<StudyFit>,
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

impl Words<'_> {
    fn name(&self, treatment: usize) -> String {
        format!("`{}`", self.data.treatments[treatment].name)
    }

    fn is_pair_sure(&self, own: &EffectModifier) -> bool {
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

    fn effect(&self, own: &MainEffect) -> StudyFinding {
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

    fn interaction(&self, one: &EffectModifier, other: &EffectModifier) -> Option<StudyFinding> {
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

    fn signs(&self, pair: &[&EffectModifier; 2]) -> Vec<StudyFinding> {
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

    fn undecided(&self, own: &[&MainEffect]) -> Vec<StudyFinding> {
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
                "; not sure among so many effects"
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
    fn model_pairs(
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
                        "{} and {} together change {change} beyond what both do alone (by the model: no settings show it directly)",
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

    fn next(
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
            let times = lapwing_core::text::grouped(format_args!("{times:.0}"));
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

/// Returns the sentence with a capital letter, unless it begins with a name.
fn capitalised_name(text: String) -> String {
    if text.starts_with('`') {
        text
    } else {
        capitalised(&text)
    }
}
