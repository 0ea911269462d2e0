//! Reads records in an order in which they can be appended again.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::columns::spans;
use super::super::reading::read;
use super::super::{Store, StoreError};
use super::assemble::{WantedIterations, assemble};
use super::select::Selection;
use crate::Filter;
use lapwing_model::{MetricName, Record};

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
    /// Whatever `visit` returns; when an entry of the filter fits nothing; when the
    /// store cannot be read.
    pub fn scan<E: From<StoreError>>(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let wrap = |error: StoreError| E::from(error.at(&self.path));
        let snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| wrap(error.into()))?;
        let everything = *filter
            == Filter {
                retired: filter.retired,
                ..Filter::default()
            };
        let selection = Selection::of(&snapshot, &filter.with_retired()).map_err(wrap)?;
        let scanner = RecordScanner::new(&snapshot, selection).map_err(wrap)?;
        for session in scanner.keys(SESSIONS, 0).map_err(wrap)? {
            if !scanner.selection.has_session(session) {
                continue;
            }
            let mut session_given = false;
            for run in scanner.keys(RUNS, session).map_err(wrap)? {
                if !scanner.selection.has_run(run) {
                    continue;
                }
                let instances = scanner.instances(run).map_err(wrap)?;
                if instances.is_empty() && !everything {
                    continue;
                }
                if !session_given {
                    visit(Record::Session(
                        read::session_of(&snapshot, session).map_err(wrap)?,
                    ))?;
                    session_given = true;
                }
                visit(Record::Run(read::run(&snapshot, run).map_err(wrap)?))?;
                for instance in instances {
                    scanner.instance(instance, &wrap, &mut visit)?;
                }
            }
            if everything && !session_given {
                visit(Record::Session(
                    read::session_of(&snapshot, session).map_err(wrap)?,
                ))?;
            }
        }
        if everything {
            for annotation in read::annotations(&snapshot, "1", []).map_err(wrap)? {
                visit(Record::Annotation(annotation))?;
            }
        }
        Ok(())
    }
}

const SESSIONS: &str = "SELECT key FROM session WHERE ?1 = 0 ORDER BY key";
const RUNS: &str = "SELECT key FROM run WHERE session = ?1 ORDER BY key";

pub(in crate::store) struct RecordScanner<'c> {
    connection: &'c Connection,
    selection: Selection,
    metrics: BTreeMap<i64, MetricName>,
}

impl<'c> RecordScanner<'c> {
    pub(in crate::store) fn new(
        connection: &'c Connection,
        selection: Selection,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            selection,
            metrics: metrics(connection)?,
        })
    }

    /// Gives a session with everything that belongs to it.
    pub(in crate::store) fn whole_session<E: From<StoreError>>(
        &self,
        session: i64,
        wrap: &impl Fn(StoreError) -> E,
        visit: &mut impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let record = read::session_of(self.connection, session).map_err(wrap)?;
        visit(Record::Session(record))?;
        for run in self.keys(RUNS, session).map_err(wrap)? {
            visit(Record::Run(read::run(self.connection, run).map_err(wrap)?))?;
            for instance in self.instances(run).map_err(wrap)? {
                self.instance(instance, wrap, visit)?;
            }
        }
        Ok(())
    }

    fn keys(&self, sql: &str, parent: i64) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let keys = statement.query_map([parent], |row| row.get(0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    fn instances(&self, run: i64) -> Result<Vec<i64>, StoreError> {
        let sql = format!(
            "SELECT key FROM instance WHERE run = ?1{}{} ORDER BY key",
            self.selection.on_instance(),
            self.selection.on_metrics()
        );
        self.keys(&sql, run)
    }

    fn instance<E: From<StoreError>>(
        &self,
        key: i64,
        wrap: &impl Fn(StoreError) -> E,
        visit: &mut impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let row = read::instance_row(self.connection, key).map_err(wrap)?;
        let id = row.instance.id;
        visit(Record::Instance(row.instance))?;
        let assembled = assemble(
            self.connection,
            WantedIterations::Instance(key),
            &self.metrics,
        );
        for iterations in assembled.map_err(wrap)?.into_values() {
            for iteration in iterations.into_records(id) {
                visit(Record::Iteration(iteration))?;
            }
        }
        for span in spans::all(self.connection, key, id).map_err(wrap)? {
            visit(Record::Span(span))?;
        }
        for summary in read::summaries(self.connection, key, id).map_err(wrap)? {
            visit(Record::Summary(summary))?;
        }
        if let Some(end) = row.end {
            visit(Record::InstanceEnd(end))?;
        }
        Ok(())
    }
}

fn metrics(connection: &Connection) -> Result<BTreeMap<i64, MetricName>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT key, name FROM metric WHERE key IN (SELECT metric FROM benchmark_metric)",
    )?;
    let metrics = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(metrics.collect::<Result<_, _>>()?)
}
