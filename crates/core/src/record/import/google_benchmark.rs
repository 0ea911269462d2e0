//! Google Benchmark's JSON: one document, one row for each repetition and each aggregate.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::detect::has_key;
use super::document::Document;
use super::google_benchmark_document::{
    Document as Wire, Group, Key, Row, Title, groups, params_in, statistic_in,
};
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::moment::moment;
use super::notes::FOLLOWS;
use super::number::Number;
use super::sink::Sink;
use super::units::Unit;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Metric, MetricName, Object, Outcome, Version};
use crate::record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format {
    name: "google-benchmark",
    about: "Google Benchmark JSON",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.trim_ascii_start().starts_with(b"{")
        && has_key(head, "benchmarks")
        && (has_key(head, "real_time") || has_key(head, "per_family_instance_index")))
    .then_some("it has `benchmarks` with `real_time`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let Wire {
        mut context,
        benchmarks,
    } = document.parse()?;
    let session = new_session(&document, &mut context)?;
    let host = take_text(&mut context, "host_name");
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    let (titles, bad) = read_titles(&document, &benchmarks);
    let groups = groups(&titles);
    let draft = new_run(&document, &benchmarks, &groups, context, &mut intake);
    let run = intake.run(draft)?;
    for bad in bad {
        intake.bad(bad);
    }
    for (key, group) in groups {
        if group.iterations.is_empty() && group.aggregates.is_empty() {
            continue;
        }
        let line = first_line_of(&document, &benchmarks, &group);
        match read_group(&document, &benchmarks, key, &group, &mut intake) {
            Err(bad) => intake.bad(bad),
            Ok(draft) if draft.iterations.count == 0 && draft.summaries.is_empty() => {
                let name = &draft.benchmark.id;
                intake
                    .notes()
                    .left(name, "their aggregates have no figures");
            }
            Ok(mut draft) => {
                draft.host.clone_from(&host);
                intake.instance(line, &run, draft)?;
            }
        }
    }
    intake.finish()
}

fn new_session(document: &Document, context: &mut Object) -> Result<SessionDraft, ImportError> {
    let mut attributes = Object::new();
    let all: BTreeMap<String, &RawValue> = document.parse()?;
    for (key, raw) in all {
        if key != "context"
            && key != "benchmarks"
            && let Ok(value) = document.element(raw)
        {
            attributes.insert(key, value);
        }
    }
    for key in ["executable", "json_schema_version"] {
        if let Some(value) = context.remove(key) {
            attributes.insert(key.to_owned(), value);
        }
    }
    let tool = match take_text(context, "library_version") {
        Some(version) => format!("Google Benchmark {version}"),
        None => "Google Benchmark".to_owned(),
    };
    let date = context.get("date").and_then(Value::as_str).and_then(moment);
    if date.is_some() {
        context.remove("date");
    }
    Ok(SessionDraft {
        started: date,
        tool,
        attributes,
        ..SessionDraft::default()
    })
}

fn take_text(object: &mut Object, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?.to_owned();
    object.remove(key);
    Some(text)
}

/// Names that people give by `--benchmark_context=name=value` to the commit and the branch.
const COMMIT: [&str; 4] = ["commit", "git_commit", "git_sha", "git_hash"];
const BRANCH: [&str; 2] = ["branch", "git_branch"];

fn new_run(
    document: &Document,
    rows: &[&RawValue],
    groups: &[(Key, Group)],
    mut context: Object,
    intake: &mut Intake<'_, '_, '_>,
) -> RunDraft {
    let mut version = Version::default();
    if let Some(key) = COMMIT.into_iter().find(|key| is_commit(context.get(*key))) {
        version.commit = take_text(&mut context, key);
    }
    if let Some(key) = BRANCH.into_iter().find(|key| context.contains_key(*key)) {
        version.branch = take_text(&mut context, key);
    }
    let mut attributes = Object::new();
    let mut fits = Object::new();
    for (key, group) in groups {
        for &place in &group.complexity {
            let Ok(mut row) = document.element::<Object>(rows[place]) else {
                continue;
            };
            row.retain(|key, _| COMPLEXITY.contains(&key.as_str()));
            let fit = fits
                .entry(key.run_name.clone())
                .or_insert_with(|| json!({}));
            if let Value::Object(fit) = fit {
                fit.append(&mut row);
            }
        }
    }
    if !fits.is_empty() {
        intake
            .notes()
            .kept("BigO and RMS", "attribute `complexity` of the run");
        attributes.insert("complexity".to_owned(), Value::Object(fits));
    }
    RunDraft {
        version,
        environment: context,
        attributes,
        ..RunDraft::default()
    }
}

/// What a row of complexity says.
const COMPLEXITY: [&str; 5] = [
    "cpu_coefficient",
    "real_coefficient",
    "big_o",
    "time_unit",
    "rms",
];

fn is_commit(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| {
        (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit())
    })
}

/// Returns what each row is, and the rows that say nothing of it.
fn read_titles(document: &Document, rows: &[&RawValue]) -> (Vec<Option<Title>>, Vec<BadLine>) {
    let mut bad = Vec::new();
    let titles = rows
        .iter()
        .map(|raw| {
            let title = document.element::<Title>(raw).and_then(|title| {
                if title.is_named() {
                    Ok(title)
                } else {
                    Err(document.wrong(raw, "`name` is missing"))
                }
            });
            title.map_err(|reason| bad.push(reason)).ok()
        })
        .collect();
    (titles, bad)
}

fn first_line_of(document: &Document, rows: &[&RawValue], group: &Group) -> u64 {
    let place = group.iterations.iter().chain(&group.aggregates).min();
    place.map_or(1, |&place| document.line_of(rows[place].get()))
}

fn read_group(
    document: &Document,
    rows: &[&RawValue],
    key: Key,
    group: &Group,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<InstanceDraft, BadLine> {
    let mut draft = InstanceDraft {
        benchmark: Benchmark {
            params: params_in(&key.run_name),
            id: key.run_name,
            ..Benchmark::default()
        },
        ..InstanceDraft::default()
    };
    if group.iterations.is_empty() {
        let mut aggregates = Vec::with_capacity(group.aggregates.len());
        for &place in &group.aggregates {
            let mut row = read_row(document, rows[place], &draft.benchmark.id)?;
            describe(&mut row, &mut draft, intake);
            let name = aggregate_name(document, rows[place], &row);
            aggregates.push((name, row));
        }
        summarise(aggregates, &mut draft, intake);
        return Ok(draft);
    }
    if !group.aggregates.is_empty() {
        intake
            .notes()
            .left("aggregates beside repetitions", FOLLOWS);
    }
    draft.iterations.count = group.iterations.len();
    for (index, &place) in group.iterations.iter().enumerate() {
        let mut row = read_row(document, rows[place], &draft.benchmark.id)?;
        describe(&mut row, &mut draft, intake);
        take_iteration(index, row, &mut draft, intake);
    }
    Ok(draft)
}

fn read_row(document: &Document, raw: &RawValue, benchmark: &str) -> Result<Row, BadLine> {
    let row: Row = document.element(raw)?;
    for (key, value) in [("real_time", row.real_time), ("cpu_time", row.cpu_time)] {
        if let Some(value) = value
            && value < 0.0
        {
            let reason = format!("`{key}` of `{benchmark}` is negative: {value}");
            return Err(document.wrong(raw, reason));
        }
    }
    if let Some(unit) = &row.time_unit
        && Unit::named(unit).metric.unit != "s"
    {
        return Err(document.wrong(raw, format!("`time_unit` is no unit of time: {unit:?}")));
    }
    Ok(row)
}

/// What says where a row stands and nothing of what was measured.
const PLACE: [&str; 5] = ["name", "run_name", "run_type", "repetition_index", "big_o"];

/// Takes what a row says of its benchmark and not of the repetition.
fn describe(row: &mut Row, draft: &mut InstanceDraft, intake: &mut Intake<'_, '_, '_>) {
    for key in PLACE {
        row.others.remove(key);
    }
    for key in ["family_index", "per_family_instance_index"] {
        if let Some(value) = row.others.remove(key) {
            draft.attributes.insert(key.to_owned(), value);
        }
    }
    if let Some(repetitions) = row.repetitions {
        draft
            .attributes
            .insert("repetitions".to_owned(), json!(repetitions));
    }
    if let Some(threads) = row.threads {
        draft
            .benchmark
            .params
            .insert("threads".to_owned(), json!(threads));
    }
    if let Some(label) = &row.label
        && !draft.attributes.contains_key("label")
    {
        draft.attributes.insert("label".to_owned(), json!(label));
    }
    for (key, value) in &row.others {
        if as_number(value).is_none() {
            intake
                .notes()
                .kept(key, "attributes of the instance or the iteration");
        }
    }
}

/// Returns the numbers of a row in base units by the name of their metric; NaN for those
/// that are not known. Declares the metrics, and leaves in `others` what is no number.
fn take_values(
    row: &mut Row,
    metrics: &mut BTreeMap<MetricName, Metric>,
    intake: &mut Intake<'_, '_, '_>,
) -> BTreeMap<MetricName, f64> {
    let time = Unit::named(row.time_unit.as_deref().unwrap_or("ns"));
    let mut values = BTreeMap::new();
    for (name, value) in [("wall_time", row.real_time), ("cpu_time", row.cpu_time)] {
        if let Some(value) = value {
            metrics.insert(name.to_owned(), time.metric.clone());
            values.insert(name.to_owned(), time.base(value));
        }
    }
    let others = std::mem::take(&mut row.others);
    for (key, value) in others {
        match as_number(&value) {
            None => {
                row.others.insert(key, value);
            }
            Some(number) => {
                if !number.is_finite() {
                    intake
                        .notes()
                        .left(&key, "some of their values are NaN or infinite");
                }
                let name = if values.contains_key(&key) {
                    format!("{key} (counter)")
                } else {
                    key
                };
                metrics.insert(name.clone(), metric(&name));
                values.insert(name, number);
            }
        }
    }
    values
}

/// Returns the number that a counter is; NaN where it is none that is finite.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(_) | Value::String(_) => {
            let number: Number = serde_json::from_value(value.clone()).ok()?;
            Some(number.0)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns what the library says of its own counters; of others nobody knows.
fn metric(name: &str) -> Metric {
    match name {
        "bytes_per_second" => Metric::higher("B/s"),
        "items_per_second" => Metric::higher("1/s"),
        "allocs_per_iter" => Metric::lower("1"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => Metric::lower("B"),
        _counter => Metric::undirected(""),
    }
}

fn take_iteration(
    index: usize,
    mut row: Row,
    draft: &mut InstanceDraft,
    intake: &mut Intake<'_, '_, '_>,
) {
    let values = take_values(&mut row, &mut draft.metrics, intake);
    let columns = &mut draft.iterations;
    columns.loops.push(row.iterations.unwrap_or(1).max(1));
    let outcome = outcome(&row);
    if outcome == Outcome::Ok {
        put_values(index, values, columns);
    }
    let mut attributes = row.others;
    // The first label stands with the instance.
    if let Some(label) = row.label.map(Value::from)
        && draft.attributes.get("label") != Some(&label)
    {
        attributes.insert("label".to_owned(), label);
    }
    if outcome != Outcome::Ok || !attributes.is_empty() {
        columns.marks.insert(
            u32::try_from(index).unwrap_or(u32::MAX),
            Mark {
                outcome,
                message: row.error_message.or(row.skip_message),
                attributes,
            },
        );
    }
}

/// The zeros that stand in the row of a failure are no measurement.
fn outcome(row: &Row) -> Outcome {
    if row.error_occurred {
        Outcome::Failed
    } else if row.skipped {
        Outcome::Skipped
    } else {
        Outcome::Ok
    }
}

fn put_values(index: usize, values: BTreeMap<MetricName, f64>, columns: &mut IterationColumns) {
    for (name, value) in values {
        let column = columns
            .values
            .entry(name)
            .or_insert_with(|| vec![f64::NAN; columns.count]);
        column[index] = value;
    }
}

/// Returns the statistic that a row gives; older versions have it in the name only.
fn aggregate_name(document: &Document, raw: &RawValue, row: &Row) -> String {
    if let Some(name) = &row.aggregate_name {
        return name.clone();
    }
    let object: Object = document.element(raw).unwrap_or_default();
    let name = object.get("name").and_then(Value::as_str);
    name.and_then(statistic_in)
        .unwrap_or("aggregate")
        .to_owned()
}

/// Makes summaries of a benchmark that has aggregates only: mean and standard deviation,
/// with the other statistics of the same metric beside them.
fn summarise(
    aggregates: Vec<(String, Row)>,
    draft: &mut InstanceDraft,
    intake: &mut Intake<'_, '_, '_>,
) {
    let mut statistics: BTreeMap<MetricName, BTreeMap<String, f64>> = BTreeMap::new();
    let mut n = None;
    for (name, mut row) in aggregates {
        n = n.or(row.iterations).or(row.repetitions);
        if name == "cv" {
            intake
                .notes()
                .left("cv", "it follows from the mean and the standard deviation");
            continue;
        }
        let is_ratio = row.aggregate_unit.as_deref() == Some("percentage");
        if is_ratio {
            // A ratio is in no unit of time.
            row.time_unit = Some("s".to_owned());
        }
        for (metric, value) in take_values(&mut row, &mut draft.metrics, intake) {
            if value.is_nan() {
                continue;
            }
            if is_ratio {
                draft
                    .attributes
                    .insert(format!("{metric} {name}"), json!(value));
            } else {
                let of_metric = statistics.entry(metric).or_default();
                of_metric.insert(name.clone(), value);
            }
        }
        draft.attributes.append(&mut row.others);
    }
    draft.summaries = statistics
        .into_iter()
        .filter_map(|(metric, of_metric)| summary(metric, n, of_metric))
        .collect();
}

fn summary(
    metric: MetricName,
    n: Option<u64>,
    mut statistics: BTreeMap<String, f64>,
) -> Option<SummaryDraft> {
    let name = ["mean", "median"]
        .into_iter()
        .find(|name| statistics.contains_key(*name))
        .map(str::to_owned)
        .or_else(|| statistics.keys().next().cloned())?;
    let centre = statistics.remove(&name)?;
    let spread = if name == "mean" {
        statistics.remove("stddev")
    } else {
        None
    };
    let statistic = match spread {
        Some(_) => "mean/sd".to_owned(),
        None => name,
    };
    Some(SummaryDraft {
        metric,
        n,
        centre,
        spread,
        statistic,
        extra: statistics
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect(),
    })
}

#[cfg(test)]
#[path = "google_benchmark_tests.rs"]
mod tests;
