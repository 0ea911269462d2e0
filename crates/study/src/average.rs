//! Effects of treatments, averaged over all combinations of the others.

use lapwing_stats::linear_model::{
    Coefficient, FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm,
};
use lapwing_stats::{Confidence, Interval, PValue, adjusted_p_values, as_f64};

use crate::data::{StudyData, StudyInstance};
use crate::fit::{StudyFitError, has_room_for_pairs, responses};
use crate::scale::StudyScale;

/// The term of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AverageTerm {
    /// A treatment.
    One(usize),
    /// Two treatments of different factors: what both change beyond the sum.
    Pair(usize, usize),
}

/// The effect of a treatment, or of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AverageEffect {
    /// What it is of.
    pub term: AverageTerm,
    /// The effect; `None` if the runs cannot tell it from others.
    pub coefficient: Option<Coefficient>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The p-value adjusted for all effects (Benjamini–Hochberg).
    pub adjusted_p_value: Option<f64>,
}

impl AverageEffect {
    /// Returns whether it differs from zero, among all effects of its study.
    pub fn is_sure(&self) -> bool {
        self.adjusted_p_value.is_some_and(|p| p <= 0.05)
    }
}

/// The effects of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct AverageEffects {
    /// Those of all treatments, then those of pairs.
    pub effects: Vec<AverageEffect>,
    /// Whether the model has pairs.
    pub has_pairs: bool,
    /// The residual degrees of freedom.
    pub freedom: f64,
}

impl AverageEffects {
    /// Estimates the effects from instances of a study.
    ///
    /// The model has all pairs if there are twice as many instances as columns, else the treatments alone. The effect
    /// of a treatment is its coefficient plus that of its pair with each other treatment, over the number of levels
    /// of that one's factor: the mean of its effects over all combinations of the others, each counted once.
    ///
    /// # Errors
    /// When there is no instance, or one has no value on the scale.
    pub fn new(
        data: &StudyData,
        instances: &[StudyInstance],
        scale: StudyScale,
        confidence: Confidence,
    ) -> Result<Self, StudyFitError> {
        let factors = data.factors.len();
        let has_pairs = has_room_for_pairs(varied(data, instances).len(), instances.len());
        let terms = if has_pairs {
            ModelTerm::all_pairs(factors)
        } else {
            ModelTerm::main_effects(factors)
        };
        let values = data.factors.iter().enumerate().map(|(at, factor)| {
            let levels = instances.iter().map(|own| own.levels[at]);
            match factor.levels.len() {
                0..=2 => FactorValues::Treatment(levels.map(|level| level == 1).collect()),
                count => FactorValues::Levels {
                    levels: levels.collect(),
                    count,
                },
            }
        });
        let matrix = ModelMatrix::new(&values.collect::<Vec<_>>(), &terms)?;
        let responses = responses(instances, scale)?;
        let fit = LinearFit::new(&matrix, &responses, LeastSquares::default())?;
        let mut effects = effects(data, &matrix, &fit, confidence);
        let p_value = |effect: &AverageEffect| PValue::new(effect.coefficient?.p_value?).ok();
        let p_values: Vec<Option<PValue>> = effects.iter().map(p_value).collect();
        for (effect, adjusted) in effects.iter_mut().zip(adjusted_p_values(&p_values)) {
            effect.adjusted_p_value = adjusted.map(PValue::value);
        }
        Ok(Self {
            effects,
            has_pairs,
            freedom: as_f64(fit.residual_freedom()),
        })
    }

    /// Returns the effects of the treatments, by number.
    pub fn of_treatments(&self) -> impl Iterator<Item = &AverageEffect> {
        let is_treatment = |own: &&AverageEffect| matches!(own.term, AverageTerm::One(_));
        self.effects.iter().filter(is_treatment)
    }
}

/// Returns the treatments that some instances have and others do not.
pub(crate) fn varied(data: &StudyData, instances: &[StudyInstance]) -> Vec<usize> {
    let has = |own: &StudyInstance, treatment: usize| own.set >> treatment & 1 == 1;
    (0..data.treatments.len())
        .filter(|at| instances.iter().any(|own| has(own, *at)))
        .filter(|at| !instances.iter().all(|own| has(own, *at)))
        .collect()
}

fn effects(
    data: &StudyData,
    matrix: &ModelMatrix,
    fit: &LinearFit,
    confidence: Confidence,
) -> Vec<AverageEffect> {
    let treatment = |factor: usize, level: usize| {
        let mut all = data.treatments.iter();
        all.position(|own| own.factor == factor && own.level == level.max(1))
    };
    let terms: Vec<Option<AverageTerm>> = (matrix.meanings().iter())
        .map(|meaning| {
            let [first, second] = meaning.levels;
            match meaning.term {
                ModelTerm::Main(factor) => Some(AverageTerm::One(treatment(factor, first)?)),
                ModelTerm::Pair(one, other) => Some(AverageTerm::Pair(
                    treatment(one, first)?,
                    treatment(other, second)?,
                )),
                ModelTerm::Intercept | ModelTerm::Square(_) => None,
            }
        })
        .collect();
    let is_kept = |column: usize| fit.kept().binary_search(&column).is_ok();
    let share = |other: usize| {
        let factor = &data.factors[data.treatments[other].factor];
        1.0 / as_f64(factor.levels.len())
    };
    let freedom = as_f64(fit.residual_freedom());
    let mut found: Vec<AverageEffect> = Vec::new();
    for (column, term) in terms.iter().enumerate() {
        let Some(term) = *term else { continue };
        let mut weights = vec![0.0; matrix.columns()];
        weights[column] = 1.0;
        if let AverageTerm::One(own) = term {
            for (at, other) in terms.iter().enumerate().filter(|(at, _)| is_kept(*at)) {
                match other {
                    Some(AverageTerm::Pair(one, other)) if *one == own => {
                        weights[at] = share(*other);
                    }
                    Some(AverageTerm::Pair(one, other)) if *other == own => {
                        weights[at] = share(*one);
                    }
                    Some(AverageTerm::One(_) | AverageTerm::Pair(..)) | None => {}
                }
            }
        }
        let coefficient = fit.contrast(&weights);
        found.push(AverageEffect {
            term,
            interval: coefficient.and_then(|own| own.interval(freedom, confidence)),
            coefficient,
            adjusted_p_value: None,
        });
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::factor::{StudyFactor, Treatment};
    use crate::scale::StudyMetric;
    use lapwing_model::{Level, Metric};

    /// A study of treatments with a cost for each set, `replicates` times.
    pub(crate) fn study(
        treatments: usize,
        replicates: usize,
        cost: impl Fn(u128, usize) -> f64,
    ) -> StudyData {
        let factors: Vec<StudyFactor> = (0..treatments)
            .map(|at| StudyFactor::new(format!("f{at}"), vec![Level::Bool(true)]))
            .collect();
        let mut instances = Vec::new();
        for replicate in 0..replicates {
            for set in 0..1_u128 << treatments {
                instances.push(StudyInstance {
                    set,
                    levels: (0..treatments)
                        .map(|at| usize::from(set >> at & 1 == 1))
                        .collect(),
                    cost: cost(set, replicate),
                    iterations: 1,
                    time: as_f64(instances.len()),
                    session: 0,
                });
            }
        }
        StudyData {
            suite: "s".to_owned(),
            benchmark: "b".to_owned(),
            metric: StudyMetric::new("wall_time", &Metric::lower("s")),
            treatments: (0..treatments)
                .map(|factor| Treatment {
                    factor,
                    level: 1,
                    name: format!("f{factor}"),
                })
                .collect(),
            factors,
            instances,
            failed: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_average_effect_is_the_mean_over_all_combinations_with_and_without_pairs() {
        // −5 alone, −1 with the second one: −3 on average.
        let cost = |set: u128, replicate: usize| {
            let noise = 0.01 * as_f64((replicate * 7 + usize::try_from(set).unwrap() * 3) % 5);
            let [one, two] = [0, 1].map(|at| set >> at & 1 == 1);
            20.0 + noise - if one { 5.0 } else { 0.0 } - if two { 4.0 } else { 0.0 }
                + if one && two { 4.0 } else { 0.0 }
        };
        for replicates in [1, 8] {
            let data = study(3, replicates, cost);
            let found =
                AverageEffects::new(&data, &data.instances, StudyScale::Time, Confidence::P95)
                    .unwrap();
            assert_eq!(found.has_pairs, replicates == 8);
            let estimates: Vec<f64> = (found.of_treatments())
                .map(|own| own.coefficient.unwrap().estimate)
                .collect();
            for (own, expected) in estimates.iter().zip([-3.0, -2.0, 0.0]) {
                assert!((own - expected).abs() < 0.02, "{estimates:?}");
            }
            let pair = found
                .effects
                .iter()
                .find(|own| own.term == AverageTerm::Pair(0, 1));
            assert_eq!(pair.is_some(), found.has_pairs);
            if let Some(pair) = pair {
                assert!((pair.coefficient.unwrap().estimate - 4.0).abs() < 0.02 && pair.is_sure());
            }
        }
    }
}
