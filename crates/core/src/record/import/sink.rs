//! Where the readers of formats put what they read.

use std::collections::BTreeSet;

use super::{BadLine, BadLines, ImportError};
use crate::model::{Id, Record, RecordKind, Session};
use crate::record::{IterationColumns, StoreError, Writer};

/// Takes records, keeps account of bad lines.
///
/// After the first bad line that may not be skipped nothing is written any more, and
/// reading on only counts: the error says how many lines were good.
pub(super) struct Sink<'w, 't> {
    writer: &'w mut Writer<'t>,
    name: String,
    bad_lines: BadLines,
    bad: Vec<BadLine>,
    bad_count: u64,
    good: u64,
    session: Option<Session>,
    sessions: BTreeSet<Id>,
}

/// Bad lines to remember; the others are only counted.
const REMEMBERED: usize = 1000;

impl<'w, 't> Sink<'w, 't> {
    pub(super) fn new(writer: &'w mut Writer<'t>, name: &str, bad_lines: BadLines) -> Self {
        Self {
            writer,
            name: name.to_owned(),
            bad_lines,
            bad: Vec::new(),
            bad_count: 0,
            good: 0,
            session: None,
            sessions: BTreeSet::new(),
        }
    }

    /// Returns whether nothing will be written any more.
    pub(super) fn only_counts(&self) -> bool {
        self.bad_count > 0 && self.bad_lines == BadLines::Refuse
    }

    /// Puts the records that stand on a line; when the store cannot accept one of them
    /// because of what it says, the line is bad.
    pub(super) fn line<'r>(
        &mut self,
        line: u64,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> Result<(), ImportError> {
        if self.only_counts() {
            self.good += 1;
            return Ok(());
        }
        for record in records {
            match self.writer.put(record) {
                Ok(()) => {}
                Err(
                    error @ (StoreError::Conflict { .. }
                    | StoreError::NoParent { .. }
                    | StoreError::NotFinite { .. }),
                ) => {
                    self.bad(line, error.to_string());
                    return Ok(());
                }
                Err(other) => return Err(other.into()),
            }
            if let Record::Session(session) = record {
                self.sessions.insert(session.id);
                self.session = Some(session.clone());
            }
        }
        self.good += 1;
        Ok(())
    }

    /// Puts the iterations of the instance that the last line made.
    pub(super) fn iterations(
        &mut self,
        instance: Id,
        iterations: IterationColumns,
    ) -> Result<(), ImportError> {
        Ok(self.writer.put_columns(instance, iterations)?)
    }

    /// Notes a line that cannot be kept.
    pub(super) fn bad(&mut self, line: u64, reason: String) {
        self.bad_count += 1;
        if self.bad.len() < REMEMBERED {
            self.bad.push(BadLine { line, reason });
        }
    }

    /// Returns the session that the same content has in the store already, if any.
    pub(super) fn known_session(&mut self, new: &Session) -> Result<Option<Session>, ImportError> {
        let known = self.writer.session(new.id)?;
        if let Some(known) = &known {
            self.sessions.insert(known.id);
            self.session = Some(known.clone());
        }
        Ok(known)
    }

    /// Returns whether the store has that instance.
    pub(super) fn has_instance(&mut self, id: Id) -> Result<bool, ImportError> {
        Ok(self.writer.has_instance(id)?)
    }

    /// Counts records as being in the store already.
    pub(super) fn already_there(&mut self, kind: RecordKind, number: usize) {
        self.writer.count_already_there(kind, number);
    }

    /// Counts a line that says nothing new.
    pub(super) fn nothing_new(&mut self) {
        self.good += 1;
    }

    pub(super) fn finish(self) -> Result<(Option<Session>, Vec<BadLine>), ImportError> {
        let refused = self.only_counts();
        let mut bad = self.bad.into_iter();
        if refused && let Some(first) = bad.next() {
            return Err(ImportError::Line {
                name: self.name,
                first,
                more: self.bad_count - 1,
                good: self.good,
            });
        }
        let session = self.session.filter(|_| self.sessions.len() == 1);
        Ok((session, bad.collect()))
    }
}
