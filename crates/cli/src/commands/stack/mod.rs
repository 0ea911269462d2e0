//! `lapwing stack`: combinations of package versions, resolved and measured.

mod build;
mod choose;
mod file;
mod inspect;
mod listed;
mod resolve;
mod resolver;
mod run;
mod specification;

use clap::{Args, Subcommand};

pub use self::file::{StackFile, pins, unimportable_stacks, unresolved_pins};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Measure combinations of package versions
///
/// A stack is a Python environment: exact versions of all packages and of the interpreter.
/// docs/stacks.md describes how stacks are chosen, built and measured.
#[derive(Debug, Args)]
pub struct StackCommand {
    #[command(subcommand)]
    action: StackAction,
}

#[derive(Debug, Subcommand)]
enum StackAction {
    Resolve(Box<resolve::StackResolve>),
    Run(Box<run::StackRun>),
}

impl StackCommand {
    /// Acts.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            StackAction::Resolve(command) => command.act(context),
            StackAction::Run(command) => command.act(context),
        }
    }
}
