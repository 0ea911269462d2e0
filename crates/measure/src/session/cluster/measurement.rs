//! The client: submits instances as jobs, asks for their states, and collects what they recorded.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::execution::runner::EventOutlet;
use crate::suite::{ClusterSettings, Plan, SchedulerSettings};
use crate::{
    Consumer, Event, FinishedInstance, JobCounts, NextLook, RunEnd, RunError, Schedule,
    SessionRuns, VariantSources,
};
use lapwing_model::{Id, InstanceOutcome, Record, Session};
use serde::{Deserialize, Serialize};

use super::collecting::{ClusterOutlet, pause};
use super::command::CommandScheduler;
use super::endings::bare;
use super::folder::{BatchFile, ClusterTask, SharedFolder, TaskPlace, VisitFile};
use super::packet::{JobLifetime, TaskPacket, packet_script};
use super::programs::SchedulerPrograms;
use super::scheduler::{JobBatch, JobError, JobReport, JobScheduler};
use super::script::job_script;
use super::shares::remove_abandoned;
use super::slurm::SlurmScheduler;
use super::ssh::SshScheduler;
use super::tasks::{node_of, nodes_of, tasks_of};
use crate::session::{Interrupts, SessionError, SessionSurroundings};

/// The time between two questions to the scheduler: short while there is news, longer and longer without.
pub const SHORTEST_POLL: Duration = Duration::from_millis(500);

/// How many instances run at the same time where the number of nodes is unknown, and the most that a search measures.
const USUAL_WIDTH: usize = 4;
const MOST_WIDTH: usize = 16;

/// The measurement of a session on a cluster.
pub struct ClusterMeasurement {
    session: Id,
    pub(super) settings: ClusterSettings,
    pub(super) folder: SharedFolder,
    program: PathBuf,
    /// The working directory of jobs.
    directory: PathBuf,
    tool: String,
    pub(super) interrupts: Interrupts,
    pub(super) scheduler: Box<dyn JobScheduler>,
    /// Leaves jobs in the queue when interrupted; `None` asks at a terminal, and cancels elsewhere.
    pub(super) leave_jobs: bool,
    pub(super) always_cancels: bool,
    /// Submitted, and not collected yet.
    pub(super) open: BTreeMap<TaskPlace, OpenTask>,
    /// Not submitted yet, with their nodes.
    pub(super) waiting: VecDeque<(Option<String>, ClusterTask)>,
    pub(super) counts: JobCounts,
    largest_batch: Option<usize>,
    pub(super) silent_since: Option<Instant>,
    pub(super) is_cancelling: bool,
}

/// A task that was submitted.
pub(super) struct OpenTask {
    pub task: ClusterTask,
    pub job: String,
    pub report: Option<JobReport>,
    /// The size of the file of its records when it was read last.
    pub size: u64,
    /// When its job was seen to be over, or to be forgotten.
    pub over_since: Option<Instant>,
}

/// The executor of a session, as the session keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterSession {
    /// How instances are jobs.
    pub settings: ClusterSettings,
    /// The folder that the nodes share, of this session alone.
    pub folder: PathBuf,
}

/// The attribute of a session that says how its instances are jobs.
pub const EXECUTOR: &str = "executor";

/// Returns the folder that client and nodes share, in which each session has its own.
///
/// # Errors
/// If there is no working directory.
pub fn shared_folder(settings: &ClusterSettings, store: &Path) -> io::Result<PathBuf> {
    let beside = || store.parent().unwrap_or(Path::new("")).join("cluster");
    let folder = settings.shared_folder.as_ref();
    std::path::absolute(folder.map_or_else(beside, PathBuf::from))
}

/// The part of a session that is measured now.
pub struct ClusterVisit<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The runs of the session.
    pub runs: &'a SessionRuns,
    /// The folders of its commits and Python environments.
    pub sources: VariantSources,
    /// The number of the look at the results that follows.
    pub look: Option<NextLook>,
}

pub(super) fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RunError {
    RunError::Jobs {
        source: source.into(),
    }
}

/// Returns the scheduler that the settings describe, whose programs these interrupts end.
pub fn scheduler_of(settings: &ClusterSettings, interrupts: &Interrupts) -> Box<dyn JobScheduler> {
    let programs = SchedulerPrograms::new(interrupts.clone());
    match &settings.scheduler {
        SchedulerSettings::Slurm(slurm) => Box::new(SlurmScheduler::new(slurm.clone(), programs)),
        SchedulerSettings::Ssh(ssh) => Box::new(SshScheduler::new(ssh, settings.shell.as_deref())),
        SchedulerSettings::Command(commands) => {
            Box::new(CommandScheduler::new(commands.clone(), programs))
        }
    }
}

/// Returns the path of this program on the nodes.
pub fn program_of(settings: &ClusterSettings, surroundings: &SessionSurroundings<'_>) -> PathBuf {
    match &settings.program {
        Some(program) => PathBuf::from(program),
        None => surroundings.places.program.clone(),
    }
}

impl ClusterMeasurement {
    /// Returns the measurement of a new session on a cluster, whose place the session keeps.
    ///
    /// # Errors
    /// If the shared folder or the scheduler cannot be used.
    pub fn begin(
        settings: ClusterSettings,
        leave_jobs: bool,
        session: &mut Session,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Self, SessionError> {
        let parent = shared_folder(&settings, surroundings.store)?;
        let mut scheduler = scheduler_of(&settings, surroundings.interrupts);
        remove_abandoned(&parent, scheduler.as_mut());
        let folder = parent.join(session.id.to_string());
        let cluster = ClusterSession { settings, folder };
        let attribute = serde_json::to_value(&cluster)?;
        session.attributes.insert(EXECUTOR.to_owned(), attribute);
        Self::open(session.id, cluster, leave_jobs, surroundings)
    }

    /// Returns the measurement of a session that was measured on a cluster before; `None` if it was not.
    ///
    /// # Errors
    /// If what the session says of its cluster cannot be read, or the shared folder or the scheduler cannot be used.
    pub fn reopen(
        session: &Session,
        leave_jobs: bool,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Option<Self>, SessionError> {
        let Some(stored) = session.attributes.get(EXECUTOR) else {
            return Ok(None);
        };
        let cluster =
            serde_json::from_value(stored.clone()).map_err(SessionError::StoredExecutor)?;
        let opened = Self::open(session.id, cluster, leave_jobs, surroundings)?;
        Ok(Some(opened))
    }

    /// Opens the shared folder of a session, and notes the jobs of it that nobody has collected.
    fn open(
        session: Id,
        cluster: ClusterSession,
        leave_jobs: bool,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Self, SessionError> {
        let about_folder = |source: io::Error| SessionError::SharedFolder {
            folder: cluster.folder.clone(),
            source,
        };
        let scheduler = scheduler_of(&cluster.settings, surroundings.interrupts);
        if leave_jobs && !scheduler.jobs_outlive_client() {
            return Err(SessionError::JobsEndWithClient);
        }
        let program = program_of(&cluster.settings, surroundings);
        let mut opened = Self {
            session,
            folder: SharedFolder::create(&cluster.folder).map_err(about_folder)?,
            settings: cluster.settings,
            program,
            directory: surroundings.places.directory.clone(),
            tool: surroundings.places.tool.clone(),
            interrupts: surroundings.interrupts.clone(),
            always_cancels: !scheduler.jobs_outlive_client(),
            scheduler,
            leave_jobs,
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            counts: JobCounts::default(),
            largest_batch: None,
            silent_since: None,
            is_cancelling: false,
        };
        opened.find_open_tasks()?;
        Ok(opened)
    }

    fn find_open_tasks(&mut self) -> Result<(), SessionError> {
        for batch in self.folder.batches()? {
            let tasks = self.folder.batch::<BatchFile>(batch)?.tasks;
            let jobs = match self.folder.jobs(batch)? {
                Some(jobs) => jobs,
                None => {
                    let unnoted = self.job_batch(batch, tasks.len(), None);
                    let Some(jobs) = self.scheduler.find(&unnoted)? else {
                        self.abandon(batch, &tasks)?;
                        continue;
                    };
                    self.folder.set_jobs(batch, &jobs)?;
                    jobs
                }
            };
            for (index, (task, job)) in tasks.into_iter().zip(jobs).enumerate() {
                let place = TaskPlace { batch, index };
                if self.folder.is_ended(place) {
                    continue;
                }
                self.folder.take_output(place)?;
                let recorded = self.folder.recorded(place)?;
                if !self.scheduler.jobs_outlive_client() && recorded.is_empty() {
                    // It never began.
                    self.folder.set_end(place, 0, &[])?;
                } else if !recorded.are_complete(&task) {
                    self.open.insert(place, OpenTask::new(task, job));
                }
            }
        }
        Ok(())
    }

    /// Abandons the incomplete tasks of a batch whose jobs are unknown: if these still run, their records do not count.
    fn abandon(&self, batch: u32, tasks: &[ClusterTask]) -> io::Result<()> {
        for (index, task) in tasks.iter().enumerate() {
            let place = TaskPlace { batch, index };
            if !self.folder.recorded(place)?.are_complete(task) {
                self.folder.set_end(place, 0, &[])?;
            }
        }
        self.folder.set_jobs(batch, &[])
    }

    /// Returns the records of all finished tasks.
    pub fn collected(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for batch in self.folder.batches()? {
            let tasks = self.folder.batch::<BatchFile>(batch)?.tasks;
            for (index, task) in tasks.iter().enumerate() {
                let place = TaskPlace { batch, index };
                let recorded = self.folder.recorded(place)?;
                if recorded.are_complete(task) {
                    records.extend(recorded.records);
                }
            }
        }
        Ok(records)
    }

    /// Returns the instances that were submitted and not collected.
    pub fn under_way(&self) -> impl Iterator<Item = FinishedInstance> {
        let instances = self.open.values().flat_map(|it| &it.task.instances);
        instances.map(|it| FinishedInstance {
            plan: it.plan,
            outcome: InstanceOutcome::Ok,
        })
    }

    /// Cancels jobs whose results were never collected; their instances are measured again.
    pub fn give_up_open(&mut self) -> Result<(), SessionError> {
        let jobs: Vec<&str> = self.open.values().map(|it| it.job.as_str()).collect();
        if !jobs.is_empty() {
            self.scheduler.cancel(&jobs)?;
        }
        for place in std::mem::take(&mut self.open).into_keys() {
            self.folder.set_end(place, 0, &[])?;
        }
        Ok(())
    }

    /// Cancels jobs on Ctrl-C without asking.
    pub fn cancel_on_interrupt(&mut self) {
        self.always_cancels = true;
    }

    /// Returns how many instances may run at the same time, as far as known.
    pub fn width(&mut self) -> usize {
        let nodes = self.scheduler.nodes().map_or(USUAL_WIDTH, |it| it.len());
        let most = self.settings.in_flight.map_or(usize::MAX, |it| it as usize);
        nodes.clamp(1, MOST_WIDTH).min(most.max(1))
    }

    /// Returns whether no job was ever submitted.
    pub fn is_untouched(&self) -> bool {
        self.folder.batches().is_ok_and(|it| it.is_empty())
    }

    /// Removes the shared folder, once the store has everything.
    pub fn remove_folder(&self) {
        // A leftover folder does no harm.
        let _stays = self.folder.remove();
    }

    /// Measures the instances of a schedule, and collects those of jobs that were submitted before.
    pub fn visit(
        &mut self,
        visit: &ClusterVisit<'_>,
        schedule: &mut dyn Schedule,
        consumers: &mut [&mut dyn Consumer],
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<RunEnd, RunError> {
        let instances = schedule.remaining() + self.under_way().count();
        let mut outlet = ClusterOutlet {
            visit,
            events: EventOutlet { consumers },
            surroundings,
        };
        let plan = visit.plan;
        outlet.events.send(&Event::Started { plan, instances })?;
        self.counts = JobCounts::default();
        let mut number = None;
        let mut finished = Vec::new();
        let mut poll = SHORTEST_POLL;
        let end = loop {
            self.take_planned(plan, schedule, &finished, surroundings.new_id)?;
            if !self.waiting.is_empty() && !self.is_cancelling {
                let number = match number {
                    Some(number) => number,
                    None => *number.insert(self.add_visit(visit).map_err(broken)?),
                };
                self.submit_waiting(number)?;
            }
            if self.open.is_empty() && self.waiting.is_empty() {
                break RunEnd::Complete;
            }
            if self.interrupts.count() > 0 {
                break self.leave(&mut outlet)?;
            }
            outlet.events.send(&Event::Jobs(&self.counts()))?;
            pause(poll, &self.interrupts);
            let before = self.counts();
            self.collect(&mut outlet, &mut finished)?;
            poll = if self.counts() == before {
                (poll * 5 / 4).min(self.scheduler.longest_poll())
            } else {
                SHORTEST_POLL
            };
        };
        outlet.events.send(&Event::Jobs(&self.counts()))?;
        outlet.events.send(&Event::Ended)?;
        Ok(end)
    }

    /// Takes the next instances of the schedule as tasks: an instance each, or the two halves of a duet.
    fn take_planned(
        &mut self,
        plan: &Plan,
        schedule: &mut dyn Schedule,
        finished: &[FinishedInstance],
        new_id: fn() -> Id,
    ) -> Result<(), RunError> {
        let planned = std::iter::from_fn(|| schedule.next(finished));
        let tasks = tasks_of(plan, planned);
        if tasks.is_empty() {
            return Ok(());
        }
        let nodes = nodes_of(&self.settings, self.scheduler.as_mut()).map_err(broken)?;
        for task in tasks {
            let node = node_of(&task, &nodes);
            let task = ClusterTask::new(&task, new_id);
            self.waiting.push_back((node, task));
        }
        Ok(())
    }

    fn add_visit(&self, visit: &ClusterVisit<'_>) -> io::Result<u32> {
        self.folder.add_visit(&VisitFile {
            tool: self.tool.clone(),
            session: bare(&visit.runs.session),
            runs: visit.runs.runs.clone(),
            plan: visit.plan.clone(),
            sources: visit.sources.clone(),
            look: visit.look.clone(),
        })
    }

    fn job_batch(&self, number: u32, tasks: usize, node: Option<&str>) -> JobBatch {
        JobBatch {
            name: format!("lapwing-{}-{number}", self.session),
            script: self.folder.script(number),
            outputs: (!self.settings.shares_folder()).then(|| self.folder.outputs()),
            tasks,
            logs: self.folder.logs(),
            log_prefix: number.to_string(),
            directory: self.directory.clone(),
            in_flight: self.settings.in_flight,
            node: node.map(str::to_owned),
        }
    }

    /// Submits waiting tasks, as far as limits permit.
    fn submit_waiting(&mut self, visit: u32) -> Result<(), RunError> {
        let largest = self.largest_batch;
        let largest = largest.unwrap_or_else(|| self.scheduler.largest_batch());
        self.largest_batch = Some(largest);
        while !self.waiting.is_empty() && self.interrupts.count() == 0 {
            let mut most = largest;
            if let Some(in_flight) = self.settings.in_flight.map(|it| it as usize)
                && !(self.open.is_empty() && self.scheduler.holds_back())
            {
                // A first array holds itself back; the next ones fit beside it.
                match in_flight.checked_sub(self.open.len()) {
                    None | Some(0) => return Ok(()),
                    Some(room) => most = most.min(room),
                }
            }
            let node = self.waiting.front().and_then(|it| it.0.clone());
            let mut tasks = Vec::new();
            let mut others = VecDeque::new();
            for (its_node, task) in self.waiting.drain(..) {
                if tasks.len() < most && its_node == node {
                    tasks.push(task);
                } else {
                    others.push_back((its_node, task));
                }
            }
            self.waiting = others;
            if let Err(error) = self.submit(visit, &tasks, node.as_deref()) {
                for task in tasks.into_iter().rev() {
                    self.waiting.push_front((node.clone(), task));
                }
                return self.after_refusal(error, most);
            }
        }
        Ok(())
    }

    /// Makes batches smaller, or waits for earlier ones, if a limit of the cluster was hit.
    fn after_refusal(&mut self, error: JobError, most: usize) -> Result<(), RunError> {
        let is_limit = matches!(&error, JobError::Refused { message, .. } if message.to_ascii_lowercase().contains("limit"));
        let is_interrupted =
            matches!(error, JobError::Silent { .. }) && self.interrupts.count() > 0;
        if is_interrupted && !self.open.is_empty() {
            // The jobs that there are are cancelled next, or left.
            return Ok(());
        }
        if is_limit && most > 1 {
            self.largest_batch = Some(most / 2);
        } else if !is_limit || self.open.is_empty() {
            return Err(broken(error));
        }
        Ok(())
    }

    fn submit(
        &mut self,
        visit: u32,
        tasks: &[ClusterTask],
        node: Option<&str>,
    ) -> Result<(), JobError> {
        let tasks = tasks.to_vec();
        let file = BatchFile { visit, tasks };
        let batch = self.folder.add_batch(&file)?;
        if self.settings.shares_folder() {
            let folder = self.folder.path();
            let text = job_script(&self.program, "cluster-task", folder, batch, &self.settings);
            self.folder.write_script(batch, &text)?;
        } else {
            self.write_packets(batch, &file).map_err(JobError::Folder)?;
        }
        let unsubmitted = self.job_batch(batch, file.tasks.len(), node);
        let jobs = match self.scheduler.submit(&unsubmitted) {
            Ok(jobs) => jobs,
            Err(error) => {
                self.folder.withdraw(batch)?;
                return Err(error);
            }
        };
        self.folder.set_jobs(batch, &jobs)?;
        for (index, (task, job)) in file.tasks.into_iter().zip(jobs).enumerate() {
            let place = TaskPlace { batch, index };
            self.open.insert(place, OpenTask::new(task, job));
        }
        Ok(())
    }
}

impl ClusterMeasurement {
    /// Writes a script with its packet for each task of a batch.
    fn write_packets(&self, batch: u32, file: &BatchFile) -> io::Result<()> {
        let visit = self.folder.visit(file.visit)?;
        let directory = self.settings.directory.as_deref().map(Path::new);
        let lifetime = match self.scheduler.jobs_outlive_client() {
            true => JobLifetime::OfItsOwn,
            false => JobLifetime::OfItsInput,
        };
        for (index, task) in file.tasks.iter().enumerate() {
            let packet = TaskPacket::new(&visit, task, (&self.directory, directory));
            let place = (self.program.as_path(), self.directory.as_path());
            let text = packet_script(place, &packet, lifetime, &self.settings)?;
            let place = TaskPlace { batch, index };
            self.folder.write_task_script(place, &text)?;
        }
        Ok(())
    }
}

impl OpenTask {
    fn new(task: ClusterTask, job: String) -> Self {
        Self {
            task,
            job,
            report: None,
            size: 0,
            over_since: None,
        }
    }
}
