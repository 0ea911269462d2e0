//! `lapwing stack`: combinations of package versions, resolved and measured.

mod hints;
mod inspect;
mod listed;
mod resolve;
mod run;

use clap::{Args, Subcommand};
use lapwing_measure::suite::PackageFiles;
use lapwing_model::Levels;
use lapwing_study::PackagePin;

pub use self::hints::stack_hint;
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

/// Options about the files that packages are installed from.
#[derive(Debug, Clone, Args)]
struct BuildOptions {
    /// Build packages that have no wheel, and let requirements name files, repositories and indexes; both execute code
    /// of others
    #[arg(long)]
    allow_build: bool,
}

impl BuildOptions {
    fn files(&self) -> PackageFiles {
        if self.allow_build {
            PackageFiles::Any
        } else {
            PackageFiles::Built
        }
    }
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

/// The default name of the file of stacks.
const STACKS_FILE: &str = "stacks.json";

/// Returns the versions of a stack as pins.
pub fn pins(factors: Levels) -> Vec<PackagePin> {
    let pin = |(package, version)| PackagePin { package, version };
    factors.into_iter().map(pin).collect()
}
