//! `lapwing run --resume`: measures the rest of an interrupted session.

use lapwing_measure::bisection::SEARCH;
use lapwing_measure::session::cluster::ClusterMeasurement;
use lapwing_measure::session::resume::{
    added, find, finished, lost, refuse_what_is_under_way, runs_of, stored_plan,
};
use lapwing_measure::session::{MeasuringParts, PythonEnvironments, SessionOpening};
use lapwing_measure::stack::unimportable_stacks;
use lapwing_measure::{FixedSchedule, Schedule, SessionRuns};
use lapwing_model::InstanceOutcome;
use lapwing_model::text::shell_word;
use lapwing_record::SessionState;

use super::{ClusterOptions, RunReport, continue_session, session_answer};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Measures the rest of the session of that name or id; of the latest one if empty.
pub fn resume(
    session: &str,
    cluster: &ClusterOptions,
    report: &RunReport,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let store = crate::store::open_for_writing(context)?;
    let state = find(&store, session, &context.surroundings())?;
    refuse_what_is_under_way(&store, &state.session, None)?;
    let name = state.session.name.clone().unwrap_or_default();
    if state.session.attributes.contains_key(SEARCH) {
        return Err(
            CliError::input(format!("session `{name}` is a bisection")).hint(format!(
                "`lapwing bisect --resume {}` continues it",
                shell_word(&name)
            )),
        );
    }
    let plan = stored_plan(&state)?;
    let cluster = cluster.reopen(&state.session, context)?;
    let mut store = store;
    let state = match &cluster {
        Some(cluster) => {
            store.append(&cluster.collected()?)?;
            SessionState {
                session: state.session.clone(),
                ..store.catalogue().session_state(state.session.id)?
            }
        }
        None => state,
    };
    let records = lost(&state, &context.surroundings());
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
    let mut schedule = FixedSchedule::resumed(&plan, &finished);
    let mut look = None;
    // What `--again` added comes after the plan.
    if let Some((more, of_added)) = added(&state).filter(|_| schedule.remaining() == 0) {
        schedule = FixedSchedule::more(&plan, &more).without(&plan, &finished);
        look = Some(of_added);
    }
    if schedule.remaining() == 0 && records.is_empty() && under_way == 0 {
        if let Some(cluster) = &cluster {
            cluster.remove_folder();
        }
        context.terminal.say(&format!(
            "session `{name}` is complete: nothing is left to measure"
        ));
        let stored = plan.stop_early.as_ref().and_then(|it| it.metric.as_deref());
        let metric = stored.or(report.metric.as_deref());
        let effect = plan.stop_early.as_ref().and_then(|it| it.smallest_effect);
        let answer = session_answer(&store, &state.session, &plan, (metric, effect))?;
        report.show(&answer, context)?;
        return Ok(ExitStatus::Fine);
    }
    let found = runs_of(&plan, &state)?;
    let runs = SessionRuns {
        session: state.session,
        runs: found,
    };
    let mut environments = PythonEnvironments::prepare(&plan, &context.surroundings())?;
    for (name, log) in unimportable {
        environments.refuse(&name, "it cannot be imported".to_owned(), log);
    }
    let surroundings = context.surroundings();
    let parts = MeasuringParts::start(&plan, store, environments, cluster, surroundings)?;
    let opening = SessionOpening::Again(runs, records);
    continue_session(report, parts, opening, schedule, look, context)
}
