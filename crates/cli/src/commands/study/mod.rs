//! `lapwing study`: which settings matter, and how they interact.

mod augment;
mod design;
mod factors;
mod run;

use clap::{Args, Subcommand};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Find which settings matter, and how they interact
///
/// A study measures combinations of levels of the factors in the suite file. docs/study.md
/// describes it.
#[derive(Debug, Args)]
pub struct StudyCommand {
    #[command(subcommand)]
    action: StudyAction,
}

#[derive(Debug, Subcommand)]
enum StudyAction {
    Design(Box<design::StudyDesignCommand>),
    Run(Box<run::StudyRunCommand>),
    Augment(Box<augment::StudyAugment>),
}

impl StudyCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            StudyAction::Design(command) => command.act(context),
            StudyAction::Run(command) => command.act(context),
            StudyAction::Augment(command) => command.act(context),
        }
    }
}
