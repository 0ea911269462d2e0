//! `lapwing study findings`: what was learnt, in sentences.

use clap::Args;
use lapwing_show::study::{StudyMetricText, StudyOverview, finding_title, study_finding_text};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_study::StudyFinding;
use serde::Serialize;
use serde_json::json;

use super::answer::StudyAnswer;
use super::options::StudyOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Tell what a study found in sentences: strongest factors and interactions, what depends on what,
/// what is undecided, what to measure next
///
/// By default on logarithms, so that effects are percentages. `--plot FILE.html` writes a page with
/// the findings and all charts.
#[derive(Debug, Args)]
pub struct StudyFindings {
    #[command(flatten)]
    study: StudyOptions,
}

#[derive(Default, Serialize)]
struct StudyFindingRow {
    kind: &'static str,
    text: String,
    treatments: Vec<String>,
    size: Option<f64>,
}

impl StudyFindings {
    /// Shows the findings, and writes the page.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let data = self.study.read(context)?;
        let overview = StudyOverview::new(&data, self.study.scale);
        let (scale, found) = (overview.scale, &overview.findings);
        let text = |finding: &StudyFinding| study_finding_text(finding, &data, scale);
        let mut table = Table::new(&[("about", Left), ("size", Right), ("finding", Left)]);
        for own in found {
            table.row(vec![
                finding_title(own.kind()).to_owned(),
                own.size()
                    .map_or_else(String::new, |size| data.metric.change_text(scale, size)),
                text(own),
            ]);
        }
        let names = |own: &StudyFinding| {
            own.treatments()
                .into_iter()
                .map(|at| data.treatments[at].name.clone())
                .collect()
        };
        let rows = found.iter().map(|own| StudyFindingRow {
            kind: own.kind().key(),
            text: text(own),
            treatments: names(own),
            size: own.size(),
        });
        let answer = StudyAnswer {
            headline: overview.headline.clone(),
            table,
            notes: Vec::new(),
            rows: rows.collect(),
            key: "findings",
            more: json!({}),
            charts: if self.study.plot.is_wanted() {
                overview.charts(&data)
            } else {
                Vec::new()
            },
        };
        answer.write_with(overview.sections(&data), &data, scale, &self.study, context)
    }
}
