//! Gives rows whose parent is lost another one, and finds out what is lost.

use rusqlite::{Connection, params};

use super::super::super::reading::read;
use super::super::super::{StoreResult, query};
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
pub(super) fn mend(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    drop_broken_objects(connection, report)?;
    delete_unreadable(
        connection,
        "session IN (SELECT key FROM session)",
        "run IN (SELECT key FROM run) AND benchmark IN (SELECT key FROM benchmark)",
    )?;
    connection.execute_batch(
        "DELETE FROM run_metric WHERE unit IS NULL OR better NOT IN ('lower', 'higher');",
    )?;
    add_names(connection)?;
    add_instances(connection, report)?;
    add_runs(connection, report)?;
    add_sessions(connection, report)?;
    add_benchmarks(connection)?;
    delete_unreadable(connection, "TRUE", "TRUE")?;
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

fn drop_broken_objects(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    for (table, columns) in OBJECTS {
        for column in columns {
            let sql = format!(
                "UPDATE {table} SET {column} = NULL \
                 WHERE {column} IS NOT NULL AND NOT json_valid({column})"
            );
            let dropped = connection.execute(&sql, [])?;
            if dropped > 0 {
                let what = format!("`{column}` of {dropped} of the table `{table}`");
                report.lost.push(what);
            }
        }
    }
    Ok(())
}

/// Deletes rows that are no records any more, of runs and instances those that meet a condition: what refers to them
/// gets a stand-in.
fn delete_unreadable(connection: &Connection, runs: &str, instances: &str) -> StoreResult<()> {
    type IsReadable = fn(&Connection, i64) -> bool;
    let tables: [(&str, &str, IsReadable); 3] = [
        ("session", "TRUE", |connection, key| {
            read::session_of(connection, key).is_ok()
        }),
        ("run", runs, |connection, key| {
            read::run(connection, key).is_ok()
        }),
        ("instance", instances, |connection, key| {
            read::instance_row(connection, key).is_ok()
        }),
    ];
    for (table, condition, is_readable) in tables {
        let sql = format!("SELECT key FROM {table} WHERE {condition}");
        for key in query::column(connection, &sql, [])? {
            if !is_readable(connection, key) {
                connection.execute(&format!("DELETE FROM {table} WHERE key = ?1"), [key])?;
            }
        }
    }
    Ok(())
}

/// Names metrics of which only values are left.
fn add_names(connection: &Connection) -> StoreResult<()> {
    connection.execute_batch(
        "INSERT OR IGNORE INTO metric (key, name) \
         SELECT metric, 'unknown metric ' || metric FROM \
           (SELECT DISTINCT metric FROM series UNION SELECT metric FROM summary \
            UNION SELECT metric FROM run_metric) \
         WHERE metric NOT IN (SELECT key FROM metric);",
    )?;
    Ok(())
}

/// Returns the id that an index knows for a key, else one made of the key.
fn id_of(connection: &Connection, known: &str, key: i64) -> StoreResult<String> {
    let sql = format!("SELECT id FROM temp.{known} WHERE key = ?1");
    let id: Option<String> = connection
        .query_row(&sql, [key], |row| row.get(0))
        .ok()
        .filter(|id: &String| id.parse::<Id>().is_ok());
    Ok(id.unwrap_or_else(|| Id::derived(&[known.as_bytes(), &key.to_le_bytes()]).to_string()))
}

/// Puts a row for each lost key, by a statement that takes key, id and attributes; returns the ids.
fn add_stand_ins(
    connection: &Connection,
    known: &str,
    lost: &str,
    insert: &str,
) -> StoreResult<Vec<String>> {
    let mut ids = Vec::new();
    for key in query::column(connection, lost, [])? {
        let id = id_of(connection, known, key)?;
        connection.execute(insert, params![key, id, STAND_IN])?;
        ids.push(id);
    }
    Ok(ids)
}

fn add_instances(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    let place = |what: &str| {
        format!(
            "coalesce((SELECT parent FROM temp.known_place WHERE what = '{what}' AND key = ?1), 0)"
        )
    };
    let insert = format!(
        "INSERT OR IGNORE INTO instance (key, id, run, benchmark, block, position, attempt, attributes) \
         VALUES (?1, ?2, {}, {}, 0, 0, 0, ?3)",
        place("run"),
        place("benchmark")
    );
    let ids = add_stand_ins(
        connection,
        "known_instance",
        "SELECT key FROM (SELECT key FROM temp.known_instance UNION SELECT instance FROM chunk \
           UNION SELECT instance FROM span_chunk UNION SELECT instance FROM summary) \
         WHERE key NOT IN (SELECT key FROM instance) ORDER BY key",
        &insert,
    )?;
    for id in ids {
        report.lose(1, format!("instance {id}, but for what belongs to it"));
    }
    Ok(())
}

fn add_runs(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    let ids = add_stand_ins(
        connection,
        "known_run",
        "SELECT key FROM (SELECT run AS key FROM instance UNION SELECT key FROM temp.known_run) \
         WHERE key NOT IN (SELECT key FROM run) ORDER BY key",
        "INSERT OR IGNORE INTO run (key, id, session, variant, attributes) VALUES (?1, ?2, \
         coalesce((SELECT parent FROM temp.known_place WHERE what = 'session' AND key = ?1), 0), \
         'unknown', ?3)",
    )?;
    for id in ids {
        let what = format!("run {id}, but for its instances: its variant is called `unknown`");
        report.lose(1, what);
    }
    Ok(())
}

fn add_sessions(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    let ids = add_stand_ins(
        connection,
        "known_session",
        "SELECT key FROM (SELECT session AS key FROM run UNION SELECT key FROM temp.known_session) \
         WHERE key NOT IN (SELECT key FROM session) ORDER BY key",
        "INSERT OR IGNORE INTO session (key, id, suite, started, tool, attributes) \
         SELECT ?1, ?2, coalesce(min(benchmark.suite), 'unknown'), \
           coalesce(min(instance.started), '1970-01-01T00:00:00.000000000Z'), \
           'lapwing db rescue', ?3 \
         FROM run JOIN instance ON instance.run = run.key \
           LEFT JOIN benchmark ON benchmark.key = instance.benchmark WHERE run.session = ?1",
    )?;
    for id in ids {
        report.lose(1, format!("session {id}, but for its runs"));
    }
    Ok(())
}

fn add_benchmarks(connection: &Connection) -> StoreResult<()> {
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
fn find_lost_chunks(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    let sql = "SELECT known.instance, known.first, \
           (SELECT min(next.first) FROM temp.known_chunk AS next \
             WHERE next.instance = known.instance AND next.first > known.first), \
           (SELECT max(1 + length(vals) - length(replace(vals, ',', ''))) FROM metric \
              JOIN series ON series.metric = metric.key AND series.instance = known.instance \
               AND series.first = known.first) \
         FROM temp.known_chunk AS known WHERE NOT EXISTS (SELECT 1 FROM chunk \
           WHERE chunk.instance = known.instance AND chunk.first = known.first) \
         AND known.instance IN (SELECT key FROM instance) \
         ORDER BY known.instance, known.first";
    let lost: Vec<(i64, i64, Option<i64>)> = query::rows(connection, sql, [], |row| {
        let first: i64 = row.get(1)?;
        let (next, valued): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
        let count = valued.or(next.map(|next| next - first));
        Ok((row.get(0)?, first, count))
    })?;
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
fn find_lost_values(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    if report.unreadable_pages == 0 {
        return Ok(());
    }
    let sql = "SELECT chunk.instance, chunk.first, chunk.count, metric.name FROM chunk \
           JOIN instance ON instance.key = chunk.instance \
           JOIN benchmark_metric ON benchmark_metric.benchmark = instance.benchmark \
           JOIN metric ON metric.key = benchmark_metric.metric \
         WHERE chunk.outcome IS NULL \
           AND NOT EXISTS (SELECT 1 FROM summary WHERE summary.metric = metric.key) \
           AND NOT EXISTS (SELECT 1 FROM series \
           WHERE series.metric = metric.key AND series.instance = chunk.instance \
             AND series.first = chunk.first) \
         ORDER BY chunk.instance, chunk.first, metric.name";
    query::rows(connection, sql, [], |row| {
        let (first, count): (i64, i64) = (row.get(1)?, row.get(2)?);
        let name = instance_name(connection, row.get(0)?)?;
        let metric: String = row.get(3)?;
        report.lost.push(format!(
            "values of `{metric}` of iterations {first} to {} of {name}",
            first + count - 1
        ));
        Ok(())
    })?;
    Ok(())
}
