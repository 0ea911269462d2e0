//! The findings of a study in sentences: `lapwing study findings`.

use lapwing_study::StudyData;
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::StudyFields;
use super::finding_row::StudyFindingRow;
use super::{StudyAnswer, StudyAnswerError};
use crate::study::{StudyMetricText, StudyOverview, finding_title, study_finding_text};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Table};

/// The findings.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyFindingsFields<'d> {
    /// Number of treatments.
    treatments: usize,
    /// Number of treatments with an effect.
    with_effect: usize,
    /// Number of pairs of treatments that interact.
    interacting_pairs: usize,
    /// Mean of the base in the unit, if it was measured.
    base: Option<f64>,
    /// Mean of the best measured setting in the unit.
    best: Option<f64>,
    /// The best measured setting.
    best_setting: String,
    findings: Vec<StudyFindingRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, StudyFindingsFields<'_>>>("study-findings")
        .listing("findings");

impl<'d> StudyAnswer<'d> {
    /// Returns the findings, without charts.
    pub fn findings(
        data: &'d StudyData,
        overview: &StudyOverview,
    ) -> Result<Self, StudyAnswerError> {
        let scale = overview.scale;
        let mut table = Table::new(&[("about", Left), ("size", Right), ("finding", Left)]);
        for finding in &overview.findings {
            let size = finding.size();
            table.row(vec![
                finding_title(finding.kind()).to_owned(),
                size.map_or_else(String::new, |size| data.metric.change_text(scale, size)),
                study_finding_text(finding, data, scale),
            ]);
        }
        let findings = overview.findings.iter();
        let rows = || {
            findings
                .clone()
                .map(|it| StudyFindingRow::new(data, scale, it))
        };
        let fields = StudyFindingsFields {
            treatments: data.treatments.len(),
            with_effect: overview.with_effect,
            interacting_pairs: overview.interacting_pairs,
            base: overview.base,
            best: overview.best,
            best_setting: data.set_text(data.best_set()),
            findings: rows().collect(),
        };
        Ok(Self {
            headline: overview.headline.clone(),
            table,
            sections: overview.sections(data),
            ..Self::of_view(&KIND, data, scale, &rows().collect::<Vec<_>>(), fields)?
        })
    }
}
