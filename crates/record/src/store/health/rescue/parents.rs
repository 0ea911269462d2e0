//! Gives rows whose parent is lost another one, and finds out what is lost.

use rusqlite::{Connection, params};

use super::super::super::StoreError;
use super::super::super::reading::read;
use super::super::check::instance_name;
use super::{RescueReport, delete_damaged};
use lapwing_model::Id;

/// Columns with JSON: one that is none is dropped, and its row stays.
const OBJECTS: [(&str, &[&str]); 5] = [
    ("session", &["attributes", "artifacts", "extra"]),
    (
        "run",
        &[
            "version_extra",
            "factors",
            "definitions",
            "environment",
            "attributes",
            "artifacts",
            "extra",
        ],
    ),
    (
        "instance",
        &[
            "params",
            "tags",
            "benchmark_extra",
            "environment",
            "job",
            "attributes",
            "artifacts",
            "extra",
            "observed",
            "end_extra",
        ],
    ),
    ("summary", &["extra"]),
    ("annotation", &["target", "extra"]),
];

/// What a stand-in says of itself.
const STAND_IN: &str = r#"{"rescued":"the record was lost; only what refers to it is left"}"#;

/// Makes the tables consistent again.
pub(super) fn mend(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    drop_broken_objects(connection, report)?;
    for (table, keys) in [
        ("session", "SELECT key FROM session"),
        (
            "run",
            "SELECT key FROM run WHERE session IN (SELECT key FROM session)",
        ),
        (
            "instance",
            "SELECT key FROM instance WHERE run IN (SELECT key FROM run) \
             AND benchmark IN (SELECT key FROM benchmark)",
        ),
    ] {
        delete_unreadable(connection, table, keys)?;
    }
    connection.execute_batch(
        "DELETE FROM run_metric WHERE unit IS NULL OR better NOT IN ('lower', 'higher');",
    )?;
    add_names(connection)?;
    add_instances(connection, report)?;
    add_runs(connection, report)?;
    add_sessions(connection, report)?;
    add_benchmarks(connection)?;
    for (table, keys) in [
        ("session", "SELECT key FROM session"),
        ("run", "SELECT key FROM run"),
        ("instance", "SELECT key FROM instance"),
    ] {
        delete_unreadable(connection, table, keys)?;
    }
    find_lost_chunks(connection, report)?;
    delete_damaged(connection, report)?;
    connection.execute_batch(
        "INSERT OR IGNORE INTO benchmark_metric \
           SELECT DISTINCT instance.benchmark, series.metric FROM series \
             JOIN instance ON instance.key = series.instance \
           UNION SELECT DISTINCT instance.benchmark, summary.metric FROM summary \
             JOIN instance ON instance.key = summary.instance; \
         DELETE FROM benchmark_metric WHERE metric NOT IN (SELECT key FROM metric) \
           OR benchmark NOT IN (SELECT key FROM benchmark); \
         DELETE FROM run_metric WHERE run NOT IN (SELECT key FROM run);",
    )?;
    find_lost_values(connection, report)
}

fn drop_broken_objects(
    connection: &Connection,
    report: &mut RescueReport,
) -> Result<(), StoreError> {
    for (table, columns) in OBJECTS {
        for column in columns {
            let dropped = connection.execute(
                &format!(
                    "UPDATE {table} SET {column} = NULL \
                     WHERE {column} IS NOT NULL AND NOT json_valid({column})"
                ),
                [],
            )?;
            if dropped > 0 {
                report
                    .lost
                    .push(format!("`{column}` of {dropped} of the table `{table}`"));
            }
        }
    }
    Ok(())
}

/// Deletes rows that are no records any more: what refers to them gets a stand-in.
fn delete_unreadable(connection: &Connection, table: &str, keys: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare(keys)?;
    let keys = statement.query_map([], |row| row.get(0))?;
    let keys: Vec<i64> = keys.collect::<Result<_, _>>()?;
    for key in keys {
        let readable = match table {
            "session" => read::session_of(connection, key).is_ok(),
            "run" => read::run(connection, key).is_ok(),
            _instance => read::instance_row(connection, key).is_ok(),
        };
        if !readable {
            connection.execute(&format!("DELETE FROM {table} WHERE key = ?1"), [key])?;
        }
    }
    Ok(())
}

/// Names metrics of which only values are left.
fn add_names(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(
        "INSERT OR IGNORE INTO metric (key, name) \
         SELECT metric, 'unknown metric ' || metric FROM \
           (SELECT DISTINCT metric FROM series UNION SELECT metric FROM summary \
            UNION SELECT metric FROM run_metric) \
         WHERE metric NOT IN (SELECT key FROM metric);",
    )?;
    Ok(())
}

fn keys(connection: &Connection, sql: &str) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection.prepare(sql)?;
    let keys = statement.query_map([], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Returns the id that an index knows for a key, else one made of the key.
fn id_of(connection: &Connection, known: &str, key: i64) -> Result<String, StoreError> {
    let sql = format!("SELECT id FROM temp.{known} WHERE key = ?1");
    let id: Option<String> = connection
        .query_row(&sql, [key], |row| row.get(0))
        .ok()
        .filter(|id: &String| id.parse::<Id>().is_ok());
    Ok(id.unwrap_or_else(|| Id::derived(&[known.as_bytes(), &key.to_le_bytes()]).to_string()))
}

fn add_instances(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    let lost = keys(
        connection,
        "SELECT key FROM (SELECT key FROM temp.known_instance UNION SELECT instance FROM chunk \
           UNION SELECT instance FROM span_chunk UNION SELECT instance FROM summary) \
         WHERE key NOT IN (SELECT key FROM instance) ORDER BY key",
    )?;
    let place = |what: &str| {
        format!(
            "coalesce((SELECT parent FROM temp.known_place WHERE what = '{what}' AND key = ?1), 0)"
        )
    };
    for key in lost {
        let id = id_of(connection, "known_instance", key)?;
        connection.execute(
            &format!(
                "INSERT OR IGNORE INTO instance (key, id, run, benchmark, block, position, attempt, attributes) \
                 VALUES (?1, ?2, {}, {}, 0, 0, 0, ?3)",
                place("run"),
                place("benchmark")
            ),
            params![key, id, STAND_IN],
        )?;
        report.lose(1, format!("instance {id}, but for what belongs to it"));
    }
    Ok(())
}

fn add_runs(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    let lost = keys(
        connection,
        "SELECT key FROM (SELECT run AS key FROM instance UNION SELECT key FROM temp.known_run) \
         WHERE key NOT IN (SELECT key FROM run) ORDER BY key",
    )?;
    for key in lost {
        let id = id_of(connection, "known_run", key)?;
        connection.execute(
            "INSERT OR IGNORE INTO run (key, id, session, variant, attributes) VALUES (?1, ?2, \
             coalesce((SELECT parent FROM temp.known_place WHERE what = 'session' AND key = ?1), 0), \
             'unknown', ?3)",
            params![key, id, STAND_IN],
        )?;
        report.lose(
            1,
            format!("run {id}, but for its instances: its variant is called `unknown`"),
        );
    }
    Ok(())
}

fn add_sessions(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    let lost = keys(
        connection,
        "SELECT key FROM (SELECT session AS key FROM run UNION SELECT key FROM temp.known_session) \
         WHERE key NOT IN (SELECT key FROM session) ORDER BY key",
    )?;
    for key in lost {
        let id = id_of(connection, "known_session", key)?;
        connection.execute(
            "INSERT OR IGNORE INTO session (key, id, suite, started, tool, attributes) \
             SELECT ?1, ?2, coalesce(min(benchmark.suite), 'unknown'), \
               coalesce(min(instance.started), '1970-01-01T00:00:00.000000000Z'), \
               'lapwing db rescue', ?3 \
             FROM run JOIN instance ON instance.run = run.key \
               LEFT JOIN benchmark ON benchmark.key = instance.benchmark WHERE run.session = ?1",
            params![key, id, STAND_IN],
        )?;
        report.lose(1, format!("session {id}, but for its runs"));
    }
    Ok(())
}

fn add_benchmarks(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(
        "INSERT OR IGNORE INTO benchmark (key, suite, id) \
         SELECT DISTINCT instance.benchmark, session.suite, 'unknown benchmark ' || instance.benchmark \
           FROM instance JOIN run ON run.key = instance.run \
           JOIN session ON session.key = run.session \
          WHERE instance.benchmark NOT IN (SELECT key FROM benchmark);",
    )?;
    Ok(())
}

/// Names the iterations of which an index knows, and that are gone.
fn find_lost_chunks(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    let mut statement = connection.prepare(
        "SELECT known.instance, known.first, \
           (SELECT min(next.first) FROM temp.known_chunk AS next \
             WHERE next.instance = known.instance AND next.first > known.first), \
           (SELECT max(1 + length(vals) - length(replace(vals, ',', ''))) FROM metric \
              JOIN series ON series.metric = metric.key AND series.instance = known.instance \
               AND series.first = known.first) \
         FROM temp.known_chunk AS known WHERE NOT EXISTS (SELECT 1 FROM chunk \
           WHERE chunk.instance = known.instance AND chunk.first = known.first) \
         AND known.instance IN (SELECT key FROM instance) \
         ORDER BY known.instance, known.first",
    )?;
    let mut found = statement.query([])?;
    let mut lost = Vec::new();
    while let Some(row) = found.next()? {
        let (instance, first): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (next, valued): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
        lost.push((instance, first, valued.or(next.map(|next| next - first))));
    }
    for (instance, first, count) in lost {
        let name = instance_name(connection, instance)?;
        match count {
            Some(count) => report.lose(
                count.unsigned_abs(),
                format!("iterations {first} to {} of {name}", first + count - 1),
            ),
            None => report.lose(1, format!("the iterations from {first} on of {name}")),
        }
    }
    connection.execute_batch(
        "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM chunk \
         WHERE chunk.instance = series.instance AND chunk.first = series.first);",
    )?;
    Ok(())
}

/// Names the values that others of the same benchmark have, and that are gone.
fn find_lost_values(connection: &Connection, report: &mut RescueReport) -> Result<(), StoreError> {
    if report.unreadable_pages == 0 {
        return Ok(());
    }
    let mut statement = connection.prepare(
        "SELECT chunk.instance, chunk.first, chunk.count, metric.name FROM chunk \
           JOIN instance ON instance.key = chunk.instance \
           JOIN benchmark_metric ON benchmark_metric.benchmark = instance.benchmark \
           JOIN metric ON metric.key = benchmark_metric.metric \
         WHERE chunk.outcome IS NULL \
           AND NOT EXISTS (SELECT 1 FROM summary WHERE summary.metric = metric.key) \
           AND NOT EXISTS (SELECT 1 FROM series \
           WHERE series.metric = metric.key AND series.instance = chunk.instance \
             AND series.first = chunk.first) \
         ORDER BY chunk.instance, chunk.first, metric.name",
    )?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (first, count): (i64, i64) = (row.get(1)?, row.get(2)?);
        let name = instance_name(connection, row.get(0)?)?;
        let metric: String = row.get(3)?;
        report.lost.push(format!(
            "values of `{metric}` of iterations {first} to {} of {name}",
            first + count - 1
        ));
    }
    Ok(())
}
