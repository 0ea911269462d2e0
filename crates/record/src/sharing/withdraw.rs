//! Withdraws sessions from a shared history.
//!
//! A withdrawal is an annotation, pushed like all others. Where the place lets objects be replaced, the
//! segments that hold the sessions are rewritten without them, and a second annotation says so:
//! readers that know the old digest accept the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::builder::encoder;
use super::error::SharingError;
use super::pull::{PullOptions, PullSummary, fetch, pull};
use super::push::{PushOptions, PushSummary, push};
use super::reader::{SegmentFile, each_record};
use super::remote::Remote;
use super::{SharingStep, digest, segment_at, segment_name, signature_name};
use crate::store::KnownRemote;
use crate::{Change, Filter, Remark, Store, StoreError, Writer, parse_line, write_line};
use lapwing_model::{Annotation, Id, Object, Record};

/// Withdrawn sessions that were met when pulling, by who withdrew them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithdrawalSummary {
    /// Those that were deleted from the store.
    pub deleted: BTreeMap<String, u64>,
    /// Those that the store keeps until it is told to delete them.
    pub kept: BTreeMap<String, u64>,
}

/// What became of a withdrawal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithdrawSummary {
    /// What came from others first.
    pub pulled: PullSummary,
    /// The annotations that went.
    pub pushed: PushSummary,
    /// Segments that were rewritten; nothing where the place cannot replace objects.
    pub rewritten: Option<u64>,
}

/// Makes an annotation of an action and a target, with id, time and author.
pub type Annotate<'a> = dyn Fn(&str, Object) -> Annotation + 'a;

/// Deletes the withdrawn sessions that the store has: those that were not in it before this pull, and
/// with `accept` the others as well. Anybody who can push can withdraw, so that what the store had
/// before is deleted only when its user says so. With allowed signers, only withdrawals of these delete anything else.
pub(super) fn settle(
    writer: &mut Writer<'_>,
    new: &BTreeSet<Id>,
    options: &PullOptions,
) -> Result<WithdrawalSummary, StoreError> {
    let mut summary = WithdrawalSummary::default();
    let mut deleted = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let trusted = match options.allowed_signers {
        Some(_) => Some(writer.trusted()?),
        None => None,
    };
    let all = writer.remarks()?;
    let (counting, others): (Vec<Remark>, Vec<Remark>) = all.into_iter().partition(|it| {
        let trusted = trusted.as_ref();
        trusted.is_none_or(|trusted| trusted.contains(&it.annotation.id))
    });
    for (remarks, counts) in [(counting, true), (others, false)] {
        for (session, by) in withdrawn(&remarks) {
            if !seen.insert(session) || !writer.has_session(session)? {
                continue;
            }
            let goes = options.accept_withdrawals || counts && new.contains(&session);
            let counts = if goes {
                deleted.insert(session);
                &mut summary.deleted
            } else {
                &mut summary.kept
            };
            *counts.entry(by).or_default() += 1;
        }
    }
    if !deleted.is_empty() {
        writer.purge(&of_sessions(deleted))?;
    }
    Ok(summary)
}

/// Returns the sessions that are withdrawn, and by whom.
pub(super) fn withdrawn(remarks: &[Remark]) -> Vec<(Id, String)> {
    let active = remarks.iter().filter_map(|remark| {
        let session = remark.active()?.withdrawn()?;
        Some((session, remark.annotation.by.clone()))
    });
    active.collect()
}

fn of_sessions(sessions: BTreeSet<Id>) -> Filter {
    Filter {
        sessions: Some(sessions),
        ..Filter::default()
    }
}

/// Deletes sessions from the store, tells the history that they are withdrawn, and rewrites the segments
/// that hold them where the place allows that. Without sessions, it ends what was interrupted.
///
/// # Errors
/// Those of [`push`](super::push()). What was done before stays, and doing it again goes on from there.
pub fn withdraw(
    store: &mut Store,
    remote: &dyn Remote,
    sessions: &BTreeSet<Id>,
    annotate: &Annotate<'_>,
    options: &PushOptions,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<WithdrawSummary, SharingError> {
    let mut done = WithdrawSummary {
        pulled: pull(store, remote, &options.pull, watch)?,
        ..WithdrawSummary::default()
    };
    store.write(|writer| -> Result<(), StoreError> {
        for session in sessions {
            let change = Change::Withdraw { session: *session };
            writer.put_own(&annotate(change.action(), change.target()))?;
        }
        if !sessions.is_empty() {
            writer.purge(&of_sessions(sessions.clone()))?;
        }
        Ok(())
    })?;
    if !sessions.is_empty() {
        store.erase(false)?;
    }
    let mut rewritten = BTreeMap::new();
    if remote.replaces() {
        let known = known(store, remote)?;
        let own = OwnWithdrawals::of(store)?;
        for number in 1..=known.segments {
            let content = whole(remote, number)?;
            if let Some(new) = own.rewrite(remote, number, &content)? {
                rewritten.insert(number, (digest(&content), digest(&new)));
            }
        }
        store.write(|writer| -> Result<(), StoreError> {
            for (number, (was, now)) in &rewritten {
                let target = SegmentRewrite::target(*number, was, now);
                writer.put_own(&annotate(SegmentRewrite::ACTION, target))?;
            }
            Ok(())
        })?;
    }
    // The segments are what they were until everybody can know why they change.
    done.pushed = push(store, remote, options, watch)?;
    if remote.replaces() {
        let known = known(store, remote)?;
        let own = OwnWithdrawals::of(store)?;
        for (number, (was, _)) in &rewritten {
            own.replace(store, remote, (&known, *number, was), options)?;
        }
        done.rewritten = Some(rewritten.len() as u64);
    }
    Ok(done)
}

fn known(store: &Store, remote: &dyn Remote) -> Result<KnownRemote, SharingError> {
    let nothing = || SharingError::Nothing(remote.address().to_owned());
    let id = store.sharing().remote_at(remote.address())?;
    let id = id.ok_or_else(nothing)?;
    store.sharing().remote(&id)?.ok_or_else(nothing)
}

fn whole(remote: &dyn Remote, number: u32) -> Result<Vec<u8>, SharingError> {
    let gone = || SharingError::Gone(segment_at(remote.address(), number));
    fetch(remote, number)?.ok_or_else(gone)
}

/// The withdrawals that were made in this store: those of others are theirs to carry out.
struct OwnWithdrawals {
    sessions: BTreeSet<Id>,
    /// Their lines, for a segment that has nothing else left.
    lines: Vec<u8>,
}

impl OwnWithdrawals {
    fn of(store: &Store) -> Result<Self, SharingError> {
        let own = store.annotations().own()?;
        let (mut sessions, mut lines) = (BTreeSet::new(), Vec::new());
        for remark in store.annotations().all()? {
            let withdrawn = remark.active().and_then(Change::withdrawn);
            if let Some(session) = withdrawn
                && own.contains(&remark.annotation.id)
            {
                sessions.insert(session);
                write_line(&mut lines, &Record::Annotation(remark.annotation))
                    .map_err(SharingError::Compress)?;
            }
        }
        Ok(Self { sessions, lines })
    }

    /// Returns a segment without the withdrawn sessions; `None` where it has none of them.
    fn rewrite(
        &self,
        remote: &dyn Remote,
        number: u32,
        content: &[u8],
    ) -> Result<Option<Vec<u8>>, SharingError> {
        let damaged = |source| SharingError::Damaged {
            segment: segment_at(remote.address(), number),
            source,
        };
        let mut encoder = encoder();
        let (mut is_other, mut is_empty) = (false, true);
        // What belongs to a withdrawn session: its runs, and their instances.
        let mut within: BTreeSet<Id> = self.sessions.clone();
        for line in BufReader::new(MultiGzDecoder::new(content)).split(b'\n') {
            let line = line.map_err(damaged)?;
            let is_withdrawn = match parse_line(line.trim_ascii()) {
                Ok(Record::Session(session)) => within.contains(&session.id),
                Ok(Record::Run(run)) => {
                    within.contains(&run.session) && {
                        within.insert(run.id);
                        true
                    }
                }
                Ok(Record::Instance(instance)) => {
                    within.contains(&instance.run) && {
                        within.insert(instance.id);
                        true
                    }
                }
                Ok(Record::Iteration(it)) => within.contains(&it.instance),
                Ok(Record::Span(it)) => within.contains(&it.instance),
                Ok(Record::Summary(it)) => within.contains(&it.instance),
                Ok(Record::InstanceEnd(it)) => within.contains(&it.instance),
                Ok(Record::Annotation(_)) => false,
                // No reader takes it; it may be of the session all the same.
                Err(_) => {
                    let text = String::from_utf8_lossy(&line);
                    within.iter().any(|id| text.contains(&id.to_string()))
                }
            };
            is_other |= is_withdrawn;
            if !is_withdrawn && !line.trim_ascii().is_empty() {
                is_empty = false;
                encoder.write_all(&line).map_err(SharingError::Compress)?;
                encoder.write_all(b"\n").map_err(SharingError::Compress)?;
            }
        }
        if !is_other {
            return Ok(None);
        }
        if is_empty {
            let written = encoder.write_all(&self.lines);
            written.map_err(SharingError::Compress)?;
        }
        encoder.finish().map(Some).map_err(SharingError::Compress)
    }

    /// Puts a segment without the withdrawn sessions in the place of the one with this digest.
    fn replace(
        &self,
        store: &mut Store,
        remote: &dyn Remote,
        (known, number, was): (&KnownRemote, u32, &str),
        options: &PushOptions,
    ) -> Result<(), SharingError> {
        let content = whole(remote, number)?;
        if digest(&content) != was {
            return Err(SharingError::Changed(segment_at(remote.address(), number)));
        }
        let Some(new) = self.rewrite(remote, number, &content)? else {
            return Ok(());
        };
        // Whoever reads in between must not meet a signature of other content.
        let signature = signature_name(number);
        let replace = |name: &str, content: Option<&[u8]>| {
            let replaced = remote.replace(name, content);
            replaced.map_err(SharingError::of(remote))
        };
        let signed = options.signing_key.as_ref().map(|key| key.sign(&new));
        let signed = signed.transpose()?;
        replace(&signature, None)?;
        replace(&segment_name(number), Some(&new))?;
        if let Some(signed) = &signed {
            replace(&signature, Some(signed))?;
        }
        let digest = digest(&new);
        let bytes = new.len() as u64;
        store.write(|writer| writer.replace_segment(known.key, number, &digest, bytes))?;
        Ok(())
    }
}

/// A segment that was rewritten without the sessions that were withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SegmentRewrite {
    number: u64,
    digests: [String; 2],
}

impl SegmentRewrite {
    const ACTION: &'static str = "rewrite";

    fn target(number: u32, was: &str, now: &str) -> Object {
        let mut target = Object::new();
        target.insert("segment".to_owned(), number.into());
        target.insert("was".to_owned(), was.into());
        target.insert("now".to_owned(), now.into());
        target
    }

    fn of(annotation: &Annotation) -> Option<Self> {
        let text = |key: &str| annotation.target.get(key)?.as_str().map(str::to_owned);
        let number = annotation.target.get("segment").and_then(Value::as_u64);
        (annotation.action == Self::ACTION).then_some(())?;
        Some(Self {
            number: number?,
            digests: [text("was")?, text("now")?],
        })
    }
}

/// Returns whether a withdrawal says that a segment of one digest now has the other: an annotation
/// that the store has, or one in the segments that it has yet to pull.
pub(super) fn is_rewritten(
    store: &Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    number: u32,
    digests: [&str; 2],
) -> Result<bool, SharingError> {
    // The same segment may have been rewritten several times.
    let mut named: BTreeSet<String> = BTreeSet::new();
    let mut is_named = |annotation: &Annotation| {
        let rewrite = SegmentRewrite::of(annotation);
        let rewrite = rewrite.filter(|it| it.number == u64::from(number));
        named.extend(rewrite.into_iter().flat_map(|it| it.digests));
        digests.iter().all(|digest| named.contains(*digest))
    };
    let remarks = store.annotations().all()?;
    if remarks.iter().any(|it| is_named(&it.annotation)) {
        return Ok(true);
    }
    let mut next = known.segments + 1;
    while let Some(content) = fetch(remote, next)? {
        let mut found = false;
        let segment = SegmentFile::new(remote, next, &content);
        each_record(segment, &mut |record| {
            if let Record::Annotation(annotation) = record {
                found |= is_named(annotation);
            }
            Ok(())
        })?;
        if found {
            return Ok(true);
        }
        next += 1;
    }
    Ok(false)
}
