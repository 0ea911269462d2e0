//! `lapwing trace export`: the trace as a timeline, or as events for other viewers.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_record::atomic;
use lapwing_show::trace::{
    LanesPage, OtherRun, divergence_note, headline, lanes_svg, size, trace_answer, write_events,
};
use lapwing_trace::{MatchedRuns, Trace, TraceRange, find};

use super::read::{RangeOption, ReadTrace, TraceFile};
use lapwing_model::text::{capitalised, counted};
use lapwing_show::answers::written::{self, WrittenAnswer};

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, extension};

/// Write the trace as a timeline, or as Chrome trace events, which Perfetto and chrome://tracing open
///
/// The timeline has a lane for each worker. Its page works offline: zoom, search, details on click.
/// `lapwing trace export A B -o lanes.html` draws two runs of the same tasks above each other, and says where they
/// first diverge.
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
        if extension(output) == "html"
            && let Some(runs) = self.file.read_two(context)?
        {
            return self.draw_two(output, runs, context);
        }
        let mut read = self.file.read(context)?;
        let range = self.range.of(&read.trace)?;
        let is_picture = output.extension().is_some_and(|it| it == "svg");
        if !is_picture {
            self.range.apply(&mut read)?;
        }
        let ReadTrace { trace, notes } = read;
        context.terminal.notes(notes);
        let found = find(&trace).ok_or_else(nothing_to_draw)?;
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
            let (answer, facts) = trace_answer(&trace, &found);
            let page = LanesPage {
                trace: &trace,
                found: &found,
                title: &self.file.title(),
                answer: &answer,
                facts: &facts,
                other: None,
            };
            atomic::replace_by(output, |out| page.write(out))
        };
        written.map_err(cannot)?;
        tell_written(output, &trace, context)
    }

    /// Writes the page of two runs above each other.
    fn draw_two(
        &self,
        output: &Path,
        runs: [(String, ReadTrace); 2],
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        if self.range.range.is_some() {
            return Err(CliError::input("`--range` is for the timeline of one run")
                .hint("zoom in on the page of two runs"));
        }
        let [(one, first), (other, second)] = runs;
        context.terminal.notes(first.notes);
        context.terminal.notes(second.notes);
        let traces = [&first.trace, &second.trace];
        let found = [find(traces[0]), find(traces[1])];
        let [Some(found), Some(of_other)] = found else {
            return Err(nothing_to_draw());
        };
        let names = [one.as_str(), &other];
        let matched = MatchedRuns::of(traces);
        let note = divergence_note(traces, names, &matched);
        let summaries = [headline(traces[0], &found), headline(traces[1], &of_other)];
        let page = LanesPage {
            trace: traces[0],
            found: &found,
            title: &format!("Traces {one} and {other}"),
            answer: &capitalised(&note.text.replace('`', "")),
            facts: &[],
            other: Some(OtherRun {
                trace: traces[1],
                found: &of_other,
                names,
                matched: &matched,
                summaries: [&summaries[0], &summaries[1]],
            }),
        };
        atomic::replace_by(output, |out| page.write(out))
            .map_err(|error| cannot_write(output, &error))?;
        let [tasks, others] = traces.map(|trace| trace.tasks.len());
        let answer = WrittenAnswer {
            kind: &written::TRACE,
            path: output,
            counts: [("tasks", (tasks + others) as u64)].into(),
            contents: format!(
                " ({one}: {}, {other}: {})",
                counted(tasks, "task"),
                counted(others, "task")
            ),
            notes: vec![note],
            next: Vec::new(),
        };
        context.tell(&answer.answer()?)
    }
}

fn nothing_to_draw() -> CliError {
    CliError::input("the trace has no tasks with times, so there is nothing to draw")
}

fn tell_written(path: &Path, trace: &Trace, context: &Context) -> Result<ExitStatus, CliError> {
    let answer = WrittenAnswer {
        kind: &written::TRACE,
        path,
        counts: [("tasks", trace.tasks.len() as u64)].into(),
        contents: format!(" ({})", size(trace)),
        notes: Vec::new(),
        next: Vec::new(),
    };
    context.tell(&answer.answer()?)
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::input(format!("cannot write {}: {error}", path.display()))
}
