//! `lapwing export`: writes measurements for other programs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lapwing_core::record::export::{ExportFormat, Exported, export};

use crate::error::{CliError, Exit};
use crate::options::{Context, Filters};
use crate::store::open_for_reading;
use crate::table::counted;

/// Write measurements for other programs
#[derive(Debug, Args)]
pub struct Export {
    /// The form
    #[arg(long, value_name = "FORMAT")]
    to: To,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One CSV row for each iteration, one column for each metric, instead of one row for each value
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// Everything as record v1, to be imported elsewhere
    Record,
    /// One row for each value of an iteration
    Csv,
    /// An array with one object for each iteration
    Json,
}

impl Export {
    /// Writes to standard output, or to a file that appears only when it is complete.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        let format = match (self.to, self.wide) {
            (To::Record, false) => ExportFormat::Record,
            (To::Csv, false) => ExportFormat::LongCsv,
            (To::Csv, true) => ExportFormat::WideCsv,
            (To::Json, false) => ExportFormat::Json,
            (To::Record | To::Json, true) => {
                return Err(CliError::input("--wide goes with --to csv only"));
            }
        };
        let filter = self.filters.resolve()?;
        let store = open_for_reading(context)?;
        match &self.output {
            None => {
                let mut out = BufWriter::new(context.terminal.out());
                export(&store, &filter, format, &mut out)?;
            }
            Some(path) => {
                let exported = to_file(path, |out| Ok(export(&store, &filter, format, out)?))?;
                if !context.quiet {
                    let noun = match self.to {
                        To::Record => "record",
                        To::Csv => "row",
                        To::Json => "iteration",
                    };
                    let count = counted(exported.rows, noun);
                    context
                        .terminal
                        .say(&format!("wrote {count} to {}", path.display()));
                }
            }
        }
        Ok(Exit::Fine)
    }
}

/// Writes beside the file and gives it its name at the end, so that nobody ever finds
/// half of it there.
fn to_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<Exported, CliError>,
) -> Result<Exported, CliError> {
    let cannot = |source: io::Error| {
        CliError::input(io::Error::new(
            source.kind(),
            format!("cannot write {}: {source}", path.display()),
        ))
    };
    if path.exists() && !path.is_file() {
        // A pipe or a device, such as /dev/stdout.
        let mut out = BufWriter::new(File::create(path).map_err(cannot)?);
        return write(&mut out);
    }
    let mut unfinished = path.to_owned().into_os_string();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let mut out = BufWriter::new(File::create(&unfinished).map_err(cannot)?);
    let written = write(&mut out).and_then(|exported| {
        out.flush().map_err(cannot)?;
        std::fs::rename(&unfinished, path).map_err(cannot)?;
        Ok(exported)
    });
    if written.is_err() {
        let _gone: io::Result<()> = std::fs::remove_file(&unfinished);
    }
    written
}
