//! Reads single records.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};

use super::super::StoreError;
use super::rows::{
    self, ANNOTATION_COLUMNS, INSTANCE_COLUMNS, RUN_COLUMNS, SESSION_COLUMNS, SUMMARY_COLUMNS,
};
use lapwing_model::{Annotation, Id, MetricName, Run, Session, Summary};

pub(in crate::store) fn session(
    connection: &Connection,
    id: Id,
) -> Result<Option<Session>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SESSION_COLUMNS} FROM session WHERE id = ?1"
    ))?;
    let mut found = statement.query([id.to_string()])?;
    match found.next()? {
        Some(row) => Ok(Some(rows::read_session(row)?.1)),
        None => Ok(None),
    }
}

pub(in crate::store) fn run(connection: &Connection, key: i64) -> Result<Run, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session \
         WHERE run.key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    let Some(row) = found.next()? else {
        return Err(StoreError::damaged("a run has gone"));
    };
    let (_, mut run, _) = rows::read_run(row)?;
    run.metrics = rows::read_run_metrics(connection, key)?;
    Ok(run)
}

/// Returns the session of that key.
pub(in crate::store) fn session_of(
    connection: &Connection,
    key: i64,
) -> Result<Session, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SESSION_COLUMNS} FROM session WHERE key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    match found.next()? {
        Some(row) => Ok(rows::read_session(row)?.1),
        None => Err(StoreError::damaged("a session has gone")),
    }
}

/// Returns the row of the instance of that key.
pub(in crate::store) fn instance_row(
    connection: &Connection,
    key: i64,
) -> Result<rows::StoredInstanceRow, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {INSTANCE_COLUMNS} FROM instance JOIN run ON run.key = instance.run \
         JOIN benchmark ON benchmark.key = instance.benchmark WHERE instance.key = ?1"
    ))?;
    let mut found = statement.query([key])?;
    match found.next()? {
        Some(row) => rows::read_instance(row),
        None => Err(StoreError::damaged("an instance has gone")),
    }
}

pub(in crate::store) fn summaries(
    connection: &Connection,
    key: i64,
    instance: Id,
) -> Result<Vec<Summary>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SUMMARY_COLUMNS} FROM summary JOIN metric ON metric.key = summary.metric \
         WHERE instance = ?1 ORDER BY metric.name, statistic"
    ))?;
    let mut found = statement.query([key])?;
    let mut summaries = Vec::new();
    while let Some(row) = found.next()? {
        summaries.push(rows::read_summary(row, instance)?);
    }
    Ok(summaries)
}

/// Returns the annotations that fulfil a condition, in the order of their insertion.
pub(in crate::store) fn annotations(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
) -> Result<Vec<Annotation>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {ANNOTATION_COLUMNS} FROM annotation WHERE {condition} ORDER BY key"
    ))?;
    let mut found = statement.query(parameters)?;
    let mut annotations = Vec::new();
    while let Some(row) = found.next()? {
        annotations.push(rows::read_annotation(row)?);
    }
    Ok(annotations)
}

/// Returns the metrics that a benchmark ever had.
pub(in crate::store) fn metrics_of(
    connection: &Connection,
    benchmark: i64,
) -> Result<BTreeMap<i64, MetricName>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT metric.key, metric.name FROM benchmark_metric \
         JOIN metric ON metric.key = benchmark_metric.metric WHERE benchmark = ?1",
    )?;
    let metrics = statement.query_map([benchmark], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(metrics.collect::<Result<_, _>>()?)
}
