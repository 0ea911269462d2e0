//! Traces in the logs of earthkit-workflows.

use std::io::{BufRead, Read};

use lapwing_model::Span;
use lapwing_trace::{TraceError, TraceReader};
use memchr::memmem;
use sha2::{Digest, Sha256};

use crate::shared::intake::{Intake, SessionDraft};
use crate::shared::reading::document::LONGEST_MIB;
use crate::shared::reading::spot::Spot;
use crate::shared::sink::Sink;
use crate::shared::spans::{WALL, measured, named_run, no_instance, take_trace, timestamp_of};
use crate::{Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "earthkit",
        "earthkit-workflows trace (log or JSON Lines)",
        looks_like,
        read,
    )
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    if has("tracing") && (has("action=task") || has("#presched_") || has("action=ctrl_")) {
        return Some("its lines are of loggers `tracing`");
    }
    let is_event = has("\"action\"") && (has("\"at\"") && has("\"task"));
    (head.starts_with(b"{") && is_event).then_some("its lines have `action` and `at`")
}

/// Times after this are those of the calendar: 2001 in ns since 1970. A monotonic clock counts from the start of the
/// machine.
const CALENDAR: i64 = 1_000_000_000_000_000_000;

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = digest(source)?;
    let wrong = |reason: String| ImportError::Document {
        name: source.name().to_owned(),
        line: 1,
        reason,
    };
    let mut reader = TraceReader::default();
    let read = reader.add(source.text()?);
    let trace = match read.and_then(|()| reader.finish()) {
        Ok(trace) => trace,
        Err(TraceError::Io(error)) => return Err(source.failed(error)),
        Err(error @ TraceError::Nothing) => return Err(wrong(error.to_string())),
    };
    for line in &trace.unreadable {
        let reason = "it looks like an event, and cannot be read";
        sink.bad(Spot::from(*line).bad(reason));
    }
    if trace.is_truncated {
        sink.notes().left("the last line", "it has no end");
    }
    let start = trace.range().map(|(start, _)| start);
    let is_wall = start.is_some_and(|start| start > CALENDAR);
    let started = start.filter(|_| is_wall);
    let session = SessionDraft {
        started: started.and_then(timestamp_of),
        ..SessionDraft::of("earthkit-workflows")
    };
    let mut draft = measured(source.stem(), None, &trace);
    let run = named_run(&sink.options.trace, &mut draft);
    let spans = trace.spans(no_instance());
    if spans.len() == 0 {
        return take_trace(source, &digest, sink, session, draft, 1);
    }
    let clock = if is_wall { WALL } else { "monotonic" };
    let spans = spans.map(|span| Span {
        clock: Some(clock.to_owned()),
        ..span
    });
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(run)?;
    intake.trace(1, run, draft, spans)?;
    intake.finish()
}

/// Returns the SHA-256 of a source, all of which is text.
fn digest(source: &Source) -> Result<[u8; 32], ImportError> {
    let mut hash = Sha256::new();
    let mut text = source.text()?;
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let mut piece = (&mut text).take(LONGEST_MIB << 20);
        let length = piece.read_until(b'\n', &mut bytes);
        if length.map_err(|error| source.failed(error))? == 0 {
            return Ok(hash.finalize().into());
        }
        line += 1;
        if let Err(error) = str::from_utf8(&bytes) {
            let byte = bytes[error.valid_up_to()];
            return Err(ImportError::Document {
                name: source.name().to_owned(),
                line,
                reason: format!("not UTF-8 text: there is a byte 0x{byte:02X}"),
            });
        }
        hash.update(&bytes);
    }
}

#[cfg(test)]
mod tests;
