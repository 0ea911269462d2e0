//! Conbench's benchmark results, as they are sent to it and as it gives them back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::conbench_document::{Comparison, Element, Posted, Side, Stats, elements};
use super::detect::has_key;
use super::document::Document;
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::keys::{in_words, put_object, take_text};
use super::moment::moment;
use super::notes::{FOLLOWS, Notes};
use super::sink::Sink;
use super::units::Unit;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Better, InstanceOutcome, Object, Outcome, Version};
use crate::record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format {
    name: "conbench",
    about: "Conbench benchmark results, as posted or as got",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_json =
        head.trim_ascii_start().starts_with(b"{") || head.trim_ascii_start().starts_with(b"[");
    (is_json
        && ["batch_id", "run_id", "tags"]
            .iter()
            .all(|key| has_key(head, key))
        && ["stats", "error", "baseline"]
            .iter()
            .any(|key| has_key(head, key)))
    .then_some("it has `batch_id`, `run_id` and `tags`")
}

/// What can be computed again from the data.
const DERIVED: [&str; 8] = ["mean", "median", "stdev", "min", "max", "q1", "q3", "iqr"];

/// What the server says of a result in the light of others.
const JUDGEMENT: [&str; 3] = ["z_score", "z_regression", "z_improvement"];
const IS_JUDGEMENT: &str = "they are Conbench's judgement, and no measurements";

/// Says where a result is to be had again.
const LINKS: [&str; 2] = ["links", "history_fingerprint"];

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let (elements, about_page) = elements(&document)?;
    for (key, value) in &about_page {
        match value.as_object().filter(|_| key == "metadata") {
            None => sink.notes().kept(key, "attributes of the session"),
            Some(metadata) => {
                for key in metadata.keys() {
                    let place = "attributes of the session, under `metadata`";
                    sink.notes().kept(key, place);
                }
            }
        }
    }
    let session = SessionDraft {
        started: elements
            .iter()
            .filter_map(|raw| began(&document, raw))
            .min(),
        tool: "conbench".to_owned(),
        attributes: about_page,
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    for raw in elements {
        match document.element::<Element>(raw) {
            Err(bad) => intake.bad(bad),
            Ok(element) if element.baseline.is_some() || element.contender.is_some() => {
                take_comparison(&document, raw, &mut intake)?;
            }
            Ok(_) => take_result(&document, raw, &mut intake)?,
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

fn take_result(
    document: &Document,
    raw: &RawValue,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    match result(document, raw, intake.notes()) {
        Err(bad) => intake.bad(bad),
        Ok((run, draft)) => {
            let run = intake.run(run)?;
            intake.instance(document.spot_of(raw.get()), &run, draft)?;
        }
    }
    Ok(())
}

fn result(
    document: &Document,
    raw: &RawValue,
    notes: &mut Notes,
) -> Result<(RunDraft, InstanceDraft), BadLine> {
    let mut wire: Posted = document.element(raw)?;
    let started = match &wire.timestamp {
        Some(text) => Some(
            moment(text)
                .ok_or_else(|| document.wrong(raw, format!("`timestamp` is not a time: {text}")))?,
        ),
        None => None,
    };
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

fn job(run_id: Option<String>, batch_id: Option<String>) -> Object {
    [("run_id", run_id), ("batch_id", batch_id)]
        .into_iter()
        .filter_map(|(key, id)| Some((key.to_owned(), Value::from(id?))))
        .collect()
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
    for (name, value) in [
        ("run_id", &wire.run_id),
        ("run_name", &wire.run_name),
        ("run_reason", &wire.run_reason),
    ] {
        if let Some(value) = value {
            attributes.insert(name.to_owned(), json!(value));
        }
    }
    put_object(
        &mut attributes,
        "run_tags",
        wire.run_tags.take().unwrap_or_default(),
    );
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
fn benchmark(tags: Option<Object>) -> Result<Benchmark, String> {
    let mut params = tags.unwrap_or_default();
    // The server adds its id of the case.
    params.remove("id");
    let Some(name) = take_text(&mut params, "name") else {
        return Err("`tags.name` is missing".to_owned());
    };
    let case: Vec<String> = params
        .iter()
        .map(|(key, value)| format!("{key}={}", in_words(value)))
        .collect();
    Ok(Benchmark {
        id: if case.is_empty() {
            name
        } else {
            format!("{name}[{}]", case.join(","))
        },
        params,
        ..Benchmark::default()
    })
}

fn put_error(draft: &mut InstanceDraft, error: Option<Value>) {
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

/// What is measured follows from the unit alone.
fn metric_of(unit: Option<&str>) -> (String, Unit) {
    let unit = Unit::named(unit.unwrap_or(""));
    let name = match unit.metric.unit.as_str() {
        "s" => "wall_time".to_owned(),
        "B" => "bytes".to_owned(),
        "B/s" => "bytes_per_second".to_owned(),
        "1/s" => "throughput".to_owned(),
        "1" => "value".to_owned(),
        other => format!("value ({other})"),
    };
    (name, unit)
}

fn put_stats(draft: &mut InstanceDraft, mut stats: Stats, notes: &mut Notes) -> Result<(), String> {
    let (metric, unit) = metric_of(stats.unit.as_deref());
    draft.metrics.insert(metric.clone(), unit.metric.clone());
    for key in JUDGEMENT {
        if stats.others.remove(key).is_some_and(|it| !it.is_null()) {
            notes.left(key, IS_JUDGEMENT);
        }
    }
    if stats.data.is_empty() {
        draft.summaries = summaries(&metric, &unit, &stats);
        if draft.summaries.is_empty() && draft.outcome != InstanceOutcome::Failed {
            return Err("`stats` has neither `data` nor `mean`".to_owned());
        }
    } else {
        for key in DERIVED {
            if stats.figure(key).is_some() {
                notes.left(key, FOLLOWS);
            }
        }
        if stats
            .iterations
            .is_some_and(|it| it != stats.data.len() as u64)
        {
            draft
                .attributes
                .insert("iterations".to_owned(), json!(stats.iterations));
        }
        draft.iterations = columns(&metric, &unit, std::mem::take(&mut stats.data));
        put_times(draft, &metric, &stats, notes);
    }
    stats.others.retain(|_, value| !value.is_null());
    for key in stats.others.keys() {
        notes.kept(key, "attributes of the instance, under `stats`");
    }
    put_object(&mut draft.attributes, "stats", stats.others);
    Ok(())
}

fn columns(metric: &str, unit: &Unit, mut data: Vec<f64>) -> IterationColumns {
    unit.base_column(&mut data);
    // `null` is how Conbench wants an iteration that did not complete.
    let marks = (0_u32..)
        .zip(&data)
        .filter(|(_, value)| value.is_nan())
        .map(|(index, _)| {
            let mark = Mark {
                outcome: Outcome::Failed,
                message: Some("it has no value: it did not complete".to_owned()),
                ..Mark::default()
            };
            (index, mark)
        })
        .collect();
    IterationColumns {
        count: data.len(),
        values: BTreeMap::from([(metric.to_owned(), data)]),
        marks,
        ..IterationColumns::default()
    }
}

/// The durations beside values that are no durations.
fn put_times(draft: &mut InstanceDraft, metric: &str, stats: &Stats, notes: &mut Notes) {
    if stats.times.is_empty() {
        return;
    }
    let unit = Unit::named(stats.time_unit.as_deref().unwrap_or("s"));
    let mut times = stats.times.clone();
    unit.base_column(&mut times);
    let same = draft.iterations.values.get(metric) == Some(&times);
    if same {
        notes.left("times", "they are the data once more");
    } else if metric != "wall_time" && times.len() == draft.iterations.count {
        draft.metrics.insert("wall_time".to_owned(), unit.metric);
        draft
            .iterations
            .values
            .insert("wall_time".to_owned(), times);
    } else {
        notes.kept("times", "attributes of the instance, in seconds");
        draft.attributes.insert("times".to_owned(), json!(times));
    }
}

fn summaries(metric: &str, unit: &Unit, stats: &Stats) -> Vec<SummaryDraft> {
    let figure = |key: &str| stats.figure(key).map(|value| unit.base(value));
    let of = |centre: &str, spread: &str, words: [&str; 2], with: &[&str]| {
        let spread = figure(spread);
        Some(SummaryDraft {
            metric: metric.to_owned(),
            n: stats.iterations,
            centre: figure(centre)?,
            spread,
            statistic: words[usize::from(spread.is_some())].to_owned(),
            extra: with
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), json!(figure(key)?))))
                .collect(),
        })
    };
    let mean = of("mean", "stdev", ["mean", "mean/sd"], &["min", "max"]);
    let median = of("median", "iqr", ["median", "median/iqr"], &["q1", "q3"]);
    mean.into_iter().chain(median).collect()
}

/// A comparison of two runs has one figure of each, and no samples.
fn take_comparison(
    document: &Document,
    raw: &RawValue,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    let comparison: Comparison = match document.element(raw) {
        Ok(comparison) => comparison,
        Err(bad) => {
            intake.bad(bad);
            return Ok(());
        }
    };
    for key in comparison.others.keys() {
        intake.notes().left(key, IS_JUDGEMENT);
    }
    let (metric, unit) = metric_of(comparison.unit.as_deref());
    let unit = match comparison.less_is_better {
        Some(true) => unit.with_better(Some(Better::Lower)),
        Some(false) => unit.with_better(Some(Better::Higher)),
        None => unit,
    };
    let spot = document.spot_of(raw.get());
    for side in [comparison.baseline, comparison.contender]
        .into_iter()
        .flatten()
    {
        let mut attributes = Object::new();
        if let Some(run_id) = &side.run_id {
            attributes.insert("run_id".to_owned(), json!(run_id));
        }
        let run = intake.run(RunDraft {
            key: side.run_id.clone().unwrap_or_default(),
            attributes,
            ..RunDraft::default()
        })?;
        match side_draft(side, &metric, &unit) {
            Ok(draft) => intake.instance(spot, &run, draft)?,
            Err(reason) => intake.bad(document.wrong(raw, reason)),
        }
    }
    Ok(())
}

fn side_draft(side: Side, metric: &str, unit: &Unit) -> Result<InstanceDraft, String> {
    let mut draft = InstanceDraft {
        benchmark: benchmark(side.tags)?,
        job: job(side.run_id, side.batch_id),
        attributes: side.others,
        metrics: BTreeMap::from([(metric.to_owned(), unit.metric.clone())]),
        ..InstanceDraft::default()
    };
    put_error(&mut draft, side.error);
    draft.summaries = side
        .single_value_summary
        .map(|centre| SummaryDraft {
            metric: metric.to_owned(),
            centre: unit.base(centre),
            statistic: "unstated".to_owned(),
            ..SummaryDraft::default()
        })
        .into_iter()
        .collect();
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::super::testing::fate_of_a_key;

    #[test]
    fn a_key_that_nobody_knows_is_kept() {
        for page in ["get", "compare"] {
            let fate = |place: &str| {
                fate_of_a_key(&format!("conbench-benchadapt-2024.3.20/{page}.json"), place)
            };
            assert_eq!(fate(""), "kept in attributes of the session");
            assert_eq!(
                fate("/metadata"),
                "kept in attributes of the session, under `metadata`"
            );
        }
        let fate = |place: &str| fate_of_a_key("conbench-benchadapt-2024.3.20/get.json", place);
        assert_eq!(fate("/data/0"), "kept in attributes of the instance");
        assert_eq!(
            fate("/data/0/stats"),
            "kept in attributes of the instance, under `stats`"
        );
    }
}
