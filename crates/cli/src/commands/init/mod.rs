//! `lapwing init`: writes a suite file.

mod ab_environments;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use self::ab_environments::AbEnvironments;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::suite_file::SUITE_FILE;

/// Write a suite file from the A/B environments of another tool
///
/// `--from AB_environments` reads the folder of Coiled's benchmarks (`AB_NAME.conda.yaml`,
/// `AB_NAME.dask.yaml`, `AB_NAME.cluster.yaml`, `config.yaml`): each runtime becomes a variant.
#[derive(Debug, Args)]
pub struct InitCommand {
    /// Folder of A/B environments
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Suite file to write [default: lapwing.toml], or `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl InitCommand {
    /// Reads the folder and writes the suite.
    pub fn act(&self, context: &Context) -> Result<ExitStatus, CliError> {
        let found = AbEnvironments::read(&self.from)?;
        for note in &found.notes {
            context.terminal.note(note);
        }
        let text = found.suite();
        let path = self
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from(SUITE_FILE));
        if path.as_os_str() == "-" {
            write!(context.terminal.data_out(), "{text}")?;
            return Ok(ExitStatus::Fine);
        }
        if path.exists() {
            return Err(
                CliError::input(format!("{} exists already", path.display()))
                    .hint("name another file with --output, or remove it"),
            );
        }
        fs::write(&path, text).map_err(|error| {
            CliError::input(format!("cannot write {}: {error}", path.display()))
        })?;
        if !context.quiet {
            context.terminal.say(&format!(
                "wrote {}; `{}` measures it, `lapwing run --dry-run` shows what that would be",
                path.display(),
                found.command()
            ));
        }
        Ok(ExitStatus::Fine)
    }
}
