//! `lapwing list`: lists the contents of the store.

use clap::{Args, ValueEnum};
use lapwing_analyse::sample::SampleFilter;
use lapwing_record::inbox::sessions_under_way;
use lapwing_record::{Filter, Store};
use lapwing_show::answers::list::{EmptyList, ListedRows};

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::{open_for_reading, retired_notes};

/// List benchmarks, sessions, runs or metrics
#[derive(Debug, Args)]
pub struct ListCommand {
    /// What to list
    #[arg(default_value = "benchmarks")]
    what: ListedThing,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListedThing {
    /// Benchmarks
    Benchmarks,
    /// Sessions: invocations of `lapwing run`, and imported files
    Sessions,
    /// Runs: one version and variant within a session
    Runs,
    /// Metrics: measured quantities
    Metrics,
}

impl ListCommand {
    /// Prints a line with the number of rows, then the table.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let asked = self.filters.filter()?;
        let store = open_for_reading(context)?;
        let filter = asked.resolve(&store)?;
        let catalogue = store.catalogue();
        let rows = match self.what {
            ListedThing::Benchmarks => ListedRows::Benchmarks(catalogue.benchmarks(&filter)?),
            ListedThing::Sessions => ListedRows::Sessions(catalogue.sessions(&filter)?),
            ListedThing::Runs => ListedRows::Runs(catalogue.runs(&filter)?),
            ListedThing::Metrics => ListedRows::Metrics(catalogue.metrics(&filter)?),
        };
        let empty = rows.is_empty().then(|| empty_list(&store, &asked));
        let answer = rows.answer(
            empty.transpose()?,
            retired_notes(&catalogue.left_out(&filter)?),
        )?;
        context.show(&answer, &self.answer)
    }
}

/// Returns why a list is empty.
fn empty_list(store: &Store, asked: &SampleFilter) -> Result<EmptyList, CliError> {
    let is_unfiltered = *asked == SampleFilter::default();
    let under_way = sessions_under_way(&store.inbox());
    Ok(if !under_way.is_empty() && is_unfiltered {
        EmptyList::UnderWay(under_way)
    } else if store.catalogue().sessions(&Filter::default())?.is_empty() {
        EmptyList::EmptyStore
    } else if is_unfiltered {
        EmptyList::NoResults
    } else {
        EmptyList::NoMatch
    })
}
