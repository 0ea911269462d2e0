//! Conversion of records to the columns of tables, and of rows to records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::{StoreError, StoreResult, query};
use lapwing_model::{
    Annotation, Benchmark, Better, Id, Instance, InstanceEnd, InstanceOutcome, Level, Levels,
    Metric, MetricName, Run, Session, Summary, Version,
};

pub(crate) const SESSION_COLUMNS: &str =
    "key, id, suite, name, started, seed, tool, attributes, artifacts, extra";

pub(crate) const RUN_COLUMNS: &str = "run.key, run.id, session.id, run.variant, run.version, \
     run.\"commit\", run.branch, run.version_date, run.dirty, run.version_extra, run.factors, \
     run.definitions, run.environment, run.attributes, run.artifacts, run.extra, run.session";

pub(crate) const INSTANCE_COLUMNS: &str = "instance.key, instance.id, run.id, benchmark.id, instance.params, instance.tags, \
     instance.fingerprint, instance.benchmark_extra, instance.block, instance.position, \
     instance.attempt, instance.host, instance.started, instance.environment, instance.job, \
     instance.attributes, instance.artifacts, instance.extra, instance.outcome, instance.ended, \
     instance.end_message, instance.observed, instance.end_extra, instance.run";

/// Returns an instant as text that sorts like the instants do.
pub(crate) fn time_text(time: Timestamp) -> String {
    format!("{time:.9}")
}

/// Returns a collection as JSON text, or nothing for an empty one.
pub(crate) fn filled_text<T: Serialize + Default + PartialEq>(
    value: &T,
) -> StoreResult<Option<String>> {
    (*value != T::default())
        .then(|| json_text(value))
        .transpose()
}

/// Returns a value as JSON text.
pub(crate) fn json_text<T: Serialize + ?Sized>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(|error| {
        // Only a number that JSON does not know can get here.
        StoreError::damaged(format!("a value has no JSON form: {error}"))
    })
}

/// Returns the levels of factors as people read them.
pub(crate) fn levels(row: &Row<'_>, column: usize) -> StoreResult<Levels> {
    let factors: BTreeMap<String, Level> = from_json(row, column)?;
    let levels = factors.into_iter();
    Ok(levels
        .map(|(factor, level)| (factor, level.to_string()))
        .collect())
}

/// Returns the value of a JSON text; the default if there is none.
pub(crate) fn from_json<T: DeserializeOwned + Default>(
    row: &Row<'_>,
    column: usize,
) -> StoreResult<T> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(T::default()),
        value => {
            let text = value
                .as_bytes()
                .map_err(|error| StoreError::damaged(error.to_string()))?;
            serde_json::from_slice(text)
                .map_err(|error| unreadable(row, column, &error.to_string()))
        }
    }
}

fn unreadable(row: &Row<'_>, column: usize, why: &str) -> StoreError {
    let name = row.as_ref().column_name(column).unwrap_or("?");
    StoreError::damaged(format!("column `{name}` is unreadable: {why}"))
}

pub(crate) fn parsed<T: std::str::FromStr>(row: &Row<'_>, column: usize) -> StoreResult<T>
where
    T::Err: std::fmt::Display,
{
    let text: String = row.get(column)?;
    text.parse()
        .map_err(|error: T::Err| unreadable(row, column, &error.to_string()))
}

pub(super) fn parsed_if_any<T: std::str::FromStr>(
    row: &Row<'_>,
    column: usize,
) -> StoreResult<Option<T>>
where
    T::Err: std::fmt::Display,
{
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _text => parsed(row, column).map(Some),
    }
}

pub(crate) fn read_session(row: &Row<'_>) -> StoreResult<(i64, Session)> {
    let session = Session {
        id: parsed::<Id>(row, 1)?,
        suite: row.get(2)?,
        name: row.get(3)?,
        started: parsed(row, 4)?,
        seed: parsed_if_any(row, 5)?,
        tool: row.get(6)?,
        attributes: from_json(row, 7)?,
        artifacts: from_json(row, 8)?,
        extra: from_json(row, 9)?,
    };
    Ok((row.get(0)?, session))
}

/// Returns the key of a run, the run and the key of its session; its metrics come by themselves.
pub(crate) fn read_run(row: &Row<'_>) -> StoreResult<(i64, Run, i64)> {
    let run = Run {
        id: parsed::<Id>(row, 1)?,
        session: parsed::<Id>(row, 2)?,
        variant: row.get(3)?,
        version: Version {
            name: row.get(4)?,
            commit: row.get(5)?,
            branch: row.get(6)?,
            date: row.get(7)?,
            dirty: row.get(8)?,
            extra: from_json(row, 9)?,
        },
        factors: from_json(row, 10)?,
        definitions: from_json(row, 11)?,
        metrics: BTreeMap::new(),
        environment: from_json(row, 12)?,
        attributes: from_json(row, 13)?,
        artifacts: from_json(row, 14)?,
        extra: from_json(row, 15)?,
    };
    Ok((row.get(0)?, run, row.get(16)?))
}

/// Returns the metrics that a run declares.
pub(crate) fn read_run_metrics(
    connection: &Connection,
    run: i64,
) -> StoreResult<BTreeMap<MetricName, Metric>> {
    let sql = "SELECT metric.name, unit, better FROM run_metric \
               JOIN metric ON metric.key = run_metric.metric WHERE run = ?1";
    let metrics = query::rows(connection, sql, [run], |row| {
        let better = match row.get_ref(2)?.as_str_or_null() {
            Ok(None) => None,
            Ok(Some("lower")) => Some(Better::Lower),
            Ok(Some("higher")) => Some(Better::Higher),
            Ok(Some(_)) | Err(_) => return Err(unreadable(row, 2, "neither lower nor higher")),
        };
        let unit = row.get(1)?;
        Ok((row.get(0)?, Metric { unit, better }))
    })?;
    Ok(metrics.into_iter().collect())
}

pub(crate) fn better_text(better: Option<Better>) -> Option<&'static str> {
    better.map(|better| match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    })
}

/// A row of an instance.
pub(crate) struct StoredInstanceRow {
    pub(crate) key: i64,
    pub(crate) run: i64,
    pub(crate) instance: Instance,
    pub(crate) end: Option<InstanceEnd>,
}

pub(crate) fn read_instance(row: &Row<'_>) -> StoreResult<StoredInstanceRow> {
    let id = parsed::<Id>(row, 1)?;
    let instance = Instance {
        id,
        run: parsed::<Id>(row, 2)?,
        benchmark: Benchmark {
            id: row.get(3)?,
            params: from_json(row, 4)?,
            tags: from_json(row, 5)?,
            fingerprint: row.get(6)?,
            extra: from_json(row, 7)?,
        },
        block: row.get(8)?,
        position: row.get(9)?,
        attempt: row.get(10)?,
        host: row.get(11)?,
        started: parsed_if_any(row, 12)?,
        environment: from_json(row, 13)?,
        job: from_json(row, 14)?,
        attributes: from_json(row, 15)?,
        artifacts: from_json(row, 16)?,
        extra: from_json(row, 17)?,
    };
    let end = match row.get::<_, Option<String>>(18)? {
        None => None,
        Some(outcome) => Some(InstanceEnd {
            instance: id,
            outcome: InstanceOutcome::from_name(&outcome)
                .ok_or_else(|| unreadable(row, 18, "no outcome"))?,
            ended: parsed_if_any(row, 19)?,
            message: row.get(20)?,
            observed: from_json(row, 21)?,
            extra: from_json(row, 22)?,
        }),
    };
    Ok(StoredInstanceRow {
        key: row.get(0)?,
        run: row.get(23)?,
        instance,
        end,
    })
}

pub(crate) const SUMMARY_COLUMNS: &str = "metric.name, n, centre, spread, statistic, extra";

pub(crate) fn read_summary(row: &Row<'_>, instance: Id) -> StoreResult<Summary> {
    Ok(Summary {
        instance,
        metric: row.get(0)?,
        n: row.get::<_, Option<i64>>(1)?.map(i64::cast_unsigned),
        centre: row.get(2)?,
        spread: row.get(3)?,
        statistic: row.get(4)?,
        extra: from_json(row, 5)?,
    })
}

pub(crate) const ANNOTATION_COLUMNS: &str = "id, at, by, action, target, reason, extra";

pub(crate) fn read_annotation(row: &Row<'_>) -> StoreResult<Annotation> {
    Ok(Annotation {
        id: parsed::<Id>(row, 0)?,
        at: parsed(row, 1)?,
        by: row.get(2)?,
        action: row.get(3)?,
        target: from_json(row, 4)?,
        reason: row.get(5)?,
        extra: from_json(row, 6)?,
    })
}
