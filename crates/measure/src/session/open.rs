//! What every measurement does: a journal and the store take the records, commits are checked out and built, and
//! interrupts end it.

use std::path::{Path, PathBuf};

use crate::execution::runner::EventOutlet;
use crate::local::LocalExecutor;
use crate::suite::{Plan, PlannedCommit, Variant};
use crate::{
    Consumer, Environment, Executor, FixedSchedule, NextLook, Profiler, RunEnd, RunError,
    RunnerSurroundings, Schedule, SessionRuns, run as measure,
};
use lapwing_model::{Record, Run};
use lapwing_record::{RecordFile, Store};

use super::build_step::BuildResult;
use super::checkouts::CommitCheckouts;
use super::cluster::{ClusterMeasurement, ClusterVisit};
use super::journal::{RecordKeeper, StoreWriter};
use super::opened::SessionMarks;
use super::opening::SessionOpening;
use super::python_environments::PythonEnvironments;
use super::{MachineWatcher, ScratchFolder, SessionError, SessionSurroundings, resume};

/// The parts of a measurement.
pub struct MeasuringParts<'a> {
    /// The program around it.
    pub surroundings: SessionSurroundings<'a>,
    /// The plan.
    pub plan: &'a Plan,
    /// The store.
    pub store: Store,
    /// Executes builds, and commands that are not jobs.
    pub executor: LocalExecutor,
    /// The Python environments of the variants.
    pub environments: PythonEnvironments,
    /// The cluster, if instances are jobs; `None` if they are measured on this machine.
    pub cluster: Option<ClusterMeasurement>,
    /// Profiles each benchmark once, if wanted.
    pub profiler: Option<Profiler>,
}

/// An open session, in which any number of schedules can be measured.
pub struct OpenMeasurement<'m, 'a, 'c> {
    plan: &'a Plan,
    runs: SessionRuns,
    executor: &'m mut LocalExecutor,
    second_executor: Option<&'m mut LocalExecutor>,
    checkouts: CommitCheckouts<'a>,
    scratch: PathBuf,
    look: Option<NextLook>,
    cluster: Option<&'m mut ClusterMeasurement>,
    profiler: Option<&'m mut Profiler>,
    surroundings: SessionSurroundings<'a>,
    consumers: &'m mut [&'c mut dyn Consumer],
}

impl<'a> MeasuringParts<'a> {
    /// Opens the session, lets `work` measure, and returns how that ended, with the store.
    pub fn all(
        mut self,
        opening: SessionOpening,
        watcher: &mut dyn Consumer,
        work: impl FnOnce(&mut OpenMeasurement<'_, 'a, '_>) -> Result<RunEnd, RunError>,
    ) -> Result<(RunEnd, Store), SessionError> {
        let session = opening.session().clone();
        let mut second = match self.cluster {
            Some(_) => None,
            None => self.surroundings.start_second_executor(self.plan)?,
        };
        let executors = [Some(&self.executor), second.as_ref()];
        let interrupts = self.surroundings.interrupts;
        interrupts.watch(executors.into_iter().flatten());
        // Named after the session, so that other processes know that it is in progress.
        let name = match &opening {
            SessionOpening::New(session) => session.id.to_string(),
            SessionOpening::Again(..) => format!("{}-{}", session.id, (self.surroundings.new_id)()),
        };
        let folder = self.store.inbox();
        let mut journal = RecordFile::create(&folder, &name, self.store.cleaner().clone())
            .map_err(|source| SessionError::NoRecordFile { folder, source })?;
        if let SessionOpening::Again(..) = opening
            && let Err(error) =
                resume::refuse_what_is_under_way(&self.store, &session, Some(journal.path()))
        {
            // It is empty, and would have to be read by the next command.
            let _gone = journal.remove();
            return Err(error);
        }
        let is_new = matches!(opening, SessionOpening::New(_));
        let environments = self.environments.folders();
        let checkouts =
            CommitCheckouts::new(self.plan, environments, session.id, self.surroundings);
        let checkouts = match checkouts {
            Ok(checkouts) => checkouts,
            Err(error) => {
                let _gone = journal.remove();
                if is_new && self.has_no_job() {
                    self.forget_cluster();
                }
                return Err(error);
            }
        };
        let store = std::mem::replace(
            &mut self.store,
            Store::open_existing(self.surroundings.store)?,
        );
        let mut store = store;
        if is_new
            && let Some(mark) = SessionMarks::of(store.path(), self.surroundings.places)
                .mark(&store.cleaner().clean_session(&session))
            && let Err(error) = store.write(|writer| writer.mark_opened(&mark))
        {
            let _gone = journal.remove();
            return Err(SessionError::Store(error));
        }
        let mut writer = StoreWriter::new(store, self.surroundings);
        writer.awaits_instance = is_new && self.cluster.is_some();
        let measured = {
            let mut consumers: [&mut dyn Consumer; 3] = [&mut journal, &mut writer, watcher];
            self.measure(opening, checkouts, second.as_mut(), &mut consumers, work)
        };
        let keeper = RecordKeeper { journal, writer };
        let end = match measured {
            Ok(end) => end,
            Err(error) if is_new && self.has_no_job() => {
                self.forget_cluster();
                let _stays = self.store.write(|writer| writer.forget_opened(session.id));
                keeper.discard();
                return Err(SessionError::NothingSubmitted(error));
            }
            Err(source) => {
                let file = keeper.finish().map(|(file, _)| file);
                return Err(SessionError::Ended { source, file });
            }
        };
        if let Some((file, source)) = keeper.finish() {
            return Err(SessionError::NotStored { file, source });
        }
        if let (RunEnd::Complete, Some(cluster)) = (end, &self.cluster) {
            cluster.remove_folder();
        }
        Ok((end, self.store))
    }

    fn measure(
        &mut self,
        opening: SessionOpening,
        checkouts: CommitCheckouts<'a>,
        second_executor: Option<&mut LocalExecutor>,
        consumers: &mut [&mut dyn Consumer],
        work: impl FnOnce(&mut OpenMeasurement<'_, 'a, '_>) -> Result<RunEnd, RunError>,
    ) -> Result<RunEnd, RunError> {
        let sources = checkouts.sources();
        let runs = opening.open(
            self.plan,
            &sources,
            &mut self.executor,
            consumers,
            &self.surroundings,
        )?;
        // Beside the journal: if this process is killed, the next one recovers both. Absolute, because
        // commands have their own working directories.
        let inbox = self.store.inbox();
        let inbox = std::path::absolute(&inbox).unwrap_or(inbox);
        let scratch = inbox.join(runs.session.id.to_string());
        let _scratch = ScratchFolder::create(&scratch).map_err(|source| RunError::Consumer {
            source: Box::new(source),
        })?;
        work(&mut OpenMeasurement {
            plan: self.plan,
            runs,
            executor: &mut self.executor,
            second_executor,
            checkouts,
            scratch,
            look: None,
            cluster: self.cluster.as_mut(),
            profiler: self.profiler.as_mut(),
            surroundings: self.surroundings,
            consumers,
        })
    }

    /// Returns whether instances are jobs, of which none was submitted.
    fn has_no_job(&self) -> bool {
        self.cluster
            .as_ref()
            .is_some_and(ClusterMeasurement::is_untouched)
    }

    fn forget_cluster(&self) {
        if let Some(cluster) = &self.cluster {
            cluster.remove_folder();
        }
    }
}

impl<'a> OpenMeasurement<'_, 'a, '_> {
    /// Checks out and builds a commit; `false` if interrupted.
    pub fn prepare(&mut self, commit: &PlannedCommit) -> Result<bool, RunError> {
        Ok(self.checkouts.prepare(commit, self.executor)?)
    }

    /// Returns the commits and their folders.
    pub fn checkouts(&mut self) -> &mut CommitCheckouts<'a> {
        &mut self.checkouts
    }

    /// Sets the look at the results that follows.
    pub fn set_look(&mut self, look: Option<NextLook>) {
        self.look = look;
    }

    /// Installs a commit that is checked out; `false` if interrupted.
    pub fn install(&mut self, commit: &Variant, command: &str) -> Result<bool, RunError> {
        Ok(self.checkouts.install(commit, command, self.executor)?)
    }

    /// Builds the working tree of a repository.
    pub fn build_working_tree(&mut self, folder: &Path) -> Result<BuildResult, RunError> {
        Ok(self.checkouts.build_working_tree(folder, self.executor)?)
    }

    /// Adds variants to the session, which come after those of its plan; `known` are runs that it has of them already.
    pub fn add_variants(&mut self, variants: &[Variant], known: &[Run]) -> Result<(), RunError> {
        for variant in variants {
            if let Some(run) = known.iter().find(|run| variant.is_of(run)) {
                self.runs.runs.push(run.clone());
                continue;
            }
            let Some(like) = self.runs.runs.first() else {
                continue;
            };
            let commit = variant.commit.clone();
            let run = Run {
                id: (self.surroundings.new_id)(),
                version: commit.map(|commit| commit.version).unwrap_or_default(),
                ..like.clone()
            };
            let record = Record::Run(run.clone());
            let consumers = &mut *self.consumers;
            EventOutlet { consumers }.keep(&record)?;
            self.runs.runs.push(run);
        }
        Ok(())
    }

    /// Measures everything that is left of the plan, one commit after the other unless they are interleaved.
    ///
    /// # Errors
    /// If measuring has to stop.
    pub fn visit_all(&mut self, schedule: &mut FixedSchedule) -> Result<RunEnd, RunError> {
        let plan = self.plan;
        let commits = self.checkouts.wanted(schedule);
        if plan.interleave || commits.is_empty() {
            for commit in &commits {
                if !self.prepare(commit)? {
                    return Ok(RunEnd::Interrupted);
                }
            }
            return self.visit(schedule);
        }
        for commit in &commits {
            let end = if self.prepare(commit)? {
                self.visit(&mut schedule.of_commit(plan, commit))?
            } else {
                RunEnd::Interrupted
            };
            if end == RunEnd::Interrupted {
                return Ok(end);
            }
            self.checkouts.remove();
        }
        Ok(RunEnd::Complete)
    }

    /// Measures what a schedule says.
    pub fn visit(&mut self, schedule: &mut dyn Schedule) -> Result<RunEnd, RunError> {
        self.visit_of(self.plan, schedule)
    }

    /// Measures what a schedule of a plan says, which begins with the variants of the session's plan.
    pub fn visit_of(
        &mut self,
        plan: &Plan,
        schedule: &mut dyn Schedule,
    ) -> Result<RunEnd, RunError> {
        if let Some(cluster) = self.cluster.as_deref_mut() {
            let visit = ClusterVisit {
                plan,
                runs: &self.runs,
                sources: self.checkouts.sources(),
                look: self.look.clone(),
            };
            return cluster.visit(&visit, schedule, self.consumers, &self.surroundings);
        }
        let second = self.second_executor.as_deref_mut();
        let mut around = RunnerSurroundings {
            executor: self.executor,
            second_executor: second.map(|it| it as &mut dyn Executor),
            clock: self.surroundings.clock,
            watch: &mut MachineWatcher::default(),
            new_id: &mut || (self.surroundings.new_id)(),
            host: Environment::read(Path::new("/")).host,
            scratch: self.scratch.clone(),
            look: self.look.clone(),
            profiler: self.profiler.as_deref_mut(),
            sources: self.checkouts.sources(),
        };
        measure(plan, &self.runs, schedule, &mut around, self.consumers)
    }
}
