//! Traces in the logs of earthkit-workflows.

use lapwing_trace::{TraceError, TraceReader};
use memchr::memmem;

use crate::shared::intake::SessionDraft;
use crate::shared::reading::document::Document;
use crate::shared::reading::spot::Spot;
use crate::shared::sink::Sink;
use crate::shared::spans::{SpanDraft, WALL, nobody, take_trace, timestamp_of, traced};
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
    let document = Document::of(source)?;
    let mut reader = TraceReader::default();
    let read = reader.add(document.text().as_bytes());
    let trace = match read.and_then(|()| reader.finish()) {
        Ok(trace) => trace,
        Err(error @ (TraceError::Nothing | TraceError::Io(_))) => {
            return Err(document.wrong_document(error.to_string()));
        }
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
    let spans = trace.spans(nobody()).into_iter().map(|span| SpanDraft {
        category: span.category,
        name: span.name,
        lane: span.lane,
        inputs: span.inputs,
        clock: Some(if is_wall { WALL } else { "monotonic" }.to_owned()),
        events: span.events,
        attributes: span.attributes,
    });
    let spans: Vec<SpanDraft> = spans.collect();
    // A large trace is not kept twice.
    drop(trace);
    let draft = traced(source.stem(), None, spans);
    take_trace(source, document.sha256(), sink, session, draft, 1)
}

#[cfg(test)]
mod tests;
