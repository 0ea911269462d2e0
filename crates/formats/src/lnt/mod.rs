//! LNT's report files, version 2: a machine, a run, and tests with values of several metrics.

use std::collections::BTreeMap;

use lapwing_model::{Better, Object, Version};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::detect::{has_keys, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::take_text;
use crate::shared::notes::Notes;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "lnt",
    "report files of LLVM's LNT (JSON, version 2)",
    looks_like,
    read,
);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (is_object(head) && has_keys(head, &["format_version", "machine", "run", "tests"]))
        .then_some("it has `format_version`, `machine`, `run` and `tests`")
}

#[derive(Debug, Deserialize)]
struct Report<'d> {
    machine: Object,
    run: Object,
    #[serde(borrow)]
    tests: Vec<&'d RawValue>,
}

#[derive(Debug, Deserialize)]
struct Test {
    name: String,
    #[serde(flatten)]
    metrics: BTreeMap<String, Value>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let Report {
        mut machine,
        run: mut about,
        tests,
    } = document.parse()?;
    let host = take_text(&mut machine, "name");
    let time = |key: &str| moment(about.get(key)?.as_str()?);
    let session = SessionDraft {
        started: time("start_time"),
        attributes: about.clone(),
        ..SessionDraft::of("LNT")
    };
    let mut intake = Intake::begin(source, document.sha256(), sink, session)?;
    let revision = take_text(&mut about, "llvm_project_revision");
    let is_hash = |text: &String| {
        (7..=40).contains(&text.len())
            && text.bytes().all(|it| it.is_ascii_hexdigit())
            && text.bytes().any(|it| it.is_ascii_alphabetic())
    };
    let (commit, name) = match revision {
        Some(text) if is_hash(&text) => (Some(text), None),
        other => (None, other),
    };
    let run = intake.run(RunDraft {
        version: Version {
            name,
            commit,
            ..Version::default()
        },
        environment: machine,
        ..RunDraft::default()
    })?;
    for raw in tests {
        let drafted = draft(&document, raw, intake.notes());
        let drafted = drafted.map(|draft| InstanceDraft {
            host: host.clone(),
            ..draft
        });
        intake.read_instance(document.spot_of(raw.get()), run, drafted)?;
    }
    intake.finish()
}

fn draft(document: &Document, raw: &RawValue, notes: &mut Notes) -> Result<InstanceDraft, BadLine> {
    let test: Test = document.element(raw)?;
    let mut draft = InstanceDraft::of(test.name);
    for (metric, value) in test.metrics {
        let values = match &value {
            Value::Number(_) => Some(vec![value.as_f64().unwrap_or(f64::NAN)]),
            Value::Array(list) => list.iter().map(Value::as_f64).collect(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => None,
        };
        let Some(mut values) = values else {
            notes.kept(&metric, "attributes of the instance");
            draft.attributes.insert(metric, value);
            continue;
        };
        let (name, unit) = metric_of(&metric);
        unit.base_column(&mut values);
        draft.iterations.count = draft.iterations.count.max(values.len());
        draft.metrics.insert(name.to_owned(), unit.metric.clone());
        draft.iterations.values.insert(name.to_owned(), values);
    }
    let count = draft.iterations.count;
    for column in draft.iterations.values.values_mut() {
        column.resize(count, f64::NAN);
    }
    Ok(draft)
}

/// Returns our name of a metric of LNT's own suites, and its unit; others stay as they are.
fn metric_of(name: &str) -> (&str, Unit) {
    match name {
        "execution_time" | "exec" | "exec_time" => ("wall_time", Unit::named("s")),
        "compile_time" | "compile" => ("compile_time", Unit::named("s")),
        "score" => (name, Unit::named("").with_better(Some(Better::Higher))),
        "mem_bytes" | "code_size" | "size" => (name, Unit::named("B")),
        other => (other, Unit::named("")),
    }
}

#[cfg(test)]
mod tests;
