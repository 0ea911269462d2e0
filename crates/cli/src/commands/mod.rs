//! One file per command: its arguments and what it does.

mod doctor;

use clap::Subcommand;

use crate::error::{CliError, Exit};
use crate::options::Context;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Doctor(doctor::Arguments),
}

impl Command {
    /// Does what the command says.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        match self {
            Self::Doctor(arguments) => arguments.act(context),
        }
    }
}
