//! Stored sessions that are continued.

use std::path::Path;

use lapwing_model::{InstanceEnd, InstanceOutcome, Object, Record, Run, Session};
use lapwing_record::inbox::is_under_way;
use lapwing_record::{SessionState, Store};

use super::{SessionError, SessionSurroundings, place_in};
use crate::suite::Plan;
use crate::{FinishedInstance, InstancePlan};

/// Returns the runs of a session, in the order of the plan's variants.
///
/// # Errors
/// If it ended before they were recorded.
pub fn runs_of(plan: &Plan, state: &SessionState) -> Result<Vec<Run>, SessionError> {
    let name = state.session.name.clone().unwrap_or_default();
    let variants = plan.variants.iter();
    variants
        .map(|variant| {
            // The last of several declares the most metrics.
            let run = state.runs.iter().rev().find(|run| variant.is_of(run));
            run.cloned()
                .ok_or_else(|| SessionError::EndedEarly { name: name.clone() })
        })
        .collect()
}

/// Refuses a session in progress: two processes would measure everything twice, and each other.
///
/// # Errors
/// If another process measures it, or the inbox cannot be read.
pub fn refuse_what_is_under_way(
    store: &Store,
    session: &Session,
    own: Option<&Path>,
) -> Result<(), SessionError> {
    if is_under_way(&store.inbox(), session.id, own)? {
        let name = session.name.clone().unwrap_or_default();
        return Err(SessionError::UnderWay { name });
    }
    Ok(())
}

/// Returns the session of that name or id; the latest one if empty.
///
/// # Errors
/// If there is none, or the store fails.
pub fn find(store: &Store, session: &str) -> Result<SessionState, SessionError> {
    let found = if session.is_empty() {
        store
            .catalogue()
            .latest_session()?
            .ok_or(SessionError::NothingToResume)?
    } else {
        store.catalogue().session(session)?
    };
    Ok(store.catalogue().session_state(found.id)?)
}

/// Returns the plan of a session.
///
/// # Errors
/// If it has none that this version can read.
pub fn stored_plan(state: &SessionState) -> Result<Plan, SessionError> {
    let name = state.session.name.clone().unwrap_or_default();
    let plan = crate::suite::stored_plan(&state.session.attributes);
    let plan = plan.ok_or_else(|| SessionError::NoPlan { name: name.clone() })?;
    serde_json::from_value(plan.into_owned())
        .map_err(|source| SessionError::StoredPlan { name, source })
}

/// Returns the ends of instances whose process was killed.
pub fn lost(state: &SessionState, surroundings: &SessionSurroundings<'_>) -> Vec<Record> {
    state
        .instances
        .iter()
        .filter(|it| it.end.is_none())
        .map(|instance| {
            Record::InstanceEnd(InstanceEnd {
                instance: instance.instance.id,
                ended: Some(surroundings.now()),
                outcome: InstanceOutcome::Lost,
                message: Some("cut short: the process that measured it was ended".to_owned()),
                observed: Object::new(),
                extra: Object::new(),
            })
        })
        .collect()
}

/// Returns the finished instances of a session.
pub fn finished(plan: &Plan, state: &SessionState) -> Vec<FinishedInstance> {
    state
        .instances
        .iter()
        .filter_map(|instance| {
            let run = state
                .runs
                .iter()
                .find(|run| run.id == instance.instance.run)?;
            let (case, variant) = place_in(plan, &instance.instance.benchmark.id, run)?;
            Some(FinishedInstance {
                plan: InstancePlan {
                    case,
                    variant,
                    block: instance.instance.block,
                    position: instance.instance.position,
                    attempt: instance.instance.attempt,
                },
                outcome: instance
                    .end
                    .as_ref()
                    .map_or(InstanceOutcome::Lost, |end| end.outcome),
            })
        })
        .collect()
}
