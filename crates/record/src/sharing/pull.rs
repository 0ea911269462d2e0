//! Pulls the segments of others.

use std::collections::BTreeSet;

use super::error::SharingError;
use super::reader::{SegmentFile, TakenSegment, take_in};
use super::remote::Remote;
use super::signature::{AllowedSigners, SegmentSignature, SignatureCounts};
use super::withdraw::{WithdrawalSummary, is_rewritten, settle};
use super::{
    SEGMENTS, SharedHistory, SharingStep, digest, segment_at, segment_name, segment_number,
};
use crate::store::KnownRemote;
use crate::{AnnotationCounts, AppendCounts, Refusals, Store, StoreError, Writer};
use lapwing_model::Id;

/// The most bytes of a segment, compressed.
const LARGEST: u64 = 512 << 20;

/// How often a segment is asked for that comes cut off or damaged.
const ATTEMPTS: u32 = 3;

/// How to take part in a shared history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullOptions {
    /// Which of the known segments are read again.
    pub verify: VerifiedSegments,
    /// Whether to forget what is known of the history, and to go on where it is not the one that
    /// was there before.
    pub begin_anew: bool,
    /// Whose signatures count; without them, signatures are not looked at.
    pub allowed_signers: Option<AllowedSigners>,
    /// Whether sessions that others withdrew are deleted although the store had them before.
    pub accept_withdrawals: bool,
}

/// Which of the known segments are compared with what they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VerifiedSegments {
    /// The last one: if the place was put back to what it was, it is missing.
    #[default]
    Last,
    /// All.
    All,
}

/// The result of pulling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullSummary {
    /// Segments that were new.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their records.
    pub appended: AppendCounts,
    /// Records that were refused and left out.
    pub refused: Refusals,
    /// Annotations that were new.
    pub annotations: AnnotationCounts,
    /// Signatures of the segments.
    pub signatures: SignatureCounts,
    /// Sessions that are withdrawn.
    pub withdrawals: WithdrawalSummary,
    /// Sessions that the store did not have before.
    pub(super) sessions: BTreeSet<Id>,
}

/// Pulls every segment that the store does not know, each in one transaction.
///
/// # Errors
/// When there is no history, or a segment is damaged, missing, has changed or is of a newer program: the
/// segments before it are kept, and nothing of that one.
pub fn pull(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PullOptions,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<PullSummary, SharingError> {
    let history = existing(store, remote)?;
    let known = enter(store, remote, &history, options)?;
    pull_new(store, remote, &known, options, watch)
}

/// Returns the history of a place that must have one.
pub(super) fn existing(store: &Store, remote: &dyn Remote) -> Result<SharedHistory, SharingError> {
    match SharedHistory::find(remote)? {
        Some(history) => Ok(history),
        None => Err(absent(store, remote)?),
    }
}

/// Returns what it means that a place has no history.
pub(super) fn absent(store: &Store, remote: &dyn Remote) -> Result<SharingError, SharingError> {
    let address = remote.address().to_owned();
    Ok(match store.sharing().remote_at(&address)? {
        Some(_) => SharingError::Vanished(address),
        None => SharingError::Nothing(address),
    })
}

/// Remembers the history, and checks the segments that the store knows.
pub(super) fn enter(
    store: &mut Store,
    remote: &dyn Remote,
    history: &SharedHistory,
    options: &PullOptions,
) -> Result<KnownRemote, SharingError> {
    let checked = check(store, remote, history, options)?;
    Ok(store.write(|writer| remember(writer, remote, &checked, options))?)
}

/// A history that is the known one.
#[derive(Debug, Default)]
pub(super) struct CheckedHistory {
    id: String,
    /// Segments that were rewritten because of a withdrawal, with their digests and bytes.
    rewritten: Vec<(u32, String, u64)>,
}

/// Checks that the history is the known one and still has the known segments.
/// With `begin_anew`, nothing is checked.
pub(super) fn check(
    store: &Store,
    remote: &dyn Remote,
    history: &SharedHistory,
    options: &PullOptions,
) -> Result<CheckedHistory, SharingError> {
    let mut checked = CheckedHistory {
        id: history.id().to_string(),
        ..CheckedHistory::default()
    };
    if options.begin_anew {
        return Ok(checked);
    }
    let before = store.sharing().remote_at(remote.address())?;
    if before.is_some_and(|before| before != checked.id) {
        return Err(SharingError::Replaced(remote.address().to_owned()));
    }
    if let Some(known) = store.sharing().remote(&checked.id)? {
        checked.rewritten = verify(store, remote, &known, options.verify)?;
    }
    Ok(checked)
}

/// Remembers where a history is, and returns what is known of it: nothing with `begin_anew`.
pub(super) fn remember(
    writer: &mut Writer<'_>,
    remote: &dyn Remote,
    checked: &CheckedHistory,
    options: &PullOptions,
) -> Result<KnownRemote, StoreError> {
    let known = writer.remember_remote(&checked.id, remote.address())?;
    if !options.begin_anew {
        for (number, digest, bytes) in &checked.rewritten {
            writer.replace_segment(known.key, *number, digest, *bytes)?;
        }
        return Ok(known);
    }
    writer.forget_shared(known.key)?;
    Ok(KnownRemote {
        segments: 0,
        ..known
    })
}

/// Compares segments with their digests in the store; returns those that a withdrawal has changed.
fn verify(
    store: &Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    verify: VerifiedSegments,
) -> Result<Vec<(u32, String, u64)>, SharingError> {
    let mut rewritten = Vec::new();
    let first = match verify {
        VerifiedSegments::Last => known.segments.max(1),
        VerifiedSegments::All => 1,
    };
    for number in first..=known.segments {
        let segment = segment_at(remote.address(), number);
        let Some(content) = get(remote, number)? else {
            return Err(SharingError::Gone(segment));
        };
        let found = digest(&content);
        let before = store.sharing().segment_digest(known.key, number)?;
        if before.as_ref() == Some(&found) {
            continue;
        }
        let digests = [before.as_deref().unwrap_or_default(), &found];
        if !is_rewritten(store, remote, known, number, digests)? {
            return Err(SharingError::Changed(segment));
        }
        rewritten.push((number, found, content.len() as u64));
    }
    Ok(rewritten)
}

/// Pulls the segments after those that are known.
pub(super) fn pull_new(
    store: &mut Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    options: &PullOptions,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<PullSummary, SharingError> {
    let mut pulled = PullSummary::default();
    let mut number = known.segments + 1;
    while let Some(content) = fetch(remote, number)? {
        let signature = options.signature(remote, number, &content)?;
        let segment = SegmentFile::new(remote, number, &content).signed(&signature);
        let taken = store.write(|writer| take_in(writer, known.key, segment))?;
        let new = taken.appended.total().new;
        pulled.add(segment, taken);
        watch(SharingStep::TookIn { number, new });
        number += 1;
    }
    refuse_gap(remote, number)?;
    pulled.withdrawals = store.write(|writer| settle(writer, &pulled.sessions, options))?;
    if !pulled.withdrawals.deleted.is_empty() {
        store.erase(false)?;
    }
    Ok(pulled)
}

/// Refuses a history in which a segment is missing. `next` is the first that was not found.
///
/// A segment that fills the gap would never reach stores that have the segments after it. If the
/// location cannot list its objects, only the segment after `next` is requested.
pub(super) fn refuse_gap(remote: &dyn Remote, next: u32) -> Result<(), SharingError> {
    let (missing, later) = match remote.list(SEGMENTS).map_err(SharingError::of(remote))? {
        Some(names) => {
            let numbers = names.iter().filter_map(|name| segment_number(name));
            let numbers: BTreeSet<u32> = numbers.collect();
            let there = (1_u32..)
                .zip(&numbers)
                .take_while(|(n, number)| n == *number);
            let missing = there.last().map_or(0, |(n, _)| n).saturating_add(1);
            match numbers.last() {
                Some(&last) if last > missing => (missing, last),
                Some(_) | None => return Ok(()),
            }
        }
        None => {
            let after = next.saturating_add(1);
            if get(remote, after)?.is_none() {
                return Ok(());
            }
            (next, after)
        }
    };
    // Others may have added both while this was looked at.
    if get(remote, missing)?.is_some() {
        return Ok(());
    }
    Err(SharingError::Gap {
        segment: segment_at(remote.address(), missing),
        later: segment_name(later),
    })
}

fn get(remote: &dyn Remote, number: u32) -> Result<Option<Vec<u8>>, SharingError> {
    remote
        .get(&segment_name(number), LARGEST)
        .map_err(SharingError::of(remote))
}

/// Returns a segment that can be decompressed. One that comes cut off or damaged is asked for again.
pub(super) fn fetch(remote: &dyn Remote, number: u32) -> Result<Option<Vec<u8>>, SharingError> {
    let mut attempt = 1;
    loop {
        let Some(content) = get(remote, number)? else {
            return Ok(None);
        };
        match SegmentFile::new(remote, number, &content).check() {
            Ok(()) => return Ok(Some(content)),
            Err(_) if attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

impl PullOptions {
    /// Returns the signature of a segment, if signatures count.
    pub(super) fn signature(
        &self,
        remote: &dyn Remote,
        number: u32,
        content: &[u8],
    ) -> Result<SegmentSignature, SharingError> {
        match &self.allowed_signers {
            Some(allowed) => allowed.check(remote, number, content),
            None => Ok(SegmentSignature::Unchecked),
        }
    }
}

impl PullSummary {
    pub(super) fn add(&mut self, segment: SegmentFile<'_>, taken: TakenSegment) {
        self.segments += 1;
        self.bytes += segment.bytes();
        self.appended.add(&taken.appended);
        self.refused.extend(taken.refused);
        self.annotations.extend(&taken.annotations);
        self.signatures.add(segment.signature());
        self.sessions.extend(taken.sessions);
    }
}
