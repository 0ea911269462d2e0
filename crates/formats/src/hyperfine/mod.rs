//! hyperfine's `--export-json`: one document, one result a command.

mod wire;

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::hyperfine::wire::{CommandResult, HyperfineDocument, HyperfineTitle};
use crate::shared::detect::{has_key, has_own_key, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::choices;
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::{BadLine, EachRun, Format, ImportError, Source};
use lapwing_model::{Benchmark, Id, Metric, MetricName, Object, Outcome};
use lapwing_record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format {
    leaves_runs_open: true,
    ..Format::new("hyperfine", "hyperfine --export-json", looks_like, read)
        .with_keys(&["results", "command", "times"])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (is_object(head) && has_own_key(head, "results") && has_key(head, "command"))
        .then_some("it has `results` with a `command`")
}

/// What can be computed again from the times.
const DERIVED: [&str; 5] = ["mean", "stddev", "median", "min", "max"];

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let wire: HyperfineDocument<'_> = document.parse()?;
    sink.notes()
        .kept_all(wire.others.keys(), "attributes of the session");
    let session = SessionDraft {
        // hyperfine writes no date: the file's is the nearest.
        attributes: wire.others,
        read_with: vec![("each_run", sink.options.each_run.name().to_owned())],
        ..SessionDraft::of("hyperfine")
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let each_run = intake.options().each_run;
    let run = intake.run(RunDraft::default())?;
    let names = names(&document, &wire.results);
    for (place, (raw, name)) in wire.results.iter().zip(names).enumerate() {
        let Some(result) = intake.good(read_result(&document, raw)) else {
            continue;
        };
        let spot = document.spot_of(raw.get());
        let name = name.unwrap_or_else(|| result.command.clone());
        note(&result, intake.notes());
        for draft in drafts(result, &name, place, intake.session(), each_run) {
            intake.instance(spot, run, draft)?;
        }
    }
    intake.finish()
}

fn note(result: &CommandResult, notes: &mut Notes) {
    for (key, values) in result.measured() {
        if values.iter().any(|value| !value.is_finite()) {
            notes.left(key, "some of their values are NaN or infinite");
        }
    }
    for key in result.others.keys() {
        if !DERIVED.contains(&key.as_str()) {
            notes.kept(key, "attributes of the instance");
        } else if !result.times.is_empty() {
            notes.left(key, FOLLOWS);
        }
    }
}

/// A name given to commands of different parameters needs them to tell which is which.
/// Returns such longer names, where they are needed.
fn names(document: &Document, results: &[&RawValue]) -> Vec<Option<String>> {
    let titles: Vec<Option<HyperfineTitle>> = results
        .iter()
        .map(|raw| document.element(raw).ok())
        .collect();
    let mut first: BTreeMap<&str, &Option<Object>> = BTreeMap::new();
    let mut shared: BTreeMap<&str, bool> = BTreeMap::new();
    for title in titles.iter().flatten() {
        let known = *first.entry(&title.command).or_insert(&title.parameters);
        *shared.entry(&title.command).or_default() |= *known != title.parameters;
    }
    titles
        .iter()
        .map(|title| {
            let title = title.as_ref()?;
            let parameters = title.parameters.as_ref()?;
            if !shared[title.command.as_str()] {
                return None;
            }
            let list = choices(parameters).join(",");
            Some(format!("{}[{list}]", title.command))
        })
        .collect()
}

fn read_result(document: &Document, raw: &RawValue) -> Result<CommandResult, BadLine> {
    let result: CommandResult = document.element(raw)?;
    for (key, values) in result.measured() {
        if let Some(value) = values.iter().find(|value| **value < 0.0) {
            let command = &result.command;
            let reason = format!("`{key}` of `{command}` is negative: {value}");
            return Err(document.wrong(raw, reason));
        }
    }
    let runs = result.times.len();
    let beside = [
        ("memory_usage_byte", result.memory_usage_byte.len()),
        ("exit_codes", result.exit_codes.as_ref().map_or(0, Vec::len)),
    ];
    for (key, count) in beside {
        if count > 0 && count != runs {
            let command = &result.command;
            let reason = format!(
                "`{key}` of `{command}` has another length ({count}) than `times` ({runs})"
            );
            return Err(document.wrong(raw, reason));
        }
    }
    if let Some(counts) = &result.lapwing_instances {
        let sum = counts
            .iter()
            .try_fold(0_usize, |sum, it| sum.checked_add(*it));
        if sum != Some(runs) {
            let command = &result.command;
            let reason = format!(
                "the numbers in `lapwing_instances` of `{command}` do not add up to the length of `times` ({runs})"
            );
            return Err(document.wrong(raw, reason));
        }
    }
    Ok(result)
}

/// Returns the runs of each instance.
fn instances(result: &CommandResult, each_run: EachRun) -> Vec<Range<usize>> {
    let runs = result.times.len();
    let counts = match (each_run, &result.lapwing_instances) {
        (EachRun::Instance, _) if runs > 1 => vec![1; runs],
        (EachRun::Iteration, Some(counts)) if !counts.is_empty() => counts.clone(),
        _ => vec![runs],
    };
    let mut end = 0;
    let ranges = counts.into_iter().map(|count| {
        end += count;
        end - count..end
    });
    ranges.collect()
}

/// Returns the instances of one result.
fn drafts(
    result: CommandResult,
    name: &str,
    place: usize,
    session: Id,
    each_run: EachRun,
) -> Vec<InstanceDraft> {
    let mut attributes = result.others.clone();
    if !result.times.is_empty() {
        for key in DERIVED {
            attributes.remove(key);
        }
    }
    let instances = instances(&result, each_run).into_iter().enumerate();
    instances
        .map(|(k, which)| {
            InstanceDraft {
                id: Some(Id::derived(&[
                    b"hyperfine instance",
                    session.as_bytes(),
                    &(place as u64).to_le_bytes(),
                    &(k as u64).to_le_bytes(),
                ])),
                benchmark: Benchmark {
                    id: name.to_owned(),
                    params: result.parameters.clone().unwrap_or_default(),
                    ..Benchmark::default()
                },
                block: u32::try_from(k).unwrap_or(u32::MAX),
                attributes: attributes.clone(),
                metrics: metrics(),
                iterations: columns(&result, which),
                // The means speak of all runs; they stand with the first.
                summaries: if k == 0 { means(&result) } else { Vec::new() },
                ..InstanceDraft::default()
            }
        })
        .collect()
}

fn metrics() -> BTreeMap<MetricName, Metric> {
    BTreeMap::from([
        ("wall_time".to_owned(), Metric::lower("s")),
        ("peak_memory".to_owned(), Metric::lower("B")),
        ("user_time".to_owned(), Metric::lower("s")),
        ("system_time".to_owned(), Metric::lower("s")),
    ])
}

fn columns(result: &CommandResult, which: Range<usize>) -> IterationColumns {
    let mut values =
        BTreeMap::from([("wall_time".to_owned(), result.times[which.clone()].to_vec())]);
    if !result.memory_usage_byte.is_empty() {
        let memory = which
            .clone()
            .map(|k| result.memory_usage_byte.get(k).copied().unwrap_or(f64::NAN))
            .collect();
        values.insert("peak_memory".to_owned(), memory);
    }
    let codes = result.exit_codes.as_deref().unwrap_or_default();
    let marks = (0_u32..)
        .zip(which.clone())
        .filter_map(|(index, k)| Some((index, failure(*codes.get(k)?)?)))
        .collect();
    IterationColumns {
        count: which.len(),
        values,
        marks,
        ..IterationColumns::default()
    }
}

fn failure(code: Option<i32>) -> Option<Mark> {
    let mut attributes = Object::new();
    let message = match code {
        Some(0) => return None,
        Some(code) => {
            attributes.insert("exit_code".to_owned(), Value::from(code));
            format!("exit code {code}")
        }
        None => "ended by a signal".to_owned(),
    };
    Some(Mark {
        outcome: Outcome::Failed,
        message: Some(message),
        attributes,
    })
}

/// hyperfine keeps only the means of processor times, and programs that write its
/// format may keep no more than the mean of the wall time either.
fn means(result: &CommandResult) -> Vec<SummaryDraft> {
    let runs = result.times.len();
    let number = |key: &str| result.others.get(key).and_then(Value::as_f64);
    let mut summaries = Vec::new();
    if runs == 0
        && let Some(centre) = number("mean")
    {
        let summary = SummaryDraft::of("wall_time", centre, "mean");
        summaries.push(summary.with_spread(number("stddev"), "sd"));
    }
    for (metric, mean) in [("user_time", result.user), ("system_time", result.system)] {
        if let Some(centre) = mean {
            summaries.push(SummaryDraft {
                n: (runs > 0).then_some(runs as u64),
                ..SummaryDraft::of(metric, centre, "mean")
            });
        }
    }
    summaries
}

#[cfg(test)]
mod tests;
