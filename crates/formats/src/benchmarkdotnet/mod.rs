//! BenchmarkDotNet's JSON exporters: a report of benchmarks with their measurements.

mod wire;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lapwing_stats::as_f64;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::benchmarkdotnet::wire::{Case, KNOWN, Measurement, Report, Stage, Statistics};
use crate::shared::detect::{has_key, is_object};
use crate::shared::intake::{
    InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft, iterations_of,
};
use crate::shared::keys::{put, put_object};
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::others::others;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Better, InstanceOutcome, Level, Metric, Object};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format =
    Format::new("benchmarkdotnet", "BenchmarkDotNet JSON", looks_like, read);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (is_object(head) && has_key(head, "HostEnvironmentInfo"))
        .then_some("it has `HostEnvironmentInfo`")
}

/// Parts of a benchmark whose unknown keys are kept.
const STATISTICS: &str = "Statistics";
const METRICS: &str = "Metrics";

/// BenchmarkDotNet's own name for the memory that an operation allocates.
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
        let Some((case, unknown)) = intake.good(read_case(&document, raw)) else {
            continue;
        };
        note(&case, &unknown, intake.notes());
        let job = job.unwrap_or_default();
        let run = intake.run(job.run_draft(&report, several_jobs))?;
        let spot = document.spot_of(raw.get());
        for draft in drafts(&case, &unknown) {
            intake.instance(spot, run, draft)?;
        }
    }
    intake.finish()
}

fn session_draft(report: &Report<'_>) -> SessionDraft {
    let version = report.host_environment_info.get("BenchmarkDotNetVersion");
    let mut attributes = report.unknown.clone();
    put(&mut attributes, "title", report.title.clone());
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

/// The settings of benchmarks: runtime, numbers of launches and iterations, ….
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    /// BenchmarkDotNet's name for it.
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
        let properties: Option<Object> = serde_json::from_str(&self.properties).ok();
        let name = Some(&self.name).filter(|name| !name.is_empty());
        let job = properties.map(Value::from);
        let job = job.or(name.map(|name| Value::from(name.as_str())));
        put(&mut environment, "job", job);
        let mut draft = RunDraft {
            environment,
            ..RunDraft::default()
        };
        if several {
            draft.key = format!("{}\n{}", self.name, self.properties);
            let name = name.unwrap_or(&self.properties);
            draft.variant = Some(name.clone()).filter(|name| !name.is_empty());
            let level = draft.variant.clone().map(Level::Text);
            draft.factors = level.map(|it| ("job".to_owned(), it)).into_iter().collect();
        }
        draft
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
        put_object(&mut of_metrics, &metric.descriptor.id, metric.all_unknown());
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

fn note(case: &Case, unknown: &Object, notes: &mut Notes) {
    for (key, value) in unknown {
        let parts = value.as_object().into_iter().flatten();
        match key.as_str() {
            STATISTICS => notes.kept_all(
                parts.map(|(key, _)| key),
                "attributes of the instance, under `Statistics`",
            ),
            METRICS => notes.kept_all(
                parts
                    .filter_map(|(_, of_metric)| of_metric.as_object())
                    .flat_map(Object::keys),
                "attributes of the instance, under `Metrics`",
            ),
            _of_case => notes.kept(key, "attributes of the instance"),
        }
    }
    let measurements = case.measurements.as_deref().unwrap_or_default();
    for measurement in measurements {
        for (key, _) in &measurement.unknown.0 {
            notes.left(key, "there are too many measurements to keep unknown keys");
        }
        match measurement.stage() {
            Stage::Warmup | Stage::Actual => {}
            Stage::Result => notes.left(&measurement.name(), FOLLOWS),
            Stage::Preparation => {
                notes.left(&measurement.name(), "they do not measure the benchmark");
            }
        }
    }
    let has_values = |it: &Statistics| !it.original_values.is_empty();
    let values = case.statistics.as_ref().is_some_and(has_values);
    if values || measurements.iter().any(|it| it.stage() == Stage::Actual) {
        notes.left("Statistics", FOLLOWS);
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
    match case.parameters.as_deref().unwrap_or_default() {
        "" => id,
        parameters => format!("{id}({parameters})"),
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
    let mut draft = InstanceDraft {
        attributes: unknown.clone(),
        metrics: BTreeMap::from([("wall_time".to_owned(), Metric::lower("s"))]),
        ..InstanceDraft::of(benchmark_id(case))
    };
    draft.benchmark.params = params(case);
    let intrinsics = case.hardware_intrinsics.clone();
    let intrinsics = intrinsics.filter(|it| !it.is_empty());
    put(&mut draft.environment, "HardwareIntrinsics", intrinsics);
    draft
}

fn measured(of_launch: &[&Measurement]) -> IterationColumns {
    let of_stage = |stage| of_launch.iter().filter(move |it| it.stage() == stage);
    let in_order: Vec<(bool, &&Measurement)> = of_stage(Stage::Warmup)
        .map(|it| (true, it))
        .chain(of_stage(Stage::Actual).map(|it| (false, it)))
        .collect();
    let loops = |it: &Measurement| it.operations.max(1);
    let measured = in_order.iter();
    let seconds = measured
        .clone()
        .map(|(_, it)| it.nanoseconds.0 / as_f64(loops(it)) / 1e9);
    IterationColumns {
        burn_in: measured.clone().map(|(burn_in, _)| *burn_in).collect(),
        loops: measured.map(|(_, it)| loops(it)).collect(),
        ..iterations_of("wall_time", seconds.collect())
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
    let seconds = statistics.original_values.iter().map(|ns| ns / 1e9);
    draft.iterations = iterations_of("wall_time", seconds.collect());
    draft
}

fn summary(statistics: &Statistics) -> SummaryDraft {
    let spread = statistics.standard_deviation.known().map(|ns| ns / 1e9);
    let figures = [
        ("min", statistics.min),
        ("q1", statistics.q1),
        ("median", statistics.median),
        ("q3", statistics.q3),
        ("max", statistics.max),
    ];
    SummaryDraft {
        n: statistics.n,
        extra: figures
            .into_iter()
            .filter_map(|(name, ns)| Some((name.to_owned(), json!(ns.known()? / 1e9))))
            .collect(),
        ..SummaryDraft::of("wall_time", statistics.mean.0 / 1e9, "mean").with_spread(spread, "sd")
    }
}

fn diagnosed(case: &Case, draft: &mut InstanceDraft) {
    for measured in case.metrics.as_deref().unwrap_or_default() {
        let descriptor = &measured.descriptor;
        let better = match descriptor.the_greater_the_better {
            Some(true) => Some(Better::Higher),
            Some(false) => Some(Better::Lower),
            None => None,
        };
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
    draft.summarise(unit, SummaryDraft::of(name, unit.base(value), "mean"));
}

#[cfg(test)]
mod tests;
