//! Dry runs of pulling and pushing.

use std::collections::BTreeSet;
use std::convert::Infallible;

use super::error::SharingError;
use super::pull::{PullOptions, PullSummary, absent, check, existing, fetch, refuse_gap, remember};
use super::reader::{SegmentFile, take_in};
use super::remote::Remote;
use super::withdraw::{settle, withdrawn};
use super::{PushOptions, SharedHistory};
use crate::{Store, StoreError, Writer, inbox};
use lapwing_model::Id;

/// What would come, and what would go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharingRehearsal {
    /// What would be pulled.
    pub pulled: PullSummary,
    /// Sessions that would be pushed.
    pub sessions: u64,
    /// Their records.
    pub records: u64,
    /// Annotations that would be pushed.
    pub annotations: u64,
    /// Sessions that are just being measured, and would be left for the next time.
    pub under_way: u64,
}

/// Does what [`pull`](super::pull()) does, returns the result, and undoes it.
///
/// # Errors
/// Those of pulling.
pub fn rehearse_pull(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PullOptions,
) -> Result<SharingRehearsal, SharingError> {
    let history = existing(store, remote)?;
    rehearse(store, remote, options, &history, |_writer, _key, _done| {
        Ok(())
    })
}

/// Does what [`push`](super::push()) does to the store, returns what would be pushed, and undoes it.
/// Nothing is created; whether the place refuses a second creation is not tried.
///
/// # Errors
/// Those of pulling.
pub fn rehearse_push(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PushOptions,
) -> Result<SharingRehearsal, SharingError> {
    let history = SharedHistory::find(remote)?;
    if history.is_none()
        && !options.pull.begin_anew
        && let error @ SharingError::Vanished(_) = absent(store, remote)?
    {
        return Err(error);
    }
    let folder = store.inbox();
    // One that is not there has no segments either.
    let history = history.unwrap_or_else(|| SharedHistory::new(options.new_history));
    rehearse(
        store,
        remote,
        &options.pull,
        &history,
        |writer, key, done| {
            let (sessions, annotations) = writer.unshared(key)?;
            done.annotations = annotations;
            let withdrawn = withdrawn(&writer.remarks()?).into_iter();
            let withdrawn: BTreeSet<Id> = withdrawn.map(|(session, _)| session).collect();
            for session in sessions.iter().filter(|it| !withdrawn.contains(&it.id)) {
                if inbox::is_under_way(&folder, session.id, None).unwrap_or(false) {
                    done.under_way += 1;
                } else {
                    done.sessions += 1;
                    done.records += session.extent.records();
                }
            }
            Ok(())
        },
    )
}

fn rehearse(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PullOptions,
    history: &SharedHistory,
    then: impl FnOnce(&mut Writer<'_>, i64, &mut SharingRehearsal) -> Result<(), StoreError>,
) -> Result<SharingRehearsal, SharingError> {
    /// Why the transaction is undone.
    enum RehearsalEnd {
        Rehearsed(Box<SharingRehearsal>),
        Failed(Box<SharingError>),
    }
    impl From<StoreError> for RehearsalEnd {
        fn from(error: StoreError) -> Self {
            Self::Failed(Box::new(error.into()))
        }
    }
    impl From<SharingError> for RehearsalEnd {
        fn from(error: SharingError) -> Self {
            Self::Failed(Box::new(error))
        }
    }
    let checked = check(store, remote, history, options)?;
    let ended = store.write(|writer| -> Result<Infallible, RehearsalEnd> {
        let known = remember(writer, remote, &checked, options)?;
        let mut done = SharingRehearsal::default();
        let mut number = known.segments + 1;
        while let Some(content) = fetch(remote, number)? {
            let signature = options.signature(remote, number, &content)?;
            let segment = SegmentFile::new(remote, number, &content).signed(&signature);
            let taken = take_in(writer, known.key, segment)?;
            done.pulled.add(segment, taken);
            number += 1;
        }
        refuse_gap(remote, number)?;
        done.pulled.withdrawals = settle(writer, &done.pulled.sessions, options)?;
        then(writer, known.key, &mut done)?;
        Err(RehearsalEnd::Rehearsed(Box::new(done)))
    });
    match ended {
        Ok(never) => match never {},
        Err(RehearsalEnd::Rehearsed(done)) => Ok(*done),
        Err(RehearsalEnd::Failed(error)) => Err(*error),
    }
}
