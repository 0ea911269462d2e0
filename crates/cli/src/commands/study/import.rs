//! `lapwing study import`: runs of a study from a table.

use clap::Args;
use lapwing_formats::ColumnChoices;

use crate::commands::{ImportedFiles, ReadingOptions};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, checked};

/// Import runs of a study from a table: a column per factor, and one for the cost
///
/// The same as `lapwing import --from runs`. docs/formats/runs.md describes the table.
#[derive(Debug, Args)]
pub struct StudyImport {
    /// Meaning of columns, such as `value=usec,factor=workers,attribute=id` [default: found by their
    /// names and contents, and shown]
    #[arg(long, value_name = "COLUMNS", value_parser = checked(ColumnChoices::parse))]
    columns: Option<String>,
    #[command(flatten)]
    files: ImportedFiles,
}

impl StudyImport {
    /// Imports the runs.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        (self.files).import(&ReadingOptions::of_runs(self.columns), context)
    }
}
