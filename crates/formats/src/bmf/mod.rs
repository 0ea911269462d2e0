//! Bencher Metric Format: an object of benchmarks, each an object of measures, or in version 1 an array with one such
//! object for each combination of parameters.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::detect::{end_of_string, has_own_key};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::{choices, make_way, put, with_choices};
use crate::shared::notes::Notes;
use crate::shared::others::{Entries, others};
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{Number, is_no_number_word};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Metric, Object};

pub(super) const FORMAT: Format = Format::new("bmf", "Bencher Metric Format", looks_like, read);

/// The keys of a metric.
const KEYS: [&str; 3] = ["value", "lower_value", "upper_value"];

/// The keys of a result in version 1.
const PARAMETERS: &str = "parameters";
const MEASURES: &str = "measures";

/// An object of objects of objects, of which the first begins with one of the keys; in version 1 an object of arrays.
fn looks_like(head: &[u8]) -> Option<&'static str> {
    let mut rest = value_of_first(head)?;
    if let Some(first) = rest.trim_ascii_start().strip_prefix(b"[") {
        return [PARAMETERS, MEASURES]
            .iter()
            .all(|key| has_own_key(first, key))
            .then_some("it is an object of arrays of `parameters` and `measures`");
    }
    rest = value_of_first(rest)?;
    rest = rest.trim_ascii_start().strip_prefix(b"{")?;
    let (key, _behind) = string(rest)?;
    KEYS.iter()
        .any(|known| known.as_bytes() == key)
        .then_some("it is an object of objects of `value`")
}

/// Returns the text from the first value on of the object that a text begins with.
fn value_of_first(text: &[u8]) -> Option<&[u8]> {
    let rest = text.trim_ascii_start().strip_prefix(b"{")?;
    let (_name, behind) = string(rest)?;
    behind.trim_ascii_start().strip_prefix(b":")
}

/// Returns the string that a text begins with, and what stands behind it.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let end = end_of_string(text, 0)?;
    Some((&text[..end], &text[end + 1..]))
}

/// One metric of one benchmark.
#[derive(Deserialize)]
struct BmfMetric {
    value: Number,
    #[serde(default)]
    lower_value: Number,
    #[serde(default)]
    upper_value: Number,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let benchmarks: Entries<'_> = document.parse()?;
    // The format has no date: the file's is the nearest.
    let session = SessionDraft::of("Bencher Metric Format");
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    for (name, raw) in benchmarks.0 {
        if !raw.get().starts_with('[') {
            let draft = instance_draft(&document, &name, raw, intake.notes());
            let draft = draft.map_err(|bad| bad.of(&*name));
            intake.read_instance(document.spot_of(raw.get()), run, draft)?;
            continue;
        }
        let results: Vec<&RawValue> = intake.good(document.element(raw)).unwrap_or_default();
        if results.is_empty() {
            let spot = document.spot_of(raw.get());
            intake
                .found()
                .without_result(&name, spot, "its list is empty");
        }
        for raw in results {
            let draft = versioned_draft(&document, &name, raw, intake.notes());
            let draft = draft.map_err(|bad| bad.of(&*name));
            intake.read_instance(document.spot_of(raw.get()), run, draft)?;
        }
    }
    intake.finish()
}

/// A result in version 1.
#[derive(Deserialize)]
struct BmfResult<'d> {
    #[serde(default)]
    parameters: Object,
    #[serde(borrow)]
    measures: &'d RawValue,
}

fn versioned_draft(
    document: &Document,
    name: &str,
    raw: &RawValue,
    notes: &mut Notes,
) -> Result<InstanceDraft, BadLine> {
    let result: BmfResult<'_> = document.element(raw)?;
    let name = with_choices(name, &choices(&result.parameters));
    let mut draft = instance_draft(document, &name, result.measures, notes)?;
    draft.benchmark.params = result.parameters;
    draft.attributes = others(document, raw, &[PARAMETERS, MEASURES])?;
    notes.kept_all(draft.attributes.keys(), "attributes of the instance");
    Ok(draft)
}

fn instance_draft(
    document: &Document,
    name: &str,
    raw: &RawValue,
    notes: &mut Notes,
) -> Result<InstanceDraft, BadLine> {
    let mut draft = InstanceDraft::of(name);
    let measures: Entries<'_> = document.element(raw)?;
    for (measure, raw) in measures.0 {
        let metric: BmfMetric = document.element(raw)?;
        let (metric_name, unit) = quantity(&measure);
        if metric.value.known().is_none() {
            notes.left(&measure, "it has no value");
            continue;
        }
        if metric.value.0 < 0.0 && unit.metric.unit == "s" {
            let reason = format!("`{}` of `{name}` is negative", &*measure);
            return Err(document.wrong(raw, reason));
        }
        let mut extra = others(document, raw, &KEYS)?;
        for (key, value) in &mut extra {
            // What is no number in a document is a word in ours, and none of JSON's.
            if value.as_str().is_some_and(is_no_number_word) {
                *value = Value::Null;
            }
            notes.kept(key, "summary, as it is");
        }
        make_way(&mut extra, &["lower", "upper"]);
        // Nothing says what the bounds bound, nor that the value is between them.
        for (key, bound) in [("lower", metric.lower_value), ("upper", metric.upper_value)] {
            put(&mut extra, key, bound.known().map(|bound| unit.base(bound)));
        }
        let summary = SummaryDraft::of(&metric_name, unit.base(metric.value.0), "value");
        draft.summarise(&unit, SummaryDraft { extra, ..summary });
    }
    Ok(draft)
}

/// Returns what a measure counts. The format has no units; these are the measures that
/// Bencher makes itself, by their names or slugs. The unit of any other is not known.
fn quantity(measure: &str) -> (String, Unit) {
    let slug = measure.to_ascii_lowercase().replace(' ', "-");
    let (name, unit) = match slug.as_str() {
        "latency" => ("wall_time", Unit::named("ns")),
        "throughput" => ("throughput", Unit::named("ops/s")),
        "build-time" => ("build-time", Unit::named("s")),
        "file-size" => ("file-size", Unit::named("B")),
        _other => {
            let mut unit = Unit::named("");
            unit.metric = Metric::undirected("");
            (measure, unit)
        }
    };
    (name.to_owned(), unit)
}

#[cfg(test)]
mod tests;
