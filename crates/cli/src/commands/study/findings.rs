//! `lapwing study findings`: what was learnt, in sentences.

use std::path::Path;

use clap::Args;
use lapwing_model::text::shell_word;
use lapwing_show::answers::study::{DESIGN_FILE, StudyAnswer};
use lapwing_show::study::StudyOverview;
use lapwing_show::writing::NextStep;
use lapwing_study::{NextMeasurement, StudyData, StudyFinding};

use super::options::{ReadStudy, StudyOptions};
use super::suite::StudySuite;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Tell what a study found in sentences: strongest factors and interactions, what depends on what,
/// what is undecided, what to measure next
///
/// All sentences are of one fitted model of factors and pairs, on logarithms (percentages) or on the
/// values themselves, whichever fits better: the ten strongest of each kind, with `--full` all. `--plot FILE.html`
/// writes a page with the findings and all charts.
#[derive(Debug, Args)]
pub struct StudyFindings {
    #[command(flatten)]
    study: StudyOptions,
}

impl StudyFindings {
    /// Shows the findings, and writes the page.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let ReadStudy { data, notes } = self.study.read(context)?;
        let overview = StudyOverview::new(&data, self.study.scale);
        let mut answer = StudyAnswer::findings(&data, &overview, self.study.is_full())?;
        if self.study.plot.is_some() || context.for_notebook {
            answer.charts = overview.charts(&data);
        }
        let next = next_steps(&data, &overview, context);
        self.study.show(&answer, &notes, &next, context)
    }
}

/// Returns the commands that measure what the findings propose, where the suite of the study is at hand.
fn next_steps(data: &StudyData, overview: &StudyOverview, context: &Context) -> Vec<NextStep> {
    let is_here = StudySuite::load(None).is_ok_and(|it| it.suite.name == data.suite);
    if !is_here {
        return Vec::new();
    }
    let program = context.program();
    let metric = &data.metric.name;
    let named = format!("--benchmark {}", shell_word(&data.benchmark));
    let steps = overview
        .findings
        .iter()
        .filter_map(|finding| match finding {
            StudyFinding::Next(NextMeasurement::Confirm { .. }) => Some(NextStep::new(
                format!(
                    "{program} study confirm {named} --metric {}",
                    shell_word(metric)
                ),
                "measures the recommended setting anew, against the base and the next best one",
            )),
            StudyFinding::Next(NextMeasurement::FoldOver(_)) if Path::new(DESIGN_FILE).exists() => {
                Some(NextStep::new(
                    format!(
                        "{program} study design --augment --unalias {named} --metric {}",
                        shell_word(metric)
                    ),
                    "chooses the fold-over",
                ))
            }
            _other => None,
        });
    steps.collect()
}
