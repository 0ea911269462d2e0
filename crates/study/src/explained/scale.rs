//! The scale on which a study is simplest.

use lapwing_stats::linear_model::ModelTerm;

use super::model::{ExplainedModel, ModelRequest};
use crate::data::StudyData;
use crate::fit::StudyFitError;
use crate::scale::StudyScale;

/// Scales whose criteria differ by less explain a study equally well.
const CLEARLY: f64 = 6.0;

/// Returns the scale that fits better, with the model there.
///
/// The criterion is n ln(RSS) + k ln n, for logarithms with 2 Σ ln y, so that both are of the same values (Box & Cox,
/// *JRSS B* 1964). Where both do, a pair counts only if it is in both models: a sum of effects is a product of none.
pub(crate) fn usual_scale(data: &StudyData) -> Result<(StudyScale, ExplainedModel), StudyFitError> {
    let natural = ExplainedModel::new(data, StudyScale::Time);
    if data.instances.iter().any(|own| own.cost <= 0.0) {
        return Ok((StudyScale::Time, natural?));
    }
    let logs = ExplainedModel::new(data, StudyScale::Log)?;
    let Ok(natural) = natural else {
        return Ok((StudyScale::Log, logs));
    };
    let shift: f64 = data.instances.iter().map(|own| own.cost.ln()).sum();
    let lead = natural.criterion() - (logs.criterion() + 2.0 * shift);
    if lead <= -CLEARLY {
        return Ok((StudyScale::Time, natural));
    }
    if lead >= CLEARLY {
        return Ok((StudyScale::Log, logs));
    }
    let is_in_both =
        |term: &ModelTerm| !matches!(term, ModelTerm::Pair(..)) || natural.terms.contains(term);
    let mut terms = logs.terms.clone();
    terms.retain(is_in_both);
    let logs = if terms.len() < logs.terms.len() {
        logs.with(
            data,
            ModelRequest {
                terms,
                ..ModelRequest::default()
            },
        )?
    } else {
        logs
    };
    Ok((StudyScale::Log, logs))
}
