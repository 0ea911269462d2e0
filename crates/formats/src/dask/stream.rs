//! The list that `Client.get_task_stream` returns, saved as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{DaskPiece, DaskTask, class_of, key_text};
use crate::ImportError;
use crate::shared::keys::put;
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::shared::spans::nanoseconds;

/// A task that a worker has finished.
#[derive(Deserialize)]
struct StreamRow {
    key: Value,
    worker: String,
    #[serde(default)]
    thread: Value,
    status: Option<String>,
    startstops: Option<Vec<StartStop>>,
    nbytes: Option<u64>,
    typename: Option<String>,
    exception_text: Option<String>,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

/// An object, or in older versions a list of the same.
#[derive(Deserialize)]
struct StartStop {
    action: String,
    start: f64,
    stop: f64,
    #[serde(default)]
    source: Option<String>,
}

/// Returns the tasks of a stream.
pub(super) fn stream_tasks(
    document: &Document,
    sink: &mut Sink<'_, '_>,
) -> Result<Vec<DaskTask>, ImportError> {
    let rows: Vec<&RawValue> = document.parse()?;
    let mut tasks = Vec::with_capacity(rows.len());
    for raw in rows {
        match document.element::<StreamRow>(raw) {
            Ok(row) => {
                for key in row.others.keys() {
                    sink.notes().left(key, "spans have no place for it");
                }
                if row.startstops.as_ref().is_none_or(Vec::is_empty) {
                    let why = "these tasks have no `startstops`";
                    sink.notes().left(&key_text(&row.key), why);
                    continue;
                }
                match task_of(row) {
                    Some(task) => tasks.push(task),
                    None => sink.bad(document.wrong(raw, "a time is out of range")),
                }
            }
            Err(bad) => sink.bad(bad),
        }
    }
    Ok(tasks)
}

fn task_of(row: StreamRow) -> Option<DaskTask> {
    let name = key_text(&row.key);
    let mut task = DaskTask {
        class: class_of(&name),
        name,
        worker: row.worker,
        thread: row.thread.to_string(),
        ..DaskTask::default()
    };
    for piece in row.startstops.into_iter().flatten() {
        task.pieces.push(DaskPiece {
            start: nanoseconds(piece.start)?,
            stop: nanoseconds(piece.stop)?,
            action: piece.action,
            source: piece.source,
        });
    }
    let attributes = &mut task.attributes;
    put(attributes, "bytes", row.nbytes);
    put(attributes, "type", row.typename);
    put(attributes, "error", row.exception_text);
    let status = row.status.filter(|status| status != "OK");
    put(attributes, "status", status);
    Some(task)
}
