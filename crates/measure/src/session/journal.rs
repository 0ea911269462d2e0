//! Storing measurements: a record file first, the store soon after.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::{Consumer, Event, RunError};
use lapwing_model::{Record, RecordKind};
use lapwing_record::{RecordFile, Store, StoreError};

use super::{SessionError, SessionRemark, SessionSurroundings};

type IntakeResult = Result<(), Box<dyn Error + Send + Sync>>;

/// Writes every record to a file immediately, so that a killed process loses at most the current
/// iteration.
pub struct RecordJournal {
    file: RecordFile,
}

impl RecordJournal {
    pub fn new(file: RecordFile) -> Self {
        Self { file }
    }
}

impl Consumer for RecordJournal {
    fn take(&mut self, event: &Event<'_>) -> IntakeResult {
        if let Event::Record(record) = event {
            self.file.append(record)?;
        }
        Ok(())
    }
}

/// Writes records to the store in small batches between instances, because its work would disturb a
/// measurement.
pub struct StoreWriter<'a> {
    store: Store,
    surroundings: SessionSurroundings<'a>,
    waiting: Vec<Record>,
    /// Whether the session has no instance yet that makes it worth storing.
    awaits_instance: bool,
    last: Instant,
    failure: Option<StoreError>,
}

/// Short instances share a transaction, to save time; the record file has everything immediately.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// Records wait at most this long for a long instance to end.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl<'a> StoreWriter<'a> {
    pub fn new(store: Store, surroundings: SessionSurroundings<'a>) -> Self {
        Self {
            store,
            surroundings,
            waiting: Vec::new(),
            awaits_instance: false,
            last: Instant::now(),
            failure: None,
        }
    }

    /// Stores nothing before the first instance has ended.
    pub fn wait_for_an_instance(&mut self) {
        self.awaits_instance = true;
    }

    fn flush(&mut self) {
        if self.waiting.is_empty() || self.failure.is_some() {
            return;
        }
        match self.store.append(&self.waiting) {
            Ok(_) => self.waiting.clear(),
            // The record file has everything: measuring continues, and the error is reported at the end.
            Err(error) => {
                self.surroundings.remark(SessionRemark::StoreFailed {
                    error: error.to_string(),
                });
                self.failure = Some(error);
                self.waiting = Vec::new();
            }
        }
        self.last = Instant::now();
    }
}

impl Consumer for StoreWriter<'_> {
    fn take(&mut self, event: &Event<'_>) -> IntakeResult {
        match event {
            Event::Record(record) if self.failure.is_none() => {
                self.waiting.push((*record).clone());
                let instance_ended = record.kind() == RecordKind::InstanceEnd;
                self.awaits_instance &= !instance_ended;
                let wait = if instance_ended {
                    SHORTEST_WAIT
                } else {
                    LONGEST_WAIT
                };
                if self.last.elapsed() > wait && !self.awaits_instance {
                    self.flush();
                }
            }
            Event::Ended => self.flush(),
            Event::Record(_)
            | Event::Started { .. }
            | Event::InstanceStarted { .. }
            | Event::Jobs(_)
            | Event::Note(_) => {}
        }
        Ok(())
    }
}

/// Both, after measuring.
pub struct RecordKeeper<'a> {
    pub journal: RecordJournal,
    pub writer: StoreWriter<'a>,
}

/// Where the measurements are.
pub enum KeptMeasurements {
    /// In the store.
    InStore,
    /// In a record file, because the store failed.
    InFile { path: PathBuf, failure: StoreError },
}

impl RecordKeeper<'_> {
    /// Drops a session that has not begun.
    pub fn discard(self) {
        // A record file that remains is read by the next command.
        let _stays = self.journal.file.remove();
    }

    /// Writes everything to the store, then removes the record file.
    pub fn finish(mut self) -> KeptMeasurements {
        self.writer.flush();
        let path = self.journal.file.path().to_owned();
        match self.writer.failure {
            None => {
                // If the file remains, the next command reads it again, which changes nothing.
                let _stays = self.journal.file.remove();
                KeptMeasurements::InStore
            }
            Some(failure) => {
                let _unsynced = self.journal.file.keep();
                KeptMeasurements::InFile { path, failure }
            }
        }
    }
}

impl KeptMeasurements {
    /// Returns the error that ended measuring, with the place of the measurements.
    pub fn explain(self, source: RunError) -> SessionError {
        let file = match self {
            Self::InStore => None,
            Self::InFile { path, .. } => Some(path),
        };
        SessionError::Ended { source, file }
    }

    /// Returns the error of the store.
    pub fn into_result(self) -> Result<(), SessionError> {
        match self {
            Self::InStore => Ok(()),
            Self::InFile { path, failure } => Err(SessionError::NotStored {
                file: path,
                source: failure,
            }),
        }
    }
}
