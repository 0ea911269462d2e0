//! Makes segments of what a shared history lacks.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::SharingError;
use crate::memory::key_text;
use crate::store::{SessionExtent, UnsharedRecords};
use crate::{Refusals, write_line};
use lapwing_model::{Id, Record, refusal};

/// A segment that is ready to be pushed.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    /// Its bytes.
    pub(super) content: Vec<u8>,
    /// The sessions of which the last records are in it, and how much there is of them.
    pub(super) complete: Vec<(Id, SessionExtent)>,
    /// The session that goes on in the next segment.
    pub(super) unfinished: Option<(Id, SessionExtent)>,
    /// The annotations in it.
    pub(super) annotations: Vec<Id>,
}

/// Collects records until there are enough for a segment.
///
/// A session that is too large for one goes on in the next, which begins with the lines of the
/// session, run and instance that its first records belong to: each segment can be read by itself.
#[derive(Debug)]
pub(super) struct SegmentBuilder {
    /// Records that no reader would take.
    pub(super) left_out: Refusals,
    /// The depth of the last of them: what is deeper belongs to it.
    left_out_depth: Option<usize>,
    /// Bytes of lines that are enough.
    enough: u64,
    encoder: GzEncoder<Vec<u8>>,
    has_records: bool,
    length: u64,
    session: Option<(Id, SessionExtent)>,
    /// The lines of the session, the run and the instance that come next.
    ancestors: [Vec<u8>; 3],
    complete: Vec<(Id, SessionExtent)>,
    annotations: Vec<Id>,
}

impl SegmentBuilder {
    /// Returns a builder of segments that have about `enough` bytes before they are compressed.
    pub(super) fn new(enough: u64) -> Self {
        Self {
            left_out: Refusals::default(),
            left_out_depth: None,
            enough,
            encoder: encoder(),
            has_records: false,
            length: 0,
            session: None,
            ancestors: Default::default(),
            complete: Vec::new(),
            annotations: Vec::new(),
        }
    }

    /// Takes what comes next; returns the segment before it when there was enough for one.
    pub(super) fn add(
        &mut self,
        next: UnsharedRecords,
    ) -> Result<Option<SegmentDraft>, SharingError> {
        // Only when there is a next record: the last segment of a session marks its end.
        let is_record = matches!(
            next,
            UnsharedRecords::Record(_) | UnsharedRecords::Annotation(_)
        );
        let full = if is_record && self.length >= self.enough {
            self.finish()?
        } else {
            None
        };
        match next {
            UnsharedRecords::Begin(session) => self.session = Some((session.id, session.extent)),
            UnsharedRecords::Record(record) => self.write(&record)?,
            UnsharedRecords::End => self.complete.extend(self.session.take()),
            UnsharedRecords::Annotation(annotation) => {
                self.annotations.push(annotation.id);
                self.write(&Record::Annotation(annotation))?;
            }
        }
        Ok(full)
    }

    /// Returns a segment of what there is, if there is anything.
    pub(super) fn finish(&mut self) -> Result<Option<SegmentDraft>, SharingError> {
        if !self.has_records {
            return Ok(None);
        }
        self.has_records = false;
        self.length = 0;
        let full = std::mem::replace(&mut self.encoder, encoder());
        Ok(Some(SegmentDraft {
            content: full.finish().map_err(SharingError::Compress)?,
            complete: std::mem::take(&mut self.complete),
            unfinished: self.session,
            annotations: std::mem::take(&mut self.annotations),
        }))
    }

    fn write(&mut self, record: &Record) -> Result<(), SharingError> {
        // How many of the ancestors it has, and which of them it is.
        let depth = match record {
            Record::Session(_) | Record::Annotation(_) => 0,
            Record::Run(_) => 1,
            Record::Instance(_) => 2,
            Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_) => 3,
        };
        if self.is_left_out(record, depth) {
            return Ok(());
        }
        let mut line = Vec::new();
        write_line(&mut line, record).map_err(SharingError::Compress)?;
        if !self.has_records {
            self.has_records = true;
            let ancestors = std::mem::take(&mut self.ancestors);
            for ancestor in &ancestors[..depth] {
                self.put(ancestor)?;
            }
            self.ancestors = ancestors;
        }
        self.put(&line)?;
        // Lines that are repeated do not count, or long ones would fill every segment.
        self.length += line.len() as u64;
        if depth < 3 {
            self.ancestors[depth] = line;
        }
        Ok(())
    }

    /// Returns whether no reader would take a record, or one that it belongs to.
    fn is_left_out(&mut self, record: &Record, depth: usize) -> bool {
        let of_another = self.left_out_depth.is_some_and(|left| depth > left);
        self.left_out_depth = self.left_out_depth.filter(|_| of_another);
        let why = if of_another {
            Some("it belongs to a record that is left out".to_owned())
        } else {
            refusal(record)
        };
        let Some(why) = why else {
            return false;
        };
        if !of_another && depth < 3 {
            self.left_out_depth = Some(depth);
        }
        let place = format!("{} {}", record.kind(), key_text(record));
        self.left_out.add(place, why);
        true
    }

    fn put(&mut self, line: &[u8]) -> Result<(), SharingError> {
        self.encoder.write_all(line).map_err(SharingError::Compress)
    }
}

pub(super) fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::new(7))
}
