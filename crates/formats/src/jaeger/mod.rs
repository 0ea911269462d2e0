//! Traces as Jaeger's query service and its page give them: `{"data": [{"traceID": …, "spans": …, "processes": …}]}`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::detect::{has_keys, has_own_key};
use crate::shared::intake::SessionDraft;
use crate::shared::keys::in_words;
use crate::shared::reading::document::Document;
use crate::shared::requests::requests;
use crate::shared::sink::Sink;
use crate::shared::spans::{
    PLAIN, SpanDraft, TASK, WALL, add_tasks_without_links, take_traces, timestamp_of,
};
use crate::{Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new("jaeger", "Jaeger traces (JSON)", looks_like, read).with_keys(&[
        "data",
        "traceID",
        "spans",
        "processes",
    ])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (has_own_key(head, "data") && has_keys(head, &["traceID", "spanID", "operationName"]))
        .then_some("its `data` have `traceID`, `spanID` and `operationName`")
}

#[derive(Deserialize)]
struct JaegerAnswer<'d> {
    #[serde(borrow)]
    data: Vec<&'d RawValue>,
}

#[derive(Deserialize)]
struct JaegerTrace<'d> {
    #[serde(borrow)]
    spans: Vec<&'d RawValue>,
    #[serde(default)]
    processes: BTreeMap<String, Process>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    service_name: String,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    key: String,
    value: Value,
}

/// Times are microseconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JaegerSpan {
    #[serde(rename = "traceID")]
    trace_id: String,
    #[serde(rename = "spanID")]
    span_id: String,
    operation_name: String,
    #[serde(default)]
    references: Vec<Reference>,
    start_time: i64,
    duration: i64,
    #[serde(default)]
    tags: Vec<Tag>,
    #[serde(rename = "processID", default)]
    process_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    ref_type: String,
    #[serde(rename = "spanID")]
    span_id: String,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let answer: JaegerAnswer<'_> = document.parse()?;
    let mut drafts: Vec<(String, SpanDraft)> = Vec::new();
    let mut service = None;
    for raw in answer.data {
        let trace = match document.element::<JaegerTrace<'_>>(raw) {
            Ok(trace) => trace,
            Err(bad) => {
                sink.bad(bad);
                continue;
            }
        };
        let mut spans: Vec<JaegerSpan> = Vec::new();
        for raw in trace.spans {
            match document.element::<JaegerSpan>(raw) {
                Ok(span) if span.times().is_none() => {
                    let reason = format!("the times of span `{}` are out of range", span.span_id);
                    sink.bad(document.wrong(raw, reason));
                }
                Ok(span) => spans.push(span),
                Err(bad) => sink.bad(bad),
            }
        }
        let known = spans.iter().filter_map(|span| {
            let process = trace.processes.get(&span.process_id)?;
            Some(((span.parent().is_some(), span.start_time), process))
        });
        let first = known.min_by_key(|(place, _)| *place);
        service = service.or(first.map(|(_, it)| it.service_name.clone()));
        let drafted = drafts_of(&spans, &trace.processes);
        drafts.extend(spans.iter().map(|it| it.trace_id.clone()).zip(drafted));
    }
    let begins = drafts.iter().filter_map(|(_, it)| it.events.values().min());
    let session = SessionDraft {
        started: begins.min().copied().and_then(timestamp_of),
        ..SessionDraft::of("Jaeger")
    };
    let traces = requests(service.as_deref(), drafts);
    take_traces(source, document.sha256(), sink, session, traces)
}

/// Spans that follow from others, those, and what stands beside them are a graph of tasks.
fn drafts_of(spans: &[JaegerSpan], processes: &BTreeMap<String, Process>) -> Vec<SpanDraft> {
    let names: BTreeMap<&str, &str> = spans
        .iter()
        .map(|it| (it.span_id.as_str(), it.operation_name.as_str()))
        .collect();
    let mut tasks: BTreeSet<&str> = BTreeSet::new();
    for span in spans {
        for before in span.follows().filter(|it| names.contains_key(it)) {
            tasks.extend([span.span_id.as_str(), before]);
        }
    }
    let places = spans.iter();
    let places = places.map(|it| [it.span_id.as_str(), it.parent().unwrap_or_default()]);
    add_tasks_without_links(&mut tasks, &places.collect::<Vec<_>>());
    let name_of = |id: &str| Some(format!("{}:{id}", names.get(id)?));
    let drafts = spans.iter().map(|span| {
        let times = span.times();
        let [begin, end] = [times.map(|it| it.0), times.map(|it| it.1)];
        let mut draft = if tasks.contains(span.span_id.as_str()) {
            let mut draft = SpanDraft::of(TASK, name_of(&span.span_id).unwrap_or_default());
            draft.inputs = Some(span.follows().filter_map(name_of).collect());
            draft.event("started", begin);
            draft.event("computed", end);
            draft
        } else {
            let mut draft = SpanDraft::of(PLAIN, span.operation_name.clone());
            draft.event("begin", begin);
            draft.event("end", end);
            draft
        };
        draft.lane = Some(lane_of(processes.get(&span.process_id)));
        draft.clock = Some(WALL.to_owned());
        let tags = span.tags.iter();
        draft.attributes = tags.map(|it| (it.key.clone(), it.value.clone())).collect();
        draft.attribute("span", Some(span.span_id.as_str()));
        draft.attribute("parent", span.parent());
        draft
    });
    drafts.collect()
}

/// Returns where the spans of a process ran: the host and the service.
fn lane_of(process: Option<&Process>) -> String {
    let Some(process) = process else {
        return "unknown".to_owned();
    };
    let host = ["hostname", "host.name", "ip"].iter();
    let mut hosts = host.filter_map(|key| process.tags.iter().find(|tag| tag.key == *key));
    match hosts.next() {
        Some(host) => format!("{}:{}", in_words(&host.value), process.service_name),
        None => process.service_name.clone(),
    }
}

impl JaegerSpan {
    /// Returns when it began and ended in ns; `None` beyond their range.
    fn times(&self) -> Option<(i64, i64)> {
        let end = self.start_time.checked_add(self.duration)?;
        Some((self.start_time.checked_mul(1_000)?, end.checked_mul(1_000)?))
    }

    fn parent(&self) -> Option<&str> {
        let parent = self.references.iter().find(|it| it.ref_type == "CHILD_OF");
        parent.map(|it| it.span_id.as_str())
    }

    /// Returns the spans that it follows from.
    fn follows(&self) -> impl Iterator<Item = &str> {
        let before = self.references.iter();
        let before = before.filter(|it| it.ref_type == "FOLLOWS_FROM");
        before.map(|it| it.span_id.as_str())
    }
}

#[cfg(test)]
mod tests;
