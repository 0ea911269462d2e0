//! Errors of sessions.

use std::io;
use std::path::PathBuf;

use lapwing_record::StoreError;

use super::cluster::JobError;
use crate::pytest::CollectError;
use crate::{CommitsError, ExecutorError, RunError};

/// A session that cannot be measured, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Nothing could be started, or measuring had to stop before the session was opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Measuring had to stop.
    #[error("{source}")]
    Ended {
        /// The reason.
        source: RunError,
        /// The file with everything measured; `None` if it is in the store.
        file: Option<PathBuf>,
    },
    /// No job could be submitted, and nothing was stored.
    #[error("{source}")]
    NothingSubmitted {
        /// The reason.
        source: RunError,
    },
    /// Everything was measured, and the store failed.
    #[error("{source}")]
    NotStored {
        /// The file with everything measured.
        file: PathBuf,
        /// The error of the store.
        source: StoreError,
    },
    /// No record file can be written.
    #[error("{source}")]
    NoRecordFile {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user interrupted the preparation.
    #[error("interrupted")]
    Interrupted,
    /// A variant has processors that do not exist.
    #[error("`cpus` of {variant}: {reason}")]
    Processors {
        /// The variant.
        variant: String,
        /// The reason.
        reason: String,
    },
    /// There is no folder for checked-out commits.
    #[error("{source}")]
    NoCommitFolder {
        /// The reason.
        source: io::Error,
    },
    /// There is no folder for Python environments.
    #[error("{source}")]
    NoEnvironmentFolder {
        /// The reason.
        source: io::Error,
    },
    /// Commits cannot be found.
    #[error(transparent)]
    Commits(#[from] CommitsError),
    /// Commits are to be measured, and the suite names no repository.
    #[error(
        "measuring commits needs the repository of what is measured, and [version] of the suite names something else"
    )]
    NoRepository,
    /// Pytest cannot say which tests there are.
    #[error(transparent)]
    Tests(#[from] CollectError),
    /// No Python environment in which tests could be found was built.
    #[error("no Python environment of the variants can be built")]
    NoEnvironment,
    /// The folder that the machines of a cluster share cannot be used.
    #[error("{source}")]
    SharedFolder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file of the shared folder cannot be read or written.
    #[error(transparent)]
    Shared(#[from] io::Error),
    /// The scheduler of a cluster failed.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The executor of a stored session is of another version.
    #[error("{source}")]
    StoredExecutor {
        /// The reason.
        source: serde_json::Error,
    },
    /// A plan cannot be stored.
    #[error(transparent)]
    Plan(#[from] serde_json::Error),
    /// There is no session to resume.
    #[error("there is no session to resume")]
    NothingToResume,
    /// Another process measures the session.
    #[error("session `{name}` is being measured just now, by another process")]
    UnderWay {
        /// The session.
        name: String,
    },
    /// A session ended before its runs were recorded.
    #[error("session `{name}` was ended before anything was measured")]
    EndedEarly {
        /// The session.
        name: String,
    },
    /// A session has no plan.
    #[error("session `{name}` was not measured by `lapwing run`, so there is nothing to resume")]
    NoPlan {
        /// The session.
        name: String,
    },
    /// The plan of a session is of another version.
    #[error("{source}")]
    StoredPlan {
        /// The session.
        name: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// A job has no task.
    #[error("batch {batch} has no task {index}")]
    NoTask {
        /// The batch.
        batch: u32,
        /// The task.
        index: usize,
    },
    /// A job is of another version than its session.
    #[error("this program is {own}, and the session is measured by {tool}")]
    OtherTool {
        /// This program.
        own: String,
        /// That of the session.
        tool: String,
    },
}

impl From<ExecutorError> for SessionError {
    fn from(error: ExecutorError) -> Self {
        Self::Run(RunError::Executor(error))
    }
}
