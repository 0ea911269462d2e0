//! Reads single records.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};

use super::super::{StoreError, StoreResult, query};
use super::rows::{
    self, ANNOTATION_COLUMNS, INSTANCE_COLUMNS, RUN_COLUMNS, SESSION_COLUMNS, SUMMARY_COLUMNS,
};
use lapwing_model::{Annotation, Id, MetricName, Run, Session, Summary};

/// Returns the session of an id, and its key.
pub(crate) fn session(connection: &Connection, id: Id) -> StoreResult<Option<(i64, Session)>> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM session WHERE id = ?1");
    query::first(connection, &sql, [id.to_string()], rows::read_session)
}

pub(crate) fn run(connection: &Connection, key: i64) -> StoreResult<Run> {
    let runs = runs(connection, "run.key = ?1", [key])?;
    let run = runs.into_iter().next();
    run.map(|(_, run, _)| run)
        .ok_or_else(|| StoreError::damaged("a run has gone"))
}

/// Returns the runs that fulfil a condition, in the order of their insertion: key, run, and key of the session.
pub(crate) fn runs(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
) -> StoreResult<Vec<(i64, Run, i64)>> {
    let sql = format!(
        "SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session \
         WHERE {condition} ORDER BY run.key"
    );
    query::rows(connection, &sql, parameters, |row| {
        let (key, mut run, session) = rows::read_run(row)?;
        run.metrics = rows::read_run_metrics(connection, key)?;
        Ok((key, run, session))
    })
}

/// Returns the session of that key.
pub(crate) fn session_of(connection: &Connection, key: i64) -> StoreResult<Session> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM session WHERE key = ?1");
    let session = query::first(connection, &sql, [key], rows::read_session)?;
    session
        .map(|(_, session)| session)
        .ok_or_else(|| StoreError::damaged("a session has gone"))
}

/// Returns the row of the instance of that key.
pub(crate) fn instance_row(
    connection: &Connection,
    key: i64,
) -> StoreResult<rows::StoredInstanceRow> {
    let sql = format!(
        "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
         JOIN benchmark ON benchmark.key = instance.benchmark WHERE instance.key = ?1"
    );
    query::first(connection, &sql, [key], rows::read_instance)?
        .ok_or_else(|| StoreError::damaged("an instance has gone"))
}

/// Returns the instances with these keys, of which none is missing.
pub(crate) fn instance_rows(
    connection: &Connection,
    (first, last): (i64, i64),
) -> StoreResult<Vec<rows::StoredInstanceRow>> {
    let sql = format!(
        "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
         JOIN benchmark ON benchmark.key = instance.benchmark \
         WHERE instance.key BETWEEN ?1 AND ?2 ORDER BY instance.key"
    );
    let rows = query::rows(connection, &sql, [first, last], rows::read_instance)?;
    if i64::try_from(rows.len()).ok() != Some(last - first + 1) {
        return Err(StoreError::damaged("an instance has gone"));
    }
    Ok(rows)
}

pub(crate) fn summaries(
    connection: &Connection,
    key: i64,
    instance: Id,
) -> StoreResult<Vec<Summary>> {
    let sql = format!(
        "SELECT {SUMMARY_COLUMNS} FROM summary JOIN metric ON metric.key = summary.metric \
         WHERE instance = ?1 ORDER BY metric.name, statistic"
    );
    query::rows(connection, &sql, [key], |row| {
        rows::read_summary(row, instance)
    })
}

/// Returns the annotations that fulfil a condition, in the order of their insertion.
pub(crate) fn annotations(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
) -> StoreResult<Vec<Annotation>> {
    let sql = format!("SELECT {ANNOTATION_COLUMNS} FROM annotation WHERE {condition} ORDER BY key");
    query::rows(connection, &sql, parameters, rows::read_annotation)
}

/// Returns the metrics that a benchmark ever had.
pub(crate) fn metrics_of(
    connection: &Connection,
    benchmark: i64,
) -> StoreResult<BTreeMap<i64, MetricName>> {
    let sql = "SELECT metric.key, metric.name FROM benchmark_metric \
               JOIN metric ON metric.key = benchmark_metric.metric WHERE benchmark = ?1";
    metric_names(connection, sql, [benchmark])
}

/// Returns keys and names of metrics as a query gives them.
pub(crate) fn metric_names(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> StoreResult<BTreeMap<i64, MetricName>> {
    let names = query::rows(connection, sql, parameters, |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(names.into_iter().collect())
}
