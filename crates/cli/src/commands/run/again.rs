//! `lapwing run --again inconclusive`: more instances of what the comparison of a session left open.

use std::collections::BTreeMap;

use lapwing_analyse::judge::{CompareOptions, Comparison, INSTANCES_FOR_A_VERDICT, Standing};
use lapwing_measure::session::resume::{find, refuse_what_is_under_way, runs_of, stored_plan};
use lapwing_measure::session::{MeasuringParts, PythonEnvironments, SessionOpening, place_in};
use lapwing_measure::suite::{Plan, StopEarly};
use lapwing_measure::{FixedSchedule, MoreInstances, SessionRuns};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{InstanceOutcome, Look};
use lapwing_record::SessionState;
use lapwing_stats::{Confidence, NeededReplicates, look_levels};

use super::early_stop::{candidates, comparisons};
use super::{Run, continue_session, start_client};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// No benchmark gets more than this many times the instances that it has.
const MOST_TIMES: usize = 4;

/// Adds instances to the inconclusive benchmarks of the session of that name, or of the latest one.
pub fn again(command: &Run, context: &Context) -> Result<ExitStatus, CliError> {
    command.refuse_what_again_ignores()?;
    let store = crate::store::open_for_writing(context)?;
    let state = find(&store, command.name.as_deref().unwrap_or_default())?;
    refuse_what_is_under_way(&store, &state.session, None)?;
    let name = state.session.name.clone().unwrap_or_default();
    let plan = stored_plan(&state)?;
    let sides = candidates(&plan);
    if sides.len() < 2 {
        return Err(CliError::input(format!(
            "session `{name}` has one variant, so nothing is compared"
        ))
        .hint("`lapwing run --instances N` measures it again, with N instances"));
    }
    let rule = StopEarly {
        metric: command.metric.clone(),
        smallest_effect: command.smallest_effect,
    };
    let counts = InstanceCounts::of(&plan, &state);
    if plan.stop_early.is_some() {
        return Err(CliError::input(format!(
            "session `{name}` was measured with --stop-early, which has spent its error rate"
        ))
        .hint("measure a new session with a larger --instances"));
    }
    // A verdict must still hold when the error rate is shared with the look that comes now; later ones share it anyway.
    let adjust = match counts.look {
        1 => sharing,
        _ => |options| options,
    };
    let found = comparisons(&plan, state.session.id, &sides, &rule, adjust, context)?;
    let open = open_benchmarks(&plan, &found, &counts, command.instances);
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
    let executor = start_client(&plan, cluster.as_ref(), context)?;
    let parts = MeasuringParts {
        surroundings: context.surroundings(),
        plan: &plan,
        store,
        executor,
        environments,
        cluster,
        profiler: None,
    };
    let look = counts.look + 1;
    continue_session(
        &command.report(),
        parts,
        SessionOpening::Again(runs, Vec::new()),
        schedule,
        Some(look),
        context,
    )
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
            ("--iterations", self.iterations.is_some()),
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

/// Returns options with the error rates of the first of two looks.
fn sharing(options: CompareOptions) -> CompareOptions {
    let first = |alpha: f64| look_levels(&[1, 2], 0, alpha)[0];
    let level = 1.0 - first(1.0 - options.confidence.level());
    CompareOptions {
        confidence: Confidence::new(level).unwrap_or(options.confidence),
        false_discovery_rate: first(options.false_discovery_rate),
        ..options
    }
}

/// The measured instances of a session.
struct InstanceCounts {
    /// Instances per variant by benchmark, of the variant with the fewest.
    by_case: BTreeMap<usize, usize>,
    /// The number of its last look.
    look: u32,
    next_block: u32,
    next_position: u32,
}

impl InstanceCounts {
    fn of(plan: &Plan, state: &SessionState) -> Self {
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let (mut look, mut next_block, mut next_position) = (1, 0, 0);
        for it in &state.instances {
            let instance = &it.instance;
            look = look.max(Look::of(&instance.attributes).number);
            next_block = next_block.max(instance.block.saturating_add(1));
            next_position = next_position.max(instance.position.saturating_add(1));
            let outcome = it.end.as_ref().map(|end| end.outcome);
            let run = state.runs.iter().find(|run| run.id == instance.run);
            let place = run.and_then(|run| place_in(plan, &instance.benchmark.id, run));
            if let (Some(place), Some(InstanceOutcome::Ok)) = (place, outcome) {
                *counts.entry(place).or_insert(0) += 1;
            }
        }
        let mut by_case: BTreeMap<usize, usize> = BTreeMap::new();
        for ((case, _), count) in counts {
            let fewest = by_case.entry(case).or_insert(count);
            *fewest = count.min(*fewest);
        }
        Self {
            by_case,
            look,
            next_block,
            next_position,
        }
    }
}

/// Returns the open benchmarks, each with the number of instances that are added per variant.
fn open_benchmarks(
    plan: &Plan,
    comparisons: &[Comparison],
    counts: &InstanceCounts,
    wanted: Option<u32>,
) -> BTreeMap<usize, usize> {
    let mut open = BTreeMap::new();
    for (at, case) in plan.cases.iter().enumerate() {
        let has = counts.by_case.get(&at).copied().unwrap_or(0);
        let is_of_case = |it: &&Comparison| it.subject.benchmark == case.benchmark.id;
        let of_case = comparisons.iter().filter(is_of_case);
        let undecided: Vec<&Comparison> = of_case
            .filter(|it| match it.standing(2 * has) {
                Standing::Open | Standing::Hopeless(_) => true,
                Standing::Answered | Standing::Impossible => false,
            })
            .collect();
        if has == 0 || undecided.is_empty() {
            continue;
        }
        let needed = undecided
            .iter()
            .filter_map(|it| match it.needed_in_total()? {
                NeededReplicates::About(number) | NeededReplicates::MoreThan(number) => {
                    Some(number)
                }
                NeededReplicates::NoNumber => None,
            });
        let needed = needed.max().unwrap_or(2 * has).saturating_sub(has);
        let least = has.max(INSTANCES_FOR_A_VERDICT);
        let extra = wanted.map_or(needed.clamp(least, MOST_TIMES * least), |it| it as usize);
        open.insert(at, extra);
    }
    open
}
