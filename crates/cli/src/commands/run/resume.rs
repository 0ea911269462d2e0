//! `lapwing run --resume`: measures the rest of an interrupted session.

use std::path::Path;

use jiff::Timestamp;
use lapwing_measure::suite::Plan;
use lapwing_measure::{FinishedInstance, FixedSchedule, InstancePlan, Schedule, SessionRuns};
use lapwing_model::{InstanceEnd, InstanceOutcome, Object, Record, Run as RunRecord, Session};
use lapwing_record::inbox::is_under_way;
use lapwing_record::{SessionState, Store};

use super::session::place_in;
use super::{
    ClusterMeasurement, MeasuringParts, PythonEnvironments, Run, SessionOpening, start_client,
};
use crate::commands::stack::unimportable_stacks;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// The attribute of a session that has the options of a search for a commit.
pub const SEARCH: &str = "bisect";

/// Measures the rest of the session of that name or id; of the latest one if empty.
pub fn resume(command: &Run, session: &str, context: &Context) -> Result<ExitStatus, CliError> {
    let store = crate::store::open_for_writing(context)?;
    let state = find(&store, session)?;
    refuse_what_is_under_way(&store, &state.session, None)?;
    let name = state.session.name.clone().unwrap_or_default();
    if state.session.attributes.contains_key(SEARCH) {
        return Err(
            CliError::input(format!("session `{name}` is a bisection")).hint(format!(
                "`lapwing bisect --resume {}` continues it",
                super::quoted(&name)
            )),
        );
    }
    let plan = stored_plan(&state)?;
    let cluster = command.cluster.reopen(&state.session)?;
    let mut store = store;
    let state = match &cluster {
        Some(cluster) => {
            store.append(&cluster.collected()?)?;
            store.catalogue().session_state(state.session.id)?
        }
        None => state,
    };
    let records = lost(&state);
    let unimportable = unimportable_stacks(&state.session.attributes);
    let mut finished = finished(&plan, &state);
    for it in &mut finished {
        // Another attempt would be lost for the same reason.
        if unimportable.contains_key(&plan.variants[it.plan.variant].name) {
            it.outcome = InstanceOutcome::Failed;
        }
    }
    let before = finished.len();
    finished.extend(cluster.iter().flat_map(ClusterMeasurement::under_way));
    let under_way = finished.len() - before;
    let schedule = FixedSchedule::resumed(&plan, &finished);
    if schedule.remaining() == 0 && records.is_empty() && under_way == 0 {
        if let Some(cluster) = &cluster {
            cluster.remove_folder();
        }
        context.terminal.say(&format!(
            "session `{name}` is complete: nothing is left to measure"
        ));
        return Ok(ExitStatus::Fine);
    }
    let found = runs_of(&plan, &state)?;
    let runs = SessionRuns {
        session: state.session,
        runs: found,
    };
    let mut environments = PythonEnvironments::prepare(&plan, context)?;
    for (name, log) in unimportable {
        environments.refuse(&name, "it cannot be imported".to_owned(), log);
    }
    let executor = start_client(&plan, cluster.as_ref())?;
    let parts = MeasuringParts {
        context,
        plan: &plan,
        store,
        executor,
        environments,
        cluster,
        profiler: None,
    };
    command.measure(parts, SessionOpening::Again(runs, records), schedule)
}

/// Returns the runs of a session, in the order of the plan's variants.
pub fn runs_of(plan: &Plan, state: &SessionState) -> Result<Vec<RunRecord>, CliError> {
    let name = state.session.name.clone().unwrap_or_default();
    let variants = plan.variants.iter();
    variants
        .map(|variant| {
            // The last of several declares the most metrics.
            let run = state.runs.iter().rev().find(|run| variant.is_of(run));
            run.cloned().ok_or_else(|| {
                CliError::input(format!(
                    "session `{name}` was ended before anything was measured"
                ))
                .hint("start it anew with `lapwing run`")
            })
        })
        .collect()
}

/// Refuses a session in progress: two processes would measure everything twice, and each other.
pub fn refuse_what_is_under_way(
    store: &Store,
    session: &Session,
    own: Option<&Path>,
) -> Result<(), CliError> {
    if is_under_way(&store.inbox(), session.id, own).map_err(CliError::input)? {
        let name = session.name.clone().unwrap_or_default();
        return Err(CliError::input(format!(
            "session `{name}` is being measured just now, by another process"
        ))
        .hint("wait until it is done, or end that process first"));
    }
    Ok(())
}

pub fn find(store: &Store, session: &str) -> Result<SessionState, CliError> {
    let found = if session.is_empty() {
        store.catalogue().latest_session()?.ok_or_else(|| {
            CliError::input("there is no session to resume").hint("start one with `lapwing run`")
        })?
    } else {
        store.catalogue().session(session)?
    };
    Ok(store.catalogue().session_state(found.id)?)
}

/// Returns the plan of a session.
pub fn stored_plan(state: &SessionState) -> Result<Plan, CliError> {
    let name = state.session.name.clone().unwrap_or_default();
    let plan = lapwing_measure::suite::stored_plan(&state.session.attributes).ok_or_else(|| {
        CliError::input(format!(
            "session `{name}` was not measured by `lapwing run`, so there is nothing to resume"
        ))
    })?;
    serde_json::from_value(plan.into_owned()).map_err(|error| {
        CliError::input(error).consequence(format!(
            "the plan of session `{name}` cannot be read by this version of lapwing"
        ))
    })
}

/// Returns the ends of instances whose process was killed.
pub fn lost(state: &SessionState) -> Vec<Record> {
    state
        .instances
        .iter()
        .filter(|it| it.end.is_none())
        .map(|instance| {
            Record::InstanceEnd(InstanceEnd {
                instance: instance.instance.id,
                ended: Some(Timestamp::now()),
                outcome: InstanceOutcome::Lost,
                message: Some("cut short: the process that measured it was ended".to_owned()),
                observed: Object::new(),
                extra: Object::new(),
            })
        })
        .collect()
}

fn finished(plan: &Plan, state: &SessionState) -> Vec<FinishedInstance> {
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
