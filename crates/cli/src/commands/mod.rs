//! One file per command: its arguments and what it does.

mod doctor;
mod open;
mod run;

use clap::Subcommand;

use crate::error::{CliError, Exit};
use crate::options::Context;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<run::Run>),
    Doctor(doctor::Arguments),
}

impl Command {
    /// Does what the command says.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        match self {
            Self::Run(command) => command.act(context),
            Self::Doctor(arguments) => arguments.act(context),
        }
    }
}
