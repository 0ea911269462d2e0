//! `lapwing trace lanes`: a timeline.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use lapwing_show::trace::{LanesPage, lanes_svg};
use lapwing_trace::find;

use super::read::TraceFile;
use super::words::headline;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Draw a timeline with a lane for each worker
///
/// The page works offline: zoom, search, details on click. A name that ends with `.svg` draws a picture of a range instead.
#[derive(Debug, Args)]
pub struct TraceLanes {
    #[command(flatten)]
    file: TraceFile,
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "lanes.html")]
    output: PathBuf,
    /// Beginning of the picture in seconds since the beginning of the trace
    #[arg(long, value_name = "SECONDS")]
    from: Option<f64>,
    /// End of the picture in seconds since the beginning of the trace
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value = "1600", value_parser = clap::value_parser!(u32).range(300..100_000))]
    width: u32,
}

impl TraceLanes {
    /// Writes the page or the picture.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let trace = self.file.read(context)?;
        let found = find(&trace).ok_or_else(|| {
            CliError::input("the trace has no tasks with times, so there is nothing to draw")
        })?;
        let is_picture = self.output.extension().is_some_and(|it| it == "svg");
        if !is_picture && (self.from.is_some() || self.to.is_some()) {
            return Err(CliError::input("`--from` and `--to` are for a picture")
                .hint("write one with `-o lanes.svg`; the page zooms"));
        }
        let cannot = |error: std::io::Error| {
            CliError::input(format!("cannot write {}: {error}", self.output.display()))
        };
        let mut out = BufWriter::new(File::create(&self.output).map_err(cannot)?);
        let written = if is_picture {
            let from = nanoseconds(self.from.unwrap_or(0.0));
            let to = self.to.map_or(found.workers.makespan, nanoseconds);
            if from >= to {
                return Err(CliError::input(
                    "the range is empty: `--from` must be before `--to`",
                ));
            }
            out.write_all(lanes_svg(&trace, from, to, self.width).as_bytes())
        } else {
            let page = LanesPage {
                trace: &trace,
                title: &self.file.title(),
                summary: &headline(&trace, &found),
            };
            page.write(&mut out)
        };
        written.and_then(|()| out.flush()).map_err(cannot)?;
        context
            .terminal
            .note(&format!("wrote {}", self.output.display()));
        Ok(ExitStatus::Fine)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}
