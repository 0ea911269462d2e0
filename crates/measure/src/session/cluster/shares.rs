//! Analyses as jobs: each job calls a command again, which does its share of the work and writes the results to a file
//! in the shared folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lapwing_model::text::{counted, plural};
use serde::{Deserialize, Serialize};

use super::collecting::{PATIENCE, pause};
use super::endings::printed_by;
use super::folder::{SharedFolder, TaskPlace};
use super::heartbeat::{Heartbeat, abandoned_folders};
use super::measurement::{SHORTEST_POLL, broken, program_of, scheduler_of, shared_folder};
use super::scheduler::{JobBatch, JobError, JobReport, JobScheduler, JobState};
use super::script::job_script;
use crate::session::{SessionError, SessionRemark, SessionSurroundings};
use crate::suite::ClusterSettings;
use crate::{Consumer, Event, JobCounts, RunEnd};

/// The usual number of jobs where the number of nodes is unknown, and the most.
const USUAL_JOBS: usize = 8;
const MOST_USUAL_JOBS: usize = 64;
/// How long to wait for the file of a job that has ended: a network file system may delay it.
const GRACE: Duration = Duration::from_secs(5);

/// What jobs find in the shared folder, beside what they are to do.
pub trait ShareFiles {
    /// Writes it for so many jobs.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write(&self, folder: &SharedFolder, jobs: u64) -> Result<(), SessionError>;
}

/// An analysis to spread over jobs.
#[derive(Debug, Clone)]
pub struct ClusterShares {
    /// What jobs do, for sentences: `simulating`.
    pub doing: &'static str,
    /// How the shares are jobs.
    pub settings: ClusterSettings,
    /// The arguments of the command that each job calls.
    pub arguments: Vec<String>,
    /// The number of jobs; `None` for one per node.
    pub jobs: Option<usize>,
}

/// The jobs of an array, each a share of an analysis.
#[derive(Debug, Serialize, Deserialize)]
pub struct ShareBatch {
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The arguments of the command to call.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// The numbers of the shares.
    pub shares: Vec<u64>,
    /// The number of all shares.
    pub of: u64,
}

impl ShareBatch {
    /// Returns the copy of the store in a shared folder.
    pub fn store(folder: &SharedFolder) -> PathBuf {
        folder.path().join("store.db")
    }

    /// Returns the file of the work of a share, where jobs do not read the store.
    pub fn work(folder: &SharedFolder, share: u64) -> PathBuf {
        folder.path().join(format!("share-{share}.jsonl"))
    }
}

impl ClusterShares {
    /// Runs all jobs, those that fail again. `read` takes what a job has written until now from a file, and returns
    /// whether it is complete.
    ///
    /// # Errors
    ///
    /// If the shared folder or the scheduler cannot be used.
    pub fn run(
        self,
        files: &dyn ShareFiles,
        progress: &mut dyn Consumer,
        read: &mut dyn FnMut(&Path) -> bool,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<RunEnd, SessionError> {
        if !self.settings.shares_folder() {
            return Err(SessionError::NoSharedFolder);
        }
        let name = format!("shares-{}", (surroundings.new_id)());
        let parent = shared_folder(&self.settings, surroundings.store)?;
        let mut scheduler = scheduler_of(&self.settings, surroundings.interrupts);
        remove_abandoned(&parent, scheduler.as_mut());
        let folder = SharedFolder::create(&parent.join(&name))?;
        let mut heartbeat = Heartbeat::new(folder.path());
        heartbeat.beat()?;
        let jobs = self.jobs.unwrap_or_else(|| {
            let nodes = scheduler.nodes();
            nodes.map_or(USUAL_JOBS, |nodes| nodes.len().clamp(1, MOST_USUAL_JOBS))
        });
        files.write(&folder, jobs as u64)?;
        let mut jobs = ShareJobs {
            name,
            scheduler,
            heartbeat,
            number: jobs,
            work: self,
            folder,
            progress,
            read,
            counts: JobCounts::default(),
            surroundings,
        };
        let end = jobs.run();
        if jobs.folder.remove().is_err() {
            // A job that is being cancelled may just have written something.
            pause(Duration::from_secs(1), surroundings.interrupts);
            let _stays = jobs.folder.remove();
        }
        end
    }
}

/// Removes what clients left that were killed, with their jobs.
pub(super) fn remove_abandoned(parent: &Path, scheduler: &mut dyn JobScheduler) {
    for path in abandoned_folders(parent) {
        let folder = SharedFolder::open(&path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for number in folder.batches().unwrap_or_default() {
            let batch = folder.batch(number).map(|batch: ShareBatch| JobBatch {
                name: batch_name(&name, number),
                script: folder.script(number),
                outputs: None,
                tasks: batch.shares.len(),
                logs: folder.logs(),
                log_prefix: number.to_string(),
                directory: batch.directory,
                in_flight: None,
                node: None,
            });
            // Found by its name: an id may be of another scheduler, or of something else by now. Jobs that are not found
            // end by themselves, when they notice or have no folder.
            let jobs = batch.ok().and_then(|batch| scheduler.find(&batch).ok()?);
            let jobs = jobs.unwrap_or_default();
            let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
            if !jobs.is_empty() {
                let _best_effort = scheduler.cancel(&jobs);
            }
        }
        let _stays = folder.remove();
    }
}

fn batch_name(folder: &str, number: u32) -> String {
    format!("lapwing-{folder}-{number}")
}

/// The jobs of an analysis.
struct ShareJobs<'a> {
    name: String,
    work: ClusterShares,
    /// The number of shares.
    number: usize,
    scheduler: Box<dyn JobScheduler>,
    folder: SharedFolder,
    heartbeat: Heartbeat,
    progress: &'a mut dyn Consumer,
    read: &'a mut dyn FnMut(&Path) -> bool,
    counts: JobCounts,
    surroundings: &'a SessionSurroundings<'a>,
}

/// A job that is not over.
struct OpenShare {
    number: u64,
    place: TaskPlace,
    job: String,
    report: Option<JobReport>,
    over_since: Option<Instant>,
}

impl ShareJobs<'_> {
    fn run(&mut self) -> Result<RunEnd, SessionError> {
        self.surroundings.remark(SessionRemark::Sharing {
            doing: self.work.doing,
            jobs: self.number,
        });
        let of = self.number as u64;
        let mut shares: Vec<u64> = (0..of).collect();
        let retries = self.work.settings.retries;
        for attempt in 0..=retries {
            let open = match self.submit(&shares, of) {
                Ok(open) => open,
                Err(source) if attempt == 0 => {
                    return Err(SessionError::NothingShared(source));
                }
                Err(_refused) => break,
            };
            let Some(failed) = self.wait(open)? else {
                return Ok(RunEnd::Interrupted);
            };
            shares = failed.iter().map(|share| share.number).collect();
            let Some(first) = failed.first() else {
                break;
            };
            let then = match plural(failed.len(), "its", "their") {
                _ if attempt < retries => "submitted again".to_owned(),
                whose => format!("{whose} work is done here"),
            };
            self.surroundings.remark(SessionRemark::Note(format!(
                "{} failed, {then}; {}",
                counted(failed.len(), "job"),
                self.reason(first)
            )));
        }
        Ok(RunEnd::Complete)
    }

    /// Returns why a job failed, as far as known.
    fn reason(&self, share: &OpenShare) -> String {
        let report = share.report.as_ref();
        let word = report.map_or("unknown", |report| &report.word);
        match printed_by(&self.folder, share.place) {
            Some(printed) => format!("{} ({word}) printed:\n{printed}", share.job),
            None => format!("{} ({word}) printed nothing", share.job),
        }
    }

    fn submit(&mut self, shares: &[u64], of: u64) -> Result<Vec<OpenShare>, JobError> {
        let places = self.surroundings.places;
        let settings = &self.work.settings;
        let number = self.folder.add_batch(&ShareBatch {
            tool: places.tool.clone(),
            arguments: self.work.arguments.clone(),
            directory: places.directory.clone(),
            shares: shares.to_vec(),
            of,
        })?;
        let text = job_script(
            &program_of(settings, self.surroundings),
            "cluster-share",
            self.folder.path(),
            number,
            settings,
        );
        self.folder.write_script(number, &text)?;
        let jobs = self.scheduler.submit(&JobBatch {
            name: batch_name(&self.name, number),
            script: self.folder.script(number),
            outputs: None,
            tasks: shares.len(),
            logs: self.folder.logs(),
            log_prefix: number.to_string(),
            directory: places.directory.clone(),
            in_flight: settings.in_flight,
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

    /// Waits until all of these jobs are over, and reads what they made. Returns the shares that are incomplete; `None`
    /// after an interrupt.
    fn wait(&mut self, mut open: Vec<OpenShare>) -> Result<Option<Vec<OpenShare>>, SessionError> {
        let interrupts = self.surroundings.interrupts;
        let mut failed = Vec::new();
        let mut poll = SHORTEST_POLL;
        let mut answered = Instant::now();
        while !open.is_empty() {
            // Without its folder, what jobs do not do is done here.
            let _later = self.heartbeat.beat();
            let counts = self.show_counts(&open)?;
            let jobs: Vec<&str> = open.iter().map(|share| share.job.as_str()).collect();
            if interrupts.count() > 0 {
                self.scheduler.cancel(&jobs)?;
                let jobs = jobs.len();
                self.surroundings.remark(if self.scheduler.can_cancel() {
                    SessionRemark::JobsCancelled { jobs }
                } else {
                    SessionRemark::JobsNotCancelled { jobs }
                });
                return Ok(None);
            }
            pause(poll, interrupts);
            match self.scheduler.states(&jobs) {
                Ok(states) => {
                    answered = Instant::now();
                    for share in &mut open {
                        share.update(states.get(&share.job));
                    }
                }
                Err(error) if answered.elapsed() > PATIENCE => return Err(error.into()),
                Err(_later) => {}
            }
            for share in std::mem::take(&mut open) {
                match share.over_since {
                    None => open.push(share),
                    Some(_) if (self.read)(&self.folder.records(share.place)) => {
                        self.counts.done += 1;
                    }
                    Some(since) if since.elapsed() < GRACE => open.push(share),
                    Some(_) => failed.push(share),
                }
            }
            poll = if self.count(&open) == counts {
                (poll * 5 / 4).min(self.scheduler.longest_poll())
            } else {
                SHORTEST_POLL
            };
        }
        self.show_counts(&open)?;
        Ok(Some(failed))
    }

    fn show_counts(&mut self, open: &[OpenShare]) -> Result<JobCounts, SessionError> {
        let counts = self.count(open);
        self.progress.take(&Event::Jobs(&counts)).map_err(broken)?;
        Ok(counts)
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
        let is_over = report.is_none_or(|report| report.state.is_over());
        // The last report of a job stays valid when the scheduler forgets the job.
        self.report = report.cloned().or_else(|| self.report.take());
        if is_over {
            self.over_since.get_or_insert_with(Instant::now);
        } else {
            self.over_since = None;
        }
    }
}
