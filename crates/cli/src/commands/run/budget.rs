//! `lapwing run --slowdown 3% --budget 10m`: how to measure two sides is chosen from a pilot.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use lapwing_analyse::judge::{INSTANCES_FOR_A_VERDICT, failing_side};
use lapwing_measure::doctor::{Severity, examine};
use lapwing_measure::session::{MeasuredSession, SessionRequest, measure_between_looks};
use lapwing_measure::suite::{AdHoc, BurnIn, Plan};
use lapwing_measure::{Consumer, Event, FixedSchedule, RunEnd, declared_metrics, isolated_cpus};
use lapwing_model::text::{counted, joined_with_and};
use lapwing_model::{Better, InstanceOutcome, Outcome, Record};
use lapwing_show::answers::judgement::{JudgeAnswer, Judged, JudgedSessions};
use lapwing_show::writing::{NextStep, Note};
use lapwing_show::{machine_time, percent, round_percent};
use lapwing_stats::{
    AffordableDesign, ChangeAnswer, ComparisonLook, Configuration, DesignCosts, ExpectedChange,
    LookedDifference, affordable_design, as_f64, comparison_looks, mean,
};

use super::progress::RunProgress;
use super::{Run, refuse_too_many};
use crate::commands::campaign::{direction_note, oriented};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session;

/// Instances of each side in the pilot.
const PILOT: u32 = 5;
/// The share of the budget that the pilot may take.
const PILOT_SHARE: f64 = 0.2;
/// The fewest instances of each side that are measured after the pilot.
const FEWEST: u32 = 5;
/// The probability of each wrong answer.
const ALPHA: f64 = 0.05;
/// The metric where none is named.
const METRIC: &str = "wall_time";

/// A slowdown to find within a time.
#[derive(Debug, Clone, Copy)]
pub struct SlowdownBudget {
    /// The slowdown, as a share.
    pub slowdown: f64,
    /// The time for everything.
    pub budget: Duration,
}

/// The values of an instance.
#[derive(Debug, Clone, Default)]
struct MeasuredValues {
    side: usize,
    values: Vec<f64>,
    /// The time since the instance before.
    seconds: f64,
    /// The sum of the times of all iterations, burn-in included.
    busy: f64,
    /// Number of all iterations.
    iterations: usize,
    /// Whether one failed.
    has_failed: bool,
}

/// Keeps the values of each instance, and passes everything on.
struct ValuesWatch<'a> {
    metric: &'a str,
    of_commands: bool,
    inner: &'a mut dyn Consumer,
    measured: Rc<RefCell<Vec<MeasuredValues>>>,
    current: MeasuredValues,
    since: Instant,
    message: Option<String>,
}

impl Consumer for ValuesWatch<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        match event {
            Event::Started { .. } => self.since = Instant::now(),
            Event::InstanceStarted { planned, .. } => {
                let side = match self.of_commands {
                    true => planned.case,
                    false => planned.variant,
                };
                self.current = MeasuredValues {
                    side,
                    ..MeasuredValues::default()
                };
            }
            Event::Record(Record::Iteration(iteration)) => {
                self.current.iterations += 1;
                let time = iteration.metrics.get(METRIC).copied();
                self.current.busy += time.unwrap_or_default();
                match iteration.outcome {
                    Outcome::Ok if !iteration.burn_in => {
                        let value = iteration.metrics.get(self.metric).copied();
                        self.current.values.extend(value);
                    }
                    Outcome::Ok => {}
                    _ => {
                        self.current.has_failed = true;
                        self.message.clone_from(&iteration.message);
                    }
                }
            }
            Event::Record(Record::InstanceEnd(end)) if end.outcome != InstanceOutcome::Lost => {
                self.current.seconds = self.since.elapsed().as_secs_f64();
                self.since = Instant::now();
                self.measured.borrow_mut().push(self.current.clone());
            }
            _ => {}
        }
        self.inner.take(event)
    }
}

/// Returns whether the values so far suffice.
type LookAtValues<'l> = &'l dyn Fn(&[MeasuredValues]) -> bool;

/// When measuring ends.
struct MeasuringEnd<'l> {
    /// Asked at each look.
    is_answered: LookAtValues<'l>,
    /// Asked after each instance of both sides.
    is_over: LookAtValues<'l>,
}

/// What is to be compared.
struct ComparedSides<'a> {
    metric: &'a str,
    of_commands: bool,
    /// The names of both.
    names: [String; 2],
    context: &'a Context,
}

impl<'a> ComparedSides<'a> {
    /// Takes the two sides of a plan.
    fn of(plan: &Plan, metric: &'a str, context: &'a Context) -> Result<Self, CliError> {
        let (cases, variants) = (&plan.cases[..], &plan.variants[..]);
        let (of_commands, names) = match (cases, variants) {
            ([one, other], [_]) if plan.suite == AdHoc::SUITE => {
                (true, [one, other].map(|it| it.benchmark.id.clone()))
            }
            ([_], [one, other]) => (false, [one, other].map(|it| it.label())),
            _ => {
                return Err(CliError::input(
                    "--slowdown compares two commands, or two variants of one benchmark",
                )
                .hint("choose them with --benchmark and --variant"));
            }
        };
        Ok(Self {
            metric,
            of_commands,
            names,
            context,
        })
    }

    /// Measures a session until one of the ends.
    fn measure(
        &self,
        request: &SessionRequest,
        run: &Run,
        ends: &MeasuringEnd<'_>,
    ) -> Result<(MeasuredSession, Vec<MeasuredValues>, Option<String>), CliError> {
        let planned = run.planned(request, self.context)?;
        refuse_too_many(&planned.session.plan)?;
        let plan = planned.session.plan.clone();
        let store = crate::store::open_for_writing(self.context)?;
        let schedule = FixedSchedule::new(&plan);
        let measured = Rc::new(RefCell::new(Vec::new()));
        let mut progress = RunProgress::new(self.context);
        progress.may_end_early = true;
        let mut watch = ValuesWatch {
            metric: self.metric,
            of_commands: self.of_commands,
            inner: &mut progress,
            measured: Rc::clone(&measured),
            current: MeasuredValues::default(),
            since: Instant::now(),
            message: None,
        };
        let session = planned.session.measure_by(
            request,
            store,
            &self.context.surroundings(),
            &mut watch,
            |_, measurement| {
                let look = || match (ends.is_answered)(&measured.borrow()) {
                    true => (0..plan.cases.len()).collect(),
                    false => BTreeSet::new(),
                };
                let is_over = || (ends.is_over)(&measured.borrow());
                let done = measure_between_looks(measurement, &plan, &schedule, look, &is_over)?;
                Ok(done.end)
            },
        );
        let message = watch.message.take();
        drop(progress);
        let session = session?;
        let values = measured.borrow().clone();
        Ok((session, values, message))
    }

    /// Returns the logarithms of the instance means of a side.
    fn logs(values: &[MeasuredValues], side: usize) -> Vec<f64> {
        let own = values.iter().filter(|it| it.side == side);
        let means = own.filter_map(|it| mean(&it.values));
        means.filter(|it| *it > 0.0).map(f64::ln).collect()
    }

    /// Returns the failed instances and all instances of each side.
    fn failures(values: &[MeasuredValues]) -> [[usize; 2]; 2] {
        [0, 1].map(|side| {
            let own = || values.iter().filter(|it| it.side == side);
            [own().filter(|it| it.has_failed).count(), own().count()]
        })
    }

    /// Returns the comparison at a look; `None` with fewer than three instances of a side.
    fn compared(values: &[MeasuredValues], looks: &[ComparisonLook]) -> Option<LookedDifference> {
        let [baseline, candidate] = [0, 1].map(|side| Self::logs(values, side));
        let count = baseline.len().min(candidate.len());
        if count < INSTANCES_FOR_A_VERDICT {
            return None;
        }
        // Lost or failed instances leave fewer than the look counts on.
        let look = looks
            .iter()
            .find(|it| it.replicates >= count)
            .or(looks.last())?;
        LookedDifference::by_ranks(*look, &baseline, &candidate)
    }
}

/// Returns the costs of both sides, as a pilot shows them.
fn costs(values: &[MeasuredValues], burn_in: usize) -> DesignCosts {
    let mut costs = DesignCosts {
        instance: 0.0,
        iteration: 0.0,
        burn_in,
    };
    for side in [0, 1] {
        let own = || values.iter().filter(|it| it.side == side);
        let (count, iterations) = (own().count(), own().map(|it| it.iterations).sum::<usize>());
        let busy: f64 = own().map(|it| it.busy).sum();
        let all: f64 = own().map(|it| it.seconds).sum();
        costs.iteration += busy / as_f64(iterations.max(1));
        costs.instance += (all - busy).max(0.0) / as_f64(count.max(1));
    }
    costs
}

/// Returns what was chosen, and which power that buys, in two sentences.
fn chosen(
    design: &AffordableDesign,
    asked: SlowdownBudget,
    spent: f64,
    cpus: Option<&str>,
) -> Note {
    let Configuration {
        instances,
        iterations,
    } = design.configuration;
    let slowdown = round_percent(asked.slowdown);
    let pinned = cpus.map_or_else(String::new, |it| format!(" on the isolated CPUs {it}"));
    let how = format!(
        "both sides in turn{pinned}, at most {} × {} each, until it is decided: at most {}",
        counted(instances, "instance"),
        counted(iterations, "iteration"),
        machine_time(design.seconds),
    );
    let text = match design.needed_seconds {
        None => format!(
            "plan: {how}. A slowdown of {slowdown} is found with a probability of {} or more",
            percent(design.power.min(0.99))
        ),
        Some(needed) => {
            let takes = match needed.is_finite() {
                true => format!("that takes {}", machine_time(spent + needed)),
                false => "that takes far longer".to_owned(),
            };
            format!(
                "{} are not enough to find a slowdown of {slowdown} reliably: {takes} here. Plan: {how}. One of {} or more is found \
                 with a probability of 80 %",
                machine_time(asked.budget.as_secs_f64()),
                percent(design.slowdown - 1.0),
            )
        }
    };
    Note::new("chosen", text)
        .with("chosen_instances", instances)
        .with("chosen_iterations", iterations)
        .with("power", design.power)
        .with("detectable", design.slowdown - 1.0)
        .with("seconds", design.seconds)
}

/// Returns what `doctor` finds to disturb measurements here; `None` if nothing does.
fn disturbed(context: &Context) -> Result<Option<Note>, CliError> {
    let mut executor = context.surroundings().launch(None)?;
    let findings = examine(Path::new("/"), &context.store, &mut executor)?.findings;
    let disturbing = findings
        .iter()
        .filter(|it| it.severity == Severity::Disturbing);
    let subjects: Vec<&str> = disturbing.map(|it| it.subject).collect();
    let note = || {
        let text = format!(
            "this disturbs measurements here: {}; `{} doctor` says what helps",
            joined_with_and(&subjects),
            context.program(),
        );
        Note::marked("disturbed", text).with("disturbed_by", subjects.join(", "))
    };
    Ok((!subjects.is_empty()).then(note))
}

/// Returns how many instances of each side failed, and why; `None` if none did.
fn failure_text(
    names: &[String; 2],
    failed: [[usize; 2]; 2],
    message: Option<&str>,
) -> Option<String> {
    let sides = names
        .iter()
        .zip(failed)
        .filter(|(_, [failed, _])| *failed > 0);
    let texts: Vec<String> = sides
        .map(|(name, [failed, all])| {
            format!(
                "{failed} of {} of `{name}` failed",
                counted(all, "instance")
            )
        })
        .collect();
    let reason = message.map_or_else(String::new, |it| format!(": {it}"));
    (!texts.is_empty()).then(|| texts.join(", ") + &reason)
}

/// Chooses from a pilot how to measure, measures and judges.
pub fn act(
    run: &Run,
    mut request: SessionRequest,
    asked: SlowdownBudget,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let begun = Instant::now();
    let metric = run.metric.clone().unwrap_or_else(|| METRIC.to_owned());
    session::catch_signals()?;
    let budget = asked.budget.as_secs_f64();
    let mut pilot = request.clone();
    pilot.settings.instances = Some(PILOT);
    // Each command has its own maximum time.
    pilot.settings.max_time = Some(asked.budget.mul_f64(PILOT_SHARE / 2.0));
    pilot.name = request.name.as_ref().map(|name| format!("{name}-pilot"));
    pilot.attributes.insert("pilot".to_owned(), true.into());
    let disturbed = disturbed(context)?;
    let plan = run.planned(&pilot, context)?.session.plan;
    let sides = ComparedSides::of(&plan, &metric, context)?;
    context.terminal.note(&format!(
        "a pilot of {PILOT} instances of each side shows how to measure"
    ));
    // Both together have to pay for themselves; the first instance may be slower than the others.
    let needed = |values: &[MeasuredValues]| {
        let measuring: f64 = values.iter().map(|it| it.seconds).sum();
        let besides = (begun.elapsed().as_secs_f64() - measuring).max(0.0);
        besides + 2.0 * f64::from(PILOT + FEWEST) * measuring / as_f64(values.len().max(1))
    };
    let is_too_dear = |values: &[MeasuredValues]| {
        let most = match values.len() {
            ..4 => 2.0 * budget,
            _ => budget,
        };
        needed(values) > most
    };
    let refused = |seconds: f64| {
        let error = CliError::input(format!(
            "{} are not enough for a pilot and {FEWEST} instances of each side",
            machine_time(budget)
        ));
        error.hint(format!("give {} or more (--budget)", machine_time(seconds)))
    };
    let ends = MeasuringEnd {
        is_answered: &|_| false,
        is_over: &is_too_dear,
    };
    let (measured, values, message) = sides.measure(&pilot, run, &ends)?;
    if measured.end == RunEnd::Interrupted {
        return Ok(ExitStatus::Interrupted);
    }
    let rows = [0, 1].map(|side| {
        let own = values
            .iter()
            .filter(|it| it.side == side && !it.values.is_empty());
        own.map(|it| it.values.clone()).collect::<Vec<_>>()
    });
    let is_measured = values.iter().all(|it| !it.values.is_empty());
    if is_measured && is_too_dear(&values) {
        return Err(refused(1.2 * needed(&values)));
    }
    if rows.iter().any(|it| it.len() < INSTANCES_FOR_A_VERDICT) {
        let reason = message.unwrap_or_else(|| format!("there are no values of {metric}"));
        let error = CliError {
            exit: ExitStatus::Failed,
            ..CliError::input(format!("the pilot cannot be measured: {reason}"))
        };
        return Err(error.hint("`lapwing show` has its log"));
    }
    let burn_in = match plan.cases[0].burn_in {
        BurnIn::Fixed(count) => count as usize,
        BurnIn::Auto => 1,
    };
    let costs = costs(&values, burn_in);
    let left = budget - begun.elapsed().as_secs_f64();
    let [baseline, candidate] = &rows;
    let design = affordable_design([baseline, candidate], costs, 1.0 + asked.slowdown, left);
    let Some(design) = design else {
        return Err(refused(1.2 * needed(&values)));
    };
    let configuration = design.configuration;
    let settings = &mut request.settings;
    settings.instances = u32::try_from(configuration.instances).ok();
    settings.iterations = u32::try_from(configuration.iterations).ok();
    settings.min_time = None;
    let cpus = isolated_cpus(Path::new("/")).filter(|_| settings.cpus.is_none());
    if cpus.is_some() {
        settings.cpus.clone_from(&cpus);
    }
    let spent = begun.elapsed().as_secs_f64();
    let note = chosen(&design, asked, spent, cpus.as_deref());
    context.terminal.note(&note.text);
    let expected = ExpectedChange::NotSlower;
    let looks = comparison_looks(
        configuration.instances,
        None,
        expected.two_sided_level(ALPHA),
    );
    let declared = declared_metrics(&plan.cases);
    let stated = declared.get(&metric).and_then(|it| it.better);
    let better = stated.unwrap_or(Better::Lower);
    let answer = |values: &[MeasuredValues]| {
        let compared = ComparedSides::compared(values, &looks)?;
        let looked = oriented(&compared, better);
        Some((compared, expected.answer(&looked, asked.slowdown.ln_1p())))
    };
    let is_answered = |values: &[MeasuredValues]| {
        failing_side(ComparedSides::failures(values)).is_some()
            || answer(values).is_some_and(|(_, it)| it != ChangeAnswer::Undecided)
    };
    let ends = MeasuringEnd {
        is_answered: &is_answered,
        is_over: &|_| begun.elapsed() >= asked.budget,
    };
    let (measured, values, message) = sides.measure(&request, run, &ends)?;
    if measured.end == RunEnd::Interrupted {
        return Ok(ExitStatus::Interrupted);
    }
    let failed = ComparedSides::failures(&values);
    let judged = match answer(&values).filter(|_| failing_side(failed).is_none()) {
        Some((comparison, answer)) => Judged::Measured {
            answer,
            comparison,
            needed: None,
        },
        None => Judged::NotMeasured {
            code: "not_measured",
            reason: failure_text(&sides.names, failed, message.as_deref())
                .unwrap_or_else(|| format!("there are too few values of {metric}")),
        },
    };
    let failures = failure_text(&sides.names, failed, None);
    let failures = failures
        .filter(|_| matches!(judged, Judged::Measured { .. }))
        .map(|text| Note::marked("failures", text));
    let status = match &judged {
        Judged::Measured { answer, .. } => match expected.is_met(*answer) {
            Some(true) => ExitStatus::Fine,
            Some(false) => ExitStatus::Judged,
            None => ExitStatus::NotEnough,
        },
        _ => ExitStatus::Failed,
    };
    let [baseline, candidate] = sides.names.clone();
    let unstated = direction_note(&metric, stated);
    let program = context.program();
    let answer = JudgeAnswer {
        benchmark: candidate,
        metric,
        baseline: format!("`{baseline}`"),
        smallest_effect: asked.slowdown,
        expected,
        confidence: 1.0 - ALPHA,
        judged,
        sessions: JudgedSessions::Same,
        attempt: None,
        notes: [Some(note), failures, disturbed, unstated]
            .into_iter()
            .flatten()
            .collect(),
        session: measured.session.name.clone().unwrap_or_default(),
        next: vec![NextStep::new(
            format!("{program} show"),
            "prints what was measured",
        )],
    };
    context.show(&answer, &run.answer)?;
    Ok(status)
}
