//! asv's results: a file for each commit, environment and machine.

mod identity;
mod rows;
mod values;
mod wire;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::asv::identity::{distinct_id, identity};
use crate::asv::rows::{drafts, note_impossible};
use crate::asv::wire::{About, AsvDocument, about, first_start, possible, row};
use crate::shared::detect::{has_key, has_keys, has_own_key, is_object};
use crate::shared::intake::{Intake, RunDraft, SessionDraft};
use crate::shared::keys::{put, put_object, take_text};
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::{Format, ImportError, Source};
use lapwing_model::{Id, Object, Version};

pub(super) const FORMAT: Format = Format {
    companions: &["benchmarks.json", "machine.json"],
    keys: &["results", "commit_hash", "result_columns"],
    ..Format::new(
        "asv",
        "result directory of airspeed velocity (asv), or files in it",
        looks_like,
        read,
    )
};

/// The newest version of the format that is known.
const NEWEST: u64 = 2;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !is_object(head) || !has_own_key(head, "results") {
        return None;
    }
    if has_key(head, "result_columns") {
        return Some("it has `results` with `result_columns`");
    }
    has_keys(head, &["commit_hash", "requirements", "params"])
        .then_some("it has `results` with `commit_hash` and `requirements`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut wire: AsvDocument<'_> = document.parse()?;
    if let Some(version) = wire.version
        && version > NEWEST
    {
        return Err(document.wrong_document(format!(
            "version {version} of asv's results is newer than {NEWEST}, which this program reads"
        )));
    }
    let known = known_benchmarks(source)?;
    if known.is_empty() {
        sink.notes().left(
            "units, parameter names",
            "there is no benchmarks.json in the directory above",
        );
    }
    note_impossible("date", wire.date, sink.notes());
    let others = std::mem::take(&mut wire.others);
    sink.notes()
        .kept_all(others.keys(), "attributes of the session");
    let mut machine = wire.params.take().unwrap_or_default();
    let host = take_text(&mut machine, "machine");
    let session = SessionDraft {
        identity: identity(source, &wire, host.as_deref()),
        started: first_start(&document, &wire)
            .or(wire.date)
            .and_then(possible),
        attributes: others,
        ..SessionDraft::of("asv")
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let session = intake.session();
    let run = intake.run(new_run(&wire, machine))?;
    let mut twins: BTreeMap<Id, u64> = BTreeMap::new();
    // One row after another, since those with samples are large.
    for (name, raw) in &wire.results.0 {
        let name: &str = name;
        let spot = document.spot_of(raw.get());
        let drafts = row(&document, &wire, name, raw).and_then(|row| {
            let about = known.get(name);
            drafts(session, name, row, about, intake.notes())
                .map_err(|reason| document.wrong(raw, format!("`{name}`: {reason}")))
        });
        for mut draft in intake.good(drafts).into_iter().flatten() {
            draft.host.clone_from(&host);
            draft.id = draft.id.map(|id| distinct_id(id, &mut twins));
            intake.instance(spot, run, draft)?;
        }
    }
    intake.finish()
}

/// Reads `benchmarks.json` of the directory above, where there is one.
fn known_benchmarks(source: &Source) -> Result<BTreeMap<String, About>, ImportError> {
    let path = source
        .path()
        .and_then(Path::parent)
        .map(|machine| machine.join("../benchmarks.json"));
    match path {
        Some(path) if path.is_file() => {
            let folder = path.parent().unwrap_or(&path);
            about(&Document::of(&Source::open(&path, folder)?)?)
        }
        Some(_) | None => Ok(BTreeMap::new()),
    }
}

fn new_run(wire: &AsvDocument<'_>, mut environment: Object) -> RunDraft {
    environment.retain(|_, value| value.as_str() != Some(""));
    for (key, value) in [
        ("env_name", wire.env_name.clone().map(Value::from)),
        ("python", wire.python.clone()),
        ("requirements", wire.requirements.clone()),
        ("env_vars", wire.env_vars.clone().map(Value::from)),
    ] {
        let said = value.filter(|value| !value.is_null() && *value != json!({}));
        put(&mut environment, key, said);
    }
    let mut attributes = Object::new();
    put_object(
        &mut attributes,
        "durations",
        wire.durations.clone().unwrap_or_default(),
    );
    RunDraft {
        // asv varies environments on purpose: each has a history of its own.
        variant: wire.env_name.clone().filter(|it| !it.is_empty()),
        version: Version {
            commit: wire.commit_hash.clone().filter(|it| !it.is_empty()),
            date: wire.date.and_then(possible).map(|date| date.to_string()),
            ..Version::default()
        },
        environment,
        attributes,
        ..RunDraft::default()
    }
}

#[cfg(test)]
mod tests;
