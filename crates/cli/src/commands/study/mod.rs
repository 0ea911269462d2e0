//! `lapwing study`: which settings matter, and how they interact.

mod compare;
mod confirm;
mod design;
mod effects;
mod findings;
mod fit;
mod import;
mod optimise;
mod options;
mod rounds;
mod run;
mod split;
mod suite;

pub use options::StudyDataOptions;

use clap::{Args, Subcommand};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Find out which settings matter, and how they interact
///
/// A study measures combinations of levels of the factors in the suite file. docs/study.md
/// describes designs and analyses.
#[derive(Debug, Args)]
pub struct StudyCommand {
    #[command(subcommand)]
    action: StudyAction,
}

#[derive(Debug, Subcommand)]
enum StudyAction {
    Design(Box<design::StudyDesignCommand>),
    Run(Box<run::StudyRunCommand>),
    Optimise(Box<optimise::StudyOptimise>),
    Split(split::StudySplit),
    Confirm(Box<confirm::StudyConfirm>),
    Import(import::StudyImport),
    Findings(Box<findings::StudyFindings>),
    Effects(Box<effects::StudyEffects>),
    Fit(Box<fit::StudyFitCommand>),
    Compare(Box<compare::StudyCompare>),
}

impl StudyCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            StudyAction::Design(command) => command.act(context),
            StudyAction::Run(command) => command.act(context),
            StudyAction::Optimise(command) => command.act(context),
            StudyAction::Split(command) => command.act(context),
            StudyAction::Confirm(command) => command.act(context),
            StudyAction::Import(command) => command.act(context),
            StudyAction::Findings(command) => command.act(context),
            StudyAction::Effects(command) => command.act(context),
            StudyAction::Fit(command) => command.act(context),
            StudyAction::Compare(command) => command.act(context),
        }
    }
}
