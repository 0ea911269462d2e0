//! BenchmarkTools.jl: JSON of `BenchmarkTools.save`, groups of trials with all their samples.

use std::collections::BTreeMap;

use lapwing_model::{Metric, Object};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::detect::has_keys;
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{column, known};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "benchmarktools",
    "JSON of BenchmarkTools.jl (`BenchmarkTools.save`)",
    looks_like,
    read,
);

/// Groups within groups that are read; nobody nests deeper.
const DEEPEST: usize = 60;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_list = head.trim_ascii_start().starts_with(b"[");
    (is_list && has_keys(head, &["Julia", "BenchmarkTools"]))
        .then_some("it begins with the versions of Julia and BenchmarkTools")
}

/// A value with the name of its type.
#[derive(Debug, Deserialize)]
struct Typed<'d>(String, #[serde(borrow)] &'d RawValue);

#[derive(Debug, Deserialize)]
struct Group<'d> {
    #[serde(borrow)]
    data: BTreeMap<String, &'d RawValue>,
    #[serde(default)]
    tags: Vec<Value>,
}

/// Samples: times in nanoseconds, each the mean of `evals` executions.
#[derive(Debug, Deserialize)]
struct Trial<'d> {
    #[serde(deserialize_with = "column")]
    times: Vec<f64>,
    #[serde(default, deserialize_with = "column")]
    gctimes: Vec<f64>,
    #[serde(default, deserialize_with = "known")]
    memory: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    allocs: Option<f64>,
    #[serde(default, borrow)]
    params: Option<&'d RawValue>,
}

#[derive(Debug, Deserialize)]
struct TrialEstimate {
    #[serde(deserialize_with = "known")]
    time: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    gctime: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    memory: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    allocs: Option<f64>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let (versions, values): (Object, Vec<&RawValue>) = document.parse()?;
    let version = versions.get("BenchmarkTools").and_then(Value::as_str);
    let session = SessionDraft {
        tool: version.map_or_else(
            || "BenchmarkTools.jl".to_owned(),
            |version| format!("BenchmarkTools.jl {version}"),
        ),
        attributes: versions,
        ..SessionDraft::default()
    };
    let mut intake = Intake::begin(source, document.sha256(), sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let mut waiting: Vec<Place<'_>> = values.into_iter().map(Place::top).collect();
    waiting.reverse();
    while let Some(place) = waiting.pop() {
        let raw = place.raw;
        let name = place.path.join("/");
        match read_place(&document, place) {
            Ok(Read::Group(within)) => waiting.extend(within.into_iter().rev()),
            Ok(Read::Result(draft)) => intake.instance(document.spot_of(raw.get()), run, *draft)?,
            Ok(Read::Other(name, kind)) => {
                let name = if name.is_empty() { kind } else { name };
                intake
                    .notes()
                    .left(&name, "they are no trials: parameters, ratios, judgements");
            }
            Err(bad) => intake.bad(bad.of(name)),
        }
    }
    intake.finish()
}

/// A value within groups.
struct Place<'d> {
    path: Vec<String>,
    tags: Vec<String>,
    raw: &'d RawValue,
}

impl<'d> Place<'d> {
    fn top(raw: &'d RawValue) -> Self {
        Self {
            path: Vec::new(),
            tags: Vec::new(),
            raw,
        }
    }
}

enum Read<'d> {
    Group(Vec<Place<'d>>),
    Result(Box<InstanceDraft>),
    /// Its name and its type.
    Other(String, String),
}

fn read_place<'d>(document: &'d Document, place: Place<'d>) -> Result<Read<'d>, BadLine> {
    let Typed(kind, fields): Typed<'d> = document.element(place.raw)?;
    let name = match place.path.is_empty() {
        true => "trial".to_owned(),
        false => place.path.join("/"),
    };
    let mut draft = InstanceDraft::of(name);
    draft.benchmark.tags.clone_from(&place.tags);
    match kind.trim_start_matches("BenchmarkTools.") {
        "BenchmarkGroup" if place.path.len() < DEEPEST => {
            let group: Group<'d> = document.element(fields)?;
            let own = group
                .tags
                .iter()
                .map(|tag| tag.as_str().map_or_else(|| tag.to_string(), str::to_owned));
            let tags: Vec<String> = place.tags.iter().cloned().chain(own).collect();
            let within = group.data.into_iter().map(|(key, raw)| Place {
                path: place.path.iter().cloned().chain([key]).collect(),
                tags: tags.clone(),
                raw,
            });
            Ok(Read::Group(within.collect()))
        }
        "BenchmarkGroup" => Err(document.wrong(place.raw, "groups are nested too deep")),
        "Trial" => {
            let trial: Trial<'d> = document.element(fields)?;
            samples(document, trial, &mut draft)?;
            Ok(Read::Result(Box::new(draft)))
        }
        "TrialEstimate" => {
            let estimate: TrialEstimate = document.element(fields)?;
            let unit = Unit::named("ns");
            for (metric, value) in [("wall_time", estimate.time), ("gc_time", estimate.gctime)] {
                if let Some(value) = value {
                    draft.summarise(
                        &unit,
                        SummaryDraft::of(metric, unit.base(value), "estimate"),
                    );
                }
            }
            allocations(estimate.memory, estimate.allocs, &mut draft);
            Ok(Read::Result(Box::new(draft)))
        }
        _other => Ok(Read::Other(place.path.join("/"), kind)),
    }
}

fn samples(
    document: &Document,
    trial: Trial<'_>,
    draft: &mut InstanceDraft,
) -> Result<(), BadLine> {
    let count = trial.times.len();
    draft.iterations.count = count;
    let unit = Unit::named("ns");
    for (metric, mut values) in [("wall_time", trial.times), ("gc_time", trial.gctimes)] {
        if values.len() == count && count > 0 {
            unit.base_column(&mut values);
            draft.metrics.insert(metric.to_owned(), unit.metric.clone());
            draft.iterations.values.insert(metric.to_owned(), values);
        }
    }
    if let Some(raw) = trial.params {
        let Typed(_kind, fields) = document.element(raw)?;
        let params: Object = document.element(fields)?;
        if let Some(evals) = params.get("evals").and_then(Value::as_u64) {
            draft.iterations.loops = vec![evals.max(1); count];
        }
        draft
            .attributes
            .insert("parameters".to_owned(), Value::Object(params));
    }
    allocations(trial.memory, trial.allocs, draft);
    Ok(())
}

/// Adds what one execution allocates, of which the program keeps one figure for all samples.
fn allocations(memory: Option<f64>, allocs: Option<f64>, draft: &mut InstanceDraft) {
    let counts = Unit::named("allocs").with_better(Metric::lower("allocs").better);
    for (metric, unit, value) in [
        ("memory", Unit::named("B"), memory),
        ("allocs", counts, allocs),
    ] {
        if let Some(value) = value {
            draft.summarise(&unit, SummaryDraft::of(metric, value, "value"));
        }
    }
}

#[cfg(test)]
mod tests;
