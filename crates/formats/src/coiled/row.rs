//! What a row of Coiled's database says of one execution of a test.

use jiff::Timestamp;
use rusqlite::types::Value as Cell;
use serde_json::Value;

use crate::coiled::columns::{CLUSTER, KEPT, LINKS, METRICS, PARAMS};
use crate::coiled::setting::setting;
use crate::shared::intake::{InstanceDraft, RunDraft};
use crate::shared::keys::{put, put_object};
use crate::shared::reading::database::{DatabaseRow, identity, json, shown};
use crate::shared::reading::moment::moment;
use lapwing_model::{Benchmark, InstanceOutcome, Metric, Object, Outcome};
use lapwing_record::{IterationColumns, Mark};

/// The rows of one execution of a test.
pub(super) enum Execution {
    /// A row of `test_run` alone.
    Test(DatabaseRow),
    /// A row of `tpch_run` alone.
    Query(DatabaseRow),
    /// A row in each.
    Both(DatabaseRow, DatabaseRow),
}

impl Execution {
    /// Returns the number of its row, in the first table where it has two.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Test(row) | Self::Query(row) | Self::Both(row, _) => row.number,
        }
    }
}

/// An execution, before it has an id.
pub(super) struct MeasuredRow {
    /// The row's number in its table.
    pub(super) number: u64,
    /// `session_id`.
    pub(super) session: String,
    /// Start and end, of `test_run` where it has a row in both tables; `None` without a start.
    pub(super) time: Option<String>,
    /// Digest of that row but for its id.
    pub(super) content: [u8; 32],
    pub(super) run: RunDraft,
    pub(super) draft: InstanceDraft,
    /// Columns that are not known.
    pub(super) unknown: Vec<String>,
    /// Columns whose number is infinite.
    pub(super) infinite: Vec<&'static str>,
}

impl MeasuredRow {
    /// Returns what puts the rows of a session in an order that does not depend on the file.
    pub(super) fn order(&self) -> (Option<Timestamp>, &str, &[u8; 32]) {
        (self.draft.started, &self.draft.benchmark.id, &self.content)
    }
}

/// Under which attribute the row of `tpch_run` says what that of `test_run` says otherwise.
const APART: &str = "tpch_run";

/// Returns what an execution says.
///
/// # Errors
/// When a cell is not what its column is for.
pub(super) fn measured(execution: Execution) -> Result<MeasuredRow, String> {
    let (mut row, query) = match execution {
        Execution::Test(row) | Execution::Query(row) => (row, None),
        Execution::Both(row, query) => (row, Some(query)),
    };
    let content = row.content();
    let time = row.cells.get("start").map(|start| {
        let end = row.cells.get("end").map_or_else(String::new, identity);
        format!("{} {end}", identity(start))
    });
    row.cells.remove("id");
    let mut apart = Object::new();
    if let Some(mut query) = query {
        query.cells.remove("id");
        // Where both tables have something to say of the same thing, each is kept.
        for (column, cell) in query.cells {
            let known = row.cells.entry(column.clone());
            if *known.or_insert_with(|| cell.clone()) != cell {
                apart.insert(column.clone(), json(&column, &cell)?);
            }
        }
    }
    let session = row
        .take_text("session_id")?
        .ok_or("`session_id` is missing")?;
    let name = row.take_text("name")?.ok_or("`name` is missing")?;
    let path = row.take_text("path")?;
    let started = take_time(&mut row, "start")?;
    let ended = take_time(&mut row, "end")?;
    let run = setting(&mut row)?;
    let mut draft = InstanceDraft {
        benchmark: benchmark(&mut row, path.as_deref(), &name)?,
        // The place in the file is another one in every database.
        position: Some(0),
        started,
        ended,
        ..InstanceDraft::default()
    };
    let infinite = take_values(&mut row, &mut draft)?;
    take_outcome(&row, &mut draft)?;
    for (column, name) in LINKS {
        put(&mut draft.artifacts, name, row.take_text(column)?);
    }
    move_cells(&mut row, &["cluster_name", "cluster_id"], &mut draft.job)?;
    move_cells(&mut row, &CLUSTER, &mut draft.environment)?;
    move_cells(&mut row, &KEPT, &mut draft.attributes)?;
    let unknown: Vec<String> = row.cells.keys().cloned().collect();
    move_cells(&mut row, &unknown, &mut draft.attributes)?;
    put_object(&mut draft.attributes, APART, apart);
    Ok(MeasuredRow {
        number: row.number,
        session,
        time,
        content,
        run,
        draft,
        unknown,
        infinite,
    })
}

fn benchmark(row: &mut DatabaseRow, path: Option<&str>, name: &str) -> Result<Benchmark, String> {
    let mut params = Object::new();
    if let Some((_, param)) = name.strip_suffix(']').and_then(|it| it.split_once('[')) {
        params.insert("param".to_owned(), param.into());
    }
    move_cells(row, &PARAMS, &mut params)?;
    let local = row.take_json("local")?.map(|local| match local.as_i64() {
        Some(0) => Value::Bool(false),
        Some(1) => Value::Bool(true),
        Some(_) | None => local,
    });
    put(&mut params, "local", local);
    let test = name_with_params(name, &params);
    // What Coiled calls the category.
    let folder = path.and_then(|path| path.split_once('/'));
    let tags = folder.map(|(category, _)| category.to_owned());
    Ok(Benchmark {
        id: match path {
            Some(path) => format!("{path}::{test}"),
            None => test,
        },
        params,
        tags: tags.into_iter().filter(|it| !it.is_empty()).collect(),
        ..Benchmark::default()
    })
}

/// Returns the name with what Coiled's charts of TPC-H tell apart besides it: how large the data are, and
/// whether it ran on one machine.
fn name_with_params(name: &str, params: &Object) -> String {
    let scale = params.get("scale").map(|scale| format!("scale={scale}"));
    let is_local = params.get("local") == Some(&Value::Bool(true));
    let parts: Vec<String> = scale
        .into_iter()
        .chain(is_local.then(|| "local".to_owned()))
        .collect();
    match (parts.join("-"), name.strip_suffix(']')) {
        (parts, _) if parts.is_empty() => name.to_owned(),
        (parts, Some(name)) => format!("{name}-{parts}]"),
        (parts, None) => format!("{name}[{parts}]"),
    }
}

/// Returns the columns whose number is infinite, which no record can say.
fn take_values(
    row: &mut DatabaseRow,
    draft: &mut InstanceDraft,
) -> Result<Vec<&'static str>, String> {
    let mut infinite = Vec::new();
    for (column, metric, unit) in METRICS {
        if let Some(value) = row.take_number(column)? {
            if value.is_infinite() {
                infinite.push(column);
                continue;
            }
            draft.metrics.insert(metric.to_owned(), Metric::lower(unit));
            let values = &mut draft.iterations.values;
            values.insert(metric.to_owned(), vec![value]);
        }
    }
    Ok(infinite)
}

/// The test's own outcome is the iteration's; without one, setting up ended it all.
fn take_outcome(row: &DatabaseRow, draft: &mut InstanceDraft) -> Result<(), String> {
    let [setup, call, teardown] = [
        stage(row, "setup_outcome")?,
        stage(row, "call_outcome")?,
        stage(row, "teardown_outcome")?,
    ];
    let has_values = !draft.iterations.values.is_empty();
    let (outcome, message) = match (call, setup) {
        (Some(Outcome::Failed), _) => (Outcome::Failed, Some("the test failed")),
        (None, Some(Outcome::Failed)) => (Outcome::Failed, Some("setting up failed")),
        (Some(Outcome::Skipped), _) | (None, Some(Outcome::Skipped)) => (Outcome::Skipped, None),
        (Some(Outcome::Ok | Outcome::TimedOut), _)
        | (None, Some(Outcome::Ok | Outcome::TimedOut) | None) => (Outcome::Ok, None),
    };
    if call.is_some() || has_values || outcome == Outcome::Ok {
        draft.iterations.count = 1;
        if outcome != Outcome::Ok {
            let mark = Mark {
                outcome,
                message: message.map(str::to_owned),
                ..Mark::default()
            };
            draft.iterations.marks.insert(0, mark);
        }
    }
    if outcome == Outcome::Skipped && !has_values {
        draft.iterations = IterationColumns::default();
        draft.outcome = InstanceOutcome::Skipped;
    } else if call.is_none() && outcome == Outcome::Failed {
        draft.outcome = InstanceOutcome::Failed;
        draft.message = message.map(str::to_owned);
    } else if teardown == Some(Outcome::Failed) {
        draft.outcome = InstanceOutcome::Failed;
        draft.message = Some("tearing down failed".to_owned());
    }
    Ok(())
}

/// Returns how a stage of a test ended, in pytest's words.
fn stage(row: &DatabaseRow, column: &str) -> Result<Option<Outcome>, String> {
    match row.cells.get(column) {
        None => Ok(None),
        Some(Cell::Text(text)) if text.is_empty() => Ok(None),
        Some(Cell::Text(text)) if text == "passed" => Ok(Some(Outcome::Ok)),
        Some(Cell::Text(text)) if text == "failed" => Ok(Some(Outcome::Failed)),
        Some(Cell::Text(text)) if text == "skipped" => Ok(Some(Outcome::Skipped)),
        Some(other) => Err(format!(
            "`{column}` is {}, expected passed, failed or skipped",
            shown(other)
        )),
    }
}

fn take_time(row: &mut DatabaseRow, column: &str) -> Result<Option<Timestamp>, String> {
    let cell = row.cells.remove(column);
    cell.map(|cell| time(&cell).map_err(|found| format!("`{column}` is {found}, expected a time")))
        .transpose()
}

/// Returns the time that a cell means; what it is instead where it means none.
pub(super) fn time(cell: &Cell) -> Result<Timestamp, String> {
    match cell {
        Cell::Text(text) => moment(text).ok_or_else(|| shown(cell)),
        other => Err(shown(other)),
    }
}

/// Moves the cells of some columns, those that there are, to the keys of these names.
pub(super) fn move_cells(
    row: &mut DatabaseRow,
    columns: &[impl AsRef<str>],
    object: &mut Object,
) -> Result<(), String> {
    for column in columns {
        put(object, column.as_ref(), row.take_json(column.as_ref())?);
    }
    Ok(())
}
