//! The extent of a session: its records by kind.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Connection, Row};

use super::super::{StoreError, StoreResult, Writer, query};
use lapwing_model::Id;

/// How many records of each kind a session has. Records are added and never changed, so that two
/// looks at one store that agree on this have seen the same session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SessionExtent {
    /// Runs.
    pub(crate) runs: u64,
    /// Metrics that its runs declare: a run may get more of them.
    pub(crate) metrics: u64,
    /// Instances.
    pub(crate) instances: u64,
    /// Instances that have ended.
    pub(crate) ends: u64,
    /// Iterations.
    pub(crate) iterations: u64,
    /// Spans.
    pub(crate) spans: u64,
    /// Summaries.
    pub(crate) summaries: u64,
}

/// The columns of an extent, in a query of the table `session`.
const COLUMNS: &str = "\
    (SELECT count(*) FROM run WHERE run.session = session.key), \
    (SELECT count(*) FROM run JOIN run_metric ON run_metric.run = run.key \
      WHERE run.session = session.key), \
    (SELECT count(*) FROM run JOIN instance ON instance.run = run.key \
      WHERE run.session = session.key), \
    (SELECT count(instance.outcome) FROM run JOIN instance ON instance.run = run.key \
      WHERE run.session = session.key), \
    (SELECT coalesce(sum(chunk.count), 0) FROM run JOIN instance ON instance.run = run.key \
      JOIN chunk ON chunk.instance = instance.key WHERE run.session = session.key), \
    (SELECT coalesce(sum(span_chunk.spans), 0) FROM run JOIN instance ON instance.run = run.key \
      JOIN span_chunk ON span_chunk.instance = instance.key WHERE run.session = session.key), \
    (SELECT count(*) FROM run JOIN instance ON instance.run = run.key \
      JOIN summary ON summary.instance = instance.key WHERE run.session = session.key)";

impl SessionExtent {
    /// Returns how many records that is, with the session's own.
    pub(crate) fn records(&self) -> u64 {
        1 + self.runs + self.instances + self.ends + self.iterations + self.spans + self.summaries
    }

    fn numbers(&mut self) -> [&mut u64; 7] {
        [
            &mut self.runs,
            &mut self.metrics,
            &mut self.instances,
            &mut self.ends,
            &mut self.iterations,
            &mut self.spans,
            &mut self.summaries,
        ]
    }

    /// Reads the columns that begin at `first`.
    fn of_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let mut extent = Self::default();
        for (k, number) in extent.numbers().into_iter().enumerate() {
            *number = row.get::<_, i64>(first + k)?.cast_unsigned();
        }
        Ok(extent)
    }
}

impl fmt::Display for SessionExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = { *self }.numbers().map(|number| number.to_string());
        f.write_str(&texts.join(" "))
    }
}

impl FromStr for SessionExtent {
    type Err = StoreError;

    fn from_str(text: &str) -> StoreResult<Self> {
        let unclear = || StoreError::damaged(format!("`{text}` is not an extent of a session"));
        let parsed: Result<Vec<u64>, _> = text.split(' ').map(str::parse).collect();
        let parsed = parsed.map_err(|_no_number| unclear())?;
        let parsed: [u64; 7] = parsed.try_into().map_err(|_other_count| unclear())?;
        let mut extent = Self::default();
        for (number, parsed) in extent.numbers().into_iter().zip(parsed) {
            *number = parsed;
        }
        Ok(extent)
    }
}

/// A session of which a shared history lacks something, or may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnsharedSession {
    pub(crate) key: i64,
    /// Its id.
    pub(crate) id: Id,
    /// How much there is of it.
    pub(crate) extent: SessionExtent,
}

/// Returns the sessions that have grown since all of them was in a shared history, or never were
/// in it, in the order in which they came.
pub(crate) fn unshared_sessions(
    connection: &Connection,
    remote: i64,
) -> StoreResult<Vec<UnsharedSession>> {
    let sql = format!(
        "SELECT session.key, session.id, remote_session.extent, {COLUMNS} FROM session \
         LEFT JOIN remote_session ON remote_session.session = session.id \
          AND remote_session.remote = ?1 ORDER BY session.key"
    );
    let sessions = query::rows(connection, &sql, [remote], |row| {
        let extent = SessionExtent::of_row(row, 3)?;
        let shared: Option<String> = row.get(2)?;
        if shared.map(|text| text.parse()).transpose()? == Some(extent) {
            return Ok(None);
        }
        Ok(Some(UnsharedSession {
            key: row.get(0)?,
            id: super::rows::parsed(row, 1)?,
            extent,
        }))
    })?;
    Ok(sessions.into_iter().flatten().collect())
}

impl Writer<'_> {
    /// Returns how much there is of a session, whatever was put so far; `None` where there is none.
    ///
    /// # Errors
    /// When what was held back cannot be written.
    pub(crate) fn extent(&mut self, session: Id) -> StoreResult<Option<SessionExtent>> {
        self.settle()?;
        let sql = format!("SELECT {COLUMNS} FROM session WHERE id = ?1");
        self.at_path(|connection| {
            query::first(connection, &sql, [session.to_string()], |row| {
                Ok(SessionExtent::of_row(row, 0)?)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_is_its_text() {
        let extent: SessionExtent = "1 2 3 4 5 6 7".parse().expect("seven numbers");
        let named = (extent.runs, extent.metrics, extent.instances, extent.ends);
        assert_eq!(named, (1, 2, 3, 4));
        assert_eq!(
            (extent.iterations, extent.spans, extent.summaries),
            (5, 6, 7)
        );
        assert_eq!(extent.to_string(), "1 2 3 4 5 6 7");
        assert_eq!(
            extent
                .to_string()
                .parse::<SessionExtent>()
                .expect("its own text"),
            extent
        );
        "1 2 3".parse::<SessionExtent>().expect_err("too short");
        assert_eq!(extent.records(), 1 + 1 + 3 + 4 + 5 + 6 + 7);
    }
}
