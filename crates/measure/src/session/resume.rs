//! Stored sessions that are continued.

use std::path::Path;

use lapwing_model::{InstanceEnd, InstanceOutcome, Look, Record, Run, Session};
use lapwing_record::inbox::is_under_way;
use lapwing_record::private::hidden_in_plan;
use lapwing_record::{SessionState, Store};

use super::{SessionError, SessionSurroundings, place_in};
use crate::pytest::CUT_SHORT;
use crate::suite::Plan;
use crate::{FinishedInstance, InstancePlan, MoreInstances, NextLook};

pub(crate) use super::opened::find_opened;

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
                .ok_or_else(|| SessionError::EndedEarly(name.clone()))
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
        return Err(SessionError::UnderWay(name));
    }
    Ok(())
}

/// Returns the session of that name or id that was opened here; the latest one if empty.
///
/// # Errors
/// If there is none, only one that came from elsewhere, or the store fails.
pub fn find(
    store: &Store,
    session: &str,
    surroundings: &SessionSurroundings<'_>,
) -> Result<SessionState, SessionError> {
    find_opened(store, session, surroundings, |_| true)
}

/// Returns the plan of a session.
///
/// # Errors
/// If it has none that this version can read, or not all of it was kept.
pub fn stored_plan(state: &SessionState) -> Result<Plan, SessionError> {
    let name = state.session.name.clone().unwrap_or_default();
    let plan = crate::suite::stored_plan(&state.session.attributes);
    let plan = plan.ok_or_else(|| SessionError::NoPlan(name.clone()))?;
    if let Some(what) = hidden_in_plan(&state.session) {
        return Err(SessionError::HiddenPlan { name, what });
    }
    serde_json::from_value(plan.into_owned())
        .map_err(|source| SessionError::StoredPlan { name, source })
}

/// Returns what was last added to a session after a look at its results, with that look.
pub fn added(state: &SessionState) -> Option<(MoreInstances, NextLook)> {
    let attributes = state.instances.iter().map(|it| &it.instance.attributes);
    let latest = attributes.max_by_key(|attributes| Look::of(attributes))?;
    let added: MoreInstances =
        serde_json::from_value(latest.get(MoreInstances::KEY)?.clone()).ok()?;
    let look = NextLook {
        number: Look::of(latest).number,
        added: Some(added.clone()),
    };
    Some((added, look))
}

/// Returns the ends of instances whose process was killed.
pub fn lost(state: &SessionState, surroundings: &SessionSurroundings<'_>) -> Vec<Record> {
    let lost = state.instances.iter().filter(|it| it.end.is_none());
    lost.map(|lost| {
        let (id, now) = (lost.instance.id, surroundings.now());
        Record::InstanceEnd(InstanceEnd {
            message: Some(CUT_SHORT.to_owned()),
            ..InstanceEnd::new(id, Some(now), InstanceOutcome::Lost)
        })
    })
    .collect()
}

/// Returns the finished instances of a session.
pub fn finished(plan: &Plan, state: &SessionState) -> Vec<FinishedInstance> {
    let finished = state.instances.iter().filter_map(|measured| {
        let instance = &measured.instance;
        let run = state.runs.iter().find(|run| run.id == instance.run)?;
        let (case, variant) = place_in(plan, &instance.benchmark.id, run)?;
        let plan = InstancePlan {
            case,
            variant,
            block: instance.block,
            position: instance.position,
            attempt: instance.attempt,
        };
        let end = measured.end.as_ref();
        let outcome = end.map_or(InstanceOutcome::Lost, |end| end.outcome);
        Some(FinishedInstance { plan, outcome })
    });
    finished.collect()
}
