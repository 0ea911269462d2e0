//! `lapwing study`: which settings matter, and how they interact.

mod answer;
mod colour;
mod deltas;
mod export;
mod findings;
mod fit;
mod import;
mod means;
mod options;
mod paths;
mod pca;
mod scatter;

use clap::{Args, Subcommand};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Find out which settings of a program matter, and how they interact
///
/// A study measures a benchmark at many combinations of levels of its factors. docs/study.md
/// describes the analyses.
#[derive(Debug, Args)]
pub struct StudyCommand {
    #[command(subcommand)]
    action: StudyAction,
}

#[derive(Debug, Subcommand)]
enum StudyAction {
    Findings(Box<findings::StudyFindings>),
    Means(Box<means::StudyMeans>),
    Scatter(Box<scatter::StudyScatter>),
    Colour(Box<colour::StudyColour>),
    Fit(Box<fit::StudyFitCommand>),
    Paths(Box<paths::StudyPaths>),
    Pca(Box<pca::StudyPca>),
    Deltas(Box<deltas::StudyDeltas>),
    Import(import::StudyImport),
    Export(Box<export::StudyExport>),
}

impl StudyCommand {
    /// Shows the answer.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            StudyAction::Findings(command) => command.act(context),
            StudyAction::Means(command) => command.act(context),
            StudyAction::Scatter(command) => command.act(context),
            StudyAction::Colour(command) => command.act(context),
            StudyAction::Fit(command) => command.act(context),
            StudyAction::Paths(command) => command.act(context),
            StudyAction::Pca(command) => command.act(context),
            StudyAction::Deltas(command) => command.act(context),
            StudyAction::Import(command) => command.act(context),
            StudyAction::Export(command) => command.act(context),
        }
    }
}
