//! One file per command: its arguments and what it does.

mod db;
mod export;
mod import;
mod list;

use clap::Subcommand;

use crate::error::{CliError, Exit};
use crate::options::Context;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Import(import::Import),
    Export(export::Export),
    List(list::List),
    Db(db::Db),
}

impl Command {
    /// Does what the command says.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        match self {
            Self::Import(command) => command.act(context),
            Self::Export(command) => command.act(context),
            Self::List(command) => command.act(context),
            Self::Db(command) => command.act(context),
        }
    }
}
