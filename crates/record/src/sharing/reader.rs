//! Takes a segment into the store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

use super::coverage::InstanceCoverage;
use super::error::SharingError;
use super::remote::Remote;
use super::signature::SegmentSignature;
use super::{digest, segment_at};
use crate::{
    AnnotationCounts, AppendCounts, LineEnd, Refusals, StoreError, Writer, parse_line, read_line,
};
use lapwing_model::{Id, LineError, Record, too_long};

/// The most that a segment holds when it is decompressed: a writer puts 64 MiB of lines into one, then
/// one more, after those of its session, run and instance.
const LARGEST: u64 = 512 << 20;

/// A segment as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentFile<'c> {
    /// Where the history is.
    address: &'c str,
    number: u32,
    content: &'c [u8],
    signature: &'c SegmentSignature,
}

/// What came of a segment.
#[derive(Debug, Default)]
pub(super) struct TakenSegment {
    /// Its records.
    pub(super) appended: AppendCounts,
    /// Those that could not be taken.
    pub(super) refused: Refusals,
    /// The annotations that were new.
    pub(super) annotations: AnnotationCounts,
    /// The sessions that were new.
    pub(super) sessions: BTreeSet<Id>,
}

/// Takes in a segment, within a transaction, and remembers of which sessions everything that the
/// store has is in the shared history now. Doing it twice changes nothing.
///
/// Whoever pushed it may have had another program or an edited store: a record that cannot be taken is
/// left out with what belongs to it, and counted.
pub(super) fn take_in(
    writer: &mut Writer<'_>,
    remote: i64,
    segment: SegmentFile<'_>,
) -> Result<TakenSegment, SharingError> {
    let digest = digest(segment.content);
    if let Some(known) = writer.segment_digest(remote, segment.number)? {
        if known != digest {
            return Err(SharingError::Changed(segment.location()));
        }
        // Another process has taken it in for this store meanwhile.
        return Ok(TakenSegment::default());
    }
    let before = writer.settle()?;
    let mut sessions = BTreeMap::new();
    let mut coverage = InstanceCoverage::default();
    let mut taken = TakenSegment::default();
    let mut put = |record: &Record| -> Result<(), SharingError> {
        let is_new = match record {
            Record::Session(session) => !writer.has_session(session.id)?,
            Record::Annotation(annotation) => !writer.has_annotation(annotation.id)?,
            _part => false,
        };
        writer.put_or_grow(record)?;
        match record {
            Record::Session(session) => {
                if is_new {
                    taken.sessions.insert(session.id);
                }
                if let Entry::Vacant(entry) = sessions.entry(session.id) {
                    entry.insert(is_shared(writer, remote, session.id)?);
                }
            }
            Record::Annotation(annotation) => {
                writer.mark_annotation(remote, annotation.id)?;
                if let SegmentSignature::By(signer) = segment.signature {
                    writer.trust_annotation(annotation.id, Some(signer))?;
                }
                if is_new {
                    taken.annotations.add(annotation);
                }
            }
            Record::Run(_)
            | Record::Instance(_)
            | Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_) => {}
        }
        coverage.add(record);
        Ok(())
    };
    taken.refused = each_record(segment, &mut put)?;
    taken.appended = writer.settle()?.since(&before);
    for (&session, &shared) in &sessions {
        if let Some(extent) = writer.extent(session)?
            && (shared || coverage.is_whole(session, &extent))
        {
            writer.mark_session(remote, session, &extent)?;
        }
    }
    let bytes = segment.content.len() as u64;
    writer.remember_segment(remote, segment.number, &digest, bytes)?;
    Ok(taken)
}

/// Returns whether everything that the store has of a session is in the shared history: if the
/// store has nothing of it, that is so.
fn is_shared(writer: &mut Writer<'_>, remote: i64, session: Id) -> Result<bool, SharingError> {
    Ok(match writer.extent(session)? {
        None => true,
        Some(extent) => writer.shared_extent(remote, session)? == Some(extent),
    })
}

/// Calls `put` with each record of a segment; returns those that were refused.
pub(super) fn each_record(
    segment: SegmentFile<'_>,
    put: &mut impl FnMut(&Record) -> Result<(), SharingError>,
) -> Result<Refusals, SharingError> {
    let mut text = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(segment.content));
    let mut line = Vec::new();
    let (mut number, mut records) = (0, 0_u64);
    let mut refused = Refusals::default();
    loop {
        let end = read_line(&mut text, &mut line).map_err(|source| segment.damaged(source))?;
        if end == LineEnd::OfFile && line.is_empty() {
            return match records {
                0 => Err(SharingError::Empty(segment.location())),
                _some => Ok(refused),
            };
        }
        number += 1;
        let place = || format!("{}:{number}", segment.location());
        let bytes = line.trim_ascii();
        if bytes.is_empty() && end != LineEnd::TooLong {
            continue;
        }
        records += 1;
        let record = match parse_line(bytes) {
            _ if end == LineEnd::TooLong => {
                refused.add(place(), too_long());
                continue;
            }
            Ok(record) => record,
            // Newer programs know more: nothing of theirs may be taken for read.
            Err(source @ LineError::Newer { .. }) => {
                return Err(SharingError::Line {
                    segment: segment.location(),
                    line: number,
                    source,
                });
            }
            Err(why) => {
                refused.add(place(), why);
                continue;
            }
        };
        match put(&record) {
            Ok(()) => {}
            // Two stores disagree: that is not for the reader to decide.
            Err(error @ SharingError::Store(StoreError::Conflict { .. })) => return Err(error),
            Err(SharingError::Store(why)) if why.is_about_record() => refused.add(place(), why),
            Err(other) => return Err(other),
        }
    }
}

impl<'c> SegmentFile<'c> {
    pub(super) fn new(remote: &'c dyn Remote, number: u32, content: &'c [u8]) -> Self {
        Self {
            address: remote.address(),
            number,
            content,
            signature: &SegmentSignature::Unchecked,
        }
    }

    pub(super) fn signed(self, signature: &'c SegmentSignature) -> Self {
        Self { signature, ..self }
    }

    /// Decompresses all of it: the checksum at the end explains more than a line that is no record.
    pub(super) fn check(self) -> Result<(), SharingError> {
        let mut text = MultiGzDecoder::new(self.content).take(LARGEST + 1);
        let bytes = io::copy(&mut text, &mut io::sink()).map_err(|source| self.damaged(source))?;
        if bytes > LARGEST {
            let why = format!("it holds more than {} MiB", LARGEST >> 20);
            return Err(self.damaged(io::Error::other(why)));
        }
        Ok(())
    }

    pub(super) fn bytes(self) -> u64 {
        self.content.len() as u64
    }

    pub(super) fn signature(self) -> &'c SegmentSignature {
        self.signature
    }

    fn location(&self) -> String {
        segment_at(self.address, self.number)
    }

    fn damaged(&self, source: io::Error) -> SharingError {
        SharingError::Damaged {
            segment: self.location(),
            source,
        }
    }
}
