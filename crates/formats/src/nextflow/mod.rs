//! Nextflow's trace file: `-with-trace`, a line per task.

use std::collections::BTreeMap;

use crate::shared::intake::{InstanceDraft, SessionDraft};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::moment::{moment, since_epoch};
use crate::shared::reading::spot::Spot;
use crate::shared::sink::Sink;
use crate::shared::spans::{
    SpanDraft, TASK, WALL, in_nanoseconds, put_in_lanes, since_1970, take_trace, timestamp_of,
    traced,
};
use crate::{Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "nextflow",
        "Nextflow's trace file (-with-trace)",
        looks_like,
        read,
    )
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let first = head.split(|byte| *byte == b'\n').next()?;
    let columns: Vec<&[u8]> = first.trim_ascii().split(|byte| *byte == b'\t').collect();
    let has = |name: &str| columns.contains(&name.as_bytes());
    (has("name") && has("status") && (has("task_id") || has("hash")))
        .then_some("its columns are `task_id` or `hash`, `name` and `status`")
}

/// The columns that are read, and those that follow from them or name where a task is.
const READ: [&str; 20] = [
    "task_id",
    "hash",
    "native_id",
    "process",
    "tag",
    "name",
    "status",
    "exit",
    "cpus",
    "attempt",
    "submit",
    "start",
    "complete",
    "duration",
    "realtime",
    "%cpu",
    "peak_rss",
    "read_bytes",
    "write_bytes",
    "error_action",
];

/// A line by its columns, without empty values.
type Row<'l> = BTreeMap<&'l str, &'l str>;

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let mut lines = Lines::of(source)?;
    let mut columns: Vec<String> = Vec::new();
    let mut tasks: Vec<(String, SpanDraft)> = Vec::new();
    while let Some((number, line)) = lines.next_indented()? {
        let read = match line {
            Line::Text(text) if columns.is_empty() => {
                columns = text.split('\t').map(|it| it.trim().to_owned()).collect();
                for column in &columns {
                    if !READ.contains(&column.as_str()) {
                        let why = "these columns of tasks have no place in a trace";
                        sink.notes().left(column, why);
                    }
                }
                continue;
            }
            Line::Text(text) => task_of(&columns, text),
            Line::Bad(reason) => Err(reason),
        };
        match read {
            Ok(Some(task)) => tasks.push(task),
            Ok(None) => sink
                .notes()
                .left_line(number, "the results are of an earlier run (`CACHED`)"),
            Err(reason) => sink.bad(Spot::from(number).bad(reason)),
        }
    }
    let trace = trace_of(tasks);
    let starts = trace.spans.iter().flat_map(|span| span.events.values());
    let session = SessionDraft {
        started: starts.min().copied().and_then(timestamp_of),
        ..SessionDraft::of("Nextflow")
    };
    take_trace(source, &digest, sink, session, trace, 1)
}

/// Puts the tasks in lanes by when they ran, since the file does not say where, and gives those that share a name
/// their numbers, unless all but one of them failed: these are attempts.
fn trace_of(tasks: Vec<(String, SpanDraft)>) -> InstanceDraft {
    let mut done: BTreeMap<String, usize> = BTreeMap::new();
    for (_, span) in &tasks {
        let has_failed = span.attributes.contains_key("status");
        *done.entry(span.name.clone()).or_default() += usize::from(!has_failed);
    }
    let spans = tasks.into_iter().map(|(id, mut span)| {
        if done.get(&span.name).is_some_and(|done| *done > 1) && !id.is_empty() {
            span.name = format!("{} #{id}", span.name);
        }
        span
    });
    let mut spans: Vec<SpanDraft> = spans.collect();
    put_in_lanes(&mut spans);
    traced("nextflow", None, spans)
}

/// Returns the number of a task and its span; `None` if it did not run.
fn task_of(columns: &[String], text: &str) -> Result<Option<(String, SpanDraft)>, String> {
    let fields: Vec<&str> = text.split('\t').collect();
    if fields.len() != columns.len() {
        return Err(format!(
            "{} columns, but the first line names {}",
            fields.len(),
            columns.len()
        ));
    }
    let fields = columns.iter().map(String::as_str).zip(fields);
    let fields = fields.map(|(column, field)| (column, field.trim()));
    let row: Row<'_> = fields.filter(|(_, it)| !["", "-"].contains(it)).collect();
    let name = row.get("name").ok_or("`name` is missing")?;
    let status = row.get("status").ok_or("`status` is missing")?;
    if *status == "CACHED" {
        return Ok(None);
    }
    let has_failed = ["FAILED", "ABORTED"].contains(status);
    let mut span = SpanDraft::of(TASK, *name);
    span.clock = Some(WALL.to_owned());
    let process = row.get("process").copied();
    let process = process.or_else(|| name.split(" (").next());
    span.attribute("class", process);
    let runtime = duration(&row, "realtime")?;
    add_times(&mut span, &row, runtime, has_failed)?;
    let cpu: Option<f64> = number(&row, "%cpu", |text| text.trim_end_matches('%').parse().ok())?;
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    let cpu = cpu
        .zip(runtime)
        .and_then(|(percent, time)| in_nanoseconds(percent / 100.0 * time as f64, 1));
    span.attribute("cpu", cpu);
    let cores: Option<f64> = number(&row, "cpus", |text| text.parse().ok())?;
    span.attribute("cores", cores);
    for (column, key) in [
        ("peak_rss", "peak_memory"),
        ("read_bytes", "bytes_read"),
        ("write_bytes", "bytes_written"),
    ] {
        span.attribute(key, number(&row, column, bytes)?);
    }
    let attempt: Option<i64> = number(&row, "attempt", |text| text.parse().ok())?;
    span.attribute("try", attempt.map(|it| it - 1).filter(|it| *it > 0));
    span.attribute("status", has_failed.then_some("error"));
    let exit: Option<i64> = number(&row, "exit", |text| text.parse().ok())?;
    span.attribute("exit", exit.filter(|exit| *exit != 0));
    let id = row.get("task_id").or_else(|| row.get("hash"));
    Ok(Some((id.copied().unwrap_or_default().to_owned(), span)))
}

/// Adds the events of a task. Where the file does not say when it started, as by default, it ran until it was complete.
fn add_times(
    span: &mut SpanDraft,
    row: &Row<'_>,
    runtime: Option<i64>,
    has_failed: bool,
) -> Result<(), String> {
    let submitted = number(row, "submit", time)?;
    let started = number(row, "start", time)?;
    let complete = number(row, "complete", time)?;
    let whole = duration(row, "duration")?;
    let complete = complete.or_else(|| submitted?.checked_add(whole?));
    span.event("planned", submitted);
    span.event(
        "started",
        started.or_else(|| complete?.checked_sub(runtime?)),
    );
    span.event("completed", complete);
    if !has_failed {
        let ended = started.and_then(|it| it.checked_add(runtime?));
        let ended = ended.map(|it| complete.map_or(it, |complete| it.min(complete)));
        span.event("computed", ended.or(complete));
    }
    Ok(())
}

/// Returns the value of a column, if it has one.
fn number<T>(
    row: &Row<'_>,
    column: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let value = row
        .get(column)
        .map(|text| read(text).ok_or_else(|| format!("`{column}` cannot be read: `{text}`")));
    value.transpose()
}

fn duration(row: &Row<'_>, column: &str) -> Result<Option<i64>, String> {
    number(row, column, duration_of)
}

/// Returns a time in ns since 1970: of the calendar, taken for UTC, or ms as `trace.raw` has them.
fn time(text: &str) -> Option<i64> {
    let raw = || since_epoch(text.parse().ok()?);
    raw().or_else(|| moment(text)).and_then(since_1970)
}

/// Returns a duration in ns: `1m 39s`, or ms as `trace.raw` has them.
fn duration_of(text: &str) -> Option<i64> {
    if let Ok(milliseconds) = text.parse() {
        return in_nanoseconds(milliseconds, 1_000_000);
    }
    let parts = text.split_whitespace().map(|part| {
        let unit = part.find(|it: char| it.is_ascii_alphabetic())?;
        let (number, unit) = part.split_at(unit);
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _unknown => return None,
        };
        in_nanoseconds(number.parse().ok()?, milliseconds * 1_000_000)
    });
    parts.sum()
}

/// Returns a number of bytes: `4.6 MB`, which are 1024 × 1024 bytes each, or a plain number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, "B"));
    let units = ["B", "KB", "MB", "GB", "TB", "PB"];
    let power = units.iter().position(|it| *it == unit)?;
    let factor = 1024_f64.powi(i32::try_from(power).ok()?);
    let number: f64 = number.parse().ok().filter(|it| *it >= 0.0)?;
    Some((number * factor).round() as u64)
}

#[cfg(test)]
mod tests;
