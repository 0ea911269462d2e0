//! The same study twice: which effects carry over to another environment or workload.

use std::collections::BTreeMap;

use lapwing_stats::linear_model::{Coefficient, CoefficientDifference};
use lapwing_stats::{Confidence, Interval, PValue, adjusted_p_values, mean, rank_correlation};

use crate::average::{AverageEffect, AverageEffects, AverageTerm};
use crate::data::StudyData;
use crate::factor::StudyFactor;
use crate::fit::{FitOptions, ModelChoice, StudyFit, StudyFitError};
use crate::scale::StudyScale;

/// The accepted share of false findings.
const FALSE_DISCOVERIES: f64 = 0.05;

/// An effect below this share of the cost is negligible.
const NEGLIGIBLE: f64 = 0.05;

/// Whether an effect is the same on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedVerdict {
    /// Both sides have the effect, with the same sign and without evidence of a difference.
    CarriesOver,
    /// The sizes differ.
    Differs,
    /// Both sides have an effect, with opposite signs.
    Reverses,
    /// Both sides have at most a negligible one.
    Negligible,
    /// Nothing can be said.
    Undetermined,
}

impl CarriedVerdict {
    /// Every verdict, in the order of a report.
    pub const ALL: [Self; 5] = [
        Self::Reverses,
        Self::Differs,
        Self::CarriesOver,
        Self::Negligible,
        Self::Undetermined,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::CarriesOver => "carries over",
            Self::Differs => "differs",
            Self::Reverses => "reverses",
            Self::Negligible => "negligible on both sides",
            Self::Undetermined => "undetermined",
        }
    }
}

/// An effect on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedSide {
    /// The effect.
    pub effect: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Whether it differs from zero.
    pub is_sure: bool,
}

/// An effect on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedEffect {
    /// `cfg_encrypted`, `cfg_encrypted:prefetch=100`.
    pub name: String,
    /// Whether it is of a pair.
    pub is_pair: bool,
    /// The effect on the first and on the second side.
    pub sides: [CarriedSide; 2],
    /// By how much it differs; `None` without degrees of freedom.
    pub difference: Option<CoefficientDifference>,
    /// The p-value of the difference, adjusted for all effects (Benjamini–Hochberg).
    pub adjusted_p_value: Option<f64>,
    /// Whether it carries over.
    pub verdict: CarriedVerdict,
}

/// The quality of predictions of one side's settings by the model of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedPrediction {
    /// The number of settings of the other side that the model can predict.
    pub settings: usize,
    /// Spearman's rank correlation of predicted and measured settings.
    pub rank_correlation: Option<f64>,
    /// R² apart from a constant: 1 − Σ (y − ŷ − d)² / Σ (y − ȳ)², with d the mean of y − ŷ. Below 0 if the model is
    /// worse than none.
    pub r_squared: Option<f64>,
    /// By how much the setting that the model recommends is worse, on the scale, than the best one on the other side.
    pub regret: f64,
}

/// Which effects of a study carry over.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyCarryOver {
    /// The effects that both sides have: those of treatments, then those of pairs.
    pub effects: Vec<CarriedEffect>,
    /// The predictions of the second side by the first, and of the first by the second.
    pub predictions: [Option<CarriedPrediction>; 2],
    /// Treatments that only one side can tell, by side.
    pub only: [Vec<String>; 2],
    /// Factors that are not compared, because their base levels differ.
    pub other_bases: Vec<String>,
}

impl StudyCarryOver {
    /// Compares the effects of two studies on a scale.
    ///
    /// Effects are those of [`AverageEffects`]; the test of a difference is that of [`CoefficientDifference`].
    ///
    /// # Errors
    /// When an instance has no value on the scale.
    pub fn new(
        sides: [&StudyData; 2],
        scale: StudyScale,
        confidence: Confidence,
    ) -> Result<Self, StudyFitError> {
        let [first, second] = sides;
        let found = [
            AverageEffects::new(first, &first.instances, scale, confidence)?,
            AverageEffects::new(second, &second.instances, scale, confidence)?,
        ];
        let other_bases = other_bases(sides);
        let names = [0, 1].map(|side| known(sides[side], &found[side], &other_bases));
        let mut effects = Vec::new();
        for (key, (place, one)) in &names[0] {
            let Some((_, other)) = names[1].get(key) else {
                continue;
            };
            let pair = [*one, *other];
            let sides = [0, 1].map(|side| (pair[side].1, found[side].freedom));
            effects.push((
                *place,
                CarriedEffect {
                    name: key.join(":"),
                    is_pair: key.len() > 1,
                    sides: pair.map(|(own, coefficient)| CarriedSide {
                        effect: coefficient.estimate,
                        interval: own.interval,
                        is_sure: own.is_sure(),
                    }),
                    difference: CoefficientDifference::new(sides, confidence),
                    adjusted_p_value: None,
                    verdict: CarriedVerdict::Undetermined,
                },
            ));
        }
        effects.sort_by_key(|(place, _)| *place);
        let mut effects: Vec<CarriedEffect> = effects.into_iter().map(|(_, own)| own).collect();
        judge(&mut effects, sides, scale);
        let only = [0, 1].map(|side: usize| {
            let other = &names[1 - side];
            let own = names[side].keys();
            own.filter(|key| key.len() == 1 && !other.contains_key(*key))
                .map(|key| key.join(":"))
                .collect()
        });
        Ok(Self {
            effects,
            predictions: [
                prediction(first, second, scale),
                prediction(second, first, scale),
            ],
            only,
            other_bases,
        })
    }
}

/// Returns the factors whose base levels differ.
fn other_bases([one, other]: [&StudyData; 2]) -> Vec<String> {
    let differs = |own: &&StudyFactor| {
        let mut others = other.factors.iter();
        let same = others.find(|it| it.name == own.name);
        same.is_some_and(|it| it.levels.first() != own.levels.first())
    };
    let names = one.factors.iter().filter(differs);
    names.map(|own| own.name.clone()).collect()
}

/// The effects of a side by the names of their treatments, with their places.
type NamedEffects<'a> = BTreeMap<Vec<&'a str>, (usize, (&'a AverageEffect, Coefficient))>;

fn known<'a>(
    data: &'a StudyData,
    found: &'a AverageEffects,
    without: &[String],
) -> NamedEffects<'a> {
    let name = |treatment: usize| {
        let own = &data.treatments[treatment];
        let is_kept = !without.contains(&data.factors[own.factor].name);
        is_kept.then_some(own.name.as_str())
    };
    let named = found.effects.iter().enumerate().filter_map(|(at, own)| {
        let mut key = match own.term {
            AverageTerm::One(treatment) => vec![name(treatment)?],
            AverageTerm::Pair(one, other) => vec![name(one)?, name(other)?],
        };
        // The other side may have its factors in another order.
        key.sort_unstable();
        Some((key, (at, (own, own.coefficient?))))
    });
    named.collect()
}

fn judge(effects: &mut [CarriedEffect], sides: [&StudyData; 2], scale: StudyScale) {
    let p_value = |effect: &CarriedEffect| PValue::new(effect.difference?.p_value).ok();
    let p_values: Vec<Option<PValue>> = effects.iter().map(p_value).collect();
    for (effect, adjusted) in effects.iter_mut().zip(adjusted_p_values(&p_values)) {
        effect.adjusted_p_value = adjusted.map(PValue::value);
    }
    let limits = sides.map(|data| data.share_of_cost(scale, NEGLIGIBLE));
    for effect in effects {
        effect.verdict = verdict(effect, limits);
    }
}

fn verdict(own: &CarriedEffect, limits: [f64; 2]) -> CarriedVerdict {
    let [one, other] = own.sides;
    let differs = own.adjusted_p_value.is_some_and(|p| p <= FALSE_DISCOVERIES);
    let is_negligible = |side: usize| {
        let interval = own.sides[side].interval;
        interval.is_some_and(|it| -limits[side] <= it.lower && it.upper <= limits[side])
    };
    match (one.is_sure && other.is_sure, differs) {
        (true, true) if one.effect * other.effect < 0.0 => CarriedVerdict::Reverses,
        (_, true) => CarriedVerdict::Differs,
        (true, false) if one.effect * other.effect > 0.0 => CarriedVerdict::CarriesOver,
        (_, false) if is_negligible(0) && is_negligible(1) => CarriedVerdict::Negligible,
        (_, false) => CarriedVerdict::Undetermined,
    }
}

/// Returns how well the model of one study predicts the settings of another.
fn prediction(from: &StudyData, to: &StudyData, scale: StudyScale) -> Option<CarriedPrediction> {
    let options = FitOptions {
        model: ModelChoice::usual(from),
        scale,
        ..FitOptions::default()
    };
    let fit = StudyFit::new(from, options).ok()?;
    let measured: Vec<(Vec<usize>, f64)> = (to.set_means(scale).into_iter())
        .filter_map(|(set, value)| Some((levels_in(from, to, set)?, value)))
        .collect();
    let settings: Vec<Vec<usize>> = measured.iter().map(|(levels, _)| levels.clone()).collect();
    let predicted = fit.predict(from, &settings).ok()?;
    let pairs: Vec<(f64, f64)> = (predicted.iter().zip(&measured))
        .filter(|(own, _)| own.is_estimable)
        .map(|(own, (_, value))| (own.mean, *value))
        .collect();
    if pairs.len() < 3 {
        return None;
    }
    let (predicted, real): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let [centre, expected] = [mean(&real)?, mean(&predicted)?];
    let shift = centre - expected;
    let squares = |around: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
        pairs.iter().map(|pair| around(pair).powi(2)).sum()
    };
    let total = squares(&|(_, real)| real - centre);
    let sign = to.metric.sign(scale);
    let (_, chosen) =
        (pairs.iter()).min_by(|(one, _), (other, _)| (sign * one).total_cmp(&(sign * other)))?;
    let best = real.iter().map(|value| sign * value);
    let best = best.fold(f64::INFINITY, f64::min);
    Some(CarriedPrediction {
        settings: pairs.len(),
        rank_correlation: rank_correlation(&predicted, &real),
        r_squared: (total > 0.0)
            .then(|| 1.0 - squares(&|(predicted, real)| real - predicted - shift) / total),
        regret: sign * chosen - best,
    })
}

/// Returns the levels that a setting of one study has in another; `None` if that has not measured one of them.
fn levels_in(study: &StudyData, other: &StudyData, set: u128) -> Option<Vec<usize>> {
    let levels = other.levels_of(set);
    let mut found = vec![0; study.factors.len()];
    for (factor, level) in other.factors.iter().zip(levels) {
        match study.factors.iter().position(|own| own.name == factor.name) {
            Some(at) => found[at] = study.factors[at].position(&factor.levels[level])?,
            None if level == 0 => {}
            None => return None,
        }
    }
    Some(found)
}

/// Returns the number of effects of a kind with each verdict that occurs.
pub fn verdict_counts(effects: &[CarriedEffect], is_pair: bool) -> Vec<(CarriedVerdict, usize)> {
    let counts = CarriedVerdict::ALL.into_iter().map(|verdict| {
        let is_own =
            |effect: &&CarriedEffect| effect.is_pair == is_pair && effect.verdict == verdict;
        (verdict, effects.iter().filter(is_own).count())
    });
    counts.filter(|(_, count)| *count > 0).collect()
}
