//! All deltas at a glance: `lapwing study effects --show colour`.

use lapwing_model::text::counted;
use lapwing_study::{StudyData, StudyScale, TreatmentRatios, treatment_ratios};
use serde::Serialize;
use serde_json::Value;

use super::{StudyAnswer, StudyAnswerError, or_dash};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

#[derive(Default, Serialize)]
struct ColourRow<'d> {
    treatment: &'d str,
    deltas: usize,
    better: usize,
    mean_log2_ratio: f64,
    fast_half_log2_ratio: Option<f64>,
    slow_half_log2_ratio: Option<f64>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns a row per treatment.
    pub fn colour(data: &'d StudyData, scale: StudyScale) -> Result<Self, StudyAnswerError> {
        let (deltas, ratios) = treatment_ratios(data)?;
        let text = |log: f64| {
            data.metric
                .change_text(StudyScale::Log, log * std::f64::consts::LN_2)
        };
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
                fast_half_log2_ratio: of_treatment.lower_half,
                slow_half_log2_ratio: of_treatment.upper_half,
            });
        }
        let is_same = |of: &&TreatmentRatios| of.better == of.deltas || of.better == 0;
        let order: Vec<usize> = ratios.iter().map(|it| it.treatment).collect();
        Ok(Self {
            headline: format!(
                "{} of {} have the same sign in every pair of settings",
                ratios.iter().filter(is_same).count(),
                counted(ratios.len(), "treatment")
            ),
            table,
            notes: vec!["halves: by the level of the two values that are compared".to_owned()],
            charts: vec![("colour", chart::colour(data, &deltas, &order))],
            ..Self::of_rows(data, scale, ("colours", &rows), Value::Null)?
        })
    }
}
