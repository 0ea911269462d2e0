//! Adds to a shared history what it lacks.

use super::builder::{SegmentBuilder, SegmentDraft};
use super::error::SharingError;
use super::private::refuse_secrets;
use super::pull::{PullOptions, PullSummary, absent, enter, fetch, pull_new, refuse_gap};
use super::reader::{SegmentFile, take_in};
use super::remote::{ObjectCreation, Remote};
use super::signature::SigningKey;
use super::withdraw::withdrawn;
use super::{SharedHistory, SharingStep, digest, segment_at, segment_name, signature_name};
use crate::store::{KnownRemote, UnsharedRecords, UnsharedSession};
use crate::{Refusals, Store, StoreError, Writer, inbox};
use lapwing_model::Id;

/// How to push.
#[derive(Debug, Clone)]
pub struct PushOptions {
    /// How to pull the segments of others, which comes first.
    pub pull: PullOptions,
    /// The id of the history, if one begins.
    pub new_history: Id,
    /// Whether tokens, keys and passwords are shared too.
    pub with_secrets: bool,
    /// Bytes of lines that make a segment; it is no larger than that and one more line.
    pub segment_bytes: u64,
    /// Signs the segments.
    pub signing_key: Option<SigningKey>,
}

impl PushOptions {
    /// Bytes of lines that usually make a segment.
    pub const SEGMENT_BYTES: u64 = 64 << 20;
}

/// The result of pushing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushSummary {
    /// Sessions that are wholly in the history now.
    pub sessions: u64,
    /// Annotations.
    pub annotations: u64,
    /// Segments that were created.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sessions that are just being measured, and were left for the next time.
    pub under_way: u64,
    /// Records that no reader would take, and that were left out.
    pub left_out: Refusals,
    /// Annotations of others, for which a signature of this store would vouch: they were left out.
    pub unvouched: u64,
    /// What came from others.
    pub pulled: PullSummary,
}

/// Pulls the segments of others, then creates segments of what the history lacks.
///
/// # Errors
/// Those of [`pull`](super::pull()); when the place lets writers overwrite each other, or cannot
/// be written to. What was pushed before stays, and doing it again goes on from there.
pub fn push(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PushOptions,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<PushSummary, SharingError> {
    let history = match SharedHistory::find(remote)? {
        Some(history) => history,
        None => match absent(store, remote)? {
            vanished @ SharingError::Vanished(_) if !options.pull.begin_anew => {
                return Err(vanished);
            }
            _nothing_there => SharedHistory::begin(remote, options.new_history)?,
        },
    };
    let known = enter(store, remote, &history, &options.pull)?;
    if known.probed.as_deref() != Some(remote.address()) {
        history.probe(remote)?;
        store.write(|writer| writer.remember_probe(known.key, remote.address()))?;
    }
    let mut pushed = PushSummary {
        pulled: pull_new(store, remote, &known, &options.pull, watch)?,
        ..PushSummary::default()
    };
    if !options.with_secrets {
        refuse_secrets(store, known.key)?;
    }
    loop {
        match push_once(store, remote, &known, options, &mut pushed, watch) {
            Ok(()) => return Ok(pushed),
            // Others have pushed something of ours meanwhile: look again at what is lacking.
            Err(PushStop::Stale) => {}
            Err(PushStop::Failed(error)) => return Err(*error),
        }
    }
}

/// Why pushing stopped before everything was pushed.
enum PushStop {
    Stale,
    Failed(Box<SharingError>),
}

impl From<SharingError> for PushStop {
    fn from(error: SharingError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<StoreError> for PushStop {
    fn from(error: StoreError) -> Self {
        SharingError::from(error).into()
    }
}

/// Pushes what the history lacks at this moment.
fn push_once(
    store: &mut Store,
    remote: &dyn Remote,
    known: &KnownRemote,
    options: &PushOptions,
    pushed: &mut PushSummary,
    watch: &mut dyn FnMut(SharingStep),
) -> Result<(), PushStop> {
    // What is read stays as it is at this moment, while segments of others are written.
    let source = Store::open_read_only(store.path())?;
    let of = store.write(|writer| writer.unshared(known.key))?.0.len() as u64;
    let folder = store.inbox();
    let mut builder = SegmentBuilder::new(options.segment_bytes);
    let (mut sessions, mut under_way) = (0, 0);
    let withdrawn = withdrawn(&source.annotations().all()?);
    // A signature vouches for what it signs: annotations of this store, or those that others signed.
    let vouched = match options.signing_key {
        Some(_) => Some(source.annotations().trusted()?),
        None => None,
    };
    let mut unvouched = 0;
    let sender = SegmentSender {
        remote,
        key: known.key,
        options,
    };
    source.sharing().scan_unshared(
        known.key,
        |session: &UnsharedSession| {
            // A folder that cannot be read hides at most that a session will grow.
            let is_under_way = inbox::is_under_way(&folder, session.id, None).unwrap_or(false);
            under_way += u64::from(is_under_way);
            !is_under_way && withdrawn.iter().all(|(id, _)| *id != session.id)
        },
        |next| -> Result<(), PushStop> {
            if let UnsharedRecords::End = &next {
                sessions += 1;
                watch(SharingStep::Read { sessions, of });
            }
            if let (UnsharedRecords::Annotation(annotation), Some(vouched)) = (&next, &vouched)
                && !vouched.contains(&annotation.id)
            {
                unvouched += 1;
                return Ok(());
            }
            match builder.add(next)? {
                Some(draft) => sender.send(store, draft, pushed, watch),
                None => Ok(()),
            }
        },
    )?;
    if let Some(draft) = builder.finish()? {
        sender.send(store, draft, pushed, watch)?;
    }
    pushed.under_way = under_way;
    pushed.unvouched = unvouched;
    pushed.left_out.extend(builder.left_out);
    Ok(())
}

/// Where segments go, and how.
struct SegmentSender<'a> {
    remote: &'a dyn Remote,
    key: i64,
    options: &'a PushOptions,
}

impl SegmentSender<'_> {
    /// Creates the next segment; pulls those that others create first.
    fn send(
        &self,
        store: &mut Store,
        draft: SegmentDraft,
        pushed: &mut PushSummary,
        watch: &mut dyn FnMut(SharingStep),
    ) -> Result<(), PushStop> {
        let Self {
            remote,
            key,
            options,
        } = *self;
        let digest = digest(&draft.content);
        let signing_key = options.signing_key.as_ref();
        // Before anything is there: a key that cannot sign leaves nothing unsigned.
        let signature = signing_key
            .map(|key| key.sign(&draft.content))
            .transpose()?;
        loop {
            // The number before the digest: what another process of this store pushes in between is
            // then either known by its digest, or it has that number.
            let number = store.sharing().segments_of(key)? + 1;
            if store.sharing().has_segment(key, &digest)? {
                // As after a push of a large session that was killed: it goes on behind what is there.
                store.write(|writer| mark(writer, key, &draft))?;
                return Ok(());
            }
            if pushed.segments > 0 {
                refuse_gap(remote, number)?;
            }
            let created = remote.create(&segment_name(number), &draft.content);
            let others = match created.map_err(SharingError::of(remote))? {
                ObjectCreation::New => None,
                ObjectCreation::Refused => {
                    let gone = || SharingError::Gone(segment_at(remote.address(), number));
                    Some(fetch(remote, number)?.ok_or_else(gone)?)
                }
            };
            match others {
                // It may well be ours: the answer to the first attempt was lost.
                Some(content) if self::digest(&content) != digest => {
                    let signature = options.pull.signature(remote, number, &content)?;
                    let segment = SegmentFile::new(remote, number, &content).signed(&signature);
                    let taken = store.write(|writer| take_in(writer, key, segment))?;
                    let new = taken.appended.total().new;
                    pushed.pulled.add(segment, taken);
                    watch(SharingStep::TookIn { number, new });
                    if store.write(|writer| is_stale(writer, key, &draft))? {
                        return Err(PushStop::Stale);
                    }
                }
                Some(_) | None => {
                    if let Some(signature) = &signature {
                        let created = remote.create(&signature_name(number), signature);
                        created.map_err(SharingError::of(remote))?;
                    }
                    let bytes = draft.content.len() as u64;
                    store.write(|writer| -> Result<(), StoreError> {
                        mark(writer, key, &draft)?;
                        writer.remember_segment(key, number, &digest, bytes)
                    })?;
                    pushed.sessions += draft.complete.len() as u64;
                    pushed.annotations += draft.annotations.len() as u64;
                    pushed.segments += 1;
                    pushed.bytes += bytes;
                    watch(SharingStep::Pushed { number, bytes });
                    return Ok(());
                }
            }
        }
    }
}

/// Remembers that everything that a draft holds is in the history.
fn mark(writer: &mut Writer<'_>, remote: i64, draft: &SegmentDraft) -> Result<(), StoreError> {
    for (session, extent) in &draft.complete {
        writer.mark_session(remote, *session, extent)?;
    }
    for annotation in &draft.annotations {
        writer.mark_annotation(remote, *annotation)?;
    }
    Ok(())
}

/// Returns whether something that a draft holds is in the history by now.
fn is_stale(
    writer: &mut Writer<'_>,
    remote: i64,
    draft: &SegmentDraft,
) -> Result<bool, StoreError> {
    for (session, extent) in draft.complete.iter().chain(&draft.unfinished) {
        if writer.shared_extent(remote, *session)? == Some(*extent) {
            return Ok(true);
        }
    }
    for annotation in &draft.annotations {
        if writer.annotation_is_shared(remote, *annotation)? {
            return Ok(true);
        }
    }
    Ok(false)
}
