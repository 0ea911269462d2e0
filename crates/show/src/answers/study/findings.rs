//! The findings of a study in sentences: `lapwing study findings`.

use lapwing_study::{StudyData, StudyFinding};
use serde::Serialize;
use serde_json::Value;

use super::{StudyAnswer, StudyAnswerError};
use crate::study::{StudyMetricText, StudyOverview, finding_title, study_finding_text};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

#[derive(Default, Serialize)]
struct StudyFindingRow<'d> {
    kind: &'static str,
    text: String,
    treatments: Vec<&'d str>,
    size: Option<f64>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the findings, without charts.
    pub fn findings(
        data: &'d StudyData,
        overview: &StudyOverview,
    ) -> Result<Self, StudyAnswerError> {
        let scale = overview.scale;
        let mut table = Table::new(&[("about", Left), ("size", Right), ("finding", Left)]);
        let mut rows = Vec::new();
        for finding in &overview.findings {
            let size = finding.size();
            let text = study_finding_text(finding, data, scale);
            table.row(vec![
                finding_title(finding.kind()).to_owned(),
                size.map_or_else(String::new, |size| data.metric.change_text(scale, size)),
                text.clone(),
            ]);
            rows.push(StudyFindingRow {
                kind: finding.kind().key(),
                text,
                treatments: treatments(data, finding),
                size,
            });
        }
        Ok(Self {
            headline: overview.headline.clone(),
            table,
            sections: overview.sections(data),
            ..Self::of_rows(data, scale, ("findings", &rows), Value::Null)?
        })
    }
}

fn treatments<'d>(data: &'d StudyData, finding: &StudyFinding) -> Vec<&'d str> {
    let treatments = finding.treatments().into_iter();
    treatments
        .map(|at| data.treatments[at].name.as_str())
        .collect()
}
