//! Where the readers of formats put what they read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::shared::alike::Alike;
use crate::shared::detect::Recognised;
use crate::shared::found::Found;
use crate::shared::notes::Notes;
use crate::shared::reading::spot::Spot;
use crate::{BadLine, BadLines, ColumnsUsed, ImportError, ImportOptions, Imported, Source};
use lapwing_model::{
    DEEPEST, Id, Metric, MetricName, Record, RecordKind, Session, Span, is_deep, refusal,
};
use lapwing_record::{IterationColumns, RecordMemory, StoreError, Writer};

/// Takes records, keeps account of bad lines and of what was left out.
///
/// After the first bad line that may not be skipped nothing is written any more, and
/// reading on only counts: the error says how many lines were good.
pub(crate) struct Sink<'w, 't> {
    target: Target<'w, 't>,
    recognised: Recognised,
    name: String,
    pub(crate) options: ImportOptions,
    bad: Vec<BadLine>,
    bad_count: u64,
    good: u64,
    session: Option<Session>,
    sessions: BTreeSet<Id>,
    /// New ones whose start the source says.
    dated: Vec<Session>,
    notes: Notes,
    found: Found,
    columns: Option<ColumnsUsed>,
}

/// The destination of records.
enum Target<'w, 't> {
    Store(&'w mut Writer<'t>),
    Memory(RecordMemory),
}

/// Why a benchmark has no result whose line or element is bad.
pub(crate) const INVALID: &str = "it is invalid";

/// Bad lines to remember; the others are only counted.
const REMEMBERED: usize = 1000;

impl<'w, 't> Sink<'w, 't> {
    /// Returns a sink that writes to the store, or that keeps the records if there is none.
    pub(crate) fn new(
        writer: Option<&'w mut Writer<'t>>,
        recognised: Recognised,
        source: &Source,
        options: &ImportOptions,
    ) -> Self {
        Self {
            target: match writer {
                Some(writer) => Target::Store(writer),
                None => Target::Memory(RecordMemory::default()),
            },
            recognised,
            name: source.name().to_owned(),
            options: options.clone(),
            bad: Vec::new(),
            bad_count: 0,
            good: 0,
            session: None,
            sessions: BTreeSet::new(),
            dated: Vec::new(),
            notes: Notes::default(),
            found: Found::default(),
            columns: None,
        }
    }

    /// Returns the name of the format.
    pub(crate) fn format(&self) -> &'static str {
        self.recognised.0.name
    }

    /// Returns whether [`crate::TraceNames`] apply to the format.
    pub(crate) fn takes_names(&self) -> bool {
        self.recognised.0.takes_names
    }

    /// Returns whether nothing will be written any more.
    pub(crate) fn only_counts(&self) -> bool {
        self.bad_count > 0 && self.options.bad_lines == BadLines::Refuse
    }

    /// Puts the records that stand on a line, and the iterations of the instance among them;
    /// when the store cannot accept one of them because of what it says, the line is bad.
    /// Returns whether they were good. Spans of the instance come one by one, and each may be bad.
    pub(crate) fn line(
        &mut self,
        spot: Spot,
        records: &[Record],
        spans: impl Iterator<Item = Span>,
        iterations: Option<(Id, IterationColumns)>,
    ) -> Result<bool, ImportError> {
        if self.only_counts() {
            self.good += 1;
            return Ok(true);
        }
        let mut marks = iterations.iter().flat_map(|(_, it)| it.marks.values());
        if marks.any(|mark| is_deep(&mark.attributes)) {
            self.bad(spot.bad(format!("nested deeper than {DEEPEST} levels")));
            return Ok(false);
        }
        if !self.put_all(spot, records)? {
            return Ok(false);
        }
        for span in spans {
            let put = match &mut self.target {
                Target::Store(writer) => writer.put_span(span),
                Target::Memory(memory) => memory.put(&Record::Span(span)),
            };
            self.is_kept(spot, put)?;
        }
        if let Some((instance, iterations)) = iterations {
            self.iterations(instance, iterations)?;
        }
        self.good += 1;
        Ok(true)
    }

    /// Puts more iterations of an instance that was put before.
    pub(crate) fn more_iterations(
        &mut self,
        instance: Id,
        iterations: IterationColumns,
    ) -> Result<(), ImportError> {
        if self.only_counts() {
            return Ok(());
        }
        self.iterations(instance, iterations)
    }

    /// Puts records that others on the same line belong to, without counting a good line;
    /// returns whether they were good.
    pub(crate) fn parents(&mut self, spot: Spot, records: &[Record]) -> Result<bool, ImportError> {
        if self.only_counts() {
            return Ok(true);
        }
        self.put_all(spot, records)
    }

    /// Puts all records; returns false, and notes the line as bad, where one cannot be had.
    fn put_all(&mut self, spot: Spot, records: &[Record]) -> Result<bool, ImportError> {
        // All of them first, so that no part of a line is kept.
        if let Some(why) = records.iter().find_map(refusal) {
            self.bad(spot.bad(why));
            return Ok(false);
        }
        for record in records {
            let put = match &mut self.target {
                Target::Store(writer) => writer.put(record),
                Target::Memory(memory) => memory.put(record),
            };
            if !self.is_kept(spot, put)? {
                return Ok(false);
            }
            if let Record::Session(session) = record {
                // The store may know the same content by another name.
                if self.sessions.insert(session.id) && self.known_session(session)?.is_none() {
                    self.session = Some(session.clone());
                }
            }
        }
        Ok(true)
    }

    /// Returns whether the store has taken something; notes the line as bad where it is refused.
    fn is_kept(&mut self, spot: Spot, put: Result<(), StoreError>) -> Result<bool, ImportError> {
        match put {
            Ok(()) => Ok(true),
            Err(
                error @ (StoreError::Conflict { .. }
                | StoreError::NoParent { .. }
                | StoreError::Refused { .. }),
            ) => {
                self.bad(spot.bad(error.to_string()));
                Ok(false)
            }
            Err(other) => Err(other.into()),
        }
    }

    fn iterations(
        &mut self,
        instance: Id,
        iterations: IterationColumns,
    ) -> Result<(), ImportError> {
        match &mut self.target {
            Target::Store(writer) => Ok(writer.put_columns(instance, iterations)?),
            Target::Memory(memory) => {
                for iteration in iterations.complete()?.into_records(instance) {
                    memory.put(&Record::Iteration(iteration))?;
                }
                Ok(())
            }
        }
    }

    /// Notes a line that cannot be kept, and the benchmark whose result it would be.
    pub(crate) fn bad_result(&mut self, bad: BadLine) {
        if let Some(name) = &bad.benchmark {
            self.found.without_result(name, bad.line, INVALID);
        }
        self.bad(bad);
    }

    /// Notes a line that cannot be kept.
    pub(crate) fn bad(&mut self, bad: BadLine) {
        self.bad_count += 1;
        if self.bad.len() < REMEMBERED {
            self.bad.push(bad);
        }
    }

    /// Returns the account of what is left out and what is kept without being understood.
    pub(crate) fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// Returns the account of the names of benchmarks, with and without results.
    pub(crate) fn found(&mut self) -> &mut Found {
        &mut self.found
    }

    /// Notes what the columns of the source mean.
    pub(crate) fn columns(&mut self, used: ColumnsUsed) {
        self.columns = Some(used);
    }

    /// Returns whether a line could not be kept.
    pub(crate) fn has_bad(&self) -> bool {
        self.bad_count > 0
    }

    /// Returns the session that the same content has in the store already, if any.
    pub(crate) fn known_session(&mut self, new: &Session) -> Result<Option<Session>, ImportError> {
        let known = self.stored_session(new.id)?;
        if let Some(known) = &known {
            self.sessions.insert(known.id);
            self.session = Some(known.clone());
        }
        Ok(known)
    }

    /// Returns the session of that id in the store.
    pub(crate) fn stored_session(&self, id: Id) -> Result<Option<Session>, ImportError> {
        Ok(match &self.target {
            Target::Store(writer) => writer.session(id)?,
            Target::Memory(_) => None,
        })
    }

    /// Notes a new session whose start the source says: one of another file with the same
    /// start may be the same.
    pub(crate) fn dated(&mut self, session: Session) {
        self.dated.push(session);
    }

    /// Returns whether the store has that run.
    pub(crate) fn has_run(&mut self, id: Id) -> Result<bool, ImportError> {
        Ok(match &mut self.target {
            Target::Store(writer) => writer.has_run(id)?,
            Target::Memory(memory) => memory.has(RecordKind::Run, id),
        })
    }

    /// Returns whether the store has that instance.
    pub(crate) fn has_instance(&mut self, id: Id) -> Result<bool, ImportError> {
        Ok(match &mut self.target {
            Target::Store(writer) => writer.has_instance(id)?,
            Target::Memory(memory) => memory.has(RecordKind::Instance, id),
        })
    }

    /// Lets a session of the store begin no later than that.
    pub(crate) fn let_begin(&mut self, session: Id, started: Timestamp) -> Result<(), ImportError> {
        if self.only_counts() {
            return Ok(());
        }
        match &mut self.target {
            Target::Store(writer) => Ok(writer.let_begin(session, started)?),
            Target::Memory(_) => Ok(()),
        }
    }

    /// Adds metrics to a run that was put before.
    pub(crate) fn add_metrics(
        &mut self,
        run: Id,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> Result<(), ImportError> {
        if self.only_counts() {
            return Ok(());
        }
        match &mut self.target {
            Target::Store(writer) => writer.add_metrics(run, metrics)?,
            Target::Memory(memory) => memory.add_metrics(run, metrics),
        }
        Ok(())
    }

    /// Counts records as being in the store already.
    pub(crate) fn already_there(&mut self, kind: RecordKind, number: usize) {
        match &mut self.target {
            Target::Store(writer) => writer.count_already_there(kind, number),
            Target::Memory(memory) => {
                memory.count_already_there(kind, u64::try_from(number).unwrap_or(u64::MAX));
            }
        }
    }

    /// Counts a line that says nothing new.
    pub(crate) fn nothing_new(&mut self) {
        self.good += 1;
    }

    /// Returns what came of it all; an error when there were bad lines that may not be
    /// skipped, or nothing but bad lines.
    pub(crate) fn finish(self) -> Result<Imported, ImportError> {
        let refused = self.only_counts();
        let mut bad = self.bad.into_iter();
        if (refused || self.good == 0)
            && let Some(first) = bad.next()
        {
            let (name, more) = (self.name, self.bad_count - 1);
            return Err(match self.options.bad_lines {
                BadLines::Refuse => ImportError::Line {
                    name,
                    first,
                    more,
                    good: self.good,
                },
                BadLines::Skip => ImportError::NothingGood { name, first, more },
            });
        }
        let mut alike = Vec::new();
        let (appended, records) = match self.target {
            Target::Store(writer) => {
                let appended = writer.settle()?;
                // A file that has grown has some of the other's instances, and is no copy.
                if appended.of(RecordKind::Instance).already_there == 0 {
                    for new in &self.dated {
                        let known = writer.sessions_like(new.id)?;
                        alike.extend(known.into_iter().filter_map(|it| Alike::of(new, it)));
                    }
                }
                (appended, Vec::new())
            }
            Target::Memory(memory) => memory.into_records(),
        };
        let (format, because) = self.recognised;
        Ok(Imported {
            format,
            because,
            columns: self.columns,
            session: self.session.filter(|_| self.sessions.len() == 1),
            sessions: self.sessions,
            alike,
            bad_lines: bad.collect(),
            notes: self.notes.into_list(),
            found: self.found,
            is_continuation: self.options.continued.is_some(),
            appended,
            records,
        })
    }
}
