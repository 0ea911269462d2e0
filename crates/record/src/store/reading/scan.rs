//! Reads records in an order in which they can be appended again.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::super::columns::spans;
use super::super::reading::read;
use super::super::{Store, StoreError, StoreResult, VisitEnd, Visitor, query};
use super::assemble::{WantedIterations, assemble};
use super::select::Selection;
use crate::Filter;
use lapwing_model::{MetricName, Record};

/// Iterations, of several instances, to read at once.
const READ_TOGETHER: u64 = 2_000;

impl Store {
    /// Calls `visit` with every record that passes the filter: sessions, their runs,
    /// their instances with all that belongs to them, then annotations.
    ///
    /// Records are whole: the filter's metrics choose benchmarks that have one of
    /// them, and take no values away. Annotations belong to no benchmark and are
    /// given when the filter is empty. A session or run of which no instance passes
    /// is excluded when the filter is not empty. Everything is as it was recorded, also what was
    /// retired or renamed; only the filter finds benchmarks by the ids that they have now.
    ///
    /// # Errors
    /// The errors of `visit`; when an entry of the filter fits nothing; when the
    /// store cannot be read.
    pub fn scan<E: From<StoreError>>(
        &self,
        filter: &Filter,
        visit: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        self.visit(visit, |snapshot, visit| scan(snapshot, filter, visit))
    }
}

fn scan(
    snapshot: &Connection,
    filter: &Filter,
    visit: &mut Visitor<'_, Record>,
) -> Result<(), VisitEnd> {
    let everything = filter.with_retired() == Filter::default().with_retired();
    let selection = Selection::of(snapshot, &filter.with_retired())?;
    let scanner = RecordScanner::new(snapshot, selection)?;
    for session in query::column(snapshot, "SELECT key FROM session ORDER BY key", [])? {
        if scanner.selection.has_session(session) {
            scanner.session(session, everything, visit)?;
        }
    }
    if everything {
        for annotation in read::annotations(snapshot, "TRUE", [])? {
            visit(Record::Annotation(annotation))?;
        }
    }
    Ok(())
}

pub(crate) struct RecordScanner<'c> {
    connection: &'c Connection,
    selection: Selection,
    metrics: BTreeMap<i64, MetricName>,
}

impl<'c> RecordScanner<'c> {
    pub(crate) fn new(connection: &'c Connection, selection: Selection) -> StoreResult<Self> {
        Ok(Self {
            connection,
            selection,
            metrics: metrics(connection)?,
        })
    }

    /// Gives a session with what belongs to it and passes; with `everything`, runs without instances pass too.
    pub(crate) fn session(
        &self,
        session: i64,
        everything: bool,
        visit: &mut Visitor<'_, Record>,
    ) -> Result<(), VisitEnd> {
        let mut runs = Vec::new();
        let sql = "SELECT key FROM run WHERE session = ?1 ORDER BY key";
        for run in query::column(self.connection, sql, [session])? {
            if self.selection.has_run(run) {
                runs.push((run, self.instances(run)?));
            }
        }
        runs.retain(|(_, instances)| everything || !instances.is_empty());
        if everything || !runs.is_empty() {
            visit(Record::Session(read::session_of(self.connection, session)?))?;
        }
        for (run, instances) in runs {
            visit(Record::Run(read::run(self.connection, run)?))?;
            for keys in read_together(&instances) {
                self.instances_with(keys, visit)?;
            }
        }
        Ok(())
    }

    /// Returns the keys of the instances of a run that pass, and about how many iterations each has.
    fn instances(&self, run: i64) -> StoreResult<Vec<(i64, u64)>> {
        let sql = format!(
            "SELECT key, (SELECT coalesce(sum(count), 0) FROM chunk WHERE chunk.instance = instance.key) \
             FROM instance WHERE run = ?1{}{} ORDER BY key",
            self.selection.on_instance(),
            self.selection.on_metrics()
        );
        query::rows(self.connection, &sql, [run], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })
    }

    /// Gives the instances with these keys, with what belongs to them.
    fn instances_with(
        &self,
        keys: (i64, i64),
        visit: &mut Visitor<'_, Record>,
    ) -> Result<(), VisitEnd> {
        let wanted = WantedIterations::of_keys(keys);
        let mut assembled = assemble(self.connection, &wanted, &self.metrics)?;
        let parents = |table: &str| -> StoreResult<BTreeSet<i64>> {
            let sql =
                format!("SELECT DISTINCT instance FROM {table} WHERE instance BETWEEN ?1 AND ?2");
            let found = query::column(self.connection, &sql, [keys.0, keys.1])?;
            Ok(found.into_iter().collect())
        };
        let (with_spans, with_summaries) = (parents("span_chunk")?, parents("summary")?);
        for row in read::instance_rows(self.connection, keys)? {
            let (key, id) = (row.key, row.instance.id);
            visit(Record::Instance(row.instance))?;
            let iterations = assembled.remove(&key).unwrap_or_default();
            for iteration in iterations.into_records(id) {
                visit(Record::Iteration(iteration))?;
            }
            if with_spans.contains(&key) {
                for span in spans::all(self.connection, key, id)? {
                    visit(Record::Span(span))?;
                }
            }
            if with_summaries.contains(&key) {
                for summary in read::summaries(self.connection, key, id)? {
                    visit(Record::Summary(summary))?;
                }
            }
            if let Some(end) = row.end {
                visit(Record::InstanceEnd(end))?;
            }
        }
        Ok(())
    }
}

/// Divides instances, each with its number of iterations, into ranges of keys without gaps that are read at once.
fn read_together(instances: &[(i64, u64)]) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let mut together = 0_u64;
    for &(key, iterations) in instances {
        // An instance without iterations takes memory as well.
        let size = iterations.saturating_add(1);
        match ranges.last_mut() {
            Some((_, last))
                if *last + 1 == key && together.saturating_add(size) <= READ_TOGETHER =>
            {
                *last = key;
                together += size;
            }
            Some(_) | None => {
                ranges.push((key, key));
                together = size;
            }
        }
    }
    ranges
}

fn metrics(connection: &Connection) -> StoreResult<BTreeMap<i64, MetricName>> {
    let sql = "SELECT key, name FROM metric WHERE key IN (SELECT metric FROM benchmark_metric)";
    read::metric_names(connection, sql, [])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_read_together_where_keys_have_no_gap_and_iterations_are_few() {
        assert_eq!(read_together(&[]), []);
        let few = [(1, 1), (2, 0), (4, 1), (5, 1)];
        assert_eq!(read_together(&few), [(1, 2), (4, 5)]);
        let many = [(1, 1_500), (2, 498), (3, 1), (4, u64::MAX), (5, 0)];
        assert_eq!(read_together(&many), [(1, 2), (3, 3), (4, 4), (5, 5)]);
    }
}
