//! cargo-criterion's `--message-format=json`: a line for each benchmark.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::criterion::wire::{Samples, Work, measure};
use crate::shared::detect::{first_line, has_key};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::put_object;
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::number::column;
use crate::shared::reason::reason;
use crate::shared::sink::Sink;
use crate::{BadLine, ImportError, Source};
use lapwing_model::Object;

/// Returns whether a text begins with such messages.
pub(super) fn are_messages(head: &[u8]) -> bool {
    let line = first_line(head);
    line.starts_with(b"{") && has_key(line, "reason") && has_key(head, "measured_values")
}

/// A message; those that are no measurement have the reason only.
#[derive(Deserialize)]
struct Message {
    reason: String,
    id: Option<String>,
    #[serde(default, deserialize_with = "column")]
    iteration_count: Vec<f64>,
    #[serde(default, deserialize_with = "column")]
    measured_values: Vec<f64>,
    unit: Option<String>,
    #[serde(default)]
    throughput: Vec<Throughput>,
    #[serde(flatten)]
    others: Object,
}

#[derive(Deserialize)]
struct Throughput {
    per_iteration: f64,
    unit: String,
    #[serde(flatten)]
    others: Object,
}

/// Keys that follow from the samples.
const DERIVED: [&str; 7] = [
    "typical",
    "mean",
    "median",
    "median_abs_dev",
    "slope",
    "std_dev",
    "change",
];

pub(super) fn read_messages(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let session = SessionDraft::of("cargo-criterion");
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let mut lines = Lines::of(source)?;
    while let Some((line, text)) = lines.next()? {
        let read = match text {
            Line::Bad(reason) => Err(reason),
            Line::Text(text) => serde_json::from_str::<Message>(text)
                .map_err(|error| reason(text, &error))
                .and_then(|message| {
                    // The end of a group names its benchmarks.
                    let group = message.others.get("benchmarks").and_then(Value::as_array);
                    for name in group.into_iter().flatten().filter_map(Value::as_str) {
                        let why = "it has no message of its own";
                        intake.found().without_result(name, line, why);
                    }
                    draft(message, intake.notes())
                }),
        };
        let read = read.map_err(|reason| BadLine::new(line, reason));
        if let Some(draft) = intake.good(read).flatten() {
            intake.instance(line, run, draft)?;
        }
    }
    intake.finish()
}

fn draft(message: Message, notes: &mut Notes) -> Result<Option<InstanceDraft>, String> {
    if message.reason != "benchmark-complete" {
        notes.left(&message.reason, "these messages hold no measurement");
        return Ok(None);
    }
    let id = message.id.ok_or("`id` is missing")?;
    let samples = Samples::checked(None, &message.iteration_count, message.measured_values)?;
    if samples.is_empty() {
        return Err("there is no sample".to_owned());
    }
    let mut draft = InstanceDraft::of(id);
    for (key, value) in message.others {
        if DERIVED.contains(&key.as_str()) {
            notes.left(&key, FOLLOWS);
        } else {
            notes.kept(&key, "attributes of the instance");
            draft.attributes.insert(key, value);
        }
    }
    let mut work = Work::new();
    let mut unknown = Object::new();
    for throughput in message.throughput {
        let place = "attributes of the instance, under `throughput`";
        notes.kept_all(throughput.others.keys(), place);
        unknown.extend(throughput.others);
        let mut known = ["bytes", "elements", "bits"].into_iter();
        match known.find(|name| *name == throughput.unit) {
            Some(name) if throughput.per_iteration > 0.0 => {
                work.insert(name, throughput.per_iteration);
            }
            Some(_) | None => {
                unknown.insert(throughput.unit, json!(throughput.per_iteration));
            }
        }
    }
    put_object(&mut draft.attributes, "throughput", unknown);
    let unit = message.unit.as_deref().unwrap_or("ns");
    measure(samples, unit, &work, &mut draft);
    Ok(Some(draft))
}
