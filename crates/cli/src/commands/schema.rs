//! `lapwing schema`: what a suite file may contain, for editors.

use std::io::Write;

use clap::Args;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Print the JSON schema of suite files, by which editors complete and check them
///
/// `lapwing schema > lapwing.schema.json`, then `#:schema ./lapwing.schema.json` as the first line of
/// lapwing.toml.
#[derive(Debug, Args)]
pub struct SchemaCommand {}

/// The schema.
const SUITE: &str = include_str!("../../assets/suite.schema.json");

impl SchemaCommand {
    /// Prints it.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        context.terminal.data_out().write_all(SUITE.as_bytes())?;
        Ok(ExitStatus::Fine)
    }
}
