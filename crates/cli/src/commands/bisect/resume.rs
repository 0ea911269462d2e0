//! `lapwing bisect --resume`: the search is rebuilt from the stored instances.

use lapwing_measure::SessionRuns;
use lapwing_measure::session::SessionOpening;
use lapwing_measure::session::resume::{lost, refuse_what_is_under_way, stored_plan};
use lapwing_measure::suite::Plan;
use lapwing_model::Session;
use lapwing_record::{SessionState, Store};

use super::search::SearchOptions;
use super::visits::StoredMeasurements;
use super::watch::stored_instances;
use crate::commands::run::SEARCH;
use crate::error::CliError;
use crate::options::Context;

/// A session of a search, with its stored measurements.
pub struct ResumedSearch {
    pub plan: Plan,
    pub options: SearchOptions,
    pub opening: SessionOpening,
    pub stored: StoredMeasurements,
}

impl ResumedSearch {
    /// Returns the search of the session of that name or id; of the latest search if empty.
    pub fn find(store: &Store, session: &str, context: &Context) -> Result<Self, CliError> {
        let session = match session {
            "" => latest_search(store)?,
            name => store.catalogue().session(name)?,
        };
        let state = store.catalogue().session_state(session.id)?;
        refuse_what_is_under_way(store, &session, None)?;
        let options = options(&session)?;
        let plan = stored_plan(&state)?;
        let instances = stored_instances(store, session.id, &options.metric)?;
        let next = |number: fn(&lapwing_model::Instance) -> u32| {
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
            opening: opening(&plan, state, context)?,
            plan,
            options,
        })
    }
}

fn latest_search(store: &Store) -> Result<Session, CliError> {
    let mut heads = store.catalogue().session_heads()?;
    heads.sort_by_key(|head| std::cmp::Reverse(head.started));
    for head in heads {
        let session = store.catalogue().session(&head.id.to_string())?;
        if session.attributes.contains_key(SEARCH) {
            return Ok(session);
        }
    }
    Err(CliError::input("there is no bisection to resume")
        .hint("start one with `lapwing bisect GOOD BAD -- COMMAND`"))
}

fn options(session: &Session) -> Result<SearchOptions, CliError> {
    let name = session.name.clone().unwrap_or_default();
    let Some(options) = session.attributes.get(SEARCH) else {
        return Err(CliError::input(format!("session `{name}` is no bisection"))
            .hint("`lapwing run --resume` continues other sessions"));
    };
    Ok(serde_json::from_value(options.clone())?)
}

/// Returns the session with the runs of its plan, and the records that it lacks.
fn opening(
    plan: &Plan,
    state: SessionState,
    context: &Context,
) -> Result<SessionOpening, CliError> {
    let records = lost(&state, &context.surroundings());
    let runs: Vec<_> = (plan.variants.iter())
        .filter_map(|variant| state.runs.iter().rev().find(|run| variant.is_of(run)))
        .cloned()
        .collect();
    if runs.len() < plan.variants.len() {
        let name = state.session.name.clone().unwrap_or_default();
        return Err(CliError::input(format!(
            "session `{name}` was ended before anything was measured"
        ))
        .hint("start it anew with `lapwing bisect`"));
    }
    let session = state.session;
    Ok(SessionOpening::Again(
        SessionRuns { session, runs },
        records,
    ))
}
