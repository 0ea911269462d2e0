//! Reads the records that a shared history lacks.

use super::super::reading::extent::{UnsharedSession, unshared_sessions};
use super::super::reading::read;
use super::super::reading::scan::RecordScanner;
use super::super::reading::select::Selection;
use super::super::{StoreError, StoreSharing};
use lapwing_model::{Annotation, Record};

/// What is met on the way through what a shared history lacks.
#[derive(Debug)]
pub(crate) enum UnsharedRecords {
    /// A session begins; its records follow.
    Begin(UnsharedSession),
    /// A record of that session.
    Record(Box<Record>),
    /// The session has no more records.
    End,
    /// An annotation.
    Annotation(Annotation),
}

impl StoreSharing<'_> {
    /// Calls `visit` with everything that a shared history lacks, at one moment: sessions with all
    /// that belongs to them, unless `wanted` says no, then annotations. Annotations
    /// do not change the records that are sent.
    ///
    /// # Errors
    /// The errors of `visit`; when the store cannot be read, or gives back other
    /// records of a session than it has.
    pub(crate) fn scan_unshared<E: From<StoreError>>(
        &self,
        remote: i64,
        mut wanted: impl FnMut(&UnsharedSession) -> bool,
        visit: impl FnMut(UnsharedRecords) -> Result<(), E>,
    ) -> Result<(), E> {
        self.store.visit(visit, |snapshot, visit| {
            // Everything: no filter, retired measurements included.
            let scanner = RecordScanner::new(snapshot, Selection::default())?;
            for session in unshared_sessions(snapshot, remote)? {
                if !wanted(&session) {
                    continue;
                }
                visit(UnsharedRecords::Begin(session))?;
                let mut records = 0;
                scanner.session(session.key, true, &mut |record| {
                    records += 1;
                    visit(UnsharedRecords::Record(Box::new(record)))
                })?;
                // What is once said to be in the history is not sent again: it must be all there is.
                let all = session.extent.records();
                if records != all {
                    let why = format!("session {} gave {records} of {all} records", session.id);
                    return Err(StoreError::damaged(why).into());
                }
                visit(UnsharedRecords::End)?;
            }
            let unshared = "id NOT IN (SELECT annotation FROM remote_annotation WHERE remote = ?1)";
            for annotation in read::annotations(snapshot, unshared, [remote])? {
                visit(UnsharedRecords::Annotation(annotation))?;
            }
            Ok(())
        })
    }
}
