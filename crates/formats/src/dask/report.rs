//! The page that `performance_report` writes: the task stream is a table of its first plot.

use serde::Deserialize;
use serde_json::Value;

use super::{COMPUTE, DaskPiece, DaskTask, key_text};
use crate::ImportError;
use crate::shared::reading::document::Document;
use crate::shared::spans::nanoseconds;

/// The table of the task stream: a row for each rectangle, whose middle is `start`; milliseconds.
#[derive(Deserialize)]
struct Rectangles {
    start: Vec<f64>,
    duration: Vec<f64>,
    key: Vec<Value>,
    name: Vec<String>,
    color: Vec<String>,
    worker: Vec<String>,
    worker_thread: Vec<String>,
    alpha: Vec<f64>,
}

/// The actions of a worker besides computing, as the names of rectangles begin.
const ACTIONS: [&str; 4] = ["transfer", "deserialize", "disk-read", "disk-write"];

/// Returns the program with its version, and the tasks.
pub(super) fn report_tasks(document: &Document) -> Result<(String, Vec<DaskTask>), ImportError> {
    let wrong = |reason: &str| document.wrong_document(reason);
    let data = embedded(document.text()).ok_or_else(|| wrong("the page is cut off"))?;
    // Bokeh escapes the text for HTML, and its reader in the browser takes that back.
    let data = data
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let plots: Value =
        serde_json::from_str(&data).map_err(|error| document.wrong_document(error.to_string()))?;
    let table = table_in(&plots).ok_or_else(|| wrong("it has no task stream"))?;
    let table = serde_json::from_value::<Rectangles>(table)
        .map_err(|error| document.wrong_document(format!("the task stream: {error}")))?;
    let version = data
        .split_once("Dask.Distributed Version: ")
        .and_then(|(_, rest)| rest.split([' ', '<']).next());
    let tool = version.map_or_else(
        || "distributed".to_owned(),
        |version| format!("distributed {version}"),
    );
    Ok((
        tool,
        tasks_of(&table).ok_or_else(|| wrong("a time is out of range"))?,
    ))
}

/// Returns the JSON that the page holds.
fn embedded(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<script type=\"application/json\"")?;
    let (_, rest) = rest.split_once('>')?;
    rest.split_once("</script>").map(|(data, _)| data)
}

/// Returns the first table with the columns of a task stream: an object in Bokeh 2, a list of
/// pairs in Bokeh 3.
fn table_in(value: &Value) -> Option<Value> {
    let is_stream = |table: &serde_json::Map<String, Value>| {
        ["worker_thread", "duration", "key"]
            .iter()
            .all(|it| table.contains_key(*it))
    };
    match value {
        Value::Object(object) if is_stream(object) => Some(value.clone()),
        Value::Object(object) => {
            if let Some(Value::Array(entries)) = object.get("entries") {
                let pairs: serde_json::Map<String, Value> =
                    entries.iter().filter_map(pair).collect();
                if is_stream(&pairs) {
                    return Some(Value::Object(pairs));
                }
            }
            object.values().find_map(table_in)
        }
        Value::Array(list) => list.iter().find_map(table_in),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn pair(entry: &Value) -> Option<(String, Value)> {
    match entry.as_array()?.as_slice() {
        [Value::String(name), column] => Some((name.clone(), column.clone())),
        _other => None,
    }
}

/// Puts the rectangles of a task together: they are next to each other, the computation last.
fn tasks_of(table: &Rectangles) -> Option<Vec<DaskTask>> {
    let mut tasks: Vec<DaskTask> = Vec::new();
    for at in 0..table.start.len() {
        let (name, thread) = (key_text(table.key.get(at)?), table.worker_thread.get(at)?);
        let label = table.name.get(at)?;
        let is_computation = *table.alpha.get(at)? > 0.9;
        let beside = |action: &&'static str| {
            let rest = label.strip_prefix(*action)?.strip_prefix('-')?;
            (!is_computation).then_some((*action, rest))
        };
        let (action, class) = ACTIONS.iter().find_map(beside).unwrap_or((COMPUTE, label));
        let (middle, duration) = (table.start.get(at)? / 1e3, table.duration.get(at)? / 1e3);
        let piece = DaskPiece {
            action: action.to_owned(),
            start: nanoseconds(middle)? - nanoseconds(duration / 2.0)?,
            stop: nanoseconds(middle)? + nanoseconds(duration / 2.0)?,
            source: None,
        };
        let goes_on = tasks.last().is_some_and(|task| {
            let computed = task.pieces.iter().any(|piece| piece.action == COMPUTE);
            task.name == name && task.thread == *thread && !computed
        });
        if !goes_on {
            tasks.push(DaskTask {
                name,
                class: class.to_owned(),
                worker: table.worker.get(at)?.clone(),
                thread: thread.clone(),
                ..DaskTask::default()
            });
        }
        let task = tasks.last_mut()?;
        task.pieces.push(piece);
        if action == COMPUTE && table.color.get(at)? == "black" {
            task.attributes
                .insert("status".to_owned(), Value::from("error"));
        }
    }
    Some(tasks)
}
