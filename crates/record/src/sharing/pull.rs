//! Pulls the segments of others.

use std::collections::BTreeSet;

use super::error::SharingError;
use super::reader::{SegmentFile, TakenSegment, take_in};
use super::remote::Remote;
use super::{
    SEGMENTS, SharedHistory, SharingStep, digest, segment_at, segment_name, segment_number,
};
use crate::store::KnownRemote;
use crate::{AppendCounts, Refusals, Store, StoreError, Writer};

/// How to take part in a shared history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PullOptions {
    /// Which of the known segments are read again.
    pub verify: VerifiedSegments,
    /// Whether to forget what is known of the history, and to go on where it is not the one that
    /// was there before.
    pub begin_anew: bool,
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
    pull_new(store, remote, &known, watch)
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
    let id = check(store, remote, history, options)?;
    Ok(store.write(|writer| remember(writer, remote, &id, options))?)
}

/// Checks that the history is the known one and still has the known segments; returns its id.
/// With `begin_anew`, nothing is checked.
pub(super) fn check(
    store: &Store,
    remote: &dyn Remote,
    history: &SharedHistory,
    options: &PullOptions,
) -> Result<String, SharingError> {
    let id = history.id().to_string();
    if options.begin_anew {
        return Ok(id);
    }
    let before = store.sharing().remote_at(remote.address())?;
    if before.is_some_and(|before| before != id) {
        return Err(SharingError::Replaced(remote.address().to_owned()));
    }
    if let Some(known) = store.sharing().remote(&id)? {
        verify(store, remote, &known, options.verify)?;
    }
    Ok(id)
}

/// Remembers where a history is, and returns what is known of it: nothing with `begin_anew`.
pub(super) fn remember(
    writer: &mut Writer<'_>,
    remote: &dyn Remote,
    id: &str,
    options: &PullOptions,
) -> Result<KnownRemote, StoreError> {
    let known = writer.remember_remote(id, remote.address())?;
    if !options.begin_anew {
        return Ok(known);
    }
    writer.forget_shared(known.key)?;
    Ok(KnownRemote {
        segments: 0,
        ..known
    })
}

/// Compares segments with their digests in the store.
fn verify(
    store: &Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    verify: VerifiedSegments,
) -> Result<(), SharingError> {
    let first = match verify {
        VerifiedSegments::Last => known.segments.max(1),
        VerifiedSegments::All => 1,
    };
    for number in first..=known.segments {
        let segment = segment_at(remote.address(), number);
        let Some(content) = get(remote, number)? else {
            return Err(SharingError::Gone(segment));
        };
        if store.sharing().segment_digest(known.key, number)? != Some(digest(&content)) {
            return Err(SharingError::Changed(segment));
        }
    }
    Ok(())
}

/// Pulls the segments after those that are known.
pub(super) fn pull_new(
    store: &mut Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<PullSummary, SharingError> {
    let mut pulled = PullSummary::default();
    let mut number = known.segments + 1;
    while let Some(content) = get(remote, number)? {
        let segment = SegmentFile::new(remote, number, &content);
        let taken = store.write(|writer| take_in(writer, known.key, segment))?;
        let new = taken.appended.total().new;
        pulled.add(&content, taken);
        watch(SharingStep::TookIn { number, new });
        number += 1;
    }
    refuse_gap(remote, number)?;
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

pub(super) fn get(remote: &dyn Remote, number: u32) -> Result<Option<Vec<u8>>, SharingError> {
    remote
        .get(&segment_name(number))
        .map_err(SharingError::of(remote))
}

impl PullSummary {
    pub(super) fn add(&mut self, content: &[u8], taken: TakenSegment) {
        self.segments += 1;
        self.bytes += content.len() as u64;
        self.appended.add(&taken.appended);
        self.refused.extend(taken.refused);
    }
}
