//! Traces of OpenTelemetry as JSON (OTLP): a request on each line, as the file exporters write
//! it, or one document.

mod wire;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::otlp::wire::{OtlpRequest, OtlpSpan, object_of};
use crate::shared::detect::has_own_key;
use crate::shared::intake::SessionDraft;
use crate::shared::keys::in_words;
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::shared::spans::{
    PLAIN, SpanDraft, TASK, WALL, add_tasks_without_links, take_traces, timestamp_of, traced,
};
use crate::{Format, ImportError, Source};
use lapwing_model::Object;

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new("otlp", "OpenTelemetry traces (OTLP JSON)", looks_like, read).with_keys(&[
        "resourceSpans",
        "scopeSpans",
        "spanId",
    ])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    ["resourceSpans", "resource_spans"]
        .iter()
        .any(|key| has_own_key(head, key))
        .then_some("it has `resourceSpans`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut reader = OtlpReader::default();
    let mut requests = Deserializer::from_str(document.text()).into_iter::<&RawValue>();
    loop {
        let begin = requests.byte_offset();
        let Some(raw) = requests.next() else { break };
        let raw = match raw {
            Ok(raw) => raw,
            Err(error) => {
                let spot = document.spot_of(document.text()[begin..].trim_start());
                let what = if error.is_eof() {
                    "is cut off"
                } else {
                    "is not valid"
                };
                sink.bad(spot.bad(format!("the JSON {what}")));
                break;
            }
        };
        let taken = document.element(raw).and_then(|request| {
            reader
                .take(request)
                .map_err(|reason| document.wrong(raw, reason))
        });
        if let Err(bad) = taken {
            sink.bad(bad);
        }
    }
    for (signal, count) in &reader.other_signals {
        let what = format!("{signal} ({count})");
        sink.notes().left(&what, "these requests hold no spans");
    }
    let first = reader.spans.iter().filter_map(|it| it.0.start()).min();
    let session = SessionDraft {
        started: first.and_then(timestamp_of),
        ..SessionDraft::of("OpenTelemetry")
    };
    let name = reader.service.take();
    let name = name.as_deref().unwrap_or("trace");
    let resources = std::mem::take(&mut reader.resources);
    let requests = reader.requests();
    let roots: BTreeSet<&str> = requests.iter().filter_map(|it| it.root()).collect();
    let are_alike = roots.len() < 2;
    let traces = requests.iter().map(|request| {
        // Requests of different kinds are different benchmarks.
        let benchmark = match request.root().filter(|_| !are_alike) {
            Some(root) => format!("{name}/{root}"),
            None => name.to_owned(),
        };
        let mut trace = traced(&benchmark, None, request.drafts());
        if let [only] = &resources[..] {
            trace.environment = only.clone();
        }
        (1, trace)
    });
    take_traces(source, document.sha256(), sink, session, traces.collect())
}

#[derive(Default)]
struct OtlpReader {
    /// Each with its lane.
    spans: Vec<(OtlpSpan, String)>,
    resources: Vec<Object>,
    service: Option<String>,
    /// The numbers of requests of other signals.
    other_signals: BTreeMap<&'static str, u64>,
}

impl OtlpReader {
    fn take(&mut self, request: OtlpRequest) -> Result<(), String> {
        let other_signals = request.other_signals();
        for signal in &other_signals {
            *self.other_signals.entry(signal).or_default() += 1;
        }
        let Some(resource_spans) = request.resource_spans else {
            return match other_signals.is_empty() {
                true => Err("`resourceSpans` is missing".to_owned()),
                false => Ok(()),
            };
        };
        for of_resource in resource_spans {
            let resource = object_of(of_resource.resource.attributes);
            let lane = lane_of(&resource);
            if self.service.is_none() {
                self.service = resource.get("service.name").map(in_words);
            }
            if !self.resources.contains(&resource) {
                self.resources.push(resource);
            }
            let scopes = of_resource.scope_spans.into_iter();
            for span in scopes.flat_map(|scope| scope.spans) {
                span.check()?;
                self.spans.push((span, lane.clone()));
            }
        }
        Ok(())
    }

    /// Returns the spans of each trace id, and together those of ids between which there are links, by their starts.
    fn requests(self) -> Vec<OtlpRequestSpans> {
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        for (span, _) in &self.spans {
            let next = ids.len();
            ids.entry(span.trace_id.clone()).or_insert(next);
        }
        let mut groups: Vec<usize> = (0..ids.len()).collect();
        let spans = self.spans.iter();
        let of_span: HashMap<&str, usize> = spans
            .map(|(span, _)| (span.span_id.as_str(), ids[&span.trace_id]))
            .collect();
        for (span, _) in &self.spans {
            for link in &span.links {
                let Some(other) = of_span.get(link.span_id.as_str()) else {
                    continue;
                };
                let (one, other) = (groups[ids[&span.trace_id]], groups[*other]);
                if one != other {
                    let both = groups.iter_mut().filter(|group| **group == other);
                    both.for_each(|group| *group = one);
                }
            }
        }
        let mut requests: BTreeMap<usize, OtlpRequestSpans> = BTreeMap::new();
        for (span, lane) in self.spans {
            let group = groups[ids[&span.trace_id]];
            requests.entry(group).or_default().0.push((span, lane));
        }
        let mut requests: Vec<OtlpRequestSpans> = requests.into_values().collect();
        requests.sort_by_key(|it| it.0.iter().filter_map(|(span, _)| span.start()).min());
        requests
    }
}

/// The spans of a request, each with its lane.
#[derive(Default)]
struct OtlpRequestSpans(Vec<(OtlpSpan, String)>);

impl OtlpRequestSpans {
    /// Returns the name of the span without a parent that began first.
    fn root(&self) -> Option<&str> {
        let roots = self
            .0
            .iter()
            .filter(|(span, _)| span.parent_span_id.is_empty());
        let first = roots.min_by_key(|(span, _)| span.start())?;
        Some(&first.0.name)
    }

    /// Spans with links, those that they link to, and those beside them are a graph of tasks.
    fn drafts(&self) -> Vec<SpanDraft> {
        let known: BTreeMap<&str, &str> = self
            .0
            .iter()
            .map(|(span, _)| (span.span_id.as_str(), span.name.as_str()))
            .collect();
        let mut tasks: BTreeSet<&str> = BTreeSet::new();
        for (span, _) in &self.0 {
            for link in &span.links {
                if known.contains_key(link.span_id.as_str()) {
                    tasks.extend([span.span_id.as_str(), link.span_id.as_str()]);
                }
            }
        }
        let places = self.0.iter();
        let places = places.map(|(span, _)| [span.span_id.as_str(), span.parent_span_id.as_str()]);
        add_tasks_without_links(&mut tasks, &places.collect::<Vec<_>>());
        let task_name = |id: &str| Some(format!("{}:{id}", known.get(id)?));
        let draft_of = |(span, lane): &(OtlpSpan, String)| {
            let mut draft = if tasks.contains(span.span_id.as_str()) {
                let mut draft = SpanDraft::of(TASK, format!("{}:{}", span.name, span.span_id));
                let inputs = span.links.iter().filter_map(|it| task_name(&it.span_id));
                draft.inputs = Some(inputs.collect());
                draft.event("started", span.start());
                draft.event("computed", span.end());
                draft
            } else {
                let mut draft = SpanDraft::of(PLAIN, span.name.clone());
                draft.event("begin", span.start());
                draft.event("end", span.end());
                draft
            };
            draft.lane = Some(lane.clone());
            draft.clock = Some(WALL.to_owned());
            describe(&mut draft, span);
            draft
        };
        self.0.iter().map(draft_of).collect()
    }
}

/// Adds what a span has besides its times.
fn describe(draft: &mut SpanDraft, span: &OtlpSpan) {
    for event in &span.events {
        if let Some(time) = event.time() {
            draft.events.entry(event.name.clone()).or_insert(time);
        }
    }
    draft.attributes = object_of(span.attributes.clone());
    draft.attribute("span", Some(span.span_id.as_str()));
    let parent = Some(span.parent_span_id.as_str());
    draft.attribute("parent", parent.filter(|id| !id.is_empty()));
    if span.status.is_error() {
        draft.attribute("status", Some("error"));
        let message = Some(span.status.message.as_str());
        draft.attribute("error", message.filter(|it| !it.is_empty()));
    }
}

/// Returns where the spans of a resource ran: the host and the instance of the service.
fn lane_of(resource: &Object) -> String {
    let word = |keys: &[&str]| keys.iter().find_map(|key| resource.get(*key)).map(in_words);
    let worker = word(&["service.instance.id", "service.name", "process.pid"]);
    let worker = worker.unwrap_or_else(|| "unknown".to_owned());
    match word(&["host.name"]) {
        Some(host) => format!("{host}:{worker}"),
        None => worker,
    }
}

#[cfg(test)]
mod tests;
