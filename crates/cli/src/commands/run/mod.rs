//! `lapwing run`: measures commands or a suite, stores every iteration, and reports the results.

use lapwing_core::text::grouped;

mod advice_text;
mod commits;
mod compare;
mod dry_run;
mod from_file;
mod keep;
mod options;
mod progress;
mod resume;
mod session;
mod summary;
mod system;
mod tests_of_suite;
mod words;
mod worktrees;

use std::path::{Path, PathBuf};

use lapwing_core::measure::local::{Interrupter, LauncherOptions, LocalExecutor};
use lapwing_core::measure::{
    Consumer, Environment, FixedSchedule, RunEnd, RunError, RunnerSurroundings, run as measure,
};
use lapwing_core::model::{Id, Session};
use lapwing_core::record::{RecordFile, Store};
use lapwing_core::suite::{CommandLine, MOST_INSTANCES_IN_ALL, Plan, Variant, command_text};

use self::commits::CommitCheckouts;
use self::keep::{RecordJournal, RecordKeeper, StoreWriter};
pub use self::options::Run;
use self::progress::RunProgress;
use self::session::{SessionOpening, new_session};
use self::system::SystemClock;
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
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(session) = &self.resume {
            return resume::resume(&self, session, context);
        }
        check_plot(self.plot.as_deref())?;
        let planned = self.planned(context)?;
        refuse_too_many(&planned.plan)?;
        if planned.plan.variants.is_empty() {
            // Not an error: a nightly job may find no new commit.
            return Ok(ExitStatus::Fine);
        }
        if self.dry_run {
            return dry_run::show(&planned, context);
        }
        let plan = planned.plan;
        let store = crate::store::open_for_writing(context)?;
        let executor = start_executor(&plan)?;
        let mut schedule = FixedSchedule::new(&plan);
        let session = new_session(self.name.clone(), &plan, &store)?;
        MeasuringParts {
            command: &self,
            context,
            plan: &plan,
            store,
            executor,
        }
        .all(SessionOpening::New(session), &mut schedule)
    }
}

fn new_id() -> Id {
    Id::from(uuid::Uuid::now_v7())
}

fn start_executor(plan: &Plan) -> Result<LocalExecutor, CliError> {
    Ok(LocalExecutor::start(&LauncherOptions {
        program: crate::launcher_program(),
        cpus: plan.cpus.clone(),
    })?)
}

/// The parts of a measurement.
struct MeasuringParts<'a> {
    command: &'a Run,
    context: &'a Context,
    plan: &'a Plan,
    store: Store,
    executor: LocalExecutor,
}

impl MeasuringParts<'_> {
    fn all(
        mut self,
        opening: SessionOpening,
        schedule: &mut FixedSchedule,
    ) -> Result<ExitStatus, CliError> {
        let session = opening.session().clone();
        stop_on_signals(self.executor.interrupter())?;
        // Named after the session, so that other processes know that it is in progress.
        let name = match &opening {
            SessionOpening::New(session) => session.id.to_string(),
            SessionOpening::Again(..) => format!("{}-{}", session.id, new_id()),
        };
        let journal = RecordFile::create(&self.store.inbox(), &name)
            .map_err(|error| self.no_journal(error))?;
        if let SessionOpening::Again(..) = opening
            && let Err(error) =
                resume::refuse_what_is_under_way(&self.store, &session, Some(journal.path()))
        {
            // It is empty, and would have to be read by the next command.
            let _gone = journal.remove();
            return Err(error);
        }
        let checkouts = match CommitCheckouts::new(self.plan, session.id, self.context) {
            Ok(checkouts) => checkouts,
            Err(error) => {
                let _gone = journal.remove();
                return Err(error);
            }
        };
        let mut journal = RecordJournal::new(journal);
        let store = std::mem::replace(&mut self.store, Store::open_existing(&self.context.store)?);
        let mut writer = StoreWriter::new(store, &self.context.terminal);
        let mut progress = RunProgress::new(self.context);
        let measured = {
            let mut consumers: [&mut dyn Consumer; 3] = [&mut journal, &mut writer, &mut progress];
            self.measure(opening, schedule, checkouts, &mut consumers)
        };
        drop(progress);
        let kept = RecordKeeper { journal, writer }.finish();
        let end = match measured {
            Ok(end) => end,
            Err(error) => return Err(kept.explain(error)),
        };
        kept.into_result()?;
        self.conclude(&session, end)
    }

    fn measure(
        &mut self,
        opening: SessionOpening,
        schedule: &mut FixedSchedule,
        mut checkouts: CommitCheckouts<'_>,
        consumers: &mut [&mut dyn Consumer],
    ) -> Result<RunEnd, RunError> {
        let runs = opening.open(self.plan, &mut self.executor, consumers)?;
        let clock = SystemClock::new();
        // Beside the journal: if this process is killed, the next one recovers both. Absolute, because
        // commands have their own working directories.
        let inbox = self.store.inbox();
        let inbox = std::path::absolute(&inbox).unwrap_or(inbox);
        let scratch = inbox.join(runs.session.id.to_string());
        let _scratch =
            system::ScratchFolder::create(&scratch).map_err(|source| RunError::Consumer {
                source: Box::new(source),
            })?;
        let commits = checkouts.wanted(schedule);
        let mut part = |executor: &mut LocalExecutor, sources, schedule: &mut FixedSchedule| {
            let mut around = RunnerSurroundings {
                executor,
                clock: &clock,
                watch: &mut system::MachineWatcher::default(),
                new_id: &mut new_id,
                host: Environment::read(Path::new("/")).host,
                scratch: scratch.clone(),
                sources,
            };
            measure(self.plan, &runs, schedule, &mut around, consumers)
        };
        if self.plan.interleave || commits.is_empty() {
            for commit in &commits {
                if !checkouts.prepare(commit, &mut self.executor)? {
                    return Ok(RunEnd::Interrupted);
                }
            }
            return part(&mut self.executor, checkouts.sources(), schedule);
        }
        for commit in &commits {
            let is_ready = checkouts.prepare(commit, &mut self.executor)?;
            let mut own = schedule.of_commit(self.plan, commit.hash());
            let end = if is_ready {
                part(&mut self.executor, checkouts.sources(), &mut own)?
            } else {
                RunEnd::Interrupted
            };
            if end == RunEnd::Interrupted {
                return Ok(end);
            }
            checkouts.remove();
        }
        Ok(RunEnd::Complete)
    }

    fn no_journal(&self, error: std::io::Error) -> CliError {
        CliError::input(error)
            .consequence(format!(
                "no record file can be written in {}",
                self.store.inbox().display()
            ))
            .hint("give another place with --store, or free some space")
    }

    /// Reports the results.
    fn conclude(self, session: &Session, end: RunEnd) -> Result<ExitStatus, CliError> {
        let answer = summary::Summary::read(&self.store, session, self.plan)?;
        answer.show(self.command.format, self.context)?;
        if let Some(path) = &self.command.plot {
            answer.plot(path)?;
        }
        if !self.context.quiet {
            self.say_where(session, end);
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
            Some(name) if alike == 1 => quoted(name),
            _ => session.id.to_string(),
        }
    }

    fn say_where(&self, session: &Session, end: RunEnd) {
        let name = session.name.as_deref().unwrap_or_default();
        let store = self.context.store.display();
        let program = self.context.program();
        let next = match (end, self.plan.variants.as_slice()) {
            (RunEnd::Interrupted, _) => format!("`{program} run --resume` measures the rest"),
            (RunEnd::Complete, [] | [_]) => format!("`{program} report` shows it"),
            (RunEnd::Complete, [first, .., last]) if first.commit.is_some() => {
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
                let sides: Vec<String> = several
                    .iter()
                    .map(|it| format!("'variant:{}'", it.name))
                    .collect();
                format!(
                    "`{program} compare {} --session {}` compares the variants, `{program} report` shows them",
                    sides.join(" "),
                    self.unique_name(session)
                )
            }
        };
        self.context
            .terminal
            .say(&format!("stored in {store} as session `{name}`; {next}"));
    }
}

/// Returns a text as a word of the shell.
fn quoted(text: &str) -> String {
    command_text(&CommandLine::Words(vec![text.to_owned()]))
}

fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_gone| PathBuf::from("/"))
}

/// Lets signals such as Ctrl-C end the current command; the runner then ends the session.
fn stop_on_signals(interrupter: Interrupter) -> Result<(), CliError> {
    ctrlc::set_handler(move || interrupter.interrupt())
        .map_err(|error| CliError::input(error).hint("another signal handler is in the way"))
}
