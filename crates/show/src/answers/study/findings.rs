//! The findings of a study in sentences: `lapwing study findings`.

use lapwing_model::text::counted;
use lapwing_study::StudyData;
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::StudyFields;
use super::finding_row::StudyFindingRow;
use super::{StudyAnswer, StudyAnswerError};
use crate::study::{
    MOST_OF_A_KIND, StudyMetricText, StudyOverview, finding_title, study_finding_text,
};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

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
    findings: Vec<StudyFindingRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, StudyFindingsFields<'_>>>("study-findings")
        .listing("findings");

impl<'d> StudyAnswer<'d> {
    /// Returns the findings, the strongest of each kind or all in the text, without charts.
    pub fn findings(
        data: &'d StudyData,
        overview: &StudyOverview,
        has_all: bool,
    ) -> Result<Self, StudyAnswerError> {
        let scale = overview.scale;
        let mut table = Table::new(&[("about", Left), ("size", Right), ("finding", Left)]);
        for finding in overview.shown(has_all) {
            let size = finding.size();
            table.row(vec![
                finding_title(finding.kind()).to_owned(),
                size.map_or_else(String::new, |size| data.metric.change_text(scale, size)),
                study_finding_text(finding, data, scale),
            ]);
        }
        let hidden = overview.findings.len() - overview.shown(has_all).len();
        let notes = (hidden > 0).then(|| {
            let text = format!(
                "{} beyond the {MOST_OF_A_KIND} strongest of a kind not shown; `--full` shows them",
                counted(hidden, "finding")
            );
            Note::new("hidden_findings", text).with("hidden", hidden)
        });
        let notes = notes.into_iter().collect();
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
            findings: rows().collect(),
        };
        Ok(Self {
            headline: overview.headline.clone(),
            table,
            sections: overview.sections(data, has_all),
            notes,
            ..Self::of_view(&KIND, data, scale, &rows().collect::<Vec<_>>(), fields)?
        })
    }
}
