//! BenchmarkDotNet's JSON exporters: a report of benchmarks with their measurements.

mod wire;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lapwing_stats::as_f64;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::benchmarkdotnet::wire::{Case, KNOWN, Measurement, Report, Stage, Statistics};
use crate::shared::detect::has_key;
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::put_object;
use crate::shared::notes::FOLLOWS;
use crate::shared::others::others;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Benchmark, Better, InstanceOutcome, Level, Metric, Object};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format =
    Format::new("benchmarkdotnet", "BenchmarkDotNet JSON", looks_like, read);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.trim_ascii_start().starts_with(b"{") && has_key(head, "HostEnvironmentInfo"))
        .then_some("it has `HostEnvironmentInfo`")
}

/// Parts of a benchmark whose unknown keys are kept.
const STATISTICS: &str = "Statistics";
const METRICS: &str = "Metrics";

/// What BenchmarkDotNet itself calls the memory that an operation allocates.
const ALLOCATED: &str = "Allocated Memory";

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let report: Report<'_> = document.parse()?;
    sink.notes()
        .kept_all(report.unknown.keys(), "attributes of the session");
    let session = session_draft(&report);
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let jobs: Vec<Option<Job>> = report
        .benchmarks
        .iter()
        .map(|raw| document.element(raw).ok().map(|case| Job::of(&case)))
        .collect();
    let several_jobs = jobs.iter().flatten().collect::<BTreeSet<_>>().len() > 1;
    for (raw, job) in report.benchmarks.iter().zip(jobs) {
        match read_case(&document, raw) {
            Err(bad) => intake.bad(bad),
            Ok((case, unknown)) => {
                note(&case, &unknown, &mut intake);
                let job = job.unwrap_or_default();
                let run = intake.run(job.run_draft(&report, several_jobs))?;
                let spot = document.spot_of(raw.get());
                for draft in drafts(&case, &unknown) {
                    intake.instance(spot, run, draft)?;
                }
            }
        }
    }
    intake.finish()
}

fn session_draft(report: &Report<'_>) -> SessionDraft {
    let version = report.host_environment_info.get("BenchmarkDotNetVersion");
    let mut attributes = report.unknown.clone();
    if let Some(title) = &report.title {
        attributes.insert("title".to_owned(), Value::from(title.as_str()));
    }
    SessionDraft {
        started: report.title.as_deref().and_then(time_of_title),
        tool: match version.and_then(Value::as_str) {
            Some(version) => format!("BenchmarkDotNet {version}"),
            None => "BenchmarkDotNet".to_owned(),
        },
        attributes,
        ..SessionDraft::default()
    }
}

/// A title ends with the local time, as in `Demo-20260102-030405`; which zone that was
/// is not recorded, so that it is read as UTC.
fn time_of_title(title: &str) -> Option<Timestamp> {
    let mut parts = title.rsplit('-');
    let (time, date) = (parts.next()?, parts.next()?);
    let digits =
        |text: &str, count| text.len() == count && text.bytes().all(|it| it.is_ascii_digit());
    (digits(time, 6) && digits(date, 8))
        .then(|| moment(&format!("{date}T{time}")))
        .flatten()
}

/// How benchmarks were run: runtime, numbers of launches and iterations, ….
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    /// What BenchmarkDotNet calls it.
    name: String,
    /// The same in keys and values, where an old version wrote it.
    properties: String,
}

impl Job {
    /// A benchmark is displayed as `Type.Method: Job [parameters]`.
    fn of(case: &Case) -> Self {
        let display = case.display_info.as_deref().unwrap_or("");
        let job = display.split_once(": ").map_or("", |(_method, job)| job);
        let job = match job.rsplit_once(" [") {
            Some((job, parameters)) if parameters.ends_with(']') => job,
            Some(_) | None => job,
        };
        let properties = case.properties.clone();
        Self {
            name: job.to_owned(),
            properties: properties.map_or_else(String::new, |it| Value::Object(it).to_string()),
        }
    }

    fn run_draft(&self, report: &Report<'_>, several: bool) -> RunDraft {
        let mut environment = report.host_environment_info.clone();
        if let Ok(properties @ Value::Object(_)) = serde_json::from_str(&self.properties) {
            environment.insert("job".to_owned(), properties);
        } else if !self.name.is_empty() {
            environment.insert("job".to_owned(), Value::from(self.name.as_str()));
        }
        let name = if self.name.is_empty() {
            &self.properties
        } else {
            &self.name
        };
        let varied = several && !name.is_empty();
        let level = || Level::Text(name.clone());
        RunDraft {
            key: if several {
                format!("{}\n{}", self.name, self.properties)
            } else {
                String::new()
            },
            variant: varied.then(|| name.clone()),
            factors: varied
                .then(|| ("job".to_owned(), level()))
                .into_iter()
                .collect(),
            environment,
            ..RunDraft::default()
        }
    }
}

/// Returns a benchmark, and the unknown keys of it and its parts.
fn read_case(document: &Document, raw: &RawValue) -> Result<(Case, Object), BadLine> {
    let case: Case = document.element(raw)?;
    let mut unknown = others(document, raw, &KNOWN)?;
    if let Some(statistics) = &case.statistics {
        put_object(&mut unknown, STATISTICS, statistics.unknown());
    }
    let mut of_metrics = Object::new();
    for metric in case.metrics.as_deref().unwrap_or_default() {
        let of_metric = metric.all_unknown();
        put_object(&mut of_metrics, &metric.descriptor.id, of_metric);
    }
    put_object(&mut unknown, METRICS, of_metrics);
    let measurements = case.measurements.as_deref().unwrap_or_default();
    if let Some(bad) = measurements.iter().find(|it| it.nanoseconds.0 < 0.0) {
        let reason = format!(
            "`Nanoseconds` of `{}` is negative: {}",
            benchmark_id(&case),
            bad.nanoseconds.0
        );
        return Err(document.wrong(raw, reason));
    }
    Ok((case, unknown))
}

fn note(case: &Case, unknown: &Object, intake: &mut Intake<'_, '_, '_>) {
    for (key, value) in unknown {
        let parts = value.as_object().into_iter().flatten();
        match key.as_str() {
            STATISTICS => {
                for (key, _) in parts {
                    let place = "attributes of the instance, under `Statistics`";
                    intake.notes().kept(key, place);
                }
            }
            METRICS => {
                let of_metrics = parts.filter_map(|(_, of_metric)| of_metric.as_object());
                intake.notes().kept_all(
                    of_metrics.flat_map(Object::keys),
                    "attributes of the instance, under `Metrics`",
                );
            }
            _own => intake.notes().kept(key, "attributes of the instance"),
        }
    }
    let measurements = case.measurements.as_deref().unwrap_or_default();
    for measurement in measurements {
        for key in &measurement.unknown.0 {
            let why = "there are too many measurements to keep unknown keys";
            intake.notes().left(key, why);
        }
        match measurement.stage() {
            Stage::Warmup | Stage::Actual => {}
            Stage::Result => intake.notes().left(&measurement.name(), FOLLOWS),
            Stage::Preparation => intake
                .notes()
                .left(&measurement.name(), "they do not measure the benchmark"),
        }
    }
    let has_values = |it: &Statistics| !it.original_values.is_empty();
    let values = case.statistics.as_ref().is_some_and(has_values);
    if values || measurements.iter().any(|it| it.stage() == Stage::Actual) {
        intake.notes().left("Statistics", FOLLOWS);
    }
}

fn benchmark_id(case: &Case) -> String {
    if let Some(name) = case.full_name.as_ref().filter(|it| !it.is_empty()) {
        return name.clone();
    }
    let parts = [case.namespace.as_deref(), case.class.as_deref()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let mut id: String = parts.map(|part| format!("{part}.")).collect();
    id.push_str(&case.method);
    match case.parameters.as_deref() {
        Some(parameters) if !parameters.is_empty() => format!("{id}({parameters})"),
        Some(_) | None => id,
    }
}

/// Parameters are written as `N=100&Kind=fast`, by old versions with commas.
fn params(case: &Case) -> Object {
    let text = case.parameters.as_deref().unwrap_or("");
    let separator = if text.contains('&') { "&" } else { ", " };
    let pairs: Option<Object> = text
        .split(separator)
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            Some((key.to_owned(), Value::from(value)))
        })
        .collect();
    match pairs {
        Some(pairs) => pairs,
        None if text.is_empty() => Object::new(),
        None => Object::from_iter([("parameters".to_owned(), Value::from(text))]),
    }
}

/// Returns an instance for each launch; one for all if launches are not recorded.
fn drafts(case: &Case, unknown: &Object) -> Vec<InstanceDraft> {
    let measurements = case.measurements.as_deref().unwrap_or_default();
    let launches: BTreeSet<u64> = measurements
        .iter()
        .filter(|it| it.stage() == Stage::Actual)
        .map(|it| it.launch_index)
        .collect();
    let mut drafts: Vec<InstanceDraft> = launches
        .iter()
        .map(|&launch| {
            let of_launch: Vec<&Measurement> = measurements
                .iter()
                .filter(|it| it.launch_index == launch)
                .collect();
            InstanceDraft {
                iterations: measured(&of_launch),
                ..empty_draft(case, unknown)
            }
        })
        .collect();
    if drafts.is_empty() {
        drafts.push(without_measurements(case, unknown));
    }
    for (block, draft) in (0_u32..).zip(&mut drafts) {
        draft.block = block;
    }
    // What diagnosers say is about all launches; it stands with the first.
    if let Some(first) = drafts.first_mut() {
        diagnosed(case, first);
    }
    drafts
}

fn empty_draft(case: &Case, unknown: &Object) -> InstanceDraft {
    let mut environment = Object::new();
    if let Some(intrinsics) = case
        .hardware_intrinsics
        .as_ref()
        .filter(|it| !it.is_empty())
    {
        let value = Value::from(intrinsics.as_str());
        environment.insert("HardwareIntrinsics".to_owned(), value);
    }
    InstanceDraft {
        benchmark: Benchmark {
            id: benchmark_id(case),
            params: params(case),
            ..Benchmark::default()
        },
        environment,
        attributes: unknown.clone(),
        metrics: BTreeMap::from([("wall_time".to_owned(), Metric::lower("s"))]),
        ..InstanceDraft::default()
    }
}

fn measured(of_launch: &[&Measurement]) -> IterationColumns {
    let of_stage = |stage| of_launch.iter().filter(move |it| it.stage() == stage);
    let in_order: Vec<(bool, &&Measurement)> = of_stage(Stage::Warmup)
        .map(|it| (true, it))
        .chain(of_stage(Stage::Actual).map(|it| (false, it)))
        .collect();
    let seconds = in_order
        .iter()
        .map(|(_, it)| it.nanoseconds.0 / as_f64(it.operations.max(1)) / 1e9)
        .collect();
    IterationColumns {
        count: in_order.len(),
        burn_in: in_order.iter().map(|(burn_in, _)| *burn_in).collect(),
        loops: in_order
            .iter()
            .map(|(_, it)| it.operations.max(1))
            .collect(),
        values: BTreeMap::from([("wall_time".to_owned(), seconds)]),
        ..IterationColumns::default()
    }
}

/// Returns an instance of values without launches, of statistics only, or of nothing.
fn without_measurements(case: &Case, unknown: &Object) -> InstanceDraft {
    let mut draft = empty_draft(case, unknown);
    let Some(statistics) = &case.statistics else {
        draft.outcome = InstanceOutcome::Failed;
        draft.message = Some("it has no results".to_owned());
        return draft;
    };
    if statistics.original_values.is_empty() {
        draft.summaries.push(summary(statistics));
        return draft;
    }
    let seconds: Vec<f64> = statistics
        .original_values
        .iter()
        .map(|ns| ns / 1e9)
        .collect();
    draft.iterations = IterationColumns {
        count: seconds.len(),
        values: BTreeMap::from([("wall_time".to_owned(), seconds)]),
        ..IterationColumns::default()
    };
    draft
}

fn summary(statistics: &Statistics) -> SummaryDraft {
    let spread = statistics.standard_deviation.known();
    let figures = [
        ("min", statistics.min),
        ("q1", statistics.q1),
        ("median", statistics.median),
        ("q3", statistics.q3),
        ("max", statistics.max),
    ];
    SummaryDraft {
        metric: "wall_time".to_owned(),
        n: statistics.n,
        centre: statistics.mean.0 / 1e9,
        spread: spread.map(|ns| ns / 1e9),
        statistic: if spread.is_some() { "mean/sd" } else { "mean" }.to_owned(),
        extra: figures
            .into_iter()
            .filter_map(|(name, ns)| Some((name.to_owned(), json!(ns.known()? / 1e9))))
            .collect(),
    }
}

fn diagnosed(case: &Case, draft: &mut InstanceDraft) {
    for measured in case.metrics.as_deref().unwrap_or_default() {
        let descriptor = &measured.descriptor;
        let better = descriptor.the_greater_the_better.map(|greater| {
            if greater {
                Better::Higher
            } else {
                Better::Lower
            }
        });
        let unit = Unit::named(descriptor.unit.as_deref().unwrap_or("")).with_better(better);
        mean(&descriptor.id, &unit, measured.value.0, draft);
    }
    if let Some(memory) = &case.memory
        && !draft.metrics.contains_key(ALLOCATED)
    {
        let bytes = memory.bytes_allocated_per_operation.0;
        mean(ALLOCATED, &Unit::named("B"), bytes, draft);
    }
}

fn mean(name: &str, unit: &Unit, value: f64, draft: &mut InstanceDraft) {
    draft.summarise(
        unit,
        SummaryDraft {
            metric: name.to_owned(),
            centre: unit.base(value),
            statistic: "mean".to_owned(),
            ..SummaryDraft::default()
        },
    );
}

#[cfg(test)]
mod tests;
