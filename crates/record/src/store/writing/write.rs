//! Puts records into the store, within a transaction.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::super::columns::chunk::ChunkWriter;
use super::super::columns::iterations::{ComparedIterations, HeldIterations};
use super::super::columns::spans;
use super::super::points::PointGatherer;
use super::super::reading::read;
use super::super::{AppendCounts, StoreError, StoreResult};
use super::batch::RowBatch;
use super::indices::StoredIndices;
use super::insert::INSTANCE_COLUMNS;
use super::keys::{InstanceKey, KeyCache};
use crate::memory::key_text;
use crate::private::RecordCleaner;
use lapwing_model::{Id, Record, RecordKind, Session, Span, refusal, settled};

/// Spans to hold back, so that they are stored in large pieces.
const SPANS_HELD: usize = 8_192;

/// Puts records into the store, within a transaction (`Store::write`).
pub struct Writer<'t> {
    pub(crate) connection: &'t Connection,
    pub(crate) cache: &'t mut KeyCache,
    pub(crate) path: &'t Path,
    /// Instances that are not in their table yet.
    pub(crate) instances: RowBatch<22>,
    pub(crate) chunks: ChunkWriter<'t>,
    pub(crate) stored_indices: StoredIndices,
    pub(crate) held_iterations: HeldIterations,
    pub(crate) compared: ComparedIterations,
    held_spans: BTreeMap<i64, (Id, Vec<Span>)>,
    held: usize,
    pub(crate) appended: AppendCounts,
    pub(crate) points: PointGatherer,
    pub(crate) cleaner: &'t RecordCleaner,
}

impl<'t> Writer<'t> {
    pub(crate) fn new(
        connection: &'t Connection,
        cache: &'t mut KeyCache,
        path: &'t Path,
        cleaner: &'t RecordCleaner,
    ) -> Self {
        Self {
            connection,
            cache,
            path,
            instances: RowBatch::new(INSTANCE_COLUMNS),
            chunks: ChunkWriter::new(connection),
            stored_indices: StoredIndices::default(),
            held_iterations: HeldIterations::default(),
            compared: ComparedIterations::default(),
            held_spans: BTreeMap::new(),
            held: 0,
            appended: AppendCounts::default(),
            points: PointGatherer::default(),
            cleaner,
        }
    }

    /// Puts one record, without what is private; its parents must have been put before it, now or ever.
    ///
    /// # Errors
    /// When the record is one that no reader takes, the key is already present with other content, the
    /// parent is missing, or the store cannot be written to.
    pub fn put(&mut self, record: &Record) -> StoreResult<()> {
        if let Some(why) = refusal(record) {
            return Err(StoreError::refused(record.kind(), key_text(record), why));
        }
        match &*self.cleaner.clean(&settled(record)) {
            Record::Session(session) => self.put_session(session),
            Record::Run(run) => self.put_run(run),
            Record::Instance(instance) => self.put_instance(instance),
            Record::Iteration(iteration) => self.put_iteration(iteration),
            Record::Span(span) => self.hold_span(span.clone()),
            Record::InstanceEnd(end) => self.put_instance_end(end),
            Record::Summary(summary) => self.put_summary(summary),
            Record::Annotation(annotation) => self.put_annotation(annotation),
        }
        .map_err(|error| error.at(self.path))
    }

    /// Writes what is held back and returns the counts so far.
    ///
    /// # Errors
    /// When a span is already present with other content, or the store cannot be written to.
    pub fn settle(&mut self) -> StoreResult<AppendCounts> {
        self.write_held_instances()
            .and_then(|()| self.write_held_iterations())
            .and_then(|()| self.write_held_spans())
            .map_err(|error| error.at(self.path))?;
        Ok(self.appended.clone())
    }

    pub(crate) fn finish(mut self) -> StoreResult<()> {
        self.settle()?;
        let written = self.points.write(self.connection);
        written.map_err(|error| error.at(self.path))
    }

    /// Returns the session of that id, if it is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn session(&self, id: Id) -> StoreResult<Option<Session>> {
        let session = self.at_path(|connection| read::session(connection, id))?;
        Ok(session.map(|(_, session)| session))
    }

    /// Returns whether an instance of that id is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_instance(&mut self, id: Id) -> StoreResult<bool> {
        let found = self.find_instance(id).map(|key| key.is_some());
        found.map_err(|error| error.at(self.path))
    }

    /// Counts records that were found to be in the store without putting them.
    pub fn count_already_there(&mut self, kind: RecordKind, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.appended.count_already_there(kind, number);
    }

    /// Puts a span as [`put`](Self::put) does.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn put_span(&mut self, span: Span) -> StoreResult<()> {
        let record = Record::Span(span);
        if let Some(why) = refusal(&record) {
            return Err(StoreError::refused(record.kind(), key_text(&record), why));
        }
        let Record::Span(span) = record else {
            return Ok(());
        };
        let span = self.cleaner.clean_span(span);
        self.hold_span(span).map_err(|error| error.at(self.path))
    }

    fn hold_span(&mut self, span: Span) -> StoreResult<()> {
        let parent =
            self.parent_instance(RecordKind::Span, span.instance, || span.index.to_string())?;
        self.held_spans
            .entry(parent.key)
            .or_insert_with(|| (span.instance, Vec::new()))
            .1
            .push(span);
        self.held += 1;
        if self.held >= SPANS_HELD {
            self.write_held_spans()?;
        }
        Ok(())
    }

    fn write_held_spans(&mut self) -> StoreResult<()> {
        self.held = 0;
        self.write_held_instances()?;
        for (key, (instance, held)) in std::mem::take(&mut self.held_spans) {
            let count = spans::append(self.connection, key, instance, held, self.cleaner)?;
            self.appended.count_new(RecordKind::Span, count.new);
            self.appended
                .count_already_there(RecordKind::Span, count.already_there);
        }
        Ok(())
    }

    pub(crate) fn parent_instance(
        &mut self,
        kind: RecordKind,
        instance: Id,
        child: impl Fn() -> String,
    ) -> StoreResult<InstanceKey> {
        self.find_instance(instance)?
            .ok_or_else(|| no_parent(kind, child(), (RecordKind::Instance, instance)))
    }
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Writer")
            .field("path", &self.path)
            .field("appended", &self.appended)
            .finish_non_exhaustive()
    }
}

/// Returns how errors name a child of an instance.
pub(crate) fn child_key(index: impl std::fmt::Display, instance: Id) -> String {
    format!("{index} of instance {instance}")
}

pub(crate) fn no_parent(
    kind: RecordKind,
    key: String,
    (parent_kind, parent): (RecordKind, Id),
) -> StoreError {
    StoreError::NoParent {
        kind,
        key,
        parent_kind,
        parent: parent.to_string(),
    }
}
