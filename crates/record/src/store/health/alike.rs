//! Finds sessions that may hold the same measurements as another.

use std::collections::HashMap;

use super::super::reading::read;
use super::super::{StoreResult, Writer, query};
use lapwing_model::{Id, Session};

/// Sessions of one moment to look at, the first of them: one file may hold thousands.
const LOOKED_AT: usize = 16;

impl Writer<'_> {
    /// Returns the other sessions of the same suite and tool that began at the same moment
    /// and have most of its values.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sessions_like(&mut self, id: Id) -> StoreResult<Vec<Session>> {
        self.find_like(id).map_err(|error| error.at(self.path))
    }

    fn find_like(&mut self, id: Id) -> StoreResult<Vec<Session>> {
        let mut alike = Vec::new();
        let sql = "SELECT key, started FROM session WHERE id = ?1";
        let found = query::first(self.connection, sql, [id.to_string()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let Some((key, started)): Option<(i64, String)> = found else {
            return Ok(alike);
        };
        let same_moment = self.begun()?.get(&started).into_iter().flatten();
        let candidates: Vec<i64> = same_moment.copied().take(LOOKED_AT).collect();
        for other in candidates.into_iter().filter(|other| *other != key) {
            if self.share_values(key, other)? {
                alike.push(read::session_of(self.connection, other)?);
            }
        }
        Ok(alike)
    }

    /// Returns the keys of all sessions by when they began.
    fn begun(&mut self) -> StoreResult<&HashMap<String, Vec<i64>>> {
        let begun = match self.cache.begun.take() {
            Some(known) => known,
            None => {
                let mut begun: HashMap<String, Vec<i64>> = HashMap::new();
                let sql = "SELECT started, key FROM session ORDER BY key";
                query::rows(self.connection, sql, [], |row| {
                    begun.entry(row.get(0)?).or_default().push(row.get(1)?);
                    Ok(())
                })?;
                begun
            }
        };
        Ok(self.cache.begun.insert(begun))
    }

    /// Returns whether most of the values of a session are those of another one of the same tool
    /// and suite: of the same benchmark on the same host, by their first iterations or a summary.
    ///
    /// Some are equal by themselves, such as the size of a program.
    fn share_values(&self, new: i64, other: i64) -> StoreResult<bool> {
        let values = |session: &str| {
            format!(
                "SELECT benchmark, host, series.metric, series.vals FROM run \
                   JOIN instance ON instance.run = run.key \
                   JOIN chunk ON chunk.instance = instance.key \
                   JOIN run_metric ON run_metric.run = run.key \
                   JOIN series ON series.metric = run_metric.metric \
                     AND series.instance = instance.key AND series.first = chunk.first \
                   WHERE run.session = {session} \
                 UNION SELECT benchmark, host, summary.metric, summary.centre FROM run \
                   JOIN instance ON instance.run = run.key \
                   JOIN summary ON summary.instance = instance.key \
                   WHERE run.session = {session}"
            )
        };
        let sql = format!(
            "WITH new (benchmark, host, metric, value) AS ({}), \
               other (benchmark, host, metric, value) AS ({}) \
             SELECT one.tool = two.tool AND one.suite = two.suite AND \
               2 * (SELECT count(*) FROM (SELECT * FROM new INTERSECT SELECT * FROM other)) \
               > (SELECT count(*) FROM new) \
             FROM session AS one, session AS two WHERE one.key = ?1 AND two.key = ?2",
            values("?1"),
            values("?2"),
        );
        let share = query::first(self.connection, &sql, [new, other], |row| Ok(row.get(0)?))?;
        Ok(share.unwrap_or(false))
    }
}
