//! `lapwing init`: writes a suite file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_measure::suite::{AbEnvironments, FoundBenchmarks};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::suite::suite_file::SUITE_FILE;

/// Write a suite file for the benchmarks of this folder
///
/// Benches of Cargo, tests of pytest in folders such as `benchmarks/`, and programs in such folders
/// become benchmarks; if there are none, programs of the folder itself.
///
/// `--environments AB_environments` reads the folder of Coiled's benchmarks (`AB_NAME.conda.yaml`,
/// `AB_NAME.dask.yaml`, `AB_NAME.cluster.yaml`, `config.yaml`): each runtime becomes a variant.
#[derive(Debug, Args)]
pub struct InitCommand {
    /// Folder of A/B environments to read instead
    #[arg(long, value_name = "DIR")]
    environments: Option<PathBuf>,
    /// Suite file to write [default: lapwing.toml], or `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl InitCommand {
    /// Writes the suite.
    pub fn act(&self, context: &Context) -> Result<ExitStatus, CliError> {
        let (text, notes, next) = match &self.environments {
            Some(folder) => {
                let environments = AbEnvironments::read(folder)?;
                let next = format!("; `{}` measures it", environments.command());
                (environments.suite(), environments.notes, next)
            }
            None => {
                let benchmarks = FoundBenchmarks::within(Path::new("."));
                let next = format!(": {}; `lapwing run` measures it", benchmarks.summary());
                (benchmarks.suite(), benchmarks.notes, next)
            }
        };
        context.terminal.notes(&notes);
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
                "wrote {}{next}, `lapwing run --dry-run` shows the plan",
                path.display(),
            ));
        }
        Ok(ExitStatus::Fine)
    }
}
