//! Measured settings that differ by one treatment, as views of a study show them.

use lapwing_stats::deltas::{Delta, DeltaPairing, MeasuredSets};
use lapwing_stats::mean;

use crate::data::{StudyData, StudyError};
use crate::explained::{ConditionalEffect, ExplainedStudy, LevelEffect, StudyContrast};
use crate::scale::StudyScale;

/// Reason why a study has no such view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StudyViewError {
    /// No value is on the scale, such as one below zero on that of logarithms.
    #[error("no value has a {scale} scale")]
    NotOnScale {
        /// The name of the scale.
        scale: &'static str,
    },
    /// Values are infinite.
    #[error("values are not finite")]
    NotFinite,
    /// Nothing can be compared.
    #[error("no two settings differ by one treatment alone")]
    NoDeltas,
    /// No factor has a curve.
    #[error("no factor is numeric with three levels or more")]
    NoCurves,
    /// No model explains the values.
    #[error("no model explains these values: {reason}")]
    NoModel {
        /// Why.
        reason: String,
    },
    /// A path would have no step.
    #[error("start and end are the same setting")]
    SameEnds,
    /// A path has no first step.
    #[error("no step from {from} has a value")]
    NoStep {
        /// The setting where it starts.
        from: String,
    },
    /// Too few sequences for principal components.
    #[error("no two sequences of measured settings start at {from}")]
    NoSequences {
        /// The setting where they start.
        from: String,
    },
    /// The question does not fit the data.
    #[error(transparent)]
    Study(#[from] StudyError),
}

/// Returns the measured sets of treatments on a scale.
///
/// # Errors
/// When no value is on the scale, or one is infinite.
pub fn measured_sets(data: &StudyData, scale: StudyScale) -> Result<MeasuredSets, StudyViewError> {
    let sets = data.sets(scale);
    if sets.is_empty() {
        let scale = scale.name();
        return Err(StudyViewError::NotOnScale { scale });
    }
    MeasuredSets::new(&sets).ok_or(StudyViewError::NotFinite)
}

/// The effect of a treatment by the presence of others.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatmentScatter {
    /// The treatment.
    pub treatment: usize,
    /// The other treatment whose presence distinguishes the settings, if any changes the effect.
    pub by: Option<usize>,
    /// The scale of the model.
    pub scale: StudyScale,
    /// Its effect by the model, averaged over all combinations, if it has any.
    pub average: Option<StudyContrast>,
    /// How others change its effect by the model, the largest difference first.
    pub modifiers: Vec<ConditionalEffect>,
    /// How its effect depends on the value without it, if it does.
    pub level: Option<LevelEffect>,
    /// The deltas of all treatments on the natural scale, or that which was asked for.
    pub deltas: Vec<Delta>,
}

impl TreatmentScatter {
    /// Returns the effect of a treatment by the model that explains the study ([`ExplainedStudy`]), on a scale or the one
    /// that fits better: by default the treatment whose effect depends most on another, by its strongest modifier.
    ///
    /// # Errors
    /// When a name is unknown, no settings differ by the treatment alone, or the study has no model.
    pub fn new(
        data: &StudyData,
        scale: Option<StudyScale>,
        treatment: Option<&str>,
        by: Option<&str>,
    ) -> Result<Self, StudyViewError> {
        let natural = scale.unwrap_or(StudyScale::Time);
        let deltas = measured_sets(data, natural)?.deltas(DeltaPairing::Means);
        let has_deltas = |treatment: usize| deltas.iter().any(|own| own.factor == treatment);
        let study = ExplainedStudy::new(data, scale);
        let study = study.map_err(|error| StudyViewError::NoModel {
            reason: error.to_string(),
        })?;
        let dependence = |treatment: usize| {
            let strongest = study
                .modifiers(treatment)
                .first()
                .map(ConditionalEffect::difference);
            let average = study.average(treatment).map(|own| own.change);
            [strongest, average].map(|size| size.unwrap_or(0.0).abs())
        };
        let treatment = match treatment {
            Some(name) => data.treatment(name)?,
            None => (0..data.treatments.len())
                .filter(|at| has_deltas(*at))
                .max_by(|one, other| {
                    let [one, other] = [one, other].map(|at| dependence(*at));
                    one[0]
                        .total_cmp(&other[0])
                        .then(one[1].total_cmp(&other[1]))
                })
                .ok_or(StudyViewError::NoDeltas)?,
        };
        if !has_deltas(treatment) {
            return Err(StudyViewError::NoDeltas);
        }
        let modifiers = study.modifiers(treatment);
        let by = match by {
            Some(name) => Some(data.treatment(name)?),
            None => modifiers.first().map(|own| own.other),
        };
        Ok(Self {
            treatment,
            by,
            scale: study.scale,
            average: study.average(treatment),
            level: study.by_level(treatment),
            modifiers,
            deltas,
        })
    }

    /// Returns the deltas of the treatment.
    pub fn own_deltas(&self) -> Vec<Delta> {
        let deltas = self.deltas.iter().copied();
        deltas
            .filter(|delta| delta.factor == self.treatment)
            .collect()
    }
}

/// The ratios after / before of a treatment, as logarithms to base 2.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatmentRatios {
    /// The treatment.
    pub treatment: usize,
    /// The number of deltas.
    pub deltas: usize,
    /// The number of those that are better.
    pub better: usize,
    /// The mean.
    pub mean: f64,
    /// The mean of the lower half, by the level of the two values that are compared.
    pub lower_half: Option<f64>,
    /// The mean of the upper half.
    pub upper_half: Option<f64>,
}

/// Returns the deltas whose values are above zero, and the ratios of each treatment, the largest decrease first.
///
/// # Errors
/// When there are no such deltas.
pub fn treatment_ratios(
    data: &StudyData,
) -> Result<(Vec<Delta>, Vec<TreatmentRatios>), StudyViewError> {
    let mut deltas = measured_sets(data, StudyScale::Time)?.deltas(DeltaPairing::Means);
    deltas.retain(|delta| delta.before > 0.0 && delta.after > 0.0);
    if deltas.is_empty() {
        return Err(StudyViewError::NoDeltas);
    }
    let ratios_of = |treatment: usize| {
        let of_treatment = deltas.iter().filter(|delta| delta.factor == treatment);
        let mut levels: Vec<(f64, f64)> = of_treatment
            .map(|delta| {
                let level = 0.5 * (delta.before + delta.after);
                (level, (delta.after / delta.before).log2())
            })
            .collect();
        levels.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let logs: Vec<f64> = levels.into_iter().map(|(_, log)| log).collect();
        let is_better = |log: &&f64| data.metric.is_gain(StudyScale::Time, **log);
        let half = logs.len() / 2;
        Some(TreatmentRatios {
            treatment,
            deltas: logs.len(),
            better: logs.iter().filter(is_better).count(),
            mean: mean(&logs)?,
            lower_half: mean(&logs[..half]),
            upper_half: mean(&logs[logs.len() - half..]),
        })
    };
    let mut ratios: Vec<TreatmentRatios> =
        (0..data.treatments.len()).filter_map(ratios_of).collect();
    ratios.sort_by(|one, other| one.mean.total_cmp(&other.mean));
    Ok((deltas, ratios))
}
