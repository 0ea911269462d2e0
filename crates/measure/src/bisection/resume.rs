//! Stored searches that are continued: rebuilt from their instances.

use lapwing_model::{Instance, Session};
use lapwing_record::{SessionState, Store};

use super::BisectionError;
use super::instances::stored_instances;
use super::search::SearchOptions;
use super::visits::StoredMeasurements;
use crate::SessionRuns;
use crate::session::resume::{find, lost, refuse_what_is_under_way, stored_plan};
use crate::session::{SessionOpening, SessionSurroundings};
use crate::suite::Plan;

/// The attribute of a session that has the options of a search for a commit.
pub const SEARCH: &str = "bisect";

/// A session of a search, with its stored measurements.
pub struct ResumedSearch {
    /// Its plan.
    pub plan: Plan,
    /// Its options.
    pub options: SearchOptions,
    /// The session, with the records that it lacks.
    pub opening: SessionOpening,
    /// Its measurements.
    pub stored: StoredMeasurements,
}

impl ResumedSearch {
    /// Returns the search of the session of that name or id; of the latest search if empty.
    ///
    /// # Errors
    /// If there is none, or it cannot be continued.
    pub fn find(
        store: &Store,
        session: &str,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Self, BisectionError> {
        let session = match session {
            "" => latest_search(store)?,
            name => store.catalogue().session(name)?,
        };
        let state = find(store, &session.id.to_string(), surroundings)?;
        refuse_what_is_under_way(store, &session, None)?;
        let options = options(&state.session)?;
        let plan = stored_plan(&state)?;
        let instances = stored_instances(store, session.id, &options.metric)?;
        let next = |number: fn(&Instance) -> u32| {
            let numbers = state.instances.iter().map(|it| number(&it.instance));
            numbers.max().map_or(0, |last| last + 1)
        };
        Ok(Self {
            stored: StoredMeasurements {
                instances,
                runs: state.runs.clone(),
                position: next(|it| it.position),
                block: next(|it| it.block),
            },
            opening: opening(&plan, state, surroundings)?,
            plan,
            options,
        })
    }
}

fn latest_search(store: &Store) -> Result<Session, BisectionError> {
    let mut heads = store.catalogue().session_heads()?;
    heads.sort_by_key(|head| std::cmp::Reverse(head.started));
    for head in heads {
        let session = store.catalogue().session(&head.id.to_string())?;
        if session.attributes.contains_key(SEARCH) {
            return Ok(session);
        }
    }
    Err(BisectionError::NothingToResume)
}

fn options(session: &Session) -> Result<SearchOptions, BisectionError> {
    let Some(options) = session.attributes.get(SEARCH) else {
        return Err(BisectionError::NoBisection {
            name: session.name.clone().unwrap_or_default(),
        });
    };
    Ok(serde_json::from_value(options.clone())?)
}

/// Returns the session with the runs of its plan, and the records that it lacks.
fn opening(
    plan: &Plan,
    state: SessionState,
    surroundings: &SessionSurroundings<'_>,
) -> Result<SessionOpening, BisectionError> {
    let records = lost(&state, surroundings);
    let runs: Vec<_> = (plan.variants.iter())
        .filter_map(|variant| state.runs.iter().rev().find(|run| variant.is_of(run)))
        .cloned()
        .collect();
    if runs.len() < plan.variants.len() {
        return Err(BisectionError::EndedEarly {
            name: state.session.name.unwrap_or_default(),
        });
    }
    let session = state.session;
    Ok(SessionOpening::Again(
        SessionRuns { session, runs },
        records,
    ))
}
