//! `lapwing run`: measures commands or a suite, stores every iteration, and reports the results.

use lapwing_model::text::grouped;

mod advice_text;
mod again;
mod build_step;
mod cluster;
mod commits;
mod compare;
mod dry_run;
mod duet;
mod early_stop;
mod familiar;
mod from_file;
mod keep;
mod measuring;
mod options;
mod progress;
mod python_environments;
mod resume;
mod session;
mod study_session;
mod summary;
mod system;
mod tests_of_suite;
mod words;
mod worktrees;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use lapwing_analyse::sample::{RunKey, Selector};
use lapwing_measure::local::{Interrupter, LauncherOptions, LocalExecutor, available_cpus};
use lapwing_measure::suite::{CommandLine, MOST_INSTANCES_IN_ALL, Plan, Variant, command_text};
use lapwing_measure::{FixedSchedule, Profiler, RunEnd, RunError};
use lapwing_model::{Id, Object, Session};
use lapwing_record::Store;
use sha2::{Digest, Sha256};

pub use self::build_step::{BuildResult, build_with_log};
use self::cluster::EXECUTOR;
pub use self::cluster::{ClusterMeasurement, ClusterOptions};
pub use self::cluster::{
    ClusterShareCommand, ClusterTaskCommand, JobShare, ShareUnit, SimulationJobs, SimulationStart,
};
pub use self::commits::{about as about_commits, commits_between, repository};
pub use self::compare::control_text;
pub use self::dry_run::past_seconds;
use self::early_stop::SessionJudge;
pub use self::from_file::PlannedRun;
pub use self::measuring::{MeasuringParts, OpenMeasurement};
pub use self::options::{AgainWhat, Run, parse_burn_in, random_seed};
use self::progress::RunProgress;
pub use self::python_environments::{PythonEnvironments, program};
pub use self::resume::{SEARCH, lost, refuse_what_is_under_way, stored_plan};
pub use self::session::{SessionOpening, new_session};
use self::study_session::STUDY;
pub use self::study_session::StudySession;
pub use self::summary::Summary;
pub use self::worktrees::cache_folder;
use crate::atomic::folder_of;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_plot};

/// Refuses a plan that would not fit into memory.
fn refuse_too_many(plan: &Plan) -> Result<(), CliError> {
    let instances: u64 = plan.cases.iter().map(|it| u64::from(it.instances)).sum();
    let instances = instances.saturating_mul(plan.variants.len() as u64);
    if instances <= MOST_INSTANCES_IN_ALL {
        return Ok(());
    }
    Err(CliError::input(format!(
        "that would be {} instances in all, and {} is the most",
        grouped(instances),
        grouped(MOST_INSTANCES_IN_ALL)
    ))
    .hint("measure fewer benchmarks at a time (--benchmark), or each of them less often (--instances)"))
}

impl Run {
    /// Measures.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        let suite = self.suite.iter().map(|it| it.display().to_string());
        let texts: Vec<String> = suite.chain(self.more.iter().cloned()).collect();
        let commands = words::in_place_of_suite(&texts)?;
        if !commands.is_empty() {
            self.suite = None;
            self.command = commands;
        }
        if let Some(session) = &self.resume {
            return resume::resume(&self, session, context);
        }
        if self.again == Some(AgainWhat::Inconclusive) {
            return again::again(&self, context);
        }
        check_plot(self.plot.as_deref())?;
        self.export.check()?;
        let planned = self.planned(context)?;
        refuse_too_many(&planned.plan)?;
        if planned.plan.variants.is_empty() {
            // Not an error: a nightly job may find no new commit.
            return Ok(ExitStatus::Fine);
        }
        self.act_on(planned, Object::new(), context)
    }

    /// Returns the profiler of `--profile`, which writes to a folder of the session beside the store.
    fn profiler(
        &self,
        plan: &Plan,
        session: &Session,
        context: &Context,
    ) -> Result<Option<Profiler>, CliError> {
        let Some(command) = &self.profile else {
            return Ok(None);
        };
        if plan.cases.iter().any(|case| case.pytest.is_some()) {
            context.terminal.say(
                "note: tests are not profiled; pytest-memray and the like do so within the test",
            );
        }
        let beside = std::path::absolute(folder_of(&context.store))?;
        let folder = beside.join("profiles").join(session.id.to_string());
        let profiler = Profiler::new(command, folder.clone()).map_err(|error| {
            CliError::input(error)
                .hint("write, for example, --profile 'perf record -o {artifact} --'")
        })?;
        std::fs::create_dir_all(&folder)?;
        if !context.quiet {
            let folder = folder.display();
            context.terminal.say(&format!(
                "each benchmark is profiled once; the files are in {folder}"
            ));
        }
        Ok(Some(profiler))
    }

    /// Measures a plan; `attributes` are those of its session.
    pub fn act_on(
        &self,
        planned: PlannedRun,
        attributes: Object,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        if self.dry_run {
            let submission = self
                .cluster
                .preview(self.executors()?, &planned.plan, context)?;
            return dry_run::show(&planned, &submission, context);
        }
        let (plan, environments) = (planned.plan, planned.environments);
        let store = crate::store::open_for_writing(context)?;
        let mut session = new_session(self.name.clone(), &plan, &store)?;
        session.attributes.extend(attributes);
        let cluster = self
            .cluster
            .open(self.executors()?, &mut session, context)?;
        let executor = start_client(&plan, cluster.as_ref())?;
        let profiler = self.profiler(&plan, &session, context)?;
        if let Some(study) = &self.study {
            study.keep_in(&mut session);
        }
        let schedule = FixedSchedule::new(&plan);
        let parts = MeasuringParts {
            context,
            plan: &plan,
            store,
            executor,
            environments,
            cluster,
            profiler,
        };
        self.measure(parts, SessionOpening::New(session), schedule)
    }
}

fn new_id() -> Id {
    Id::from(uuid::Uuid::now_v7())
}

pub fn start_executor(plan: &Plan) -> Result<LocalExecutor, CliError> {
    for variant in &plan.variants {
        if let Some(Err(error)) = variant.cpus.as_deref().map(available_cpus) {
            return Err(CliError::input(format!(
                "`cpus` of {}: {error}",
                variant.name
            )));
        }
    }
    Ok(LocalExecutor::start(&LauncherOptions {
        program: crate::launcher_program(),
        cpus: match &plan.duet {
            Some(cores) => Some(cores.first.clone()),
            None => plan.cpus.clone(),
        },
    })?)
}

/// Starts the executor of the process that measures or, on a cluster, of the client: there it builds, and the processors that
/// benchmarks run on are those of other machines.
pub fn start_client(
    plan: &Plan,
    cluster: Option<&ClusterMeasurement>,
) -> Result<LocalExecutor, CliError> {
    match cluster {
        None => start_executor(plan),
        Some(_) => Ok(LocalExecutor::start(&LauncherOptions {
            program: crate::launcher_program(),
            cpus: None,
        })?),
    }
}

/// Starts the executor of the second side of a duet.
fn start_second_executor(plan: &Plan) -> Result<Option<LocalExecutor>, CliError> {
    let Some(cores) = &plan.duet else {
        return Ok(None);
    };
    Ok(Some(LocalExecutor::start(&LauncherOptions {
        program: crate::launcher_program(),
        cpus: Some(cores.second.clone()),
    })?))
}

impl Run {
    /// Measures a plan and reports the results.
    fn measure(
        &self,
        parts: MeasuringParts<'_>,
        opening: SessionOpening,
        schedule: FixedSchedule,
    ) -> Result<ExitStatus, CliError> {
        self.measure_look(parts, opening, schedule, None)
    }

    /// Measures a part of a session, which a look at the results of this number follows.
    fn measure_look(
        &self,
        parts: MeasuringParts<'_>,
        opening: SessionOpening,
        mut schedule: FixedSchedule,
        look: Option<u32>,
    ) -> Result<ExitStatus, CliError> {
        let (context, plan) = (parts.context, parts.plan);
        let session = opening.session().clone();
        let mut progress = RunProgress::new(context);
        let measured = parts.all(opening, &mut progress, |measurement| {
            measurement.set_look(look);
            match &plan.stop_early {
                Some(rule) if look.is_none() => SessionJudge::new(plan, session.id, rule, context)
                    .visits(measurement, &schedule),
                Some(_) | None => visits(plan, measurement, &mut schedule),
            }
        });
        drop(progress);
        let (end, store) = measured?;
        RunConclusion {
            command: self,
            context,
            plan,
            store,
        }
        .show(&session, end)
    }
}

/// Measures everything, one commit after the other unless they are interleaved.
fn visits(
    plan: &Plan,
    measurement: &mut OpenMeasurement<'_, '_, '_>,
    schedule: &mut FixedSchedule,
) -> Result<RunEnd, RunError> {
    let commits = measurement.checkouts().wanted(schedule);
    if plan.interleave || commits.is_empty() {
        for commit in &commits {
            if !measurement.prepare(commit)? {
                return Ok(RunEnd::Interrupted);
            }
        }
        return measurement.visit(schedule);
    }
    for commit in &commits {
        let end = match measurement.prepare(commit)? {
            true => measurement.visit(&mut schedule.of_commit(plan, commit))?,
            false => RunEnd::Interrupted,
        };
        if end == RunEnd::Interrupted {
            return Ok(end);
        }
        measurement.checkouts().remove();
    }
    Ok(RunEnd::Complete)
}

/// A finished run that is reported.
struct RunConclusion<'a> {
    command: &'a Run,
    context: &'a Context,
    plan: &'a Plan,
    store: Store,
}

impl RunConclusion<'_> {
    /// Reports the results.
    fn show(self, session: &Session, end: RunEnd) -> Result<ExitStatus, CliError> {
        let stored = self
            .plan
            .stop_early
            .as_ref()
            .and_then(|it| it.metric.as_deref());
        let metric = stored.or(self.command.metric.as_deref());
        let answer = Summary::read(&self.store, session, self.plan, metric)?;
        let is_part = (self.command.study.as_ref()).is_some_and(|study| study.is_part);
        if !is_part {
            answer.show(self.command.format, self.context)?;
            self.command
                .export
                .write(|format, out| answer.write(format, self.context, out))?;
            if let Some(path) = &self.command.plot {
                answer.plot(path)?;
            }
            if !self.context.quiet {
                self.say_where(session, end);
            }
        }
        match end {
            RunEnd::Interrupted => Ok(ExitStatus::Interrupted),
            RunEnd::Complete if answer.has_failed() => Ok(ExitStatus::Failed),
            RunEnd::Complete if answer.is_empty() => Ok(ExitStatus::NotEnough),
            RunEnd::Complete => Ok(ExitStatus::Fine),
        }
    }

    /// Returns what selects a session: its name, or its id if others have the same name.
    fn unique_name(&self, session: &Session) -> String {
        let heads = self.store.catalogue().session_heads();
        let alike = heads.map_or(0, |all| {
            all.iter().filter(|it| it.name == session.name).count()
        });
        match &session.name {
            Some(name) if alike == 1 => name.clone(),
            _ => session.id.to_string(),
        }
    }

    fn say_where(&self, session: &Session, end: RunEnd) {
        let name = session.name.as_deref().unwrap_or_default();
        let store = self.context.store.display();
        let program = self.context.program();
        let next = match (end, self.plan.variants.as_slice()) {
            (RunEnd::Interrupted, _) if self.command.again == Some(AgainWhat::Inconclusive) => {
                format!("`{program} run --again inconclusive` continues")
            }
            (RunEnd::Interrupted, _) => format!("`{program} run --resume` measures the rest"),
            (RunEnd::Complete, _) if session.attributes.contains_key(STUDY) => {
                format!("`{program} study findings` explains it, `{program} report` shows it")
            }
            (RunEnd::Complete, _) if session.attributes.contains_key(STACKS) => {
                format!(
                    "`{program} study fit` shows the effects of the versions, `{program} report` shows all"
                )
            }
            (RunEnd::Complete, [] | [_]) => {
                format!("`{program} show` prints this again, `{program} report` shows more")
            }
            (RunEnd::Complete, [first, .., last])
                if first.commit.is_some() && first.name == last.name =>
            {
                let hash = |it: &Variant| -> String {
                    let hash = it.commit.as_ref().map_or("", |it| it.hash());
                    hash.chars().take(10).collect()
                };
                format!(
                    "`{program} compare commit:{} commit:{}` compares the first and the last, `{program} report` shows all",
                    hash(first),
                    hash(last)
                )
            }
            (RunEnd::Complete, several) => {
                let compared = several.iter().filter(|it| it.control_of.is_none());
                let mut sides: Vec<String> = compared
                    .map(|it| format!("'variant:{}'", it.name))
                    .collect();
                if sides.len() == 1 {
                    // The control is all there is to compare with.
                    sides.push(format!("'variant:{}'", Variant::CONTROL));
                }
                let metric = self.command.metric.as_ref();
                let metric =
                    metric.map_or_else(String::new, |it| format!(" --metric {}", quoted(it)));
                format!(
                    "`{program} compare {} --where {}{metric}` compares the variants, `{program} report` shows them",
                    sides.join(" "),
                    quoted(
                        &Selector::of(RunKey::Session, &[self.unique_name(session)]).to_string()
                    )
                )
            }
        };
        self.context
            .terminal
            .say(&format!("stored in {store} as session `{name}`; {next}"));
    }
}

/// Returns a text as a word of the shell.
pub fn quoted(text: &str) -> String {
    command_text(&CommandLine::Words(vec![text.to_owned()]))
}

/// The attribute of a session that has its stacks.
pub const STACKS: &str = "stacks";

/// Returns the digest of the packages of a Python environment, whatever their order and the spelling of their names.
pub fn lock_digest<'a>(packages: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<String> = packages
        .map(|(name, version)| format!("{}=={version}\n", normal_name(name)))
        .collect();
    lines.sort();
    let digest = Sha256::digest(lines.concat());
    let digits = digest.iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

/// Returns the name of a Python package in its normal spelling.
pub fn normal_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

pub fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_gone| PathBuf::from("/"))
}

/// The executors of the current measurement, which signals interrupt.
static MEASURING: OnceLock<Mutex<Vec<Interrupter>>> = OnceLock::new();

/// The number of signals to stop that this process received.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of signals to stop that this process received: Ctrl-C and others.
pub fn interrupts() -> usize {
    INTERRUPTS.load(Ordering::SeqCst)
}

fn measuring() -> MutexGuard<'static, Vec<Interrupter>> {
    let current = MEASURING.get_or_init(Mutex::default);
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets signals such as Ctrl-C end the current command; the runner then ends the session.
fn stop_on_signals(interrupters: Vec<Interrupter>) -> Result<(), CliError> {
    let is_first = MEASURING.get().is_none();
    *measuring() = interrupters;
    // A study may have several measurements, one after the other.
    if !is_first {
        return Ok(());
    }
    ctrlc::set_handler(move || {
        INTERRUPTS.fetch_add(1, Ordering::SeqCst);
        measuring().iter().for_each(Interrupter::interrupt);
    })
    .map_err(|error| CliError::input(error).hint("another signal handler is in the way"))
}
