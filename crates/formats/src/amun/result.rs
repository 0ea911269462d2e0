//! One result of an inspection: an execution of its script.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::shared::intake::InstanceDraft;
use crate::shared::keys::{put, take_text};
use crate::shared::notes::Notes;
use crate::shared::reading::moment::moment_of;
use lapwing_model::indicator::{IndicatorDocument, ReadIndicator};
use lapwing_model::local_metrics;
use lapwing_model::{Benchmark, InstanceOutcome, Iteration, Metric, Object, Outcome};
use lapwing_record::{IterationColumns, Mark};

/// A count of `getrusage`: its name, the metric, and the value of one unit in the unit of the metric.
const USAGE: [(&str, &str, f64); 9] = [
    ("ru_utime", "user_time", 1.0),
    ("ru_stime", "system_time", 1.0),
    ("ru_maxrss", "peak_memory", 1024.0),
    ("ru_minflt", "minor_faults", 1.0),
    ("ru_majflt", "major_faults", 1.0),
    ("ru_inblock", "block_input", 512.0),
    ("ru_oublock", "block_output", 512.0),
    ("ru_nvcsw", "voluntary_switches", 1.0),
    ("ru_nivcsw", "involuntary_switches", 1.0),
];

/// Keys that are kept unchanged in the environment of an instance.
const ENVIRONMENT: [&str; 3] = ["hwinfo", "os_release", "runtime_environment"];

/// The attribute with the name of what a script printed that is no document.
const STDOUT: &str = "stdout";

/// Returns the instance of a result.
pub(super) fn instance_draft(
    number: usize,
    mut result: Object,
    notes: &mut Notes,
) -> Result<InstanceDraft, String> {
    let mut mark = Object::new();
    let exit_code = result.remove("exit_code");
    let code = exit_code.as_ref().and_then(Json::as_i64);
    put(&mut mark, "exit_code", exit_code);
    let stdout = result.remove(STDOUT);
    let stderr = take_text(&mut result, "stderr");
    let script = take_text(&mut result, "script_sha256");
    let (document, refused) = read_stdout(stdout, &mut mark);
    let message = match (code, refused) {
        (Some(0), refused) => refused,
        (Some(code), _) => Some(with_last_line(
            format!("exit code {code}"),
            stderr.as_deref(),
        )),
        (None, _) => return Err("`exit_code` is missing or not a whole number".to_owned()),
    };
    let (mut metrics, mut values) = (BTreeMap::new(), BTreeMap::new());
    put_usage(&mut result, &mut mark, &mut values, &mut metrics);
    put(&mut mark, "stderr", stderr);
    let mut columns = vec![values];
    if let Some(document) = document.as_ref().filter(|_| message.is_none()) {
        for (at, values) in document.values()?.into_iter().enumerate() {
            if columns.len() <= at {
                columns.push(BTreeMap::new());
            }
            for name in values.keys() {
                let declared = document.metrics.get(name).cloned();
                metrics.insert(name.clone(), declared.unwrap_or_default());
            }
            columns[at].extend(values);
        }
    }
    let benchmark = match &document {
        Some(document) => document.benchmark(script.as_deref()),
        None => Benchmark {
            id: "script".to_owned(),
            tags: vec![Benchmark::INDICATOR.to_owned()],
            fingerprint: script.as_ref().map(|hash| format!("sha256:{hash}")),
            ..Benchmark::default()
        },
    };
    let outcome = match &message {
        None => Outcome::Ok,
        Some(_) => Outcome::Failed,
    };
    let mut draft = InstanceDraft {
        benchmark,
        position: u32::try_from(number).ok(),
        host: take_text(&mut result, "hostname"),
        environment: environment(&mut result),
        metrics,
        iterations: iterations(columns),
        outcome: match outcome {
            Outcome::Ok | Outcome::Skipped => InstanceOutcome::Ok,
            Outcome::Failed | Outcome::TimedOut => InstanceOutcome::Failed,
        },
        message: message.clone(),
        ..InstanceDraft::default()
    };
    let mark = Mark {
        outcome,
        message,
        attributes: mark,
    };
    draft.iterations.marks.insert(0, mark);
    put_times(&mut result, &mut draft)?;
    draft.attributes.insert("result".to_owned(), json!(number));
    if !result.is_empty() {
        notes.kept_all(result.keys(), "attributes of the instance, under `amun`");
        draft.attributes.insert("amun".to_owned(), result.into());
    }
    Ok(draft)
}

/// Returns the document that the script printed, or why there is none; the text is kept in either case.
fn read_stdout(
    stdout: Option<Json>,
    mark: &mut Object,
) -> (Option<IndicatorDocument>, Option<String>) {
    match stdout {
        Some(Json::Object(whole)) if !whole.is_empty() => {
            let read = ReadIndicator::of_object(whole.clone());
            let refused = read.breach().map(ToString::to_string);
            mark.insert(Iteration::DOCUMENT.to_owned(), whole.into());
            (read.document, refused)
        }
        Some(Json::String(text)) => {
            let read = ReadIndicator::of_output(&text);
            let refused = read.breach().map(ToString::to_string);
            mark.insert(STDOUT.to_owned(), text.into());
            (read.document, refused)
        }
        Some(_) | None => (None, Some("the script printed nothing".to_owned())),
    }
}

/// Adds what the operating system counted to the values, and keeps all of it.
fn put_usage(
    result: &mut Object,
    mark: &mut Object,
    values: &mut BTreeMap<String, f64>,
    metrics: &mut BTreeMap<String, Metric>,
) {
    let Some(usage) = result.remove("usage") else {
        return;
    };
    let declared = local_metrics();
    for (name, metric, factor) in USAGE {
        if let Some(number) = usage.get(name).and_then(Json::as_f64) {
            values.insert(metric.to_owned(), number * factor);
            let about = declared.get(metric).cloned().unwrap_or_default();
            metrics.insert(metric.to_owned(), about);
        }
    }
    mark.insert("usage".to_owned(), usage);
}

/// Returns the description of the machine, with the keys that ours has besides.
fn environment(result: &mut Object) -> Object {
    let mut environment = Object::new();
    for key in ENVIRONMENT {
        put(&mut environment, key, result.remove(key));
    }
    let found = |key: &str, paths: &[&str]| -> Option<Json> {
        let part = environment.get(key)?;
        let mut values = paths.iter().filter_map(|path| part.pointer(path));
        values.next().cloned()
    };
    let ours = [
        // Named otherwise in 2020-02.
        (
            "cpu_model",
            found("hwinfo", &["/cpu_info/brand_raw", "/cpu_info/brand"]),
        ),
        ("cpus", found("hwinfo", &["/cpu_info/count"])),
        ("kernel", found("hwinfo", &["/platform/release"])),
        ("architecture", found("hwinfo", &["/platform/machine"])),
        ("os", found("os_release", &["/pretty_name"])),
    ];
    for (key, value) in ours {
        put(&mut environment, key, value);
    }
    environment
}

/// Sets start and end; before August 2020 there was only the end, as `datetime`.
fn put_times(result: &mut Object, draft: &mut InstanceDraft) -> Result<(), String> {
    let mut time = |key: &str| moment_of(key, take_text(result, key).as_deref());
    draft.started = time("start_datetime")?;
    draft.ended = time("end_datetime")?;
    if draft.ended.is_none() {
        draft.ended = time("datetime")?;
    }
    Ok(())
}

fn iterations(rows: Vec<BTreeMap<String, f64>>) -> IterationColumns {
    let mut columns = IterationColumns {
        count: rows.len(),
        ..IterationColumns::default()
    };
    for (at, row) in rows.iter().enumerate() {
        for (name, value) in row {
            let column = columns.values.entry(name.clone());
            column.or_insert_with(|| vec![f64::NAN; rows.len()])[at] = *value;
        }
    }
    columns
}

fn with_last_line(reason: String, stderr: Option<&str>) -> String {
    let lines = stderr.unwrap_or_default().lines();
    let mut lines = lines.rev().filter(|line| !line.trim().is_empty());
    match lines.next() {
        Some(line) => format!("{reason}: {}", line.trim()),
        None => reason,
    }
}
