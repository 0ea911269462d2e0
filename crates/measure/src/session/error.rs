//! Errors of sessions.

use std::io;
use std::path::PathBuf;

use lapwing_model::text::counted;
use lapwing_record::StoreError;

use super::cluster::JobError;
use crate::local::CoresError;
use crate::pytest::CollectError;
use crate::suite::SuiteProblem;
use crate::{CommitsError, ExecutorError, ProfilerError, RunError};

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
    #[error("{0}")]
    NothingSubmitted(#[source] RunError),
    /// No job of an analysis could be submitted.
    #[error("{0}")]
    NothingShared(#[source] JobError),
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
    /// The suite does not have something.
    #[error("the suite has no {kind} `{name}`")]
    Unknown {
        /// `benchmark`, `tag` or `variant`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// A known name that looks like it.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// No benchmark has both a name and a tag that were asked for.
    #[error("no benchmark has both such a name and such a tag")]
    NothingSelected,
    /// The control would have the name of a variant.
    #[error("the suite has a variant `{0}` already")]
    ControlExists(String),
    /// Two tables of a suite contradict each other.
    #[error("{}: {problem}", path.display())]
    Contradiction {
        /// The suite file.
        path: PathBuf,
        /// The problem.
        problem: SuiteProblem,
    },
    /// Commands cannot be planned.
    #[error(transparent)]
    Commands(SuiteProblem),
    /// A file or directory of a benchmark does not exist.
    #[error("`{key}` of `{benchmark}`: {} does not exist", path.display())]
    MissingInput {
        /// The key of the suite file.
        key: &'static str,
        /// The benchmark.
        benchmark: String,
        /// The path.
        path: PathBuf,
    },
    /// Variants that have commits of their own are to be measured at other commits.
    #[error(
        "--commits measures every variant at each commit, and a variant has its own by `worktree` or a patch"
    )]
    CommitsOfVariants,
    /// A duet has another number of sides.
    #[error("--duet measures two sides at the same time, got {}", match (of_commands, are_commits) {
        (true, false) => counted(*commands, "command"),
        (_, true) => counted(*variants, "commit"),
        (false, false) => counted(*variants, "variant"),
    })]
    NotTwoSides {
        /// Whether commands are measured, and not a suite.
        of_commands: bool,
        /// The number of commands.
        commands: usize,
        /// The number of variants.
        variants: usize,
        /// Whether the variants are commits.
        are_commits: bool,
        /// Whether one of them is a control.
        has_control: bool,
    },
    /// Tests of pytest are to be measured as a duet.
    #[error(
        "--duet measures commands, and `{0}` is a test of pytest, whose iterations pytest starts itself"
    )]
    DuetOfTests(String),
    /// The suite measures commits one after another.
    #[error(
        "--duet measures two commits at the same time, and this suite measures them one after another"
    )]
    DuetOneAfterAnother,
    /// There are not enough cores for a duet.
    #[error(transparent)]
    Cores(#[from] CoresError),
    /// The profiler cannot be used.
    #[error(transparent)]
    Profiler(#[from] ProfilerError),
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
    #[error("{0}")]
    NoCommitFolder(#[source] io::Error),
    /// There is no folder for Python environments.
    #[error("{0}")]
    NoEnvironmentFolder(#[source] io::Error),
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
    /// The tests are in Python environments that a dry run does not build.
    #[error(
        "the tests are in Python environments that are not built yet, and a dry run builds none"
    )]
    UnbuiltEnvironment,
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
    #[error("{0}")]
    StoredExecutor(#[source] serde_json::Error),
    /// A plan cannot be stored.
    #[error(transparent)]
    Plan(#[from] serde_json::Error),
    /// There is no session to resume.
    #[error("there is no session to resume")]
    NothingToResume,
    /// A session came from elsewhere.
    #[error(
        "session `{0}` is not known to have been opened in this store: its commands are not executed"
    )]
    NotOpenedHere(String),
    /// A session was opened by another user, on another host or in another store.
    #[error(
        "session `{session}` was opened by user {user} on host `{host}`{}: its commands are executed only there",
        if *.is_other_store { ", in another store" } else { "" }
    )]
    OpenedElsewhere {
        /// The session.
        session: String,
        /// The host.
        host: String,
        /// The number of the user.
        user: u32,
        /// Whether it was opened in another store.
        is_other_store: bool,
    },
    /// Another process measures the session.
    #[error("session `{0}` is being measured just now, by another process")]
    UnderWay(String),
    /// A session ended before its runs were recorded.
    #[error("session `{0}` was ended before anything was measured")]
    EndedEarly(String),
    /// A session has no plan.
    #[error("session `{0}` was not measured by `lapwing run`, so there is nothing to resume")]
    NoPlan(String),
    /// The plan of a session had texts that are not kept.
    #[error(
        "session `{name}` cannot be measured again: its plan had a text that is not kept ({what})"
    )]
    HiddenPlan {
        /// The session.
        name: String,
        /// The kind of the text.
        what: String,
    },
    /// The plan of a session is of another version.
    #[error("{source}")]
    StoredPlan {
        /// The session.
        name: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// Jobs are to stay when the client ends, and cannot.
    #[error("leave_jobs=yes: jobs on hosts of ssh end with the client")]
    JobsEndWithClient,
    /// Jobs of an analysis have no folder for what they make.
    #[error(
        "jobs of an analysis need a folder that they share with the client, and this executor has none"
    )]
    NoSharedFolder,
    /// A job has a packet that cannot be read.
    #[error("this job has no task: {0}")]
    Packet(#[source] serde_json::Error),
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
