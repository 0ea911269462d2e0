//! Storing measurements: a record file first, the store soon after.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::{Consumer, Event};
use lapwing_model::{Record, RecordKind};
use lapwing_record::{RecordFile, Store, StoreError};

use super::{SessionRemark, SessionSurroundings};

type IntakeResult = Result<(), Box<dyn Error + Send + Sync>>;

/// Writes every record to a file immediately, so that a killed process loses at most the current
/// iteration.
impl Consumer for RecordFile {
    fn take(&mut self, event: &Event<'_>) -> IntakeResult {
        if let Event::Record(record) = event {
            self.append(record)?;
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
    /// Whether nothing is stored before the first instance has ended.
    pub awaits_instance: bool,
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
    pub journal: RecordFile,
    pub writer: StoreWriter<'a>,
}

impl RecordKeeper<'_> {
    /// Drops a session that has not begun.
    pub fn discard(self) {
        // A record file that remains is read by the next command.
        let _stays = self.journal.remove();
    }

    /// Writes everything to the store, then removes the record file; if the store failed, returns the file, which
    /// has everything, and the error.
    pub fn finish(mut self) -> Option<(PathBuf, StoreError)> {
        self.writer.flush();
        let Some(failure) = self.writer.failure else {
            // If the file remains, the next command reads it again, which changes nothing.
            let _stays = self.journal.remove();
            return None;
        };
        let path = self.journal.path().to_owned();
        let _unsynced = self.journal.keep();
        Some((path, failure))
    }
}
