//! `lapwing study`: which settings matter, and how they interact.

mod answer;
mod augment;
mod colour;
mod compare;
mod continuous;
mod deltas;
mod design;
mod export;
mod factors;
mod findings;
mod fit;
mod import;
mod means;
mod optimise;
mod options;
mod paths;
mod pca;
mod rounds;
mod run;
mod scatter;
mod stability;

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
    Augment(Box<augment::StudyAugment>),
    Optimise(Box<optimise::StudyOptimise>),
    Stability(Box<stability::StudyStabilityCommand>),
    Findings(Box<findings::StudyFindings>),
    Means(Box<means::StudyMeans>),
    Scatter(Box<scatter::StudyScatter>),
    Colour(Box<colour::StudyColour>),
    Fit(Box<fit::StudyFitCommand>),
    Paths(Box<paths::StudyPaths>),
    Pca(Box<pca::StudyPca>),
    Deltas(Box<deltas::StudyDeltas>),
    Compare(Box<compare::StudyCompare>),
    Import(import::StudyImport),
    Export(Box<export::StudyExport>),
}

impl StudyCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            StudyAction::Design(command) => command.act(context),
            StudyAction::Run(command) => command.act(context),
            StudyAction::Augment(command) => command.act(context),
            StudyAction::Optimise(command) => command.act(context),
            StudyAction::Stability(command) => command.act(context),
            StudyAction::Findings(command) => command.act(context),
            StudyAction::Means(command) => command.act(context),
            StudyAction::Scatter(command) => command.act(context),
            StudyAction::Colour(command) => command.act(context),
            StudyAction::Fit(command) => command.act(context),
            StudyAction::Paths(command) => command.act(context),
            StudyAction::Pca(command) => command.act(context),
            StudyAction::Deltas(command) => command.act(context),
            StudyAction::Compare(command) => command.act(context),
            StudyAction::Import(command) => command.act(context),
            StudyAction::Export(command) => command.act(context),
        }
    }
}
