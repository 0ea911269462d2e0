//! Runs a schedule, one instance after another, and passes on events.

use std::error::Error;
use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::super::pytest::measure_test;
use super::super::repository::source::VariantSources;
use super::duet::{DuetHalf, measure_pair};
use super::event::{Consumer, Event};
use super::execute::{Clock, ExecutionEnd, ExecutionResult, Executor, ExecutorError};
use super::instance::{GivenUp, InstanceRunner, InstanceSurroundings, InstanceVisit};
use super::profiler::{PROFILE, Profiler, written};
use super::schedule::{FinishedInstance, InstancePlan, MoreInstances, NextLook, Schedule};
use super::values::declared_metrics;
use crate::suite::{CommandLine, Plan, Variant};
use lapwing_model::{
    Id, Instance, InstanceEnd, InstanceOutcome, Look, Object, Record, Run, Session, Version,
};

/// What stands around the runner: everything that differs between a real machine and a test.
pub struct RunnerSurroundings<'a> {
    /// Executes commands; in a duet, on the first set of cores.
    pub executor: &'a mut dyn Executor,
    /// Executes commands on the second set of cores of a duet.
    pub second_executor: Option<&'a mut dyn Executor>,
    /// Says what time it is.
    pub clock: &'a dyn Clock,
    /// Watches the machine while an instance runs.
    pub watch: &'a mut dyn MachineWatch,
    /// Makes ids for what is measured.
    pub new_id: &'a mut dyn FnMut() -> Id,
    /// The name of this machine.
    pub host: Option<String>,
    /// A folder for files that programs under test write metrics to.
    pub scratch: PathBuf,
    /// The look at the results that follows these instances, if there are several.
    pub look: Option<NextLook>,
    /// Profiles each benchmark and variant before its first instance.
    pub profiler: Option<&'a mut Profiler>,
    /// The locations of the commits and Python environments of the plan.
    pub sources: VariantSources,
}

/// Watches the machine while an instance runs.
pub trait MachineWatch {
    /// An instance begins.
    fn begin(&mut self);
    /// An instance ended that used this much processor time itself; returns what was
    /// observed since it began.
    fn end(&mut self, own: Duration) -> Object;
}

/// Measuring had to stop.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Commands cannot be executed at all.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// Jobs on a cluster cannot be started, or nothing is known of them any more.
    #[error("cannot measure on the cluster")]
    Jobs {
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// What was measured can no longer be kept.
    #[error("cannot keep what was measured")]
    Consumer {
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// How measuring ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Everything that was planned was measured.
    Complete,
    /// Somebody interrupted it.
    Interrupted,
}

/// The runs of a session: one for each variant of its plan, in the plan's order.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRuns {
    /// The session that they belong to.
    pub session: Session,
    /// What is recorded of them.
    pub runs: Vec<Run>,
}

/// Hands records and events to everybody who wants them.
pub(crate) struct EventOutlet<'a, 'b> {
    pub(crate) consumers: &'a mut [&'b mut dyn Consumer],
}

impl EventOutlet<'_, '_> {
    pub(crate) fn send(&mut self, event: &Event<'_>) -> Result<(), RunError> {
        for consumer in &mut *self.consumers {
            consumer
                .take(event)
                .map_err(|source| RunError::Consumer { source })?;
        }
        Ok(())
    }

    pub(crate) fn keep(&mut self, record: &Record) -> Result<(), RunError> {
        self.send(&Event::Record(record))
    }
}

/// Records a new session and its runs, which hold version and environment; `own` is what the environment of each run
/// has besides, in the order of the plan's variants.
///
/// # Errors
/// When they cannot be kept.
pub fn open_session(
    plan: &Plan,
    session: Session,
    version: &Version,
    (environment, own): (&Object, &[Object]),
    new_id: &mut dyn FnMut() -> Id,
    consumers: &mut [&mut dyn Consumer],
) -> Result<SessionRuns, RunError> {
    let mut outlet = EventOutlet { consumers };
    outlet.keep(&Record::Session(session.clone()))?;
    let mut runs = Vec::with_capacity(plan.variants.len());
    for (at, variant) in plan.variants.iter().enumerate() {
        let mut environment = environment.clone();
        environment.extend(own.get(at).cloned().unwrap_or_default());
        let run = Run {
            id: new_id(),
            session: session.id,
            variant: variant.name.clone(),
            factors: variant.factors.clone(),
            definitions: variant.definitions.clone(),
            version: variant
                .commit
                .as_ref()
                .map_or(version, |it| &it.version)
                .clone(),
            metrics: declared_metrics(&plan.cases),
            environment,
            attributes: attributes(variant),
            artifacts: Object::new(),
            extra: Object::new(),
        };
        outlet.keep(&Record::Run(run.clone()))?;
        runs.push(run);
    }
    Ok(SessionRuns { session, runs })
}

/// Returns what a variant is, as far as levels of factors do not say it.
fn attributes(variant: &Variant) -> Object {
    let mut attributes = Object::new();
    if let Some(original) = &variant.control_of {
        attributes.insert(Run::CONTROL_OF.to_owned(), original.clone().into());
    }
    if let Some(python) = &variant.python
        && let Ok(packages) = serde_json::to_value(&python.packages)
    {
        attributes.insert(Run::PYTHON_PACKAGES.to_owned(), packages);
    }
    attributes
}

/// Measures what the schedule says until it has nothing left or somebody interrupts.
///
/// # Errors
/// When commands cannot be executed at all, or what was measured can no longer be kept.
/// A benchmark that fails is data and no error.
pub fn run(
    plan: &Plan,
    runs: &SessionRuns,
    schedule: &mut dyn Schedule,
    around: &mut RunnerSurroundings<'_>,
    consumers: &mut [&mut dyn Consumer],
) -> Result<RunEnd, RunError> {
    let mut outlet = EventOutlet { consumers };
    outlet.send(&Event::Started {
        plan,
        instances: schedule.remaining(),
    })?;
    let mut runs = runs.runs.clone();
    let mut finished = Vec::new();
    let mut end = RunEnd::Complete;
    let mut held = None;
    while let Some(planned) = held.take().or_else(|| schedule.next(&finished)) {
        let mut together = vec![planned];
        if plan.duet.is_some() {
            match schedule.next(&finished) {
                Some(next) if next.is_partner_of(&planned, plan) => together.push(next),
                other => held = other,
            }
        }
        let outlet = &mut outlet;
        let outcomes = match together[..] {
            [one, other] => {
                let halves = [one, other].map(|planned| DuetHalf { plan, planned });
                measure_pair(halves, &runs, around, outlet)?
            }
            _ => vec![measure_instance(plan, &mut runs, planned, around, outlet)?],
        };
        for (planned, outcome) in together.into_iter().zip(outcomes) {
            let plan = planned;
            match outcome {
                Some(outcome) => finished.push(FinishedInstance { plan, outcome }),
                None => end = RunEnd::Interrupted,
            }
        }
        if end == RunEnd::Interrupted {
            break;
        }
    }
    outlet.send(&Event::Ended)?;
    Ok(end)
}

/// Returns the record of an instance that begins now.
pub(crate) fn instance_record(
    plan: &Plan,
    runs: &[Run],
    planned: InstancePlan,
    around: &mut RunnerSurroundings<'_>,
) -> Instance {
    Instance {
        host: around.host.clone(),
        started: Some(around.clock.now()),
        attributes: look(plan, planned, around),
        ..planned.record((around.new_id)(), plan, runs)
    }
}

/// Returns the attributes that say which look at the results follows an instance, if there are several, and what was added
/// before it.
fn look(plan: &Plan, planned: InstancePlan, around: &RunnerSurroundings<'_>) -> Object {
    let most = plan.stop_early.as_ref();
    let most = most.map_or(0, |_| plan.cases[planned.case].instances);
    let Some(NextLook { number, added }) = &around.look else {
        return Object::new();
    };
    let number = *number;
    let look = (Look::KEY.to_owned(), json!(Look { number, most }));
    let added = added.as_ref();
    let added = added.map(|added| (MoreInstances::KEY.to_owned(), json!(added)));
    iter::once(look).chain(added).collect()
}

/// Returns how the instance ended; `None` if it was interrupted.
fn measure_instance(
    plan: &Plan,
    runs: &mut [Run],
    planned: InstancePlan,
    around: &mut RunnerSurroundings<'_>,
    outlet: &mut EventOutlet<'_, '_>,
) -> Result<Option<InstanceOutcome>, RunError> {
    let (case, variant) = (&plan.cases[planned.case], &plan.variants[planned.variant]);
    let mut instance = instance_record(plan, runs, planned, around);
    let id = instance.id;
    let started = Event::InstanceStarted {
        planned,
        case,
        variant,
    };
    let place = match around.sources.of(variant) {
        Ok(place) => place,
        Err(reason) => {
            let reason = reason.to_owned();
            if case.pytest.is_some() {
                // What was collected is the working tree's test, and not the commit's.
                instance.benchmark.fingerprint = None;
            }
            outlet.keep(&Record::Instance(instance))?;
            outlet.send(&started)?;
            return skip(id, reason, around, outlet).map(Some);
        }
    };
    if let Some(test) = &case.pytest {
        outlet.send(&started)?;
        around.watch.begin();
        let run = &mut runs[planned.variant];
        return measure_test(test, (case, variant), &place, instance, run, around, outlet);
    }
    if let Some(profiler) = around.profiler.as_deref_mut()
        && let Some(file) = profiler.file_of(planned, (case, variant))
    {
        let visit = InstanceVisit { id, case, variant };
        let own = InstanceSurroundings {
            executor: &mut *around.executor,
            clock: around.clock,
            scratch: &around.scratch,
        };
        let wrap = |command: &CommandLine| profiler.wrapped(command, &file);
        let failure = InstanceRunner::new(visit, &place, own).once(wrap)?;
        if failure.as_ref().is_some_and(GivenUp::is_interruption) {
            return Ok(None);
        }
        match (written(&file), failure) {
            (Some(file), _) => {
                let path = file.display().to_string();
                instance.artifacts.insert(PROFILE.to_owned(), path.into());
            }
            (None, failure) => {
                let reason = failure.map_or("it wrote no file".to_owned(), |it| it.message);
                let id = &case.benchmark.id;
                outlet.send(&Event::Note(format!("no profile of {id}: {reason}")))?;
            }
        }
        instance.started = Some(around.clock.now());
    }
    outlet.keep(&Record::Instance(instance))?;
    outlet.send(&started)?;
    around.watch.begin();
    let visit = InstanceVisit { id, case, variant };
    let own = InstanceSurroundings {
        executor: &mut *around.executor,
        clock: around.clock,
        scratch: &around.scratch,
    };
    InstanceRunner::new(visit, &place, own).run(&mut *around.watch, outlet)
}

/// Records that an instance of a commit cannot be measured: that is data too, and the others can.
pub(crate) fn skip(
    instance: Id,
    reason: String,
    around: &RunnerSurroundings<'_>,
    outlet: &mut EventOutlet<'_, '_>,
) -> Result<InstanceOutcome, RunError> {
    let outcome = InstanceOutcome::Skipped;
    outlet.keep(&Record::InstanceEnd(InstanceEnd {
        message: Some(reason),
        ..InstanceEnd::new(instance, Some(around.clock.now()), outcome)
    }))?;
    Ok(outcome)
}

/// Returns how an execution ended, as text for people.
pub fn describe(end: &ExecutionEnd, limit: Option<Duration>) -> String {
    match (end, limit) {
        (ExecutionEnd::Exited(code), _) => format!("exit code {code}"),
        (ExecutionEnd::Signalled(signal), _) => format!("ended by signal {signal}"),
        (ExecutionEnd::TimedOut, Some(limit)) => format!("ended at its time limit of {limit:?}"),
        (ExecutionEnd::TimedOut, None) => "ended at its time limit".to_owned(),
        (ExecutionEnd::Interrupted, _) => "interrupted".to_owned(),
        (ExecutionEnd::NotStarted(reason), _) => format!("could not be started: {reason}"),
    }
}

/// Returns the processor time that an execution used.
pub(crate) fn processor_time(executed: &ExecutionResult) -> Duration {
    let usage = executed.usage;
    usage.map_or(Duration::ZERO, |usage| usage.user + usage.system)
}
