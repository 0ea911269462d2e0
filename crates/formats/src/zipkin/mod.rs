//! Spans of Zipkin in JSON, version 2 of its API: a list of them, or a list of traces.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shared::detect::{first_line, has_keys};
use crate::shared::intake::SessionDraft;
use crate::shared::reading::document::Document;
use crate::shared::requests::requests;
use crate::shared::sink::Sink;
use crate::shared::spans::{PLAIN, SpanDraft, WALL, take_traces, timestamp_of};
use crate::{Format, ImportError, Source};
use lapwing_model::Object;

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new("zipkin", "Zipkin spans (JSON, version 2)", looks_like, read).with_keys(&[
        "traceId",
        "id",
        "localEndpoint",
    ])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_list = first_line(head).starts_with(b"[");
    (is_list && has_keys(head, &["traceId", "id", "localEndpoint"]))
        .then_some("it is a list of objects with `traceId`, `id` and `localEndpoint`")
}

/// Times are microseconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ZipkinSpan {
    trace_id: String,
    id: String,
    parent_id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: String,
    timestamp: i64,
    duration: Option<i64>,
    #[serde(default)]
    local_endpoint: Endpoint,
    remote_endpoint: Option<Endpoint>,
    #[serde(default)]
    annotations: Vec<Annotation>,
    #[serde(default)]
    tags: Object,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Endpoint {
    service_name: Option<String>,
    ipv4: Option<String>,
    ipv6: Option<String>,
}

#[derive(Deserialize)]
struct Annotation {
    timestamp: i64,
    value: String,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut spans: Vec<ZipkinSpan> = Vec::new();
    for raw in document.parse::<Vec<&RawValue>>()? {
        let of_trace = if raw.get().starts_with('[') {
            document.element::<Vec<&RawValue>>(raw)
        } else {
            Ok(vec![raw])
        };
        let of_trace = match of_trace {
            Ok(of_trace) => of_trace,
            Err(bad) => {
                sink.bad(bad);
                continue;
            }
        };
        for raw in of_trace {
            match document.element::<ZipkinSpan>(raw) {
                Ok(span) if span.begin().and(span.end()).is_none() => {
                    let reason = format!("the times of span `{}` are out of range", span.id);
                    sink.bad(document.wrong(raw, reason));
                }
                Ok(span) => spans.push(span),
                Err(bad) => sink.bad(bad),
            }
        }
    }
    // Client and server of a call share its id.
    let of_kind = |kind: &str| -> BTreeSet<(String, String)> {
        let spans = spans.iter().filter(|span| span.kind == kind);
        spans
            .map(|span| (span.trace_id.clone(), span.id.clone()))
            .collect()
    };
    let (clients, servers) = (of_kind("CLIENT"), of_kind("SERVER"));
    let is_shared = |key: &(String, String)| clients.contains(key) && servers.contains(key);
    let served = spans.iter().filter(|span| span.kind == "SERVER");
    let served: BTreeSet<(String, String, String)> = served
        .map(|span| (span.trace_id.clone(), span.id.clone(), span.lane()))
        .collect();
    let session = SessionDraft {
        started: (spans.iter().filter_map(ZipkinSpan::begin).min()).and_then(timestamp_of),
        ..SessionDraft::of("Zipkin")
    };
    let known = spans.iter().filter_map(|span| {
        let service = span.local_endpoint.service_name.as_ref()?;
        Some(((span.parent_id.is_some(), span.timestamp), service))
    });
    let first = known.min_by_key(|(place, _)| *place);
    let service = first.map(|(_, service)| service.clone());
    let drafts = spans.into_iter().map(|span| {
        let lane = span.lane();
        let id = (span.trace_id.clone(), span.id.clone());
        let is_server = span.kind == "SERVER" && is_shared(&id);
        let (own, parent) = if is_server {
            (server(&span.id), Some(span.id.clone()))
        } else {
            // What a server calls is a child of its side of the call.
            let parent = span.parent_id.clone().map(|parent| {
                let key = (span.trace_id.clone(), parent.clone());
                let there = (span.trace_id.clone(), parent.clone(), lane.clone());
                let is_there = is_shared(&key) && served.contains(&there);
                if is_there { server(&parent) } else { parent }
            });
            (span.id.clone(), parent)
        };
        (span.trace_id.clone(), span.draft(lane, &own, parent))
    });
    let traces = requests(service.as_deref(), drafts.collect());
    take_traces(source, document.sha256(), sink, session, traces)
}

/// Returns the id of the server's side of a call.
fn server(id: &str) -> String {
    format!("{id}/server")
}

impl ZipkinSpan {
    fn begin(&self) -> Option<i64> {
        self.timestamp.checked_mul(1_000)
    }

    /// Returns its end, which is its beginning where it has none.
    fn end(&self) -> Option<i64> {
        let end = self.timestamp.checked_add(self.duration.unwrap_or(0))?;
        end.checked_mul(1_000)
    }

    /// Returns where it ran: the address of the host and the service.
    fn lane(&self) -> String {
        let endpoint = &self.local_endpoint;
        let service = endpoint.service_name.as_deref().unwrap_or("unknown");
        match endpoint.ipv4.as_ref().or(endpoint.ipv6.as_ref()) {
            Some(host) => format!("{host}:{service}"),
            None => service.to_owned(),
        }
    }

    fn draft(self, lane: String, id: &str, parent: Option<String>) -> SpanDraft {
        let mut draft = SpanDraft::of(PLAIN, self.name.clone());
        draft.event("begin", self.begin());
        draft.event("end", self.duration.and_then(|_| self.end()));
        for it in &self.annotations {
            let time = it.timestamp.saturating_mul(1_000);
            draft.events.entry(it.value.clone()).or_insert(time);
        }
        draft.lane = Some(lane);
        draft.clock = Some(WALL.to_owned());
        draft.attributes = self.tags;
        draft.attribute("span", Some(id));
        draft.attribute("parent", parent);
        draft.attribute("kind", Some(self.kind).filter(|it| !it.is_empty()));
        let remote = self.remote_endpoint.and_then(|it| it.service_name);
        draft.attribute("remote_service", remote);
        draft
    }
}

#[cfg(test)]
mod tests;
