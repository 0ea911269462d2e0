//! `lapwing trace export`: the trace as a timeline, or as events for other viewers.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_record::atomic;
use lapwing_show::trace::{LanesPage, headline, lanes_svg, write_events};
use lapwing_trace::{Trace, TraceRange, find};

use super::read::{RangeOption, ReadTrace, TraceFile};
use lapwing_model::text::counted;
use lapwing_show::answers::written::{self, WrittenAnswer};

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, extension};

/// Write the trace as a timeline, or as Chrome trace events, which Perfetto and chrome://tracing open
///
/// The timeline has a lane for each worker. Its page works offline: zoom, search, details on click.
#[derive(Debug, Args)]
pub struct TraceExport {
    #[command(flatten)]
    file: TraceFile,
    /// File to write: .html for a timeline, .svg for a picture of it, others for events [default: events
    /// to standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    range: RangeOption,
    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value = "1600", value_parser = clap::value_parser!(u32).range(300..100_000))]
    width: u32,
}

impl TraceExport {
    /// Writes the timeline or the events.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.output = self.output.filter(|path| path != Path::new("-"));
        if let Some(path) = &self.output
            && matches!(extension(path).as_str(), "html" | "svg")
        {
            return self.draw(path, context);
        }
        let mut read = self.file.read(context)?;
        self.range.apply(&mut read)?;
        let ReadTrace { trace, notes } = read;
        context.terminal.notes(notes);
        let written = match &self.output {
            Some(path) => atomic::replace_by(path, |out| write_events(&trace, out))
                .map_err(|error| cannot_write(path, &error)),
            None => {
                let out = BufWriter::new(context.terminal.file_out());
                write_events(&trace, out).map_err(CliError::from)
            }
        };
        CliError::unless_reader_left(written)?;
        match &self.output {
            Some(path) => tell_written(path, &trace, context),
            None => Ok(ExitStatus::Fine),
        }
    }

    /// Writes the page, or, with the extension .svg, the picture of a range.
    fn draw(&self, output: &Path, context: &Context) -> Result<ExitStatus, CliError> {
        let mut read = self.file.read(context)?;
        let range = self.range.of(&read.trace)?;
        let is_picture = output.extension().is_some_and(|it| it == "svg");
        if !is_picture {
            self.range.apply(&mut read)?;
        }
        let ReadTrace { trace, notes } = read;
        context.terminal.notes(notes);
        let found = find(&trace).ok_or_else(|| {
            CliError::input("the trace has no tasks with times, so there is nothing to draw")
        })?;
        let cannot = |error| cannot_write(output, &error);
        let written = if is_picture {
            let makespan = found.workers.makespan;
            let whole = TraceRange {
                from: 0,
                until: makespan,
            };
            let mut range = range.unwrap_or(whole);
            range.until = range.until.min(makespan);
            atomic::replace(output, lanes_svg(&trace, range, self.width))
        } else {
            let page = LanesPage {
                trace: &trace,
                found: &found,
                title: &self.file.title(),
                summary: &headline(&trace, &found),
                list: None,
            };
            atomic::replace_by(output, |out| page.write(out))
        };
        written.map_err(cannot)?;
        tell_written(output, &trace, context)
    }
}

fn tell_written(path: &Path, trace: &Trace, context: &Context) -> Result<ExitStatus, CliError> {
    let tasks = trace.tasks.len();
    let answer = WrittenAnswer {
        kind: &written::TRACE,
        path,
        counts: [("tasks", tasks as u64)].into(),
        contents: format!(" ({})", counted(tasks, "task")),
        notes: Vec::new(),
        next: Vec::new(),
    };
    context.tell(&answer.answer()?)
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::input(format!("cannot write {}: {error}", path.display()))
}
