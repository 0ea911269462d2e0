//! `lapwing run --again inconclusive`: more instances of what the comparison of a session left open.

use std::collections::BTreeMap;

use lapwing_analyse::explain::additional_instances;
use lapwing_analyse::judge::{CompareOptions, Comparison};
use lapwing_analyse::sample::{RunKey, SampleFilter, Selector, SideSpec};
use lapwing_measure::session::resume::{find, refuse_what_is_under_way, runs_of, stored_plan};
use lapwing_measure::session::{
    InstanceCounts, MeasuringParts, PythonEnvironments, SessionOpening,
};
use lapwing_measure::suite::{Plan, StopEarly};
use lapwing_measure::{FixedSchedule, MoreInstances, NextLook, SessionRuns};
use lapwing_model::Session;
use lapwing_model::text::shell_word;
use lapwing_model::text::{counted, first_names};
use lapwing_show::answers::session::{SessionAnswer, SessionKind};
use lapwing_show::writing::NextStep;
use lapwing_stats::NeededReplicates;

use super::early_stop::{candidates, comparisons};
use super::{Run, continue_session, past_seconds};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Adds instances to the inconclusive benchmarks of the session of that name, or of the latest one.
pub fn again(command: &Run, context: &Context) -> Result<ExitStatus, CliError> {
    command.refuse_what_again_ignores()?;
    let store = crate::store::open_for_writing(context)?;
    let name = command.measuring.name.as_deref().unwrap_or_default();
    let state = find(&store, name, &context.surroundings())?;
    refuse_what_is_under_way(&store, &state.session, None)?;
    let name = state.session.name.clone().unwrap_or_default();
    let plan = stored_plan(&state)?;
    let sides = candidates(&plan);
    if sides.len() < 2 {
        return Err(CliError::input(format!(
            "session `{name}` has one variant, and --again adds instances to variants only"
        ))
        .hint("`lapwing run -n N` with the same commands measures them anew, with N instances"));
    }
    let rule = StopEarly {
        metric: command.metric.clone(),
        smallest_effect: command.smallest_effect,
    };
    let counts = InstanceCounts::new(&plan, &state);
    if plan.stop_early.is_some() {
        return Err(CliError::input(format!(
            "session `{name}` was measured with --stop-early, which has spent its error rate"
        ))
        .hint("measure a new session with a larger --instances"));
    }
    // A verdict must still hold when the error rate is shared with the look that comes now; later ones share it anyway.
    let adjust = match counts.look {
        1 => CompareOptions::at_first_of_two_looks,
        _ => |options| options,
    };
    let comparisons = comparisons(&plan, &state.session, &sides, &rule, adjust, context)?;
    let open = plan
        .cases
        .iter()
        .enumerate()
        .filter_map(|(position, case)| {
            let has_id = |it: &&Comparison| it.subject.benchmark == case.benchmark.id;
            let compared = comparisons.iter().filter(has_id);
            let instances = counts.by_case.get(&position).copied().unwrap_or(0);
            let wanted = command.measuring.instances.map(|wanted| wanted as usize);
            Some((position, additional_instances(compared, instances, wanted)?))
        });
    let open: BTreeMap<usize, usize> = open.collect();
    if open.is_empty() {
        context.terminal.say(&format!(
            "every benchmark of session `{name}` is answered or cannot be: nothing is measured again"
        ));
        return Ok(ExitStatus::Fine);
    }
    if !context.quiet {
        let ids = open
            .iter()
            .map(|(case, extra)| format!("{} (+{extra})", plan.cases[*case].benchmark.id));
        let ids: Vec<String> = ids.collect();
        context.terminal.say(&format!(
            "measuring {} of session `{name}` again, with more instances per side: {}",
            counted(open.len(), "benchmark"),
            first_names(ids.iter().map(String::as_str), 8)
        ));
    }
    let more = MoreInstances {
        by_case: open,
        block: counts.next_block,
        position: counts.next_position,
        number: counts.look,
    };
    let schedule = FixedSchedule::more(&plan, &more);
    let runs = SessionRuns {
        runs: runs_of(&plan, &state)?,
        session: state.session,
    };
    let cluster = command.cluster.reopen(&runs.session, context)?;
    let environments = PythonEnvironments::prepare(&plan, &context.surroundings())?;
    let surroundings = context.surroundings();
    let parts = MeasuringParts::start(&plan, store, environments, cluster, surroundings)?;
    let look = NextLook {
        number: counts.look + 1,
        added: Some(more),
    };
    continue_session(
        &command.report(),
        parts,
        SessionOpening::Again(runs, Vec::new()),
        schedule,
        Some(look),
        context,
    )
}

/// Returns the command that measures the undecided benchmarks of a complete session again; `None` if there are none, or
/// if more instances may not decide.
pub fn next_step(
    rule: &StopEarly,
    plan: &Plan,
    session: &Session,
    context: &Context,
) -> Result<Option<NextStep>, CliError> {
    let sides = candidates(plan);
    if sides.len() < 2 || plan.stop_early.is_some() {
        return Ok(None);
    }
    let same = |options| options;
    let comparisons = comparisons(plan, session, &sides, rule, same, context)?;
    let seconds = past_seconds(plan, context)?;
    let (mut benchmarks, mut extra, mut time) = (0, 0, Some(0.0));
    for case in &plan.cases {
        let id = &case.benchmark.id;
        let compared = || comparisons.iter().filter(|it| it.subject.benchmark == *id);
        let instances = compared().filter_map(|it| it.candidate_estimate);
        let instances = instances.map(|it| it.size.instances).max().unwrap_or(0);
        let needs = compared().any(|it| it.needed_in_total().is_some());
        let Some(more) = additional_instances(compared(), instances, None).filter(|_| needs) else {
            continue;
        };
        benchmarks += 1;
        extra = extra.max(more);
        let of_case = seconds
            .get(id)
            .map(|it| it * as_number(more * plan.variants.len()));
        time = time.zip(of_case).map(|(time, of_case)| time + of_case);
    }
    if benchmarks == 0 {
        return Ok(None);
    }
    let number = if benchmarks == 1 {
        format!(" -n {extra}")
    } else {
        String::new()
    };
    let metric = rule.metric.as_ref();
    let metric = metric.map_or_else(String::new, |it| format!(" --metric {}", shell_word(it)));
    let effect = rule.smallest_effect;
    let effect = effect.map_or_else(String::new, |it| {
        format!(" --smallest-effect {}%", 100.0 * it)
    });
    let command = format!(
        "{} run --again inconclusive{number}{metric}{effect}",
        context.program()
    );
    let why = format!(
        "measures {} again, with more instances",
        counted(benchmarks, "benchmark")
    );
    Ok(Some(NextStep::new(command, why).taking(time)))
}

/// Returns the command that measures commands anew, with so many instances that all comparisons are decided; `None` if
/// they are, or if no number is known.
pub fn anew(
    answer: &SessionAnswer,
    plan: &Plan,
    context: &Context,
) -> Result<Option<NextStep>, CliError> {
    if answer.kind != SessionKind::Commands || plan.variants.len() > 1 || plan.stop_early.is_some()
    {
        return Ok(None);
    }
    let compared = answer.compared();
    let needed = compared.iter().filter_map(|it| it.comparison.needed());
    let mut most = 0;
    for needed in needed {
        match needed {
            NeededReplicates::About(number) => most = most.max(number),
            NeededReplicates::MoreThan(_) | NeededReplicates::NoNumber => return Ok(None),
        }
    }
    if most == 0 {
        return Ok(None);
    }
    let seconds = past_seconds(plan, context)?;
    let cases = plan.cases.iter();
    let of_cases = cases.map(|case| seconds.get(&case.benchmark.id).copied());
    let time = of_cases.sum::<Option<f64>>();
    let why = format!("measures with {}", counted(most, "instance"));
    let step = NextStep::new(context.with_instances(most), why);
    Ok(Some(step.taking(time.map(|it| it * as_number(most)))))
}

/// Returns the same for the latest session, if these sides are its variants and no other session is selected.
pub fn next_step_of_latest(
    sides: &[SideSpec],
    filter: &SampleFilter,
    smallest_effect: Option<f64>,
    context: &Context,
) -> Result<Option<NextStep>, CliError> {
    // Files need no store.
    let Ok(store) = crate::store::open_for_reading(context) else {
        return Ok(None);
    };
    let Ok(state) = find(&store, "", &context.surroundings()) else {
        return Ok(None);
    };
    let Ok(plan) = stored_plan(&state) else {
        return Ok(None);
    };
    let known = candidates(&plan);
    let is_variant = |side: &SideSpec| known.iter().any(|it| it.text == side.text);
    let session = &state.session;
    let names = session.name.iter().cloned().chain([session.id.to_string()]);
    let is_latest = filter.runs == Selector::default()
        || names
            .into_iter()
            .any(|it| filter.runs == Selector::of(RunKey::Session, &[it]));
    let is_complete = state.instances.iter().all(|it| it.end.is_some());
    if !(is_latest && is_complete && sides.iter().all(is_variant)) {
        return Ok(None);
    }
    let rule = StopEarly {
        metric: filter.metrics.first().cloned(),
        smallest_effect,
    };
    next_step(&rule, &plan, session, context)
}

fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

impl Run {
    /// Refuses options of a new session: what is measured again is known from the stored one.
    fn refuse_what_again_ignores(&self) -> Result<(), CliError> {
        let given = [
            ("--benchmark", !self.benchmark.is_empty()),
            ("--tag", !self.tag.is_empty()),
            ("--variant", !self.variant.is_empty()),
            ("--aa", self.aa),
            ("--duet", self.duet),
            ("--stop-early", self.stop_early),
            ("--commits", self.commits.is_some()),
            ("--plan", self.plan.is_some()),
            ("--dry-run", self.measuring.dry_run),
            ("--iterations", self.measuring.iterations.is_some()),
            ("a suite file", self.suite.is_some()),
            (
                "a command",
                !(self.command.is_empty() && self.words.is_empty()),
            ),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::input(format!(
                "--again inconclusive measures a stored session again; {option} does not apply"
            ))
            .hint("--name chooses the session, --instances the number of additional instances")),
        }
    }
}
