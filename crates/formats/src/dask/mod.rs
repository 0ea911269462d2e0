//! Dask's task stream: saved as JSON, or in the page of a performance report.

mod report;
mod stream;

use std::collections::BTreeMap;

use crate::dask::report::report_tasks;
use crate::dask::stream::stream_tasks;
use crate::shared::detect::{first_line, has_keys};
use crate::shared::intake::SessionDraft;
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::shared::spans::{
    PLAIN, SpanDraft, TASK, TRANSFER, WALL, take_trace, timestamp_of, traced,
};
use crate::{Format, ImportError, Source};
use lapwing_model::Object;
use memchr::memmem;
use serde_json::Value;

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "dask",
        "Dask's task stream (JSON) or performance report (HTML)",
        looks_like,
        read,
    )
    .with_keys(&["startstops", "worker", "key"])
};

const TITLE: &[u8] = b"<title>Dask Performance Report</title>";

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if memmem::find(head, TITLE).is_some() {
        return Some("its title is `Dask Performance Report`");
    }
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    // Versions of before 2020 leave Bokeh its own title.
    if first_line(head).starts_with(b"<") && has("bokeh") && (has("worker_thread") || has("Dask")) {
        return Some("it is a page of Bokeh's with plots of Dask");
    }
    (first_line(head).starts_with(b"[") && has_keys(head, &["startstops", "worker", "key"]))
        .then_some("it is a list of objects with `startstops`")
}

/// An execution of a task, with what belongs to it.
#[derive(Debug, Default)]
struct DaskTask {
    name: String,
    class: String,
    worker: String,
    thread: String,
    pieces: Vec<DaskPiece>,
    attributes: Object,
}

/// Something that a worker did for a task; times in nanoseconds since 1970.
#[derive(Debug)]
struct DaskPiece {
    action: String,
    start: i64,
    stop: i64,
    source: Option<String>,
}

const COMPUTE: &str = "compute";

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let is_page = document.text().trim_start().starts_with('<');
    let (tool, tasks) = if is_page {
        report_tasks(&document)?
    } else {
        ("distributed".to_owned(), stream_tasks(&document, sink)?)
    };
    let spans = spans_of(tasks);
    let first = spans.iter().filter_map(|it| it.events.values().min()).min();
    let session = SessionDraft {
        started: first.copied().and_then(timestamp_of),
        tool,
        ..SessionDraft::default()
    };
    let trace = traced("task stream", None, spans);
    take_trace(source, document.sha256(), sink, session, trace, 1)
}

fn spans_of(tasks: Vec<DaskTask>) -> Vec<SpanDraft> {
    let lanes = lanes_of(&tasks);
    let mut spans = Vec::with_capacity(tasks.len());
    for task in tasks {
        let lane = lanes.get(&(task.worker.clone(), task.thread.clone()));
        let mut others = Vec::new();
        let mut span = SpanDraft::of(TASK, task.name);
        for piece in task.pieces {
            let (start, stop) = (Some(piece.start), Some(piece.stop));
            match piece.action.as_str() {
                COMPUTE => {
                    // A task that is deserialised first has started before it is computed.
                    if span.events.contains_key("started") {
                        span.event("loaded", start);
                    } else {
                        span.event("started", start);
                    }
                    span.event("computed", stop);
                }
                "transfer" => {
                    let name = format!("inputs of {}", span.name);
                    let mut other = SpanDraft::of(TRANSFER, name);
                    other.attribute("mode", Some("remote"));
                    other.attribute("source", piece.source.as_deref().map(without_scheme));
                    other.event("started", start);
                    other.event("completed", stop);
                    others.push(other);
                }
                action => {
                    if action == "deserialize" {
                        span.event("started", start);
                    }
                    let mut other = SpanDraft::of(PLAIN, action);
                    other.event("begin", start);
                    other.event("end", stop);
                    others.push(other);
                }
            }
        }
        for other in &mut others {
            other.attribute("task", Some(span.name.as_str()));
        }
        span.attributes = task.attributes;
        span.attribute("class", Some(task.class));
        for mut span in std::iter::once(span).chain(others) {
            span.lane = lane.cloned();
            span.clock = Some(WALL.to_owned());
            spans.push(span);
        }
    }
    spans
}

/// Returns the lane of each worker's thread: a worker of several threads has several, numbered
/// by their first task.
fn lanes_of(tasks: &[DaskTask]) -> BTreeMap<(String, String), String> {
    let mut threads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for task in tasks {
        let known = threads.entry(&task.worker).or_default();
        if !known.contains(&task.thread.as_str()) {
            known.push(&task.thread);
        }
    }
    let mut lanes = BTreeMap::new();
    for (worker, threads) in threads {
        let is_alone = threads.len() == 1;
        for (number, thread) in threads.into_iter().enumerate() {
            let name = without_scheme(worker);
            let lane = if is_alone {
                name.to_owned()
            } else {
                format!("{name}/{number}")
            };
            lanes.insert((worker.to_owned(), thread.to_owned()), lane);
        }
    }
    lanes
}

fn without_scheme(address: &str) -> &str {
    address.split_once("://").map_or(address, |it| it.1)
}

/// Returns a key as Dask shows it: JSON has lists where Python has tuples.
fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(element_text).collect();
            match parts.as_slice() {
                [only] => format!("({only},)"),
                several => format!("({})", several.join(", ")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => key.to_string(),
    }
}

fn element_text(part: &Value) -> String {
    match part {
        Value::String(text) => format!("'{text}'"),
        other => key_text(other),
    }
}

/// Returns the class of a task, as Dask's `key_split` tells it: the words of the key before the
/// first that is a number or a digest.
fn class_of(key: &str) -> String {
    let name = key.strip_prefix("('").map_or(key, |rest| {
        rest.split_once('\'').map_or(rest, |(name, _)| name)
    });
    let is_digest = |word: &str| {
        word.len() == 8
            && word
                .bytes()
                .all(|it| matches!(it, b'a'..=b'f' | b'0'..=b'9'))
    };
    let mut words = name.split('-');
    let mut class = words.next().unwrap_or_default().to_owned();
    for word in words {
        if !word.chars().all(char::is_alphabetic) || word.is_empty() || is_digest(word) {
            break;
        }
        class.push('-');
        class.push_str(word);
    }
    if class.len() == 32 && class.bytes().all(|it| it.is_ascii_hexdigit()) {
        return "data".to_owned();
    }
    class
}

#[cfg(test)]
mod tests;
