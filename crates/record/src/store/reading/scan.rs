//! Reads records in an order in which they can be appended again.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::columns::spans;
use super::super::reading::read;
use super::super::{Store, StoreError, StoreResult, VisitEnd, Visitor, query};
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
            for instance in instances {
                self.instance(instance, visit)?;
            }
        }
        Ok(())
    }

    fn instances(&self, run: i64) -> StoreResult<Vec<i64>> {
        let sql = format!(
            "SELECT key FROM instance WHERE run = ?1{}{} ORDER BY key",
            self.selection.on_instance(),
            self.selection.on_metrics()
        );
        query::column(self.connection, &sql, [run])
    }

    fn instance(&self, key: i64, visit: &mut Visitor<'_, Record>) -> Result<(), VisitEnd> {
        let row = read::instance_row(self.connection, key)?;
        let id = row.instance.id;
        visit(Record::Instance(row.instance))?;
        let wanted = WantedIterations::of_instance(key);
        for iterations in assemble(self.connection, &wanted, &self.metrics)?.into_values() {
            for iteration in iterations.into_records(id) {
                visit(Record::Iteration(iteration))?;
            }
        }
        for span in spans::all(self.connection, key, id)? {
            visit(Record::Span(span))?;
        }
        for summary in read::summaries(self.connection, key, id)? {
            visit(Record::Summary(summary))?;
        }
        if let Some(end) = row.end {
            visit(Record::InstanceEnd(end))?;
        }
        Ok(())
    }
}

fn metrics(connection: &Connection) -> StoreResult<BTreeMap<i64, MetricName>> {
    let sql = "SELECT key, name FROM metric WHERE key IN (SELECT metric FROM benchmark_metric)";
    read::metric_names(connection, sql, [])
}
