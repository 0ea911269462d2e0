//! Conbench's benchmark results, as they are sent to it and as it gives them back.

mod comparison;
mod stats;
mod wire;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::conbench::comparison::take_comparison;
use crate::conbench::stats::put_stats;
use crate::conbench::wire::{Element, Posted, elements};
use crate::shared::detect::{has_key, has_keys, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::{choices, in_words, put, put_object, take_text, with_choices};
use crate::shared::notes::Notes;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::{moment, moment_of};
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Benchmark, InstanceOutcome, Object, Version};

pub(super) const FORMAT: Format = Format::new(
    "conbench",
    "Conbench benchmark results, as posted to or returned by its API",
    looks_like,
    read,
)
.with_keys(&["batch_id", "run_id", "tags", "stats"]);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let mut kinds = ["stats", "error", "baseline"].iter();
    ((is_object(head) || head.trim_ascii_start().starts_with(b"["))
        && has_keys(head, &["batch_id", "run_id", "tags"])
        && kinds.any(|key| has_key(head, key)))
    .then_some("it has `batch_id`, `run_id` and `tags`")
}

/// Says where a result is to be had again.
const LINKS: [&str; 2] = ["links", "history_fingerprint"];

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let (elements, about_page) = elements(&document)?;
    for (key, value) in &about_page {
        match value.as_object().filter(|_| key == "metadata") {
            None => sink.notes().kept(key, "attributes of the session"),
            Some(metadata) => {
                sink.notes().kept_all(
                    metadata.keys(),
                    "attributes of the session, under `metadata`",
                );
            }
        }
    }
    let session = SessionDraft {
        started: elements
            .iter()
            .filter_map(|raw| began(&document, raw))
            .min(),
        attributes: about_page,
        ..SessionDraft::of("conbench")
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    for raw in elements {
        match intake.good(document.element::<Element>(raw)) {
            Some(element) if element.baseline.is_some() || element.contender.is_some() => {
                take_comparison(&document, raw, &mut intake)?;
            }
            Some(_) => {
                let result = result(&document, raw, intake.notes());
                if let Some((run, draft)) = intake.good(result) {
                    let run = intake.run(run)?;
                    intake.instance(document.spot_of(raw.get()), run, draft)?;
                }
            }
            None => {}
        }
    }
    intake.finish()
}

#[derive(Deserialize)]
struct Began {
    timestamp: Option<String>,
}

fn began(document: &Document, raw: &RawValue) -> Option<Timestamp> {
    let began: Began = document.element(raw).ok()?;
    moment(began.timestamp?.as_str())
}

fn result(
    document: &Document,
    raw: &RawValue,
    notes: &mut Notes,
) -> Result<(RunDraft, InstanceDraft), BadLine> {
    let mut wire: Posted = document.element(raw)?;
    let started = moment_of("timestamp", wire.timestamp.as_deref())
        .map_err(|reason| document.wrong(raw, reason))?;
    let (host, run) = new_run(&mut wire, notes);
    let benchmark = benchmark(wire.tags).map_err(|reason| document.wrong(raw, reason))?;
    for key in wire.others.keys().filter(|key| key.as_str() != "id") {
        if !LINKS.contains(&key.as_str()) {
            notes.kept(key, "attributes of the instance");
        }
    }
    let mut attributes = wire.others;
    for key in LINKS {
        if attributes.remove(key).is_some() {
            notes.left(key, "they are addresses within Conbench");
        }
    }
    attributes.retain(|_, value| !value.is_null());
    for (key, content) in [
        ("validation", wire.validation),
        ("optional_benchmark_info", wire.optional_benchmark_info),
        ("change_annotations", wire.change_annotations),
    ] {
        put_object(&mut attributes, key, content.unwrap_or_default());
    }
    let mut environment = Object::new();
    put_object(&mut environment, "info", without_links(wire.info));
    put_object(&mut environment, "context", without_links(wire.context));
    let mut draft = InstanceDraft {
        benchmark,
        host,
        started,
        environment,
        job: job(wire.run_id, wire.batch_id),
        attributes,
        ..InstanceDraft::default()
    };
    put_error(&mut draft, wire.error);
    match wire.stats {
        Some(stats) => {
            put_stats(&mut draft, stats, notes).map_err(|reason| document.wrong(raw, reason))?;
        }
        None if draft.outcome == InstanceOutcome::Failed => {}
        None => return Err(document.wrong(raw, "it has neither `stats` nor `error`")),
    }
    Ok((run, draft))
}

/// Context and info as the server gives them carry its own names for them.
fn without_links(content: Option<Object>) -> Object {
    let mut content = content.unwrap_or_default();
    content.remove("links");
    content
}

/// Returns the names that Conbench has for the execution.
pub(super) fn job(run_id: Option<String>, batch_id: Option<String>) -> Object {
    let mut job = Object::new();
    put(&mut job, "run_id", run_id);
    put(&mut job, "batch_id", batch_id);
    job
}

/// Returns the machine's name and the run that a result belongs to: one for each run id,
/// commit and machine.
fn new_run(wire: &mut Posted, notes: &mut Notes) -> (Option<String>, RunDraft) {
    let mut machine = wire
        .machine_info
        .take()
        .or_else(|| wire.cluster_info.take())
        .or_else(|| wire.hardware.take())
        .unwrap_or_default();
    machine.remove("links");
    let github = wire.github.take().unwrap_or_default();
    let mut commit = wire.commit.take().unwrap_or_default();
    commit.remove("links");
    let key = json!([wire.run_id, wire.run_tags, github, commit, machine]).to_string();
    let host = take_text(&mut machine, "name");
    let mut attributes = Object::new();
    put(&mut attributes, "run_id", wire.run_id.clone());
    put(&mut attributes, "run_name", wire.run_name.clone());
    put(&mut attributes, "run_reason", wire.run_reason.clone());
    let run_tags = wire.run_tags.take().unwrap_or_default();
    put_object(&mut attributes, "run_tags", run_tags);
    let version = version(github, commit, &mut attributes);
    if attributes.contains_key("commit") {
        notes.kept("commit", "attributes of the run");
    }
    let run = RunDraft {
        key,
        version,
        environment: machine,
        attributes,
        ..RunDraft::default()
    };
    (host, run)
}

/// The commit as it was sent (`github`) or as the server knows it (`commit`).
fn version(mut github: Object, mut commit: Object, attributes: &mut Object) -> Version {
    let sent = take_text(&mut github, "commit");
    let branch = take_text(&mut github, "branch");
    let date = take_text(&mut commit, "timestamp");
    let version = Version {
        commit: take_text(&mut commit, "sha").or(sent),
        branch: take_text(&mut commit, "branch").or(branch),
        // Without an offset it is UTC.
        date: date.map(|text| moment(&text).map_or(text, |time| time.to_string())),
        ..Version::default()
    };
    github.retain(|_, value| !value.is_null());
    commit.retain(|_, value| !value.is_null());
    put_object(attributes, "github", github);
    put_object(attributes, "commit", commit);
    version
}

/// A benchmark is its name with all its tags, which together are Conbench's case.
pub(super) fn benchmark(tags: Option<Object>) -> Result<Benchmark, String> {
    let mut params = tags.unwrap_or_default();
    // The server adds its id of the case.
    params.remove("id");
    let Some(name) = take_text(&mut params, "name") else {
        return Err("`tags.name` is missing".to_owned());
    };
    Ok(Benchmark {
        id: with_choices(&name, &choices(&params)),
        params,
        ..Benchmark::default()
    })
}

/// Says of an instance why it failed, where it did.
pub(super) fn put_error(draft: &mut InstanceDraft, error: Option<Value>) {
    let Some(error) = error.filter(|it| !it.is_null() && *it != json!({})) else {
        return;
    };
    let message = ["message", "stack_trace", "stderr"]
        .iter()
        .find_map(|key| error.get(key)?.as_str().map(str::to_owned))
        .unwrap_or_else(|| in_words(&error));
    draft.outcome = InstanceOutcome::Failed;
    draft.message = Some(message);
    if error.is_object() {
        draft.attributes.insert("error".to_owned(), error);
    }
}

#[cfg(test)]
mod tests;
