//! Which epoch the instances of a benchmark are of, told by all that was ever measured of it.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::StoreError;
use super::curated::Curated;
use super::rows::{from_json, parsed};
use crate::model::{Id, Object};
use crate::record::{Head, InstanceData, Params, differ, epochs, telling};

/// Gives instances of the benchmarks of these keys, which are one by now, the fingerprints of their epochs.
///
/// What a filter leaves out, and what is retired, tells all the same what the benchmark was.
pub(super) fn settle_epochs(
    connection: &Connection,
    curated: &Curated,
    keys: &[i64],
    instances: &mut [InstanceData],
) -> Result<(), StoreError> {
    let said: Vec<(Option<String>, Params)> = said(connection, keys)?.into_iter().collect();
    let fingerprints: BTreeSet<&String> = said.iter().filter_map(|it| it.0.as_ref()).collect();
    let params = |at: usize| &said[at].1;
    let alike = (1..said.len()).all(|at| (0..at).all(|other| !differ(params(at), params(other))));
    if fingerprints.len() < 2 && alike {
        for it in instances {
            it.instance.benchmark.fingerprint = fingerprints.first().map(|&it| it.clone());
        }
        return Ok(());
    }
    let heads = heads(connection, curated, keys)?;
    let (ids, heads): (Vec<Id>, Vec<Head>) = heads.into_iter().unzip();
    let mut epochs: BTreeMap<Id, Option<String>> = ids.into_iter().zip(epochs(&heads)).collect();
    for it in instances {
        it.instance.benchmark.fingerprint = epochs.remove(&it.instance.id).flatten();
    }
    Ok(())
}

/// Returns every fingerprint with every choice of parameters that instances were recorded with.
fn said(
    connection: &Connection,
    keys: &[i64],
) -> Result<BTreeSet<(Option<String>, Params)>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT fingerprint, params FROM instance WHERE benchmark = ?1")?;
    let mut all = BTreeSet::new();
    for key in keys {
        let mut found = statement.query([key])?;
        while let Some(row) = found.next()? {
            all.insert((row.get(0)?, telling(&from_json::<Object>(row, 1)?)));
        }
    }
    Ok(all)
}

/// Returns what tells the epoch of each instance, in order of time.
fn heads(
    connection: &Connection,
    curated: &Curated,
    keys: &[i64],
) -> Result<Vec<(Id, Head)>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT instance.id, benchmark.id, run.variant, fingerprint, params, \
                session.started, session.id, position, attempt \
           FROM instance JOIN benchmark ON benchmark.key = instance.benchmark \
           JOIN run ON run.key = instance.run JOIN session ON session.key = run.session \
          WHERE instance.benchmark = ?1",
    )?;
    let mut all = Vec::new();
    for &key in keys {
        let mut found = statement.query([key])?;
        while let Some(row) = found.next()? {
            let id: Id = parsed(row, 0)?;
            // Times are text of one length, so that they sort.
            let (started, session): (String, String) = (row.get(5)?, row.get(6)?);
            let (position, attempt): (i64, i64) = (row.get(7)?, row.get(8)?);
            let head = Head {
                id: row.get(1)?,
                renames: curated.renames(key),
                variant: row.get(2)?,
                fingerprint: row.get(3)?,
                params: telling(&from_json::<Object>(row, 4)?),
            };
            all.push(((started, session, position, attempt, id), head));
        }
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(all
        .into_iter()
        .map(|(order, head)| (order.4, head))
        .collect())
}
