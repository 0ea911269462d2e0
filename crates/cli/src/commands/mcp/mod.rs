//! `lapwing mcp`: the commands that agents need, over the Model Context Protocol.

#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod tools;

use clap::Args;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Serve seven tools to an agent, over standard input and output: doctor, measure, judge, compare, detect, explain, history
///
/// Speaks the Model Context Protocol. Tools work in this folder or one inside of it; those that execute programs say
/// so in their descriptions. An agent's client starts this command, as in `docs/agents.md`.
#[derive(Debug, Args)]
pub struct McpCommand {
    /// Also work in folders outside of this one
    #[arg(long)]
    allow_outside: bool,
}

impl McpCommand {
    /// Serves until the client closes standard input.
    #[cfg(feature = "mcp")]
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        server::serve(self.allow_outside, context)
    }

    /// Says that this program cannot serve.
    #[cfg(not(feature = "mcp"))]
    pub fn act(self, _context: &Context) -> Result<ExitStatus, CliError> {
        let _ = self.allow_outside;
        let error = "this lapwing was built without the Model Context Protocol";
        Err(CliError::input(error)
            .hint("use a released one, or build it with `cargo build --features mcp`"))
    }
}
