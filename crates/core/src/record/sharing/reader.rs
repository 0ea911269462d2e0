//! Takes a segment into the store.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use super::coverage::InstanceCoverage;
use super::error::SharingError;
use super::{digest, segment_name};
use crate::model::is_too_deep;
use crate::model::{Id, Record};
use crate::record::{AppendCounts, Writer, parse_line};

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 64 << 20;

/// A segment as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentFile<'c> {
    /// Where the history is.
    pub(super) address: &'c str,
    /// Its number.
    pub(super) number: u32,
    /// Its bytes.
    pub(super) content: &'c [u8],
}

/// Takes in a segment, within a transaction, and remembers of which sessions everything that the
/// store has is in the shared history now. Doing it twice changes nothing.
pub(super) fn take_in(
    writer: &mut Writer<'_>,
    remote: i64,
    segment: SegmentFile<'_>,
) -> Result<AppendCounts, SharingError> {
    let digest = digest(segment.content);
    if let Some(known) = writer.segment_digest(remote, segment.number)? {
        if known != digest {
            return Err(segment.changed());
        }
        // Another process has taken it in for this store meanwhile.
        return Ok(AppendCounts::default());
    }
    let before = writer.settle()?;
    let mut sessions = BTreeMap::new();
    let mut coverage = InstanceCoverage::default();
    each_record(segment, |line, record| {
        match &record {
            Record::Session(session) => {
                let known = sessions.get(&session.id).copied();
                let shared = match known {
                    Some(shared) => shared,
                    None => is_shared(writer, remote, session.id)?,
                };
                sessions.insert(session.id, shared);
            }
            Record::Annotation(annotation) => writer.mark_annotation(remote, annotation.id)?,
            Record::Run(_)
            | Record::Instance(_)
            | Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_) => {}
        }
        coverage.add(&record);
        writer
            .put_or_grow(&record)
            .map_err(|source| segment.refused(line, source))
    })?;
    let appended = writer.settle()?.since(&before);
    for (&session, &shared) in &sessions {
        if let Some(extent) = writer.extent(session)?
            && (shared || coverage.is_whole(session, &extent))
        {
            writer.mark_session(remote, session, &extent)?;
        }
    }
    let bytes = segment.content.len() as u64;
    writer.remember_segment(remote, segment.number, &digest, bytes)?;
    Ok(appended)
}

/// Returns whether everything that the store has of a session is in the shared history: if the
/// store has nothing of it, that is so.
fn is_shared(writer: &mut Writer<'_>, remote: i64, session: Id) -> Result<bool, SharingError> {
    Ok(match writer.extent(session)? {
        None => true,
        Some(extent) => writer.shared_extent(remote, session)? == Some(extent),
    })
}

/// Calls `visit` with each record of a segment and its line, from 1.
fn each_record(
    segment: SegmentFile<'_>,
    mut visit: impl FnMut(u64, Record) -> Result<(), SharingError>,
) -> Result<(), SharingError> {
    // All of it first: the checksum at the end explains more than a line that is no record.
    io::copy(&mut MultiGzDecoder::new(segment.content), &mut io::sink())
        .map_err(|source| segment.damaged(source))?;
    let mut text = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(segment.content));
    let mut line = Vec::new();
    let (mut number, mut records) = (0, 0_u64);
    loop {
        line.clear();
        number += skip_empty_lines(&mut text).map_err(|source| segment.damaged(source))?;
        let length = (&mut text)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|source| segment.damaged(source))?;
        if length == 0 {
            return match records {
                0 => Err(segment.empty()),
                _some => Ok(()),
            };
        }
        number += 1;
        if line.last() != Some(&b'\n') && length as u64 == LONGEST_LINE {
            return Err(segment.excessive(number, "the line is longer than 64 MiB"));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record = parse_line(line.trim_ascii()).map_err(|source| SharingError::Line {
            address: segment.address.to_owned(),
            name: segment.name(),
            line: number,
            source,
        })?;
        if is_too_deep(&record) {
            return Err(segment.excessive(number, "nested deeper than 100 levels"));
        }
        records += 1;
        visit(number, record)?;
    }
}

/// Skips line ends, a buffer of them at once: compressed, a few bytes are millions. Returns how many.
fn skip_empty_lines(text: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = text.fill_buf()?;
        let length = buffer.len();
        let here = buffer.iter().position(|byte| *byte != b'\n');
        let here = here.unwrap_or(length);
        text.consume(here);
        skipped += here as u64;
        if here == 0 || here < length {
            return Ok(skipped);
        }
    }
}

impl SegmentFile<'_> {
    fn name(&self) -> String {
        segment_name(self.number)
    }

    fn changed(&self) -> SharingError {
        SharingError::Changed {
            address: self.address.to_owned(),
            name: self.name(),
        }
    }

    fn damaged(&self, source: io::Error) -> SharingError {
        SharingError::Damaged {
            address: self.address.to_owned(),
            name: self.name(),
            source,
        }
    }

    fn empty(&self) -> SharingError {
        SharingError::Empty {
            address: self.address.to_owned(),
            name: self.name(),
        }
    }

    fn excessive(&self, line: u64, why: &'static str) -> SharingError {
        SharingError::Excessive {
            address: self.address.to_owned(),
            name: self.name(),
            line,
            why,
        }
    }

    fn refused(&self, line: u64, source: crate::record::StoreError) -> SharingError {
        use crate::record::StoreError;
        match source {
            StoreError::Conflict { .. }
            | StoreError::NoParent { .. }
            | StoreError::NotFinite { .. } => SharingError::Record {
                address: self.address.to_owned(),
                name: self.name(),
                line,
                source: Box::new(source),
            },
            other => SharingError::Store(other),
        }
    }
}
