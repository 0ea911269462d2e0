//! The tables of the database, arranged by workflow, task and attempt.

use std::collections::BTreeMap;

use rusqlite::types::Value;

use super::{Statuses, UsedResources};
use crate::ImportError;
use crate::shared::reading::database::{Database, DatabaseRow};
use crate::shared::reading::moment::moment;
use crate::shared::spans::{nanoseconds, since_1970};

/// A workflow, a task of it, an attempt at that.
type AttemptKey = (String, i64, i64);

/// The rows of all workflows.
pub(super) struct ParslRows {
    pub(super) tasks: BTreeMap<String, Vec<DatabaseRow>>,
    names: BTreeMap<(String, i64), String>,
    pub(super) attempts: BTreeMap<(String, i64), Vec<DatabaseRow>>,
    pub(super) has_attempts: bool,
    statuses: BTreeMap<AttemptKey, Statuses>,
    samples: BTreeMap<AttemptKey, Vec<DatabaseRow>>,
}

impl ParslRows {
    pub(super) fn of(database: &Database) -> Result<Self, ImportError> {
        let [tasks, attempts, statuses, samples] =
            ["task", "try", "status", "resource"].map(|table| database.rows(table));
        let attempts = attempts?;
        let mut rows = Self {
            tasks: BTreeMap::new(),
            names: BTreeMap::new(),
            has_attempts: attempts.is_some(),
            attempts: BTreeMap::new(),
            statuses: BTreeMap::new(),
            samples: BTreeMap::new(),
        };
        for task in tasks?.unwrap_or_default() {
            let Some((run, id, _)) = key_of(&task) else {
                continue;
            };
            if let Some(function) = text_of(&task, "task_func_name") {
                rows.names
                    .insert((run.clone(), id), format!("{function}:{id}"));
            }
            rows.tasks.entry(run).or_default().push(task);
        }
        for attempt in attempts.unwrap_or_default() {
            let Some((run, id, _)) = key_of(&attempt) else {
                continue;
            };
            rows.attempts.entry((run, id)).or_default().push(attempt);
        }
        for status in statuses?.unwrap_or_default() {
            let name = text_of(&status, "task_status_name");
            let time = time_of(&status, "timestamp").ok().flatten();
            let Some(((key, name), time)) = key_of(&status).zip(name).zip(time) else {
                continue;
            };
            rows.statuses.entry(key).or_default().insert(name, time);
        }
        for sample in samples?.unwrap_or_default() {
            let Some(key) = key_of(&sample) else { continue };
            rows.samples.entry(key).or_default().push(sample);
        }
        Ok(rows)
    }

    /// Returns the name of a task: its function is the class, its number makes it unique.
    pub(super) fn name(&self, run: &str, id: i64) -> Option<String> {
        self.names.get(&(run.to_owned(), id)).cloned()
    }

    pub(super) fn statuses(&self, run: &str, id: i64, attempt: i64) -> Statuses {
        let key = (run.to_owned(), id, attempt);
        self.statuses.get(&key).cloned().unwrap_or_default()
    }

    /// Returns what the samples of an attempt tell.
    pub(super) fn used(&self, run: &str, id: i64, attempt: i64) -> UsedResources {
        let key = (run.to_owned(), id, attempt);
        let samples = self.samples.get(&key).map_or(&[][..], Vec::as_slice);
        let mut processes = samples
            .iter()
            .filter_map(|it| integer_of(it, "psutil_process_pid"));
        let cpu = |sample: &DatabaseRow| {
            let user = number_of(sample, "psutil_process_time_user")?;
            nanoseconds(user + number_of(sample, "psutil_process_time_system")?)
        };
        let times: Vec<i64> = samples.iter().filter_map(cpu).collect();
        let (least, most) = (times.iter().min(), times.iter().max());
        let memory = samples.iter();
        let memory = memory.filter_map(|it| integer_of(it, "psutil_process_memory_resident"));
        UsedResources {
            process: processes.next(),
            cpu: least
                .zip(most)
                .filter(|_| times.len() > 1)
                .map(|(least, most)| most - least),
            memory: memory.max(),
        }
    }
}

fn key_of(row: &DatabaseRow) -> Option<AttemptKey> {
    let attempt = integer_of(row, "try_id").unwrap_or(0);
    Some((
        text_of(row, "run_id")?,
        integer_of(row, "task_id")?,
        attempt,
    ))
}

pub(super) fn text_of(row: &DatabaseRow, column: &str) -> Option<String> {
    match row.cells.get(column)? {
        Value::Text(text) if !text.is_empty() => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(_) | Value::Null | Value::Real(_) | Value::Blob(_) => None,
    }
}

fn number_of(row: &DatabaseRow, column: &str) -> Option<f64> {
    match row.cells.get(column)? {
        Value::Real(number) => Some(*number),
        #[expect(
            clippy::cast_precision_loss,
            reason = "seconds and bytes, to 15 digits"
        )]
        Value::Integer(number) => Some(*number as f64),
        Value::Text(_) | Value::Null | Value::Blob(_) => None,
    }
}

pub(super) fn integer_of(row: &DatabaseRow, column: &str) -> Option<i64> {
    let number = number_of(row, column)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole, and within its range"
    )]
    (number.abs() < 9e15).then_some(number as i64)
}

/// Returns the time of a column, in nanoseconds since 1970: it has no zone, and is taken as UTC.
pub(super) fn time_of(row: &DatabaseRow, column: &str) -> Result<Option<i64>, String> {
    let Some(text) = text_of(row, column) else {
        return Ok(None);
    };
    let time = moment(&text).and_then(since_1970);
    time.map(Some)
        .ok_or_else(|| format!("`{column}` is not a time: {text:?}"))
}
