//! Gungraun's summaries (before: iai-callgrind's): counts of instructions and the like of one run under Valgrind.

use lapwing_model::{Better, MetricName};
use lapwing_record::IterationColumns;
use serde_json::{Deserializer, Value};

use crate::shared::detect::{has_keys, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::put;
use crate::shared::notes::Notes;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "gungraun",
    "summaries of Gungraun or iai-callgrind (JSON)",
    looks_like,
    read,
);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_summary = is_object(head) && has_keys(head, &["module_path", "function_name"]);
    let has_counts = has_keys(head, &["profiles"]) || has_keys(head, &["callgrind_summary"]);
    (is_summary && has_counts)
        .then_some("it has `module_path`, `function_name` and counts of Valgrind")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let text = document.text();
    let mut summaries = Deserializer::from_str(text).into_iter::<Value>();
    let mut list = Vec::new();
    loop {
        let begin = summaries.byte_offset();
        let rest = text[begin..].trim_start();
        let Some(summary) = summaries.next() else {
            break;
        };
        let line = document.spot_of(rest).line;
        // What stands behind a broken document cannot be found.
        let is_broken = summary.is_err();
        list.push((line, summary));
        if is_broken {
            break;
        }
    }
    let times = list.iter().filter_map(|(_, summary)| summary.as_ref().ok());
    let started = times
        .filter_map(|it| moment(it.get("started_at")?.as_str()?))
        .min();
    let session = SessionDraft {
        started,
        ..SessionDraft::of("Gungraun")
    };
    let mut intake = Intake::begin(source, document.sha256(), sink, session)?;
    let run = intake.run(RunDraft::default())?;
    for (line, summary) in list {
        let draft = match summary {
            Ok(summary) => draft(&summary, intake.notes()),
            Err(error) if error.is_eof() => Err("the JSON is cut off".to_owned()),
            Err(error) => Err(format!("not valid JSON: {error}")),
        };
        let draft = draft.map_err(|reason| BadLine::new(line, reason));
        intake.read_instance(line, run, draft)?;
    }
    intake.finish()
}

fn draft(summary: &Value, notes: &mut Notes) -> Result<InstanceDraft, String> {
    let text = |key: &str| {
        summary
            .get(key)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    let module = text("module_path").ok_or("`module_path` is missing")?;
    let mut draft = InstanceDraft::of(match text("id") {
        Some(id) => format!("{module}::{id}"),
        None => module.to_owned(),
    });
    draft.started = text("started_at").and_then(moment);
    for key in [
        "version",
        "kind",
        "details",
        "function_name",
        "benchmark_file",
    ] {
        put(&mut draft.attributes, key, text(key));
    }
    let mut iterations = IterationColumns {
        count: 1,
        ..IterationColumns::default()
    };
    for (name, counts) in counts_of(summary) {
        let (new, has_old) = new_value(counts);
        if has_old {
            notes.left(
                "counts of the run before",
                "they are no results of this run",
            );
        }
        let Some(value) = new else {
            notes.left(name, "it has no number in this run");
            continue;
        };
        let unit = unit_of(name);
        draft.metrics.insert(name.to_owned(), unit.metric.clone());
        iterations
            .values
            .insert(MetricName::from(name), vec![unit.base(value)]);
    }
    if iterations.values.is_empty() {
        return Err(format!("`{module}` has no counts of this run"));
    }
    draft.iterations = iterations;
    Ok(draft)
}

/// Returns the counts of all tools by their names, in the forms of versions 3 to 5, 6 and 7.
fn counts_of(summary: &Value) -> Vec<(&str, &Value)> {
    let mut totals = Vec::new();
    totals.extend(summary.pointer("/callgrind_summary/callgrind_run/total/summary"));
    let profiles = summary.get("profiles").and_then(Value::as_array);
    for profile in profiles.into_iter().flatten() {
        totals.extend(profile.pointer("/data/total/metrics"));
        let tools = profile.pointer("/summaries/total/summary");
        totals.extend(
            tools
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|it| it.values()),
        );
    }
    let counts = totals.into_iter().filter_map(Value::as_object).flatten();
    counts
        .map(|(name, counts)| (name.as_str(), counts))
        .collect()
}

/// Returns the number of the new run, and whether there is one of an old run.
fn new_value(counts: &Value) -> (Option<f64>, bool) {
    if let Some(values) = counts.get("values") {
        let known = |key: &str| values.get(key).and_then(Value::as_f64);
        return (known("new"), known("old").is_some());
    }
    let Some(metrics) = counts.get("metrics") else {
        return (None, false);
    };
    let number = |it: &Value| {
        let inner = it.get("Int").or_else(|| it.get("Float"));
        inner.unwrap_or(it).as_f64()
    };
    let (left, both) = (
        metrics.get("Left"),
        metrics.get("Both").and_then(|it| it.get(0)),
    );
    let has_old = both.is_some() || metrics.get("Right").is_some();
    (left.or(both).and_then(number), has_old)
}

/// Returns what is counted: less is better, but for hits of a cache.
fn unit_of(name: &str) -> Unit {
    let unit = match name {
        _ if name.ends_with("Rate") => Unit::named("%"),
        _ if name.ends_with("Bytes") => Unit::named("B"),
        _ => Unit::named(""),
    };
    let is_hit = name.contains("Hit") || name.contains("hit");
    let better = (!is_hit || name == "RamHits").then_some(Better::Lower);
    unit.with_better(better)
}

#[cfg(test)]
mod tests;
