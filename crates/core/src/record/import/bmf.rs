//! Bencher Metric Format: an object of benchmarks, each an object of measures.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::document::Document;
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::keys::make_way;
use super::number::{Number, is_no_number_word};
use super::others::{Entries, others};
use super::sink::Sink;
use super::units::Unit;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Metric};

pub(super) const FORMAT: Format = Format {
    name: "bmf",
    about: "Bencher Metric Format",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

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

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let Entries(benchmarks) = document.parse()?;
    let session = SessionDraft {
        // The format has no date: the file's is the nearest.
        tool: "Bencher Metric Format".to_owned(),
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
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
    let mut draft = InstanceDraft {
        benchmark: Benchmark {
            id: name.to_owned(),
            ..Benchmark::default()
        },
        ..InstanceDraft::default()
    };
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
        draft.metrics.insert(name.clone(), unit.metric.clone());
        draft.summaries.push(SummaryDraft {
            metric: name,
            centre: unit.base(metric.value.0),
            statistic: "value".to_owned(),
            extra,
            ..SummaryDraft::default()
        });
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
mod tests {
    use super::super::testing::{imported, read_text, refusal, refusal_of, shown};
    use super::*;

    #[test]
    fn measures_are_summaries_without_a_spread() {
        insta::assert_snapshot!(shown(&imported("bmf/results.json")), @r##"
        bmf because it is an object of objects of `value`
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"results","attributes":{"source":{"file":"results.json","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"#2":{"unit":""},"allocations":{"unit":""},"build-time":{"unit":"s","better":"lower"},"file-size":{"unit":"B","better":"lower"},"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"demo::sort"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":1.25e-6,"statistic":"value","lower":1.2e-6,"upper":1.31e-6}
        {"v":1,"kind":"summary","instance":"#3","metric":"throughput","centre":800000.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"demo::hash/size=64"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":8.8205e-8,"statistic":"value","lower":8.771e-8,"upper":8.771e-8}
        {"v":1,"kind":"summary","instance":"#4","metric":"allocations","centre":12.0,"statistic":"value","upper":14.0}
        {"v":1,"kind":"summary","instance":"#4","metric":"#2","centre":3.5,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"target/release/demo"},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"summary","instance":"#5","metric":"build-time","centre":87.0,"statistic":"value"}
        {"v":1,"kind":"summary","instance":"#5","metric":"file-size","centre":1048576.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        "##);
    }

    #[test]
    fn what_is_not_known_is_kept_and_what_is_missing_is_said() {
        insta::assert_snapshot!(shown(&imported("bmf/unknown-keys.json")), @r##"
        bmf because it is an object of objects of `value`
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"unknown-keys","attributes":{"source":{"file":"unknown-keys.json","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"demo::sort"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":1.25e-6,"statistic":"value","p99_value":1400.0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        left, as it has no value: accuracy
        kept in summary, as it is: p99_value
        "##);
    }

    #[test]
    fn keys_that_a_record_has_already_make_way() {
        let text =
            r#"{"a": {"b": {"value": 1, "lower_value": 2, "lower": 3, "n": 4, "n_": 5, "v": 6}}}"#;
        insta::assert_snapshot!(shown(&read_text("bmf", text)), @r##"
        bmf because it was said
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"made-up","attributes":{"source":{"file":"made-up","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"b":{"unit":""}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"b","centre":1.0,"statistic":"value","lower":2.0,"lower_":3,"n_":5,"n__":4,"v_":6}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        kept in summary, as it is: lower, n, n_, v
        "##);
    }

    #[test]
    fn only_an_object_of_objects_of_values_looks_like_it() {
        assert!(looks_like(br#" { "a \" b": {"c": {"upper_value": 1"#).is_some());
        assert_eq!(looks_like(br#"{"a": {"value": 1}}"#), None);
        assert_eq!(looks_like(br#"{"a": {"b": {"mean": 1}}}"#), None);
        assert_eq!(looks_like(br#"[{"a": {"value": 1}}]"#), None);
        assert_eq!(looks_like(br#"{"a"#), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("bmf/truncated.json"), @"truncated.json:7: the JSON is cut off");
        insta::assert_snapshot!(refusal("bmf/wrong.json"), @r#"wrong.json:7: `value`: invalid type: string "fast", expected a number"#);
        insta::assert_snapshot!(refusal("bmf/negative.json"), @"negative.json:7: `latency` of `demo::hash/size=64` is negative");
        insta::assert_snapshot!(refusal_of("bmf", r#"{"a": {"b": {}}}"#), @"made-up:1: `value` is missing");
        insta::assert_snapshot!(refusal_of("bmf", r#"{"a": [1]}"#), @"made-up:1: invalid type: sequence, expected an object");
        insta::assert_snapshot!(refusal_of("bmf", "{}"), @"made-up holds no results");
    }
}
