//! Questions and statements, which SQLite parses once.

use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};

use super::StoreResult;

/// Returns what `read` makes of each row.
pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
) -> StoreResult<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(parameters)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(read(row)?);
    }
    Ok(rows)
}

/// Returns what `read` makes of the first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
) -> StoreResult<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(parameters)?;
    found.next()?.map(read).transpose()
}

/// Returns the first column of every row.
pub(super) fn column<T: FromSql>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> StoreResult<Vec<T>> {
    rows(connection, sql, parameters, |row| Ok(row.get(0)?))
}

/// Returns the value of a query that has one.
pub(super) fn value<T: FromSql>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> StoreResult<T> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(parameters, |row| row.get(0))?)
}

/// Executes a statement; returns how many rows it changed.
pub(super) fn execute(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> StoreResult<usize> {
    Ok(connection.prepare_cached(sql)?.execute(parameters)?)
}
