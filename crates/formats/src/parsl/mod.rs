//! Parsl's monitoring database: SQLite, with a workflow for each program that was run.

mod rows;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::parsl::rows::{ParslRows, integer_of, text_of, time_of};
use crate::shared::detect::has_table;
use crate::shared::intake::{InstanceDraft, SessionDraft};
use crate::shared::reading::database::{Database, DatabaseRow};
use crate::shared::sink::Sink;
use crate::shared::spans::{SpanDraft, TASK, WALL, take_trace, timestamp_of, traced};
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    is_database: true,
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "parsl",
        "Parsl's monitoring database (SQLite)",
        looks_like,
        read,
    )
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    ["workflow", "task", "status"]
        .iter()
        .all(|table| has_table(head, table))
        .then_some("it is an SQLite database with `workflow`, `task` and `status`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let database = Database::open(source)?;
    let Some(workflows) = database.rows("workflow")? else {
        return Err(ImportError::Database {
            name: source.name().to_owned(),
            reason: "it has no table `workflow`".to_owned(),
        });
    };
    let rows = ParslRows::of(&database)?;
    let mut any = false;
    for workflow in workflows {
        match workflow_drafts(&workflow, &rows, &digest) {
            Ok((_, trace)) if trace.spans.is_empty() => {
                let name = &trace.benchmark.id;
                sink.notes().left(name, "the workflow has no tasks");
            }
            Ok((session, trace)) => {
                any = true;
                take_trace(source, &digest, sink, session, trace, workflow.number)?;
            }
            Err(reason) => sink.bad(BadLine::new(workflow.number, reason)),
        }
    }
    if any || sink.only_counts() {
        Ok(())
    } else {
        Err(source.without_results())
    }
}

fn workflow_drafts(
    workflow: &DatabaseRow,
    rows: &ParslRows,
    digest: &[u8; 32],
) -> Result<(SessionDraft, InstanceDraft), String> {
    let id = text_of(workflow, "run_id").ok_or("`run_id` is missing")?;
    let name = text_of(workflow, "workflow_name").unwrap_or_else(|| "workflow".to_owned());
    let (began, completed) = (
        time_of(workflow, "time_began")?,
        time_of(workflow, "time_completed")?,
    );
    let host = text_of(workflow, "host");
    let mut identity = Sha256::new_with_prefix(b"parsl workflow");
    identity.update(id.as_bytes());
    if completed.is_none() {
        // Its tasks may be others in a later copy of the database.
        identity.update(digest);
    }
    let session = SessionDraft {
        key: id.clone(),
        // Not the file's: a database grows with each workflow.
        identity: Some(identity.finalize().into()),
        started: began.and_then(timestamp_of),
        name: Some(id.clone()),
        ..SessionDraft::of("parsl")
    };
    let mut spans = Vec::new();
    for task in rows.tasks.get(&id).into_iter().flatten() {
        spans.extend(task_spans(task, &id, rows, host.as_deref())?);
    }
    #[expect(clippy::cast_precision_loss, reason = "a duration, to 15 digits")]
    let seconds = began
        .zip(completed)
        .map(|(from, to)| (to - from) as f64 / 1e9);
    let mut trace = traced(&name, seconds, spans);
    trace.started = began.and_then(timestamp_of);
    trace.ended = completed.and_then(timestamp_of);
    trace.host = host;
    Ok((session, trace))
}

/// Returns a span for each attempt at a task.
fn task_spans(
    task: &DatabaseRow,
    run: &str,
    rows: &ParslRows,
    host: Option<&str>,
) -> Result<Vec<SpanDraft>, String> {
    let id = integer_of(task, "task_id").ok_or("`task_id` is missing")?;
    let name = rows.name(run, id).ok_or("`task_func_name` is missing")?;
    // Older databases have a row for each task, and no attempts.
    let whole = [task];
    let attempts: Vec<&DatabaseRow> = match rows.attempts.get(&(run.to_owned(), id)) {
        Some(attempts) => attempts.iter().collect(),
        None => whole.to_vec(),
    };
    let mut spans = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let number = integer_of(attempt, "try_id").unwrap_or(0);
        let statuses = rows.statuses(run, id, number);
        let used = rows.used(run, id, number);
        let mut span = SpanDraft::of(TASK, name.clone());
        span.clock = Some(WALL.to_owned());
        span.inputs = Some(inputs_of(task, run, rows));
        let first = |names: &[&str]| names.iter().find_map(|name| statuses.get(*name).copied());
        span.event("invoked", first(&["pending"]));
        let launched = time_of(attempt, "task_try_time_launched")?;
        span.event("planned", launched.or_else(|| first(&["launched"])));
        span.event("started", first(&["running"]));
        span.event("computed", first(&["running_ended"]));
        let returned = match time_of(attempt, "task_try_time_returned")? {
            Some(time) => Some(time),
            None => time_of(attempt, "task_time_returned")?,
        };
        let done = ["exec_done", "memo_done", "done", "failed", "fail_retryable"];
        span.event("completed", returned.or_else(|| first(&done)));
        let host = text_of(attempt, "hostname").or_else(|| host.map(str::to_owned));
        let worker = used.process.map(|process| process.to_string());
        let executor = text_of(attempt, "task_executor");
        let place = worker.or_else(|| executor.clone()).unwrap_or_default();
        span.lane = host.map(|host| format!("{host}:{place}"));
        span.attribute("executor", executor);
        span.attribute("cpu", used.cpu.filter(|_| rows.has_attempts));
        span.attribute("peak_memory", used.memory);
        span.attribute("try", Some(number).filter(|number| *number > 0));
        let failure = text_of(attempt, "task_fail_history");
        span.attribute("status", failure.is_some().then_some("error"));
        span.attribute("error", failure);
        spans.push(span);
    }
    Ok(spans)
}

/// Returns the names of the tasks that a task depends on.
fn inputs_of(task: &DatabaseRow, run: &str, rows: &ParslRows) -> Vec<String> {
    let depends = text_of(task, "task_depends").unwrap_or_default();
    let numbers = depends.split(',').filter_map(|it| it.trim().parse().ok());
    numbers.filter_map(|id: i64| rows.name(run, id)).collect()
}

/// The resources that a task used, as far as they were sampled.
#[derive(Debug, Default, Clone, Copy)]
struct UsedResources {
    process: Option<i64>,
    /// Between the first and the last sample, in nanoseconds.
    cpu: Option<i64>,
    memory: Option<i64>,
}

/// Times of the states of an attempt, by their names.
type Statuses = BTreeMap<String, i64>;

#[cfg(test)]
mod tests;
