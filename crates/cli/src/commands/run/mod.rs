//! `lapwing run`: measures commands or a suite, keeps every iteration, says what came out.

use lapwing_core::text::grouped;

mod advice_text;
mod commits;
mod compare;
mod dry_run;
mod from_file;
mod keep;
mod names;
mod options;
mod progress;
mod resume;
mod summary;
mod system;
mod tests_of_suite;
mod worktrees;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lapwing_core::measure::local::{Interrupter, LauncherOptions, LocalExecutor};
use lapwing_core::measure::pytest::interpreters;
use lapwing_core::measure::{
    Consumer, Environment, Event, FixedSchedule, RunEnd, RunError, RunnerSurroundings, SessionRuns,
    command_outputs, open_session, run as measure, version,
};
use lapwing_core::model::{Id, Object, Session};
use lapwing_core::record::{RecordFile, Store};
use lapwing_core::suite::{MOST_INSTANCES_IN_ALL, Plan, Variant, VersionSource};
use serde_json::json;

use self::commits::CommitCheckouts;
use self::keep::{RecordJournal, RecordKeeper, StoreWriter};
pub use self::options::Run;
use self::progress::RunProgress;
use self::system::SystemClock;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_plot};

/// Refuses what would not even fit into memory.
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
            // Nothing is wrong with that: a nightly job may find no new commit.
            return Ok(ExitStatus::Fine);
        }
        if self.dry_run {
            return dry_run::show(&planned, context);
        }
        let plan = planned.plan;
        let store = crate::store::open_for_writing(context)?;
        let executor = start_executor(&plan)?;
        let mut schedule = FixedSchedule::new(&plan);
        let session = self.new_session(&plan, &store)?;
        MeasuringParts {
            command: &self,
            context,
            plan: &plan,
            store,
            executor,
        }
        .all(SessionOpening::New(session), &mut schedule)
    }

    fn new_session(&self, plan: &Plan, store: &Store) -> Result<Session, CliError> {
        let id = new_id();
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let heads = store.catalogue().session_heads()?.into_iter();
                names::of(id, &heads.filter_map(|head| head.name).collect())
            }
        };
        let mut attributes = Object::new();
        attributes.insert("plan".to_owned(), serde_json::to_value(plan)?);
        Ok(Session {
            id,
            suite: plan.suite.clone(),
            started: Timestamp::now(),
            seed: Some(plan.seed),
            tool: format!("lapwing {}", env!("CARGO_PKG_VERSION")),
            name: Some(name),
            attributes,
            artifacts: Object::new(),
            extra: Object::new(),
        })
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

/// Whether a session begins or goes on.
enum SessionOpening {
    New(Session),
    Again(SessionRuns, Vec<lapwing_core::model::Record>),
}

/// Everything that measuring needs.
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
        let session = match &opening {
            SessionOpening::New(session) => session.clone(),
            SessionOpening::Again(runs, _) => runs.session.clone(),
        };
        stop_on_signals(self.executor.interrupter())?;
        // Named after the session, so that others can tell which one is under way.
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
            // Nothing is in it, and a file that stays is one more to take in.
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
        let runs = match opening {
            SessionOpening::New(session) => {
                let folder = self.plan.directory.as_ref().map(PathBuf::from);
                let folder = folder.unwrap_or_else(working_directory);
                let version = match &self.plan.version {
                    source @ VersionSource::WorkingDirectory => {
                        version(source, &working_directory())
                    }
                    source @ (VersionSource::Repository(_)
                    | VersionSource::Package(_)
                    | VersionSource::Command(_)
                    | VersionSource::Name(_)) => version(source, &folder),
                };
                let mut environment = Environment::read(Path::new("/")).into_object();
                let commands = &self.plan.environment_commands;
                let outputs = command_outputs(&mut self.executor, commands, Some(&folder))?;
                if !outputs.is_empty() {
                    environment.insert("outputs".to_owned(), outputs.into());
                }
                environment.insert("lapwing".to_owned(), json!(env!("CARGO_PKG_VERSION")));
                if let Some(cpus) = &self.plan.cpus {
                    environment.insert("cpus".to_owned(), json!(cpus));
                }
                let abilities = self.executor.abilities()?;
                environment.insert(
                    "abilities".to_owned(),
                    serde_json::to_value(abilities).unwrap_or_default(),
                );
                let own = interpreters(self.plan, &mut self.executor)?;
                open_session(
                    self.plan,
                    session,
                    &version,
                    (&environment, &own),
                    &mut new_id,
                    consumers,
                )?
            }
            SessionOpening::Again(runs, records) => {
                for record in &records {
                    for consumer in &mut *consumers {
                        consumer
                            .take(&Event::Record(record))
                            .map_err(|source| RunError::Consumer { source })?;
                    }
                }
                runs
            }
        };
        let clock = SystemClock::new();
        // Beside the journal: should this process be killed, the next takes up what is in both.
        // Commands have working directories of their own.
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

    /// Says what came out.
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
            RunEnd::Complete if answer.is_empty() => Ok(ExitStatus::NotEnough),
            RunEnd::Complete => Ok(ExitStatus::Fine),
        }
    }

    fn say_where(&self, session: &Session, end: RunEnd) {
        let name = session.name.as_deref().unwrap_or_default();
        let store = self.context.store.display();
        let next = match (end, self.plan.variants.as_slice()) {
            (RunEnd::Interrupted, _) => "`lapwing run --resume` measures the rest".to_owned(),
            (RunEnd::Complete, [] | [_]) => "`lapwing report` shows it".to_owned(),
            (RunEnd::Complete, [first, .., last]) if first.commit.is_some() => {
                let hash = |it: &Variant| -> String {
                    let hash = it.commit.as_ref().map_or("", |it| it.hash());
                    hash.chars().take(10).collect()
                };
                format!(
                    "`lapwing compare commit:{} commit:{}` judges the first and the last, `lapwing report` shows it",
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
                    "`lapwing compare {}` judges it, `lapwing report` shows it",
                    sides.join(" ")
                )
            }
        };
        self.context
            .terminal
            .say(&format!("stored in {store} as session `{name}`; {next}"));
    }
}

fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_gone| PathBuf::from("/"))
}

/// Ctrl-C and its like end the command under way; the runner then ends the session.
fn stop_on_signals(interrupter: Interrupter) -> Result<(), CliError> {
    ctrlc::set_handler(move || interrupter.interrupt())
        .map_err(|error| CliError::input(error).hint("another signal handler is in the way"))
}
