//! The runs that a history is judged by, and their order.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use lapwing_analyse::sample::{
    History, MainChoice, MainRuns, RunKey, RunOrder, SampleFilter, SuiteHistories,
};
use lapwing_record::{Filter, RunHead, Store};
use lapwing_show::answers::detect::{main_notes, order_note};
use lapwing_show::writing::Note;

use crate::cleaning::JudgingOptions;
use crate::error::CliError;

/// Which runs are judged.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct MainOption {
    /// Only judge commits on the line of first parents of the repository's default branch
    #[arg(long, help_heading = "Filters")]
    first_parents: bool,
}

/// The judged runs, in order.
pub struct JudgedRuns {
    /// The selection of the runs.
    pub filter: Filter,
    /// Their order.
    pub history: History,
    /// The basis of the order, by suite.
    pub orders: BTreeMap<String, RunOrder>,
    /// What is not judged, and the order if it is not the usual one.
    pub notes: Vec<Note>,
}

impl MainOption {
    /// Returns the runs of a selection that are judged: the usual ones, unless the user chose others.
    pub fn judged(
        self,
        store: &Store,
        filter: &Filter,
        asked: &SampleFilter,
        judging: &JudgingOptions,
        usual: MainChoice,
    ) -> Result<JudgedRuns, CliError> {
        let mut runs = store.catalogue().run_heads()?;
        runs.retain(|run| {
            let sessions = filter.sessions.as_ref();
            let chosen = filter.runs.as_ref();
            sessions.is_none_or(|it| it.contains(&run.session))
                && chosen.is_none_or(|it| it.contains(&run.id))
        });
        let commits: BTreeSet<&str> = runs.iter().filter_map(|it| it.commit.as_deref()).collect();
        let line = judging.commit_line(&commits);
        let main = MainRuns::of(&runs, line.as_ref(), self.choice(asked, usual));
        if main.judged.is_empty() && !runs.is_empty() {
            let branch = line.as_ref().map(|line| format!(" of `{}`", line.branch()));
            let branch = branch.unwrap_or_default();
            return Err(CliError::input(format!(
                "no measured commit is on the line of first parents{branch}"
            ))
            .hint("run it in the repository, or name it as `repository` in the suite file"));
        }
        let judged: Vec<&RunHead> = (runs.iter())
            .filter(|run| main.judged.contains(&run.id))
            .collect();
        let SuiteHistories { history, orders } = SuiteHistories::of(store, &judged, line.as_ref())?;
        let mut notes = main_notes(&main);
        notes.extend(order_note(&orders));
        let mut filter = filter.clone();
        if main.judged.len() < runs.len() {
            filter.runs = Some(main.judged);
        }
        Ok(JudgedRuns {
            filter,
            history,
            orders,
            notes,
        })
    }

    fn choice(self, asked: &SampleFilter, usual: MainChoice) -> MainChoice {
        let by_user = [
            RunKey::Branch,
            RunKey::Commit,
            RunKey::Version,
            RunKey::Session,
            RunKey::Run,
        ];
        let is_chosen = |key: &RunKey| !asked.runs.alternatives(*key).is_empty();
        if self.first_parents {
            MainChoice::FirstParents
        } else if by_user.iter().any(is_chosen) {
            MainChoice::All
        } else {
            usual
        }
    }
}
