//! `lapwing study export`: runs and deltas as CSV.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lapwing_model::Better;
use lapwing_stats::deltas::DeltaPairing;
use lapwing_study::{StudyScale, write_deltas, write_runs};

use super::options::{PAIRINGS, StudyOptions};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_folder, one_of};

/// Write the runs or deltas of a study as CSV, for R, Python and spreadsheets
///
/// Runs: a column per factor (0 and 1), `unix_time`, and the cost, times in microseconds. Deltas:
/// `treatment`, `before`, `after`, `delta`, and a column per treatment (whether it was present
/// before).
#[derive(Debug, Args)]
pub struct StudyExport {
    /// Rows to write
    #[arg(long, value_name = "KIND", default_value = "runs")]
    kind: ExportKind,
    /// How replicates of two settings make deltas
    #[arg(long, value_name = "HOW", value_parser = one_of(&PAIRINGS), default_value = "all")]
    pairing: DeltaPairing,
    /// Separate fields by commas instead of semicolons
    #[arg(long)]
    comma: bool,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    study: StudyOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportKind {
    /// One row per instance
    Runs,
    /// One row per delta
    Deltas,
}

impl StudyExport {
    /// Writes the rows.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(path) = &self.output {
            check_folder(path)?;
        }
        let data = self.study.read(context)?;
        let mut out: Box<dyn Write> = match &self.output {
            Some(path) => Box::new(BufWriter::new(File::create(path)?)),
            None => context.terminal.data_out(),
        };
        let separator = if self.comma { b',' } else { b';' };
        let written = match self.kind {
            ExportKind::Runs => write_runs(&data, separator, &mut out),
            ExportKind::Deltas => {
                let scale = self.study.scale.unwrap_or(StudyScale::Time);
                write_deltas(&data, scale, self.pairing, separator, &mut out)
            }
        };
        let is_rate = data.metric.better == Some(Better::Higher);
        if is_rate && matches!(self.kind, ExportKind::Runs) && !context.quiet {
            context
                .terminal
                .note("more of this metric is better: import the file with --higher-is-better");
        }
        CliError::unless_reader_left(written.and_then(|()| out.flush()).map_err(CliError::from))?;
        Ok(ExitStatus::Fine)
    }
}
