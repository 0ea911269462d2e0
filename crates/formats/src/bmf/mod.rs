//! Bencher Metric Format: an object of benchmarks, each an object of measures.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::make_way;
use crate::shared::others::{Entries, others};
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{Number, is_no_number_word};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::Metric;

pub(super) const FORMAT: Format = Format::new("bmf", "Bencher Metric Format", looks_like, read);

/// The keys of a metric.
const KEYS: [&str; 3] = ["value", "lower_value", "upper_value"];

/// An object of objects of objects, of which the first begins with one of the keys.
fn looks_like(head: &[u8]) -> Option<&'static str> {
    let mut rest = head;
    for _level in 0..2 {
        rest = rest.trim_ascii_start().strip_prefix(b"{")?;
        let (_name, behind) = string(rest)?;
        rest = behind.trim_ascii_start().strip_prefix(b":")?;
    }
    rest = rest.trim_ascii_start().strip_prefix(b"{")?;
    let (key, _behind) = string(rest)?;
    KEYS.iter()
        .any(|known| known.as_bytes() == key)
        .then_some("it is an object of objects of `value`")
}

/// Returns the string that a text begins with, and what stands behind it.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some((&text[..at], &text[at + 1..])),
            b'\\' => at += 2,
            _other => at += 1,
        }
    }
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
    let Entries(benchmarks) = document.parse()?;
    let session = SessionDraft {
        // The format has no date: the file's is the nearest.
        tool: "Bencher Metric Format".to_owned(),
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    for (name, raw) in benchmarks {
        match instance_draft(&document, &name, raw, &mut intake) {
            Ok(draft) => intake.instance(document.spot_of(raw.get()), run, draft)?,
            Err(bad) => intake.bad(bad),
        }
    }
    intake.finish()
}

fn instance_draft(
    document: &Document,
    name: &str,
    raw: &RawValue,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<InstanceDraft, BadLine> {
    let mut draft = InstanceDraft::of(name.to_owned());
    let Entries(measures) = document.element(raw)?;
    for (measure, raw) in measures {
        let metric: BmfMetric = document.element(raw)?;
        let (name, unit) = quantity(&measure);
        if metric.value.known().is_none() {
            intake.notes().left(&measure, "it has no value");
            continue;
        }
        if metric.value.0 < 0.0 && unit.metric.unit == "s" {
            let reason = format!("`{measure}` of `{}` is negative", draft.benchmark.id);
            return Err(document.wrong(raw, reason));
        }
        let mut extra = others(document, raw, &KEYS)?;
        for (key, value) in &mut extra {
            // What is no number in a document is a word in ours, and none of JSON's.
            if value.as_str().is_some_and(is_no_number_word) {
                *value = Value::Null;
            }
            intake.notes().kept(key, "summary, as it is");
        }
        make_way(&mut extra, &["lower", "upper"]);
        // Nothing says what the bounds bound, nor that the value is between them.
        for (key, bound) in [("lower", metric.lower_value), ("upper", metric.upper_value)] {
            if let Some(bound) = bound.known() {
                extra.insert(key.to_owned(), Value::from(unit.base(bound)));
            }
        }
        draft.summarise(
            &unit,
            SummaryDraft {
                metric: name,
                centre: unit.base(metric.value.0),
                statistic: "value".to_owned(),
                extra,
                ..SummaryDraft::default()
            },
        );
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
