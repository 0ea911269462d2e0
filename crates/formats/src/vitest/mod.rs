//! Results of tinybench as JSON: the report of `vitest bench`, or an array of its tasks.

use lapwing_model::{InstanceOutcome, Object};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shared::detect::{has_keys, is_object};
use crate::shared::intake::{
    InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft, iterations_of,
};
use crate::shared::keys::put;
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{column, known};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "vitest",
    "JSON of vitest bench, or of tinybench's tasks",
    looks_like,
    read,
);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if is_object(head) && has_keys(head, &["files", "filepath", "groups", "benchmarks"]) {
        return Some("it has `files` with `groups` of `benchmarks`");
    }
    let is_list = head.trim_ascii_start().starts_with(b"[");
    (is_list && has_keys(head, &["name", "latency", "throughput", "samplesCount"]))
        .then_some("it is an array of `name`, `latency` and `throughput`")
}

/// The report of vitest.
#[derive(Debug, Deserialize)]
struct Report<'d> {
    #[serde(borrow)]
    files: Vec<ReportFile<'d>>,
}

#[derive(Debug, Deserialize)]
struct ReportFile<'d> {
    filepath: String,
    #[serde(borrow)]
    groups: Vec<ReportGroup<'d>>,
}

#[derive(Debug, Deserialize)]
struct ReportGroup<'d> {
    #[serde(rename = "fullName")]
    full_name: String,
    #[serde(borrow)]
    benchmarks: Vec<&'d RawValue>,
}

/// A task of tinybench. Times are in milliseconds.
#[derive(Debug, Deserialize)]
struct Task {
    name: String,
    #[serde(default)]
    latency: Option<Figures>,
    #[serde(default)]
    state: Option<String>,
    /// In vitest's reports they stand here.
    #[serde(flatten)]
    own: Figures,
}

#[derive(Debug, Default, Deserialize)]
struct Figures {
    #[serde(default, deserialize_with = "column")]
    samples: Vec<f64>,
    #[serde(default, alias = "sampleCount", alias = "samplesCount")]
    count: Option<u64>,
    #[serde(default, deserialize_with = "known")]
    mean: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    sd: Option<f64>,
    #[serde(default, alias = "p50", deserialize_with = "known")]
    median: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    min: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    max: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    p75: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    p99: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    mad: Option<f64>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut attributes = Object::new();
    let (tool, groups): (_, Vec<(String, Vec<&RawValue>)>) =
        if document.text().trim_start().starts_with('[') {
            ("tinybench", vec![(String::new(), document.parse()?)])
        } else {
            let report: Report<'_> = document.parse()?;
            let files = report.files.iter().map(|file| file.filepath.as_str());
            let files: Vec<&str> = files.collect();
            put(&mut attributes, "files", Some(files));
            let groups = report.files.into_iter().flat_map(|file| file.groups);
            let groups = groups.map(|group| (group.full_name + " > ", group.benchmarks));
            ("vitest bench", groups.collect())
        };
    let session = SessionDraft {
        attributes,
        ..SessionDraft::of(tool)
    };
    let mut intake = Intake::begin(source, document.sha256(), sink, session)?;
    let run = intake.run(RunDraft::default())?;
    for (group, tasks) in groups {
        for raw in tasks {
            let draft = draft(&document, raw, &group, intake.notes());
            intake.read_instance(document.spot_of(raw.get()), run, draft)?;
        }
    }
    intake.finish()
}

fn draft(
    document: &Document,
    raw: &RawValue,
    group: &str,
    notes: &mut Notes,
) -> Result<InstanceDraft, BadLine> {
    let task: Task = document.element(raw)?;
    if task.name.is_empty() {
        return Err(document.wrong(raw, "the benchmark has no name"));
    }
    let mut draft = InstanceDraft::of(format!("{group}{}", task.name));
    let unit = Unit::named("ms");
    let figures = task.latency.unwrap_or(task.own);
    if !figures.samples.is_empty() {
        let mut samples = figures.samples;
        unit.base_column(&mut samples);
        draft
            .metrics
            .insert("wall_time".to_owned(), unit.metric.clone());
        draft.iterations = iterations_of("wall_time", samples);
        notes.left("mean, sd, median, min, max, hz …", FOLLOWS);
        return Ok(draft);
    }
    let Some(mean) = figures.mean else {
        // vitest writes nothing else of a benchmark that failed or was skipped.
        draft.outcome = InstanceOutcome::Failed;
        draft.message = task.state;
        return Ok(draft);
    };
    let mut summary = SummaryDraft::of("wall_time", unit.base(mean), "mean");
    summary.n = figures.count;
    for (name, value) in [
        ("median", figures.median),
        ("min", figures.min),
        ("max", figures.max),
        ("p75", figures.p75),
        ("p99", figures.p99),
        ("mad", figures.mad),
    ] {
        put(
            &mut summary.extra,
            name,
            value.map(|value| unit.base(value)),
        );
    }
    let deviation = figures.sd.map(|sd| unit.base(sd));
    draft.summarise(&unit, summary.with_spread(deviation, "sd"));
    let derived =
        "they follow from count, mean and standard deviation, or say the same of the rate";
    notes.left("hz, rme, sem, variance, throughput …", derived);
    Ok(draft)
}

#[cfg(test)]
mod tests;
