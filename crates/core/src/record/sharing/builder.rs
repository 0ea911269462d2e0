//! Makes segments of what a shared history lacks.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::SharingError;
use crate::model::{Id, Record};
use crate::record::store::{SessionExtent, UnsharedRecords};
use crate::record::write_line;

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
    /// Bytes of lines that are enough.
    enough: u64,
    encoder: GzEncoder<Vec<u8>>,
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
            enough,
            encoder: encoder(),
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
        if self.length == 0 {
            return Ok(None);
        }
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
        let mut line = Vec::new();
        write_line(&mut line, record).map_err(SharingError::Compress)?;
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
        if self.length == 0 {
            let ancestors = std::mem::take(&mut self.ancestors);
            for ancestor in &ancestors[..depth] {
                self.put(ancestor)?;
            }
            self.ancestors = ancestors;
        }
        self.put(&line)?;
        if depth < 3 {
            self.ancestors[depth] = line;
        }
        Ok(())
    }

    fn put(&mut self, line: &[u8]) -> Result<(), SharingError> {
        self.length += line.len() as u64;
        self.encoder.write_all(line).map_err(SharingError::Compress)
    }
}

fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}
