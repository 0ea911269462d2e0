//! Effects that depend on how slow the setting is without them.

use lapwing_stats::linear_model::{ModelTerm, holm_threshold};
use lapwing_stats::{Confidence, Interval, as_f64, quantile};

use super::model::{ExplainedModel, LevelColumn};
use super::{ExplainedStudy, FALSE_FINDINGS, StudyContrast};
use crate::data::StudyData;
use crate::fit::StudyFitError;

/// The value has to explain so much of what the pairs with a treatment explain.
const EXPLAINED: f64 = 0.8;
/// The model with it has to be better by this much (the criterion is −2 ln of a probability).
const CLEARLY: f64 = 6.0;
/// The effect depends on the value that other factors make at least so much as on that of the strongest two.
const SHARED: f64 = 0.5;
/// The part of the settings that is below the low value, and above the high one.
const TAIL: f64 = 0.1;

/// A treatment whose effect depends on the value of the setting without it.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEffect {
    /// The number of the treatment.
    pub treatment: usize,
    /// A low value, and the effect there: one setting in ten is below.
    pub low: (f64, StudyContrast),
    /// A high value, and the effect there: one setting in ten is above.
    pub high: (f64, StudyContrast),
    /// The value at which the effect changes its sign, if it is proven to help on one side and to hurt on the other.
    pub crossing: Option<(f64, Interval)>,
}

/// Replaces the pairs of treatments whose effects depend on the value of the setting, and returns those.
pub(super) fn effects(
    data: &StudyData,
    model: &mut ExplainedModel,
) -> Result<Vec<usize>, StudyFitError> {
    let mut treatments = Vec::new();
    loop {
        let mut best: Option<(usize, ExplainedModel)> = None;
        for (treatment, own) in data.treatments.iter().enumerate() {
            if data.factors[own.factor].levels.len() != 2 || treatments.contains(&treatment) {
                continue;
            }
            let Some(found) = with_level(data, model, treatment)? else {
                continue;
            };
            let is_better = best
                .as_ref()
                .is_none_or(|(_, other)| found.criterion() < other.criterion());
            if is_better {
                best = Some((treatment, found));
            }
        }
        match best {
            Some((treatment, found)) => {
                treatments.push(treatment);
                *model = found;
            }
            None => return Ok(treatments),
        }
    }
}

/// Returns the model in which the effect of a treatment depends on the value without it, if that is better than its
/// pairs.
///
/// The value comes from the two factors on which the effect depends most, and from all others. An effect that depends on
/// the value does so wherever it comes from; else those two factors are what matters.
fn with_level(
    data: &StudyData,
    model: &ExplainedModel,
    treatment: usize,
) -> Result<Option<ExplainedModel>, StudyFitError> {
    let own = &data.treatments[treatment];
    let partners = partners(model, own.factor);
    if partners.len() < 2 {
        return Ok(None);
    }
    let mut request = model.request();
    request.terms.retain(|term| !is_pair_with(term, own.factor));
    request
        .triples
        .retain(|triple| !triple.contains(&own.factor));
    let without = model.with(data, request.clone())?;
    let column = |source: &ExplainedModel, only: Option<Vec<usize>>, centre: f64| LevelColumn {
        factor: own.factor,
        level: own.level,
        centre,
        only,
        terms: source.terms.clone(),
        triples: source.triples.clone(),
        coefficients: source.coefficients.clone(),
    };
    let strongest = strongest(data, model, own.factor, partners);
    let mut split = request.clone();
    split.levels.push(column(model, None, 0.0));
    split.levels.push(column(model, Some(strongest), 0.0));
    let split = model.with(data, split)?;
    // Beside the value, the part of the two is what the others do not share.
    let places = split.coefficients.len();
    let [rest, more] = [places - 2, places - 1].map(|at| split.coefficients[at]);
    let mut unit = vec![0.0; places];
    unit[places - 2] = 1.0;
    let limit = holm_threshold(FALSE_FINDINGS, model.candidates, model.found.len());
    let is_sure = split
        .contrast(&unit)
        .and_then(|it| it.p_value)
        .is_some_and(|p| p <= limit);
    if !is_sure || rest * (rest + more) <= 0.0 || rest.abs() < SHARED * (rest + more).abs() {
        return Ok(None);
    }
    // The other effects are estimated better where this one is right.
    let mut found = None;
    for _ in 0..3 {
        let source = found.as_ref().unwrap_or(model);
        let values = source.values_without(data, own.factor);
        let centre = values.iter().sum::<f64>() / as_f64(values.len());
        let mut next = request.clone();
        next.levels.push(column(source, None, centre));
        found = Some(model.with(data, next)?);
    }
    let squares = |model: &ExplainedModel| model.fit.residual_sum_of_squares;
    Ok(found.filter(|found| {
        let share = (squares(&without) - squares(found)) / (squares(&without) - squares(model));
        share >= EXPLAINED && found.criterion() < model.criterion() - CLEARLY
    }))
}

fn is_pair_with(term: &ModelTerm, factor: usize) -> bool {
    matches!(term, ModelTerm::Pair(one, other) if [*one, *other].contains(&factor))
}

/// Returns the factors with which one has pairs.
fn partners(model: &ExplainedModel, factor: usize) -> Vec<usize> {
    let partner = |term: &ModelTerm| match *term {
        ModelTerm::Pair(one, other) if one == factor => Some(other),
        ModelTerm::Pair(one, other) if other == factor => Some(one),
        ModelTerm::Pair(..) | ModelTerm::Intercept | ModelTerm::Main(_) | ModelTerm::Square(_) => {
            None
        }
    };
    model.terms.iter().filter_map(partner).collect()
}

/// Returns the two factors on which the effect of one depends most.
fn strongest(
    data: &StudyData,
    model: &ExplainedModel,
    factor: usize,
    mut partners: Vec<usize>,
) -> Vec<usize> {
    let size = |other: usize| {
        let effect = |level: usize| {
            let to = model.row(data, &[(factor, 1), (other, level)]);
            let from = model.row(data, &[(factor, 0), (other, level)]);
            let changes = to.iter().zip(from).zip(&model.coefficients);
            changes
                .map(|((to, from), own)| (to - from) * own)
                .sum::<f64>()
        };
        let levels = 1..data.factors[other].levels.len();
        levels
            .map(|level| (effect(level) - effect(0)).abs())
            .fold(0.0, f64::max)
    };
    partners.sort_by(|one, other| size(*other).total_cmp(&size(*one)));
    partners.truncate(2);
    partners
}

impl ExplainedStudy<'_> {
    /// Returns how the effect of a treatment depends on the value without it.
    pub(crate) fn level_effect(&self, treatment: usize) -> Option<LevelEffect> {
        let own = &self.data.treatments[treatment];
        let at = self
            .model
            .levels
            .iter()
            .position(|it| it.factor == own.factor)?;
        let column = &self.model.levels[at];
        let place = self.model.coefficients.len() - self.model.levels.len() + at;
        let mut middle =
            self.model
                .difference(self.data, &[(own.factor, own.level)], &[(own.factor, 0)]);
        middle[place] = 0.0;
        let effect = |value: f64| {
            let mut weights = middle.clone();
            weights[place] = value - column.centre;
            self.contrast(&weights)
        };
        let values = self.model.values_without(self.data, own.factor);
        let [low, high] = [TAIL, 1.0 - TAIL].map(|share| quantile(&values, share));
        let (low, high) = ((low?, effect(low?)?), (high?, effect(high?)?));
        let is_proven = self.is_sure(&low.1)
            && self.is_sure(&high.1)
            && low.1.change.signum() != high.1.change.signum();
        Some(LevelEffect {
            treatment,
            low,
            high,
            crossing: is_proven
                .then(|| self.crossing(&middle, place, column.centre))
                .flatten(),
        })
    }

    /// Returns where the effect is 0, with Fieller's interval.
    fn crossing(&self, middle: &[f64], place: usize, centre: f64) -> Option<(f64, Interval)> {
        let contrast = |weights: &[f64]| self.model.contrast(weights);
        let mut slope = vec![0.0; middle.len()];
        slope[place] = 1.0;
        let mut both = middle.to_vec();
        both[place] = 1.0;
        let (a, b, sum) = (contrast(middle)?, contrast(&slope)?, contrast(&both)?);
        let [va, vb, vs] = [a, b, sum].map(|it| it.standard_error.powi(2));
        let covariance = 0.5 * (vs - va - vb);
        let quantile = Confidence::P95.t_quantile(self.model.freedom())?;
        let squared = quantile * quantile;
        // (a + b z)² ≤ t² (va + 2 cov z + vb z²): a quadratic in z.
        let leading = b.estimate.powi(2) - squared * vb;
        let half = a.estimate * b.estimate - squared * covariance;
        let constant = a.estimate.powi(2) - squared * va;
        let root = (half * half - leading * constant).sqrt();
        (leading > 0.0 && root.is_finite()).then(|| {
            let interval = Interval {
                lower: centre + (-half - root) / leading,
                upper: centre + (-half + root) / leading,
            };
            (centre - a.estimate / b.estimate, interval)
        })
    }
}
