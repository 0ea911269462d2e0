//! A study explained by one fitted model, of which every finding is a contrast.

mod level;
mod model;
mod recommended;
mod scale;

use lapwing_stats::linear_model::{Coefficient, ModelTerm, holm_threshold};
use lapwing_stats::{Confidence, Interval, as_f64};

use crate::data::StudyData;
use crate::fit::StudyFitError;
use crate::scale::StudyScale;

pub use self::level::LevelEffect;
pub(crate) use self::model::ExplainedModel;
pub use self::recommended::Recommendation;
pub(crate) use self::scale::usual_scale;

/// The accepted risk of any false finding in a study.
pub(crate) const FALSE_FINDINGS: f64 = 0.05;

/// A contrast of the model: a difference of two settings, or of averages of settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyContrast {
    /// The change on the scale of the model.
    pub change: f64,
    /// Its interval: of findings, wide enough for their number among all that could have been found.
    pub interval: Option<Interval>,
    /// Its p-value.
    pub p_value: f64,
}

/// The change by one treatment without and with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalEffect {
    /// The treatment.
    pub treatment: usize,
    /// The other.
    pub other: usize,
    /// Its effect without the other.
    pub without: StudyContrast,
    /// Its effect with the other.
    pub with: StudyContrast,
}

/// A study with the model that explains it.
#[derive(Debug)]
pub struct ExplainedStudy<'d> {
    pub(crate) data: &'d StudyData,
    /// The scale of the model.
    pub scale: StudyScale,
    pub(crate) model: ExplainedModel,
    /// The treatments whose effects depend on how slow the setting is.
    pub(crate) levels: Vec<usize>,
    /// The largest change that rounding can make.
    pub(crate) rounding: f64,
}

impl<'d> ExplainedStudy<'d> {
    /// Explains a study on a scale, or on the one that fits better: the logarithm or the time itself.
    ///
    /// # Errors
    /// When an instance has no value on the scale, or there is nothing to explain.
    pub fn new(data: &'d StudyData, scale: Option<StudyScale>) -> Result<Self, StudyFitError> {
        let (scale, mut model) = match scale {
            Some(scale) => (scale, ExplainedModel::new(data, scale)?),
            None => usual_scale(data)?,
        };
        let levels = level::effects(data, &mut model)?;
        Ok(Self {
            rounding: model.rounding(),
            data,
            scale,
            model,
            levels,
        })
    }

    /// Returns the p-value up to which a contrast is a finding.
    pub(crate) fn limit(&self) -> f64 {
        holm_threshold(
            FALSE_FINDINGS,
            self.model.candidates,
            self.model.found.len(),
        )
    }

    /// Returns the confidence of intervals of findings: with so many of all candidates stated, at most 5 % of the
    /// stated intervals are expected to miss (Benjamini & Yekutieli, *JASA* 2005).
    pub(crate) fn confidence(&self) -> Confidence {
        let found = as_f64(self.model.found.len().max(1));
        let all = as_f64(self.model.candidates.max(1));
        let level = 1.0 - FALSE_FINDINGS * (found / all).min(1.0);
        Confidence::new(level).unwrap_or(Confidence::P95)
    }

    pub(crate) fn is_sure(&self, contrast: &StudyContrast) -> bool {
        contrast.p_value <= self.limit()
    }

    /// Returns the effect of a treatment averaged over all combinations of the others, if it is in the model.
    pub fn average(&self, treatment: usize) -> Option<StudyContrast> {
        let own = &self.data.treatments[treatment];
        self.model.has_main(own.factor).then_some(())?;
        let weights =
            self.model
                .difference(self.data, &[(own.factor, own.level)], &[(own.factor, 0)]);
        self.contrast(&weights)
    }

    /// Returns the effect of a treatment without and with another.
    pub(crate) fn conditional(&self, treatment: usize, other: usize) -> Option<ConditionalEffect> {
        let [own, by] = [treatment, other].map(|at| &self.data.treatments[at]);
        let effect = |level: usize| {
            let weights = self.model.difference(
                self.data,
                &[(own.factor, own.level), (by.factor, level)],
                &[(own.factor, 0), (by.factor, level)],
            );
            self.contrast(&weights)
        };
        Some(ConditionalEffect {
            treatment,
            other,
            without: effect(0)?,
            with: effect(by.level)?,
        })
    }

    pub(crate) fn contrast(&self, weights: &[f64]) -> Option<StudyContrast> {
        let coefficient = self.model.contrast(weights)?;
        Some(self.of_coefficient(&coefficient))
    }

    pub(crate) fn of_coefficient(&self, coefficient: &Coefficient) -> StudyContrast {
        self.contrast_with(coefficient, self.confidence())
    }

    /// Returns a contrast with an interval of another level. Changes that rounding explains are none: some metrics are
    /// counts without noise.
    pub(crate) fn contrast_with(
        &self,
        coefficient: &Coefficient,
        confidence: Confidence,
    ) -> StudyContrast {
        let rounding = self.rounding;
        let exact = |value: f64| if value.abs() <= rounding { 0.0 } else { value };
        let change = exact(coefficient.estimate);
        let is_exact = coefficient.standard_error <= rounding && self.model.freedom() >= 1.0;
        let interval = coefficient.interval(self.model.freedom(), confidence);
        StudyContrast {
            change,
            interval: interval.map(|it| it.map(exact)),
            p_value: match coefficient.p_value {
                _ if change == 0.0 => 1.0,
                None if is_exact => 0.0,
                p_value => p_value.unwrap_or(1.0),
            },
        }
    }

    /// Returns the pairs of factors in the model.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        self.model.terms.iter().filter_map(|term| match term {
            ModelTerm::Pair(one, other) => Some([*one, *other]),
            ModelTerm::Intercept | ModelTerm::Main(_) | ModelTerm::Square(_) => None,
        })
    }

    /// Returns the effects of a treatment without and with each other one that changes it, by the model, the largest
    /// difference first.
    pub fn modifiers(&self, treatment: usize) -> Vec<ConditionalEffect> {
        let own = self.data.treatments[treatment].factor;
        let partners = self.pairs().filter(|pair| pair.contains(&own));
        let partners = partners.map(|[one, other]| if one == own { other } else { one });
        let others = partners.flat_map(|factor| {
            let all = self.data.treatments.iter().enumerate();
            all.filter(move |(_, it)| it.factor == factor)
                .map(|(at, _)| at)
        });
        let is_sure = |other: &usize| {
            let found = self.interaction([treatment, *other]);
            found.is_some_and(|(p_value, _)| p_value <= self.limit())
        };
        let mut found: Vec<ConditionalEffect> = others
            .filter(is_sure)
            .filter_map(|other| self.conditional(treatment, other))
            .collect();
        found.sort_by(|one, other| {
            let size = |own: &ConditionalEffect| own.difference().abs();
            size(other).total_cmp(&size(one))
        });
        found
    }

    /// Returns how the effect of a treatment depends on the value without it, if it does.
    pub fn by_level(&self, treatment: usize) -> Option<LevelEffect> {
        let depends = self.levels.contains(&treatment);
        depends.then(|| self.level_effect(treatment)).flatten()
    }
}

impl ConditionalEffect {
    /// Returns by how much the effect with the other differs from that without it.
    pub fn difference(&self) -> f64 {
        self.with.change - self.without.change
    }
}
