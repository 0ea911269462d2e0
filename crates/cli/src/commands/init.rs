//! `lapwing init`: writes a suite file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_measure::suite::{AbEnvironments, FoundBenchmarks};
use lapwing_show::answers::written::{self, WrittenAnswer};
use lapwing_show::writing::{NextStep, Note};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::suite::suite_file::SUITE_FILE;

/// Write a suite file for the benchmarks of this folder
///
/// Benches of Cargo, tests of pytest here and in folders such as `benchmarks/` or `tests/benchmarks/`,
/// and programs in such folders become benchmarks; if there are none, programs of the folder itself.
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
        let (text, notes, contents, count, command) = match &self.environments {
            Some(folder) => {
                let found = AbEnvironments::read(folder)?;
                let command = found.command();
                let count = ("variants", found.count() as u64);
                (found.suite(), found.notes, String::new(), count, command)
            }
            None => {
                let found = FoundBenchmarks::within(Path::new("."));
                let contents = format!(": {}", found.summary());
                let count = ("benchmarks", found.count() as u64);
                (found.suite(), found.notes, contents, count, "lapwing run")
            }
        };
        let path = self
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from(SUITE_FILE));
        if path.as_os_str() == "-" {
            context.terminal.notes(&notes);
            write!(context.terminal.file_out(), "{text}")?;
            return Ok(ExitStatus::Fine);
        }
        if path.exists() || path.is_symlink() {
            return Err(
                CliError::input(format!("{} exists already", path.display()))
                    .hint("name another file with --output, or remove it"),
            );
        }
        fs::write(&path, text).map_err(|error| {
            CliError::input(format!("cannot write {}: {error}", path.display()))
        })?;
        let notes = notes.into_iter();
        let answer = WrittenAnswer {
            kind: &written::SUITE,
            path: &path,
            counts: [count].into(),
            contents,
            notes: notes.map(|note| Note::marked("found", note)).collect(),
            next: vec![
                NextStep::new(command, "measures it"),
                NextStep::new("lapwing run --dry-run", "shows the plan"),
            ],
        };
        context.tell(&answer.answer()?)
    }
}
