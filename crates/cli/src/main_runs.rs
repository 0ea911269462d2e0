//! The runs that a history is judged by, and their order.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use lapwing_analyse::sample::{
    History, MainChoice, MainRuns, RunKey, RunOrder, SampleFilter, SuiteHistories,
};
use lapwing_measure::bisection::SEARCH;
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
        let repository = judging.repository();
        let mut runs = store.catalogue().run_heads()?;
        let choice = match self.first_parents {
            true => MainChoice::FirstParents,
            false if asked.runs.alternatives(RunKey::Branch).is_empty() => {
                usual.unless_chosen(&asked.runs, &MainRuns::default())
            }
            false => usual.unless_chosen(&asked.runs, &repository.main_runs(&runs)),
        };
        runs.retain(|run| {
            let sessions = filter.sessions.as_ref();
            let chosen = filter.runs.as_ref();
            sessions.is_none_or(|it| it.contains(&run.session))
                && chosen.is_none_or(|it| it.contains(&run.id))
        });
        // A search measures some commits often, so it is no part of a history, unless there is nothing else.
        let all = runs.len();
        let searches = store.catalogue().sessions_with(SEARCH)?;
        if asked.runs.alternatives(RunKey::Session).is_empty()
            && runs.iter().any(|run| !searches.contains(&run.session))
        {
            runs.retain(|run| !searches.contains(&run.session));
        }
        let line = repository.line_of(&runs);
        let main = MainRuns::of(&runs, line.as_ref(), choice).checked(line.as_ref())?;
        let judged: Vec<&RunHead> = (runs.iter())
            .filter(|run| main.judged.contains(&run.id))
            .collect();
        let SuiteHistories { history, orders } = SuiteHistories::of(store, &judged, line.as_ref())?;
        let mut notes = main_notes(&main);
        let moment = |run: &&RunHead| (run.session, run.version.clone(), run.commit.clone());
        let moments: BTreeSet<_> = judged.iter().map(moment).collect();
        if moments.len() > 1 {
            notes.extend(order_note(&orders));
        }
        let mut filter = filter.clone();
        if main.judged.len() < all {
            filter.runs = Some(main.judged);
        }
        Ok(JudgedRuns {
            filter,
            history,
            orders,
            notes,
        })
    }

    /// Returns the runs that sides have which are conditions.
    pub fn choice(self) -> MainChoice {
        match self.first_parents {
            true => MainChoice::FirstParents,
            false => MainChoice::DefaultBranch,
        }
    }
}
