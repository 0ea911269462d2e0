//! `lapwing mds|plan --executor slurm`: the experiments of a simulation are made by jobs.
//!
//! Each experiment depends on its task alone, so the client does what it would do without jobs, with the experiments
//! that they made. Those that are missing it makes itself: the result is the same, whatever jobs there were.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use lapwing_analyse::judge::{ExperimentSource, ExperimentTask, SharedSource};
use lapwing_measure::session::cluster::{
    JobBatch, JobError, JobReport, JobScheduler, JobState, LONGEST_POLL, PATIENCE, SHORTEST_POLL,
    SharedFolder, TaskPlace, job_script, pause, printed_by, program_of, scheduler_of,
    shared_folder,
};
use lapwing_measure::suite::{ClusterSettings, ExecutorTables};
use lapwing_measure::{Consumer, Event, JobCounts};
use lapwing_model::text::{counted, plural};
use lapwing_stats::Experiments;

use super::super::progress::RunProgress;
use super::options::{ClusterOptions, ExecutorChoice};
use super::shares::{JobShare, ShareBatch, read_share, store_copy};
use crate::error::CliError;
use crate::options::Context;
use crate::session::{TOOL, catch_signals, interrupts, new_id};
use crate::suite_file;

/// The machines that simulate.
#[derive(Debug, Clone, Default, Args)]
pub struct SimulationJobs {
    #[command(flatten)]
    cluster: ClusterOptions,
    /// The share of this job.
    #[arg(long, hide = true, value_parser = JobShare::parse)]
    pub share: Option<JobShare>,
}

/// The usual number of jobs where the number of nodes is unknown, and the most.
const USUAL_JOBS: usize = 8;
const MOST_USUAL_JOBS: usize = 64;
/// How long to wait for the file of a job that has ended: a network file system may delay it.
const GRACE: Duration = Duration::from_secs(5);

/// The beginning of a simulation.
pub enum SimulationStart {
    /// All experiments are made here.
    Here,
    /// Jobs have made experiments.
    Made(Arc<KnownExperiments>),
    /// The user interrupted the jobs.
    Interrupted,
}

/// Experiments that were made by jobs.
pub struct KnownExperiments {
    known: BTreeMap<String, Experiments>,
    missed: AtomicUsize,
}

impl ExperimentSource for KnownExperiments {
    fn experiments(&self, task: &ExperimentTask, make: &dyn Fn() -> Experiments) -> Experiments {
        self.known.get(&task.key).cloned().unwrap_or_else(|| {
            self.missed.fetch_add(1, Ordering::Relaxed);
            make()
        })
    }
}

impl SimulationStart {
    /// Returns the source of experiments.
    pub fn source(&self) -> Option<SharedSource> {
        match self {
            Self::Made(known) => Some(SharedSource(Arc::<KnownExperiments>::clone(known))),
            Self::Here | Self::Interrupted => None,
        }
    }

    /// Says, after the simulation, how much of it jobs have not made.
    pub fn note_missed(&self, context: &Context) {
        if let Self::Made(known) = self
            && let missed @ 1.. = known.missed.load(Ordering::Relaxed)
        {
            context.terminal.note(&format!(
                "{} of a simulation {} not made by jobs, and made here",
                counted(missed, "part"),
                plural(missed, "was", "were")
            ));
        }
    }
}

impl SimulationJobs {
    /// Returns whether the simulation is made by jobs.
    pub fn are_used(&self) -> bool {
        self.cluster.executor != ExecutorChoice::Local
    }

    /// Lets jobs make the experiments of this process's command; `suite` is the suite file of its options.
    pub fn start(
        &self,
        suite: Option<PathBuf>,
        context: &Context,
    ) -> Result<SimulationStart, CliError> {
        let tables = match suite.filter(|_| self.are_used()) {
            Some(path) => suite_file::load_executors(&path)?,
            None => ExecutorTables::default(),
        };
        let Some(settings) = self.cluster.settings(tables)? else {
            return Ok(SimulationStart::Here);
        };
        if self.cluster.leave_jobs() {
            return Err(CliError::input(
                "--cluster leave_jobs=yes: a simulation cannot be resumed",
            ));
        }
        let mut cluster = SimulationCluster::open(settings, context)?;
        let end = cluster.make(self.cluster.jobs());
        let removed = cluster.folder.remove();
        if removed.is_err() {
            // A job that is being cancelled may just have written something.
            pause(Duration::from_secs(1), interrupts());
            let _stays = cluster.folder.remove();
        }
        end
    }
}

/// The jobs of a simulation.
struct SimulationCluster<'a> {
    name: String,
    settings: ClusterSettings,
    scheduler: Box<dyn JobScheduler>,
    folder: SharedFolder,
    context: &'a Context,
    progress: RunProgress<'a>,
    counts: JobCounts,
}

/// A job that is not over.
struct OpenShare {
    number: u64,
    place: TaskPlace,
    job: String,
    report: Option<JobReport>,
    over_since: Option<Instant>,
}

/// The end of the jobs of a batch.
enum BatchEnd {
    /// The shares that are incomplete.
    Over(Vec<OpenShare>),
    Interrupted,
}

impl<'a> SimulationCluster<'a> {
    fn open(settings: ClusterSettings, context: &'a Context) -> Result<Self, CliError> {
        catch_signals()?;
        let store = crate::store::open_for_reading(context)?;
        let name = format!("simulation-{}", new_id());
        let folder = SharedFolder::create(&shared_folder(&settings, &context.store)?.join(&name))?;
        store.upkeep().copy_to(&store_copy(&folder))?;
        Ok(Self {
            name,
            scheduler: scheduler_of(&settings),
            settings,
            folder,
            context,
            progress: RunProgress::new(context),
            counts: JobCounts::default(),
        })
    }

    /// Runs all jobs, those that fail again, and reads what they made.
    fn make(&mut self, jobs: Option<usize>) -> Result<SimulationStart, CliError> {
        let usual = || match self.scheduler.nodes() {
            Ok(nodes) => nodes.len().clamp(1, MOST_USUAL_JOBS),
            Err(_unknown) => USUAL_JOBS,
        };
        let of = jobs.unwrap_or_else(usual) as u64;
        if !self.context.quiet {
            let jobs = counted(of, "job");
            self.context.terminal.say(&format!("simulating in {jobs}"));
        }
        let mut known = BTreeMap::new();
        let mut shares: Vec<u64> = (0..of).collect();
        for attempt in 0..=self.settings.retries {
            let open = match self.submit(&shares, of) {
                Ok(open) => open,
                Err(error) if attempt == 0 => {
                    return Err(CliError::input(error).consequence("nothing was simulated"));
                }
                Err(_refused) => break,
            };
            let failed = match self.wait(open, &mut known)? {
                BatchEnd::Over(failed) => failed,
                BatchEnd::Interrupted => return Ok(SimulationStart::Interrupted),
            };
            shares = failed.iter().map(|it| it.number).collect();
            let Some(first) = failed.first() else {
                break;
            };
            let then = if attempt < self.settings.retries {
                "submitted again"
            } else {
                "their shares are simulated here"
            };
            self.context.terminal.note(&format!(
                "{} failed, {then}; {}",
                counted(failed.len(), "job"),
                self.reason(first)
            ));
        }
        Ok(SimulationStart::Made(Arc::new(KnownExperiments {
            known,
            missed: AtomicUsize::new(0),
        })))
    }

    /// Returns why a job failed, as far as known.
    fn reason(&self, share: &OpenShare) -> String {
        let word = share.report.as_ref().map_or("unknown", |it| &it.word);
        match printed_by(&self.folder, share.place) {
            Some(printed) => format!("{} ({word}) printed:\n{printed}", share.job),
            None => format!("{} ({word}) printed nothing", share.job),
        }
    }

    fn submit(&mut self, shares: &[u64], of: u64) -> Result<Vec<OpenShare>, JobError> {
        let arguments = std::env::args_os().skip(1);
        let directory = self.context.machine.places().directory.clone();
        let number = self.folder.add_batch(&ShareBatch {
            tool: TOOL.to_owned(),
            arguments: arguments
                .map(|it| it.to_string_lossy().into_owned())
                .collect(),
            directory: directory.clone(),
            shares: shares.to_vec(),
            of,
        })?;
        let program = program_of(&self.settings, &self.context.surroundings());
        let set_up = &self.settings.set_up;
        let text = job_script(
            &program,
            "cluster-share",
            self.folder.path(),
            number,
            set_up,
        );
        self.folder.write_script(number, &text)?;
        let jobs = self.scheduler.submit(&JobBatch {
            name: format!("lapwing-{}-{number}", self.name),
            script: self.folder.script(number),
            tasks: shares.len(),
            logs: self.folder.logs(),
            log_prefix: number.to_string(),
            directory,
            in_flight: self.settings.in_flight,
            node: None,
        })?;
        let open = shares.iter().zip(jobs).enumerate();
        let open = open.map(|(index, (share, job))| OpenShare {
            number: *share,
            place: TaskPlace {
                batch: number,
                index,
            },
            job,
            report: None,
            over_since: None,
        });
        Ok(open.collect())
    }

    /// Waits until all of these jobs are over, and reads what they made.
    fn wait(
        &mut self,
        mut open: Vec<OpenShare>,
        known: &mut BTreeMap<String, Experiments>,
    ) -> Result<BatchEnd, CliError> {
        let mut failed = Vec::new();
        let mut poll = SHORTEST_POLL;
        let mut answered = Instant::now();
        while !open.is_empty() {
            let counts = self.count(&open);
            self.progress
                .take(&Event::Jobs(&counts))
                .map_err(CliError::input)?;
            if interrupts().count() > 0 {
                let jobs: Vec<&str> = open.iter().map(|it| it.job.as_str()).collect();
                self.scheduler.cancel(&jobs)?;
                let jobs = counted(jobs.len(), "job");
                let said = if self.scheduler.can_cancel() {
                    format!("cancelled {jobs}")
                } else {
                    format!("{jobs} not cancelled: [executor.command] has no `cancel`")
                };
                self.context.terminal.say(&said);
                return Ok(BatchEnd::Interrupted);
            }
            pause(poll, interrupts());
            let jobs: Vec<&str> = open.iter().map(|it| it.job.as_str()).collect();
            match self.scheduler.states(&jobs) {
                Ok(states) => {
                    answered = Instant::now();
                    open.iter_mut()
                        .for_each(|it| it.update(states.get(&it.job)));
                }
                Err(error) if answered.elapsed() > PATIENCE => return Err(error.into()),
                Err(_later) => {}
            }
            for share in std::mem::take(&mut open) {
                match share.over_since {
                    None => open.push(share),
                    Some(_) if read_share(&self.folder.records(share.place), known) => {
                        self.counts.done += 1;
                    }
                    Some(since) if since.elapsed() < GRACE => open.push(share),
                    Some(_) => failed.push(share),
                }
            }
            poll = if self.count(&open) == counts {
                (poll * 5 / 4).min(LONGEST_POLL)
            } else {
                SHORTEST_POLL
            };
        }
        let counts = self.count(&open);
        self.progress
            .take(&Event::Jobs(&counts))
            .map_err(CliError::input)?;
        Ok(BatchEnd::Over(failed))
    }

    fn count(&self, open: &[OpenShare]) -> JobCounts {
        let mut counts = self.counts.clone();
        for share in open {
            match &share.report {
                Some(report) if report.state != JobState::Queued => {
                    counts.running += 1;
                    counts.nodes.extend(report.node.clone());
                }
                Some(_) | None => counts.queued += 1,
            }
        }
        counts
    }
}

impl OpenShare {
    fn update(&mut self, report: Option<&JobReport>) {
        let is_over = report.is_none_or(|it| it.state.is_over());
        // The last report of a job stays valid when the scheduler forgets the job.
        self.report = report.cloned().or_else(|| self.report.take());
        if is_over {
            _ = self.over_since.get_or_insert_with(Instant::now)
        } else {
            self.over_since = None
        }
    }
}
