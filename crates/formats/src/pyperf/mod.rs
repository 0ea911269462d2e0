//! pyperf's JSON: one document with benchmarks, each of them with one run a process.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::detect::{has_key, has_own_key, is_object};
use crate::shared::intake::{
    InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft, iterations_of,
};
use crate::shared::keys::{in_words, put, take_count, take_number, take_text};
use crate::shared::notes::Notes;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::reading::number::{Number, column};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Benchmark, Metric, Object};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format =
    Format::new("pyperf", "pyperf -o, pyperformance", looks_like, read).with_keys(&[
        "benchmarks",
        "runs",
        "values",
    ]);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (is_object(head)
        && has_own_key(head, "benchmarks")
        && has_key(head, "runs")
        && (has_key(head, "values") || has_key(head, "warmups")))
    .then_some("it has `benchmarks` with `runs`")
}

/// The whole document. Metadata stands as high up as it is the same for all below.
#[derive(Deserialize)]
struct PyperfDocument<'d> {
    metadata: Option<Object>,
    #[serde(borrow)]
    benchmarks: Vec<&'d RawValue>,
    version: Option<Value>,
    #[serde(flatten)]
    others: Object,
}

#[derive(Deserialize)]
struct WireBenchmark<'d> {
    metadata: Option<Object>,
    #[serde(borrow)]
    runs: Vec<&'d RawValue>,
    #[serde(flatten)]
    others: Object,
}

/// The results of one process.
#[derive(Deserialize)]
struct WireRun {
    metadata: Option<Object>,
    warmups: Option<Vec<(u64, Number)>>,
    #[serde(default, deserialize_with = "column")]
    values: Vec<f64>,
    #[serde(flatten)]
    others: Object,
}

/// The date of a run, wherever it stands.
#[derive(Deserialize)]
struct Dated {
    metadata: Option<Date>,
}

#[derive(Deserialize)]
struct Date {
    date: Option<String>,
}

/// Keys that describe the machine and the interpreter, and not the benchmark.
const OF_MACHINE: [&str; 11] = [
    "aslr",
    "boot_time",
    "isolated_cpus",
    "load_avg_1min",
    "nohz_full",
    "perf_version",
    "platform",
    "psutil_version",
    "runnable_threads",
    "timer",
    "uptime",
];
const OF_MACHINE_BEGIN: [&str; 3] = ["cpu_", "mem_", "python_"];

/// Keys in which pyperf itself describes a benchmark.
const OF_BENCHMARK: [&str; 5] = [
    "calibrate_",
    "recalibrate_",
    "timeit_",
    "tracemalloc_",
    "command",
];

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let wire: PyperfDocument<'_> = document.parse()?;
    refuse_newer(&document, wire.version.as_ref())?;
    let common = wire.metadata.unwrap_or_default();
    sink.notes()
        .kept_all(wire.others.keys(), "attributes of the session");
    let session = SessionDraft {
        started: first_date(&document, &wire.benchmarks, &common),
        tool: match common.get("perf_version") {
            Some(version) => format!("pyperf {}", in_words(version)),
            None => "pyperf".to_owned(),
        },
        attributes: wire.others,
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let run = intake.run(RunDraft {
        environment: common
            .iter()
            .filter(|(key, _)| is_of_machine(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        ..RunDraft::default()
    })?;
    for raw in &wire.benchmarks {
        let benchmark = intake.good(document.element::<WireBenchmark<'_>>(raw));
        let Some(benchmark) = benchmark else {
            continue;
        };
        let metadata = [&common, &benchmark.metadata.unwrap_or_default()];
        for raw in benchmark.runs {
            let spot = document.spot_of(raw.get());
            let others = &benchmark.others;
            let draft = new_instance(&document, raw, metadata, others, intake.notes());
            let name = metadata.iter().find_map(|it| it.get("name")?.as_str());
            let draft = draft.map_err(|bad| bad.of(name.unwrap_or_default()));
            intake.read_instance(spot, run, draft)?;
        }
    }
    intake.finish()
}

fn refuse_newer(document: &Document, version: Option<&Value>) -> Result<(), ImportError> {
    let Some(version) = version.map(in_words) else {
        return Ok(());
    };
    let major = version
        .split('.')
        .next()
        .and_then(|it| it.parse::<u32>().ok());
    match major {
        Some(0 | 1) => Ok(()),
        Some(_) | None => Err(document.wrong_document(format!(
            "the format's version {version} is newer than 1, which this program reads"
        ))),
    }
}

/// Returns the date of the run that began first.
fn first_date(document: &Document, benchmarks: &[&RawValue], common: &Object) -> Option<Timestamp> {
    let mut dates: Vec<Timestamp> = Vec::new();
    let mut see = |text: Option<&str>| dates.extend(text.and_then(moment));
    see(common.get("date").and_then(Value::as_str));
    for raw in benchmarks {
        let Ok(benchmark) = document.element::<WireBenchmark<'_>>(raw) else {
            continue;
        };
        let shared = benchmark.metadata.as_ref().and_then(|it| it.get("date"));
        see(shared.and_then(Value::as_str));
        for raw in benchmark.runs {
            let dated = document.element::<Dated>(raw).ok();
            let date = dated.and_then(|it| it.metadata).and_then(|it| it.date);
            see(date.as_deref());
        }
    }
    dates.into_iter().min()
}

fn is_of_machine(key: &str) -> bool {
    key != "mem_max_rss"
        && (OF_MACHINE.contains(&key) || OF_MACHINE_BEGIN.iter().any(|it| key.starts_with(it)))
}

/// Returns the instance of a process, with the metadata of the document and of its benchmark.
fn new_instance(
    document: &Document,
    raw: &RawValue,
    [common, of_benchmark]: [&Object; 2],
    others: &Object,
    notes: &mut Notes,
) -> Result<InstanceDraft, BadLine> {
    let process: WireRun = document.element(raw)?;
    let of_process = process.metadata.unwrap_or_default();
    let mut about = common.clone();
    about.extend(of_benchmark.clone());
    about.extend(of_process.clone());
    let Some(id) = take_text(&mut about, "name") else {
        return Err(document.wrong(raw, "the benchmark's `name` is missing in its metadata"));
    };
    let warmups = process.warmups.unwrap_or_default();
    if warmups.is_empty() && process.values.is_empty() {
        return Err(document.wrong(
            raw,
            format!("a run of `{id}` has neither values nor warm-ups"),
        ));
    }
    let (metric, unit) = metric_of(take_text(&mut about, "unit").as_deref());
    let loops = take_count(&mut about, "loops").unwrap_or(1);
    let inner_loops = take_count(&mut about, "inner_loops").unwrap_or(1);
    let tags = take_tags(&mut about);
    let started = take_text(&mut about, "date").as_deref().and_then(moment);
    let duration = take_number(&mut about, "duration");
    let memory = take_number(&mut about, "command_max_rss")
        .or_else(|| take_number(&mut about, "mem_max_rss"));
    let host = take_text(&mut about, "hostname");
    let mut environment = Object::new();
    let mut attributes = Object::new();
    for (key, value) in about {
        if !is_of_machine(&key) {
            if !OF_BENCHMARK.iter().any(|it| key.starts_with(it)) {
                notes.kept(&key, "attributes of the instance");
            }
            attributes.insert(key, value);
        } else if of_benchmark.contains_key(&key) || of_process.contains_key(&key) {
            environment.insert(key, value);
        }
    }
    for (key, value) in others.iter().chain(&process.others) {
        notes.kept(key, "attributes of the instance");
        attributes.insert(key.clone(), value.clone());
    }
    let several = Some(inner_loops).filter(|loops| *loops > 1);
    put(&mut attributes, "inner_loops", several);
    Ok(InstanceDraft {
        benchmark: Benchmark {
            id,
            tags,
            ..Benchmark::default()
        },
        host,
        started,
        ended: started.zip(duration).and_then(|(started, duration)| {
            // A process of a benchmark that takes for ever would be a damaged file.
            let duration = SignedDuration::try_from_secs_f64(duration).ok()?;
            started.checked_add(duration).ok()
        }),
        environment,
        attributes,
        metrics: BTreeMap::from([
            (metric.clone(), unit.metric.clone()),
            ("peak_memory".to_owned(), Metric::lower("B")),
        ]),
        iterations: columns(&metric, &unit, &warmups, process.values, loops, inner_loops),
        // One figure of the whole process, warm-ups and all: no iteration has it.
        summaries: memory
            .map(|bytes| SummaryDraft::of("peak_memory", bytes, "max"))
            .into_iter()
            .collect(),
        ..InstanceDraft::default()
    })
}

/// Values are seconds unless the benchmark says otherwise.
fn metric_of(unit: Option<&str>) -> (String, Unit) {
    match unit {
        None | Some("second") => ("wall_time".to_owned(), Unit::named("second")),
        Some("byte") => ("bytes".to_owned(), Unit::named("byte")),
        Some("integer") => ("value".to_owned(), Unit::named("1")),
        Some(other) => (format!("value ({other})"), Unit::named(other)),
    }
}

fn take_tags(about: &mut Object) -> Vec<String> {
    let tags = about.get("tags").cloned().unwrap_or_default();
    let tags: Option<Vec<String>> = serde_json::from_value(tags).ok();
    if tags.is_some() {
        about.remove("tags");
    }
    tags.unwrap_or_default()
}

/// Warm-ups come first and say for themselves how many loops they had; all values are
/// the means of a loop.
fn columns(
    metric: &str,
    unit: &Unit,
    warmups: &[(u64, Number)],
    values: Vec<f64>,
    loops: u64,
    inner_loops: u64,
) -> IterationColumns {
    let count = warmups.len() + values.len();
    let mut all_loops: Vec<u64> = warmups.iter().map(|(loops, _)| *loops).collect();
    all_loops.resize(count, loops);
    for loops in &mut all_loops {
        *loops = loops.saturating_mul(inner_loops).max(1);
    }
    let mut burn_in = vec![true; warmups.len()];
    burn_in.resize(count, false);
    let mut column: Vec<f64> = warmups.iter().map(|(_, value)| value.0).collect();
    column.extend(values);
    unit.base_column(&mut column);
    IterationColumns {
        burn_in,
        loops: all_loops,
        ..iterations_of(metric, column)
    }
}
