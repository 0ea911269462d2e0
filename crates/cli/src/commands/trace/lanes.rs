//! `lapwing trace export -o FILE.html`: a timeline.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use lapwing_show::trace::{LanesPage, headline, lanes_svg};
use lapwing_trace::find;

use super::read::TraceFile;
use crate::error::CliError;
use crate::options::Context;

/// Writes the page, or, with the extension .svg, the picture of a range in seconds.
pub fn draw(
    file: &TraceFile,
    output: &Path,
    range: Option<(f64, f64)>,
    width: u32,
    context: &Context,
) -> Result<(), CliError> {
    let trace = file.read(context)?;
    let found = find(&trace).ok_or_else(|| {
        CliError::input("the trace has no tasks with times, so there is nothing to draw")
    })?;
    let is_picture = output.extension().is_some_and(|it| it == "svg");
    if !is_picture && range.is_some() {
        return Err(CliError::input("`--range` is for a picture")
            .hint("write one with `-o lanes.svg`; the page zooms"));
    }
    let cannot = |error: std::io::Error| {
        CliError::input(format!("cannot write {}: {error}", output.display()))
    };
    let mut out = BufWriter::new(File::create(output).map_err(cannot)?);
    let written = if is_picture {
        let whole = (0, found.workers.makespan);
        let (from, to) = range.map_or(whole, |(from, to)| (nanoseconds(from), nanoseconds(to)));
        out.write_all(lanes_svg(&trace, from, to, width).as_bytes())
    } else {
        let page = LanesPage {
            trace: &trace,
            title: &file.title(),
            summary: &headline(&trace, &found),
            list: None,
        };
        page.write(&mut out)
    };
    written.and_then(|()| out.flush()).map_err(cannot)?;
    context
        .terminal
        .note(&format!("wrote {}", output.display()));
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}
