//! Definitions of a benchmark by its instances.

use rusqlite::Connection;

use super::super::curation::curated::CuratedNames;
use super::super::reading::rows::{from_json, parsed};
use super::super::{StoreResult, query};
use crate::Definition;
use lapwing_model::Id;

/// Returns the definitions of all instances of the benchmarks with these keys, which have one id by
/// now, in order of time; none where all are the same.
///
/// All of them, whatever a filter lets pass.
pub(crate) fn definitions(
    connection: &Connection,
    curated: &CuratedNames,
    keys: &[i64],
) -> StoreResult<Vec<Definition>> {
    if are_same(connection, keys)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT instance.id, benchmark.id, run.variant, fingerprint, params, \
                      session.started, session.id, position, attempt \
                 FROM instance JOIN benchmark ON benchmark.key = instance.benchmark \
                 JOIN run ON run.key = instance.run JOIN session ON session.key = run.session \
                WHERE instance.benchmark = ?1";
    let mut all = Vec::new();
    for &key in keys {
        all.extend(query::rows(connection, sql, [key], |row| {
            let instance: Id = parsed(row, 0)?;
            let (started, session): (String, String) = (row.get(5)?, row.get(6)?);
            let (position, attempt): (i64, i64) = (row.get(7)?, row.get(8)?);
            let definition = Definition {
                instance,
                id: row.get(1)?,
                renames: curated.renames(key),
                variant: row.get(2)?,
                fingerprint: row.get(3)?,
                params: from_json(row, 4)?,
            };
            Ok(((started, session, position, attempt, instance), definition))
        })?);
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all.into_iter().map(|(_, definition)| definition).collect())
}

/// Returns whether all instances have the same fingerprint and the same parameters.
fn are_same(connection: &Connection, keys: &[i64]) -> StoreResult<bool> {
    let sql = "SELECT DISTINCT fingerprint, params FROM instance WHERE benchmark = ?1";
    let mut all: Vec<(Option<String>, Option<String>)> = Vec::new();
    for key in keys {
        all.extend(query::rows(connection, sql, [key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?);
    }
    Ok(all.windows(2).all(|pair| pair[0] == pair[1]))
}
