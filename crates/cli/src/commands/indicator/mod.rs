//! `lapwing indicator`: scripts that print one JSON object, measured as benchmarks.

mod check;
mod hints;
mod list;
mod options;
mod query;
mod run;

use clap::{Args, Subcommand};

pub use self::hints::indicator_hint;
pub use self::options::{IndicatorOptions, RepetitionOptions, inherited_variables};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Measure indicators: scripts that print their parameters and results as one JSON object
///
/// docs/indicators.md describes what a script must print, and what it may use and see.
#[derive(Debug, Args)]
pub struct IndicatorCommand {
    #[command(subcommand)]
    action: IndicatorAction,
}

#[derive(Debug, Subcommand)]
enum IndicatorAction {
    Check(Box<check::IndicatorCheck>),
    Run(Box<run::IndicatorRun>),
    List(Box<list::IndicatorList>),
    Query(Box<query::IndicatorQuery>),
}

impl IndicatorCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            IndicatorAction::Check(command) => command.act(context),
            IndicatorAction::Run(command) => command.act(context),
            IndicatorAction::List(command) => command.act(context),
            IndicatorAction::Query(command) => command.act(context),
        }
    }
}
