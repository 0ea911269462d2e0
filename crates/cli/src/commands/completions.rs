//! `lapwing completions`: generates shell completions.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Generate shell completions, as in `lapwing completions bash >
/// ~/.local/share/bash-completion/completions/lapwing`
#[derive(Debug, Args)]
pub struct CompletionsCommand {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsCommand {
    /// Prints them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut command = crate::Arguments::command();
        // clap panics when it cannot write, such as into a closed pipe; into memory it always can.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "lapwing", &mut script);
        context.terminal.data_out().write_all(&script)?;
        Ok(ExitStatus::Fine)
    }
}
