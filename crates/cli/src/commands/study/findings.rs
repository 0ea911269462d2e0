//! `lapwing study findings`: what was learnt, in sentences.

use clap::Args;
use lapwing_show::answers::study::StudyAnswer;
use lapwing_show::study::StudyOverview;

use super::options::{ReadStudy, StudyOptions};
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
        if self.study.plot.is_some() {
            answer.charts = overview.charts(&data);
        }
        self.study.show(&answer, &notes, context)
    }
}
