//! All deltas at a glance: `lapwing study effects --show colour`.

use lapwing_model::text::counted;
use lapwing_study::{StudyData, StudyScale, TreatmentRatios, treatment_ratios};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::StudyFields;
use super::{StudyAnswer, StudyAnswerError, or_dash};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// How often each treatment helps.
#[derive(Debug, Serialize, JsonSchema)]
struct ColourFields<'d> {
    /// Number of treatments.
    treatments: usize,
    /// Number of treatments with the same sign in every pair of settings.
    same_sign: usize,
    colours: Vec<ColourRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, ColourFields<'_>>>("study-colour").listing("colours");

/// How often a treatment helps, and by how much.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct ColourRow<'d> {
    treatment: &'d str,
    deltas: usize,
    better: usize,
    mean_log2_ratio: f64,
    /// The mean change as a share.
    share: f64,
    fast_half_log2_ratio: Option<f64>,
    fast_half_share: Option<f64>,
    slow_half_log2_ratio: Option<f64>,
    slow_half_share: Option<f64>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns a row per treatment.
    pub fn colour(data: &'d StudyData, scale: StudyScale) -> Result<Self, StudyAnswerError> {
        let (deltas, ratios) = treatment_ratios(data)?;
        let text = |log: f64| {
            data.metric
                .change_text(StudyScale::Log, log * std::f64::consts::LN_2)
        };
        let share = |log: f64| log.exp2() - 1.0;
        let mut table = Table::new(&[
            ("treatment", Left),
            ("mean change", Right),
            ("in the lower half", Right),
            ("in the upper half", Right),
            ("better", Right),
        ]);
        let mut rows = Vec::new();
        for of_treatment in &ratios {
            let treatment = &data.treatments[of_treatment.treatment].name;
            table.row(vec![
                treatment.clone(),
                text(of_treatment.mean),
                or_dash(of_treatment.lower_half.map(text)),
                or_dash(of_treatment.upper_half.map(text)),
                format!("{} of {}", of_treatment.better, of_treatment.deltas),
            ]);
            rows.push(ColourRow {
                treatment,
                deltas: of_treatment.deltas,
                better: of_treatment.better,
                mean_log2_ratio: of_treatment.mean,
                share: share(of_treatment.mean),
                fast_half_log2_ratio: of_treatment.lower_half,
                fast_half_share: of_treatment.lower_half.map(share),
                slow_half_log2_ratio: of_treatment.upper_half,
                slow_half_share: of_treatment.upper_half.map(share),
            });
        }
        let is_same = |of: &&TreatmentRatios| of.better == of.deltas || of.better == 0;
        let order: Vec<usize> = ratios.iter().map(|it| it.treatment).collect();
        let fields = ColourFields {
            treatments: ratios.len(),
            same_sign: ratios.iter().filter(is_same).count(),
            colours: rows.clone(),
        };
        let note = "halves: by the level of the two values that are compared";
        Ok(Self {
            headline: format!(
                "{} of {} have the same sign in every pair of settings",
                fields.same_sign,
                counted(ratios.len(), "treatment")
            ),
            table,
            notes: vec![Note::new("halves", note)],
            charts: vec![("colour", chart::colour(data, &deltas, &order))],
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}
