//! Measured settings that differ by one treatment, as views of a study show them.

use lapwing_stats::deltas::{
    Delta, DeltaPairing, EffectModifier, MeasuredSets, effect_modifiers, strongest_modifiers,
};
use lapwing_stats::{Confidence, PValue, mean};

use crate::data::{StudyData, StudyError};
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
    /// The other treatment whose presence distinguishes the settings, if any modifies the effect.
    pub by: Option<usize>,
    /// How others modify its effect, the clearest evidence first.
    pub modifiers: Vec<EffectModifier>,
    /// The deltas of all treatments.
    pub deltas: Vec<Delta>,
}

impl TreatmentScatter {
    /// Returns the effect of a treatment: by default the one whose effect depends most on another, by its strongest
    /// modifier.
    ///
    /// # Errors
    /// When a name is unknown, or no settings differ by the treatment alone.
    pub fn new(
        data: &StudyData,
        scale: StudyScale,
        treatment: Option<&str>,
        by: Option<&str>,
    ) -> Result<Self, StudyViewError> {
        let sets = measured_sets(data, scale)?;
        let deltas = sets.deltas(DeltaPairing::Means);
        let mut modifiers = effect_modifiers(&sets, Confidence::P95);
        let strongest = strongest_modifiers(&modifiers);
        let treatment = match treatment {
            Some(name) => data.treatment(name)?,
            None => strongest
                .iter()
                .max_by(|one, other| {
                    let size = |modifier: &EffectModifier| modifier.difference().abs();
                    size(one).total_cmp(&size(other))
                })
                .map_or(0, |modifier| modifier.factor),
        };
        if !deltas.iter().any(|delta| delta.factor == treatment) {
            return Err(StudyViewError::NoDeltas);
        }
        let by = match by {
            Some(name) => Some(data.treatment(name)?),
            None => strongest
                .iter()
                .find(|modifier| modifier.factor == treatment)
                .map(|modifier| modifier.other),
        };
        modifiers.retain(|modifier| modifier.factor == treatment);
        let evidence = |modifier: &EffectModifier| modifier.p_value.map_or(2.0, PValue::value);
        modifiers.sort_by(|one, other| {
            let sizes = other.difference().abs().total_cmp(&one.difference().abs());
            evidence(one).total_cmp(&evidence(other)).then(sizes)
        });
        Ok(Self {
            treatment,
            by,
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
