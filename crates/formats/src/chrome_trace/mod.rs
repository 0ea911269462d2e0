//! Chrome's trace events, which Perfetto, VizTracer and many others read and write.

mod mended;
mod wire;

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::chrome_trace::mended::{Mended, mended};
use crate::chrome_trace::wire::{ChromeEvent, identity, time};
use crate::shared::detect::{first_line, has_keys, has_own_key};
use crate::shared::intake::SessionDraft;
use crate::shared::others::Entries;
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::shared::spans::{PLAIN, SpanDraft, take_trace, traced};
use crate::{Format, ImportError, Source};
use lapwing_model::text::counted;

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "chrome-trace",
        "Chrome trace events (JSON)",
        looks_like,
        read,
    )
    .with_keys(&["ph", "pid", "ts"])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if has_own_key(head, "traceEvents") {
        return Some("it has `traceEvents`");
    }
    (first_line(head).starts_with(b"[") && has_keys(head, &["ph", "pid", "ts"]))
        .then_some("it is a list of objects with `ph`, `pid` and `ts`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let digest = *document.sha256();
    let mut reader = ChromeReader::default();
    if let Err(error) = take_events(&document, &mut reader, sink) {
        let Some(mended) = mended(&document) else {
            return Err(error);
        };
        note(&mended, sink);
        let whole = Source::from_bytes(source.name(), mended.text.into_bytes())?;
        take_events(&Document::of(&whole)?, &mut reader, sink)?;
    }
    let session = SessionDraft::of("Chrome trace events");
    let trace = traced("trace", None, reader.finish());
    take_trace(source, &digest, sink, session, trace, 1)
}

fn take_events(
    document: &Document,
    reader: &mut ChromeReader,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    for raw in events(document, sink)? {
        match document.element::<ChromeEvent<'_>>(raw) {
            Ok(event) => {
                if let Err(reason) = reader.take(event, sink) {
                    sink.bad(document.wrong(raw, reason));
                }
            }
            Err(bad) => sink.bad(bad),
        }
    }
    Ok(())
}

/// Notes what was mended.
fn note(mended: &Mended, sink: &mut Sink<'_, '_>) {
    let notes = sink.notes();
    match &mended.cut {
        Some((_, rest)) if rest.is_empty() => notes.left("the end", "the file has no `]`"),
        Some((line, _)) => {
            let what = format!("the event in line {line}");
            notes.left(&what, "the file is cut off there");
        }
        None => {}
    }
    if mended.commas > 0 {
        let commas = counted(mended.commas, "comma");
        notes.left(&commas, "nothing stands between them and the next");
    }
    if mended.characters > 0 {
        let characters = counted(mended.characters, "control character");
        notes.kept(&characters, "names and texts");
    }
}

fn events<'d>(
    document: &'d Document,
    sink: &mut Sink<'_, '_>,
) -> Result<Vec<&'d RawValue>, ImportError> {
    if document.text().trim_start().starts_with('[') {
        return document.parse();
    }
    let entries: Entries<'_> = document.parse()?;
    let mut events = None;
    for (key, raw) in entries.0 {
        match &*key {
            "traceEvents" => {
                let list = document.value(&key, raw);
                events = Some(list.map_err(|bad| document.refused(bad))?);
            }
            // The unit that a viewer shows.
            "displayTimeUnit" => {}
            _other => sink.notes().left(&key, "they are no events"),
        }
    }
    events.ok_or_else(|| document.wrong_document("`traceEvents` is missing"))
}

/// A process and a thread of it.
type ThreadId = (String, String);

#[derive(Default)]
struct ChromeReader {
    spans: Vec<(ThreadId, SpanDraft)>,
    /// The spans that have begun on a thread, the innermost last.
    begun: BTreeMap<ThreadId, Vec<usize>>,
    /// The spans that have begun and may end on another thread.
    begun_anywhere: BTreeMap<String, Vec<usize>>,
    processes: BTreeMap<String, String>,
    threads: BTreeMap<ThreadId, String>,
}

impl ChromeReader {
    fn take(&mut self, event: ChromeEvent<'_>, sink: &mut Sink<'_, '_>) -> Result<(), String> {
        let thread = (identity(&event.pid), identity(&event.tid));
        match &*event.ph {
            // Bazel's lane of actions that others show already.
            "X" if event.cat == "critical path component" => {
                let notes = sink.notes();
                notes.left("the lane `Critical Path`", "its actions are on other lanes");
            }
            "X" => {
                let begin = time("ts", &event.ts)?;
                // Without a duration it had not ended.
                let end = match &event.dur {
                    Value::Null => None,
                    duration => Some(begin + time("dur", duration)?),
                };
                let at = self.begin(thread, event, begin);
                self.spans[at].1.event("end", end);
            }
            "B" => {
                let begin = time("ts", &event.ts)?;
                let at = self.begin(thread.clone(), event, begin);
                self.begun.entry(thread).or_default().push(at);
            }
            "E" => {
                let end = time("ts", &event.ts)?;
                let begun = self.begun.get_mut(&thread).and_then(Vec::pop);
                self.end(begun, end, event, sink);
            }
            "b" => {
                let (id, begin) = (event.async_id(), time("ts", &event.ts)?);
                let at = self.begin(thread, event, begin);
                self.spans[at].1.attribute("async", Some(id.as_str()));
                self.begun_anywhere.entry(id).or_default().push(at);
            }
            "e" => {
                let (id, end) = (event.async_id(), time("ts", &event.ts)?);
                let begun = self.begun_anywhere.get_mut(&id).and_then(Vec::pop);
                self.end(begun, end, event, sink);
            }
            "M" => self.name(thread, &event),
            "s" | "t" | "f" => sink
                .notes()
                .left("flows", "tasks do not get inputs from them"),
            other => {
                let what = format!("events of phase `{other}`");
                sink.notes().left(&what, "they have no duration");
            }
        }
        Ok(())
    }

    fn begin(&mut self, thread: ThreadId, event: ChromeEvent<'_>, begin: i64) -> usize {
        // Ray's parts of a task have its word in front.
        let part = event.name.strip_prefix("task:");
        let part = part.filter(|_| event.cat == event.name);
        let mut span = SpanDraft::of(PLAIN, part.unwrap_or(&event.name));
        span.event("begin", Some(begin));
        let category = (!event.cat.is_empty()).then(|| event.cat.into_owned());
        span.attribute("category", category);
        span.attribute("cpu", time("tdur", &event.tdur).ok());
        span.attributes.extend(event.args);
        self.spans.push((thread, span));
        self.spans.len() - 1
    }

    fn end(
        &mut self,
        begun: Option<usize>,
        end: i64,
        event: ChromeEvent<'_>,
        sink: &mut Sink<'_, '_>,
    ) {
        match begun.and_then(|at| self.spans.get_mut(at)) {
            Some((_, span)) => {
                span.event("end", Some(end));
                span.attributes.extend(event.args);
            }
            None => sink.notes().left(&event.name, "it ends and has not begun"),
        }
    }

    fn name(&mut self, thread: ThreadId, event: &ChromeEvent<'_>) {
        let Some(Value::String(name)) = event.args.get("name") else {
            return;
        };
        match &*event.name {
            "process_name" => self.processes.insert(thread.0, name.clone()),
            "thread_name" => self.threads.insert(thread, name.clone()),
            _other => None,
        };
    }

    fn finish(self) -> Vec<SpanDraft> {
        let process_of = |pid: &str| label(&self.processes, &pid.to_owned(), pid);
        let thread_of = |thread: &ThreadId| {
            let mut beside = self.threads.clone();
            beside.retain(|(process, _), _| *process == thread.0);
            label(&beside, thread, &thread.1)
        };
        let mut lanes: BTreeMap<ThreadId, String> = BTreeMap::new();
        let mut spans = Vec::with_capacity(self.spans.len());
        for (thread, mut span) in self.spans {
            let named = || format!("{}:{}", process_of(&thread.0), thread_of(&thread));
            let lane = lanes.entry(thread.clone()).or_insert_with(named);
            span.lane = Some(lane.clone());
            span.clock = Some("trace".to_owned());
            spans.push(span);
        }
        spans
    }
}

/// Returns the name of something; with its number where another one has the same name, and the
/// number alone where it has none.
fn label<K: Ord>(names: &BTreeMap<K, String>, key: &K, number: &str) -> String {
    let Some(name) = names.get(key) else {
        return number.to_owned();
    };
    match names.values().filter(|other| *other == name).count() {
        1 => name.clone(),
        _several => format!("{name} {number}"),
    }
}

#[cfg(test)]
mod tests;
