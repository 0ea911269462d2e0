//! Says what pulling or pushing would do.

use std::convert::Infallible;

use super::error::SharingError;
use super::gap::refuse_gap;
use super::pull::{PullOptions, Pulled, absent, check, get, remember};
use super::reader::{Segment, take_in};
use super::remote::Remote;
use super::{History, PushOptions};
use crate::record::{Store, StoreError, Writer, inbox};

/// What would come, and what would go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rehearsed {
    /// What would be taken in.
    pub pulled: Pulled,
    /// Sessions that would be pushed.
    pub sessions: u64,
    /// Their records.
    pub records: u64,
    /// Annotations that would be pushed.
    pub annotations: u64,
    /// Sessions that are just being measured, and would be left for the next time.
    pub under_way: u64,
}

/// Does what [`pull`](super::pull()) does, says what came of it, and undoes it.
///
/// # Errors
/// Those of pulling.
pub fn rehearse_pull(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PullOptions,
) -> Result<Rehearsed, SharingError> {
    let Some(history) = History::find(remote)? else {
        return Err(absent(store, remote)?);
    };
    rehearse(store, remote, options, &history, |_writer, _key, _done| {
        Ok(())
    })
}

/// Does what [`push`](super::push()) does to the store, says what would be pushed, and undoes it.
/// Nothing is created; whether the place refuses a second creation is not tried.
///
/// # Errors
/// Those of pulling.
pub fn rehearse_push(
    store: &mut Store,
    remote: &dyn Remote,
    options: &PushOptions,
) -> Result<Rehearsed, SharingError> {
    let history = History::find(remote)?;
    if history.is_none()
        && !options.pull.begin_anew
        && let error @ SharingError::Vanished { .. } = absent(store, remote)?
    {
        return Err(error);
    }
    let folder = store.inbox();
    // One that is not there has no segments either.
    let history = history.unwrap_or_else(|| History::new(options.new_history));
    rehearse(
        store,
        remote,
        &options.pull,
        &history,
        |writer, key, done| {
            let (sessions, annotations) = writer.unshared(key)?;
            done.annotations = annotations;
            for session in sessions {
                match inbox::is_under_way(&folder, session.id, None) {
                    Ok(true) => done.under_way += 1,
                    Ok(false) | Err(_) => {
                        done.sessions += 1;
                        done.records += session.extent.records();
                    }
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
    history: &History,
    then: impl FnOnce(&mut Writer<'_>, i64, &mut Rehearsed) -> Result<(), StoreError>,
) -> Result<Rehearsed, SharingError> {
    /// Why the transaction is undone.
    enum Ended {
        Rehearsed(Box<Rehearsed>),
        Failed(Box<SharingError>),
    }
    impl From<StoreError> for Ended {
        fn from(error: StoreError) -> Self {
            Self::Failed(Box::new(error.into()))
        }
    }
    impl From<SharingError> for Ended {
        fn from(error: SharingError) -> Self {
            Self::Failed(Box::new(error))
        }
    }
    let id = check(store, remote, history, options)?;
    let ended = store.write(|writer| -> Result<Infallible, Ended> {
        let known = remember(writer, remote, &id, options)?;
        let mut done = Rehearsed::default();
        let mut number = known.segments + 1;
        while let Some(content) = get(remote, number)? {
            let segment = Segment {
                address: remote.address(),
                number,
                content: &content,
            };
            let taken = take_in(writer, known.key, segment)?;
            done.pulled.add(&content, &taken);
            number += 1;
        }
        refuse_gap(remote, number)?;
        then(writer, known.key, &mut done)?;
        Err(Ended::Rehearsed(Box::new(done)))
    });
    match ended {
        Ok(never) => match never {},
        Err(Ended::Rehearsed(done)) => Ok(*done),
        Err(Ended::Failed(error)) => Err(*error),
    }
}
