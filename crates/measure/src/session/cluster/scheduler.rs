//! The interface of a cluster's scheduler: it starts jobs, reports their states, and cancels them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Starts jobs, tells their states and cancels them. A new scheduler is a file with the five functions that have no
/// default.
pub trait JobScheduler {
    /// Starts the jobs of a batch and returns their ids, in the order of its tasks.
    fn submit(&mut self, batch: &JobBatch) -> Result<Vec<String>, JobError>;

    /// Returns what is known of these jobs, by one question for all; a job that the scheduler has forgotten is absent.
    fn states(&mut self, jobs: &[&str]) -> Result<BTreeMap<String, JobReport>, JobError>;

    /// Cancels jobs; those that ended are left alone.
    fn cancel(&mut self, jobs: &[&str]) -> Result<(), JobError>;

    /// Returns whether jobs can be cancelled.
    fn can_cancel(&self) -> bool {
        true
    }

    /// Returns whether jobs continue when this process has ended.
    fn jobs_outlive_client(&self) -> bool {
        true
    }

    /// Writes what a job has printed until now to a file, where its records are in that and the file is not written
    /// while it runs.
    fn fetch(&mut self, _job: &str, _output: &Path) -> Result<(), JobError> {
        Ok(())
    }

    /// Ends what may be left of a job whose records are complete.
    fn release(&mut self, _job: &str) {}

    /// Returns what people may want to know, once.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the longest time between two questions for the states of jobs.
    fn longest_poll(&self) -> Duration {
        LONGEST_POLL
    }

    /// Returns the jobs of a batch whose ids were never written down, because the process that submitted it was
    /// killed; `None` if it was not submitted.
    fn find(&mut self, batch: &JobBatch) -> Result<Option<Vec<String>>, JobError>;

    /// Returns the command that would start a batch, or its first job.
    fn submission(&self, batch: &JobBatch) -> Command;

    /// Returns whether it starts no more jobs of a batch at the same time than that says.
    fn holds_back(&self) -> bool {
        true
    }

    /// Returns how many jobs a batch may have.
    fn largest_batch(&mut self) -> usize {
        MOST_TASKS
    }

    /// Returns the nodes that jobs may run on, where a job can ask for one of them.
    fn nodes(&mut self) -> Result<Vec<String>, JobError> {
        Err(JobError::NoNodes)
    }
}

/// The longest time between two questions to a scheduler that others use too.
pub const LONGEST_POLL: Duration = Duration::from_secs(10);

/// The largest batch, whatever the scheduler permits.
pub const MOST_TASKS: usize = 10_000;

/// Jobs that are started together.
#[derive(Debug, Clone)]
pub struct JobBatch {
    /// A name that no other batch has.
    pub name: String,
    /// The script of every job; it finds its number in its first argument, or in the scheduler's variable.
    pub script: PathBuf,
    /// The folder of what jobs print if they share none with the client: `PREFIX-NUMBER.txt`. Each has a script of its
    /// own then.
    pub outputs: Option<PathBuf>,
    /// The number of jobs.
    pub tasks: usize,
    /// The folder of what the jobs print: `PREFIX-NUMBER.txt`.
    pub logs: PathBuf,
    /// The beginning of those names.
    pub log_prefix: String,
    /// The working directory.
    pub directory: PathBuf,
    /// The largest number that run at the same time.
    pub in_flight: Option<u32>,
    /// The node that all must run on.
    pub node: Option<String>,
}

impl JobBatch {
    /// Returns the script of a job.
    pub fn script_of(&self, task: usize) -> PathBuf {
        match &self.outputs {
            Some(_) => self
                .script
                .with_file_name(format!("batch-{}-{task}.sh", self.log_prefix)),
            None => self.script.clone(),
        }
    }

    /// Returns the file for what a job says to people.
    pub fn log_of(&self, task: usize) -> PathBuf {
        self.logs.join(format!("{}-{task}.txt", self.log_prefix))
    }

    /// Returns the file for what a job prints, with its records; `None` if it writes them to a shared folder.
    pub fn output_of(&self, task: usize) -> Option<PathBuf> {
        let outputs = self.outputs.as_ref()?;
        Some(outputs.join(format!("{}-{task}.txt", self.log_prefix)))
    }
}

/// The report of a scheduler on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// The state.
    pub state: JobState,
    /// The scheduler's own word, such as `OUT_OF_MEMORY`.
    pub word: String,
    /// The end of its script, such as `exit code 1` or `signal 9`.
    pub exit: Option<String>,
    /// The node that it ran on.
    pub node: Option<String>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// It waits for a node.
    Queued,
    /// It runs.
    Running,
    /// It ended by itself and well.
    Completed,
    /// Its script failed or was killed.
    Failed,
    /// It was ended at its time limit.
    TimedOut,
    /// It was ended because it used too much memory.
    OutOfMemory,
    /// Somebody cancelled it.
    Cancelled,
    /// The machine or the scheduler failed, or another job took its place.
    Lost,
}

impl JobState {
    /// Returns whether a job in this state does nothing any more.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Completed
            | Self::Failed
            | Self::TimedOut
            | Self::OutOfMemory
            | Self::Cancelled
            | Self::Lost => true,
        }
    }

    /// Returns the state that a word of Slurm means, in any case; other schedulers use the same words.
    pub fn of_word(word: &str) -> Option<Self> {
        // `CANCELLED by 1000` of sacct.
        let word = word.split_ascii_whitespace().next()?;
        Some(match word.to_ascii_uppercase().as_str() {
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED"
            | "SPECIAL_EXIT" | "RESV_DEL_HOLD" | "QUEUED" | "WAITING" => Self::Queued,
            "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
            | "RESIZING" => Self::Running,
            "COMPLETED" | "DONE" | "SUCCEEDED" => Self::Completed,
            "FAILED" | "ERROR" => Self::Failed,
            "TIMEOUT" | "DEADLINE" => Self::TimedOut,
            "OUT_OF_MEMORY" | "OOM" => Self::OutOfMemory,
            "CANCELLED" => Self::Cancelled,
            "NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "REVOKED" | "LOST" => Self::Lost,
            _ => return None,
        })
    }
}

/// A scheduler did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Its program cannot be started.
    #[error("`{program}` cannot be started")]
    NotStarted {
        /// The program.
        program: String,
        #[source]
        /// The reason.
        source: io::Error,
    },
    /// Its program failed.
    #[error("`{program}` failed ({how}): {message}")]
    Refused {
        /// The program.
        program: String,
        /// Its exit code or signal.
        how: String,
        /// Its standard error.
        message: String,
    },
    /// The output of its program cannot be read.
    #[error("`{program}` printed `{text}`, not {expected}")]
    Unreadable {
        /// The program.
        program: String,
        /// Its output.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Its program does not end.
    #[error("`{program}` does not answer: it was ended after {} s", waited.as_secs())]
    Silent {
        /// The program.
        program: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// No host is left that could measure.
    #[error("no host is left to measure on: {reason}")]
    NoHosts {
        /// The last failure of each.
        reason: String,
    },
    /// The folder of the jobs' files cannot be used.
    #[error("the folder of the jobs cannot be used")]
    Folder(#[from] io::Error),
    /// It does not have nodes that a job can ask for.
    #[error("this executor cannot choose nodes")]
    NoNodes,
}
