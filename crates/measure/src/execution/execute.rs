//! One execution of a command: request and result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::suite::{CommandLine, Confinement};

/// One execution of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// What to execute.
    pub command: CommandLine,
    /// Where.
    pub directory: Option<PathBuf>,
    /// Variables added to the environment of this program.
    pub environment: BTreeMap<String, String>,
    /// What it reads.
    pub stdin: Stdin,
    /// After this long the whole process group is ended.
    pub time_limit: Option<Duration>,
    /// How much of the end of standard output to keep, in bytes.
    pub keep_stdout: usize,
    /// How much of the end of standard error to keep, in bytes.
    pub keep_stderr: usize,
    /// Whether the optional counters (control group, hardware) are wanted.
    pub counters: bool,
    /// The policy for processes that it leaves behind.
    #[serde(default)]
    pub leftovers: LeftoverPolicy,
    /// The processors that it may run on; `None` for those of this program.
    pub cpus: Option<Vec<usize>>,
    /// Limits on what it may use and see; `None` for none.
    pub confinement: Option<Confinement>,
}

impl Execution {
    /// Returns the execution of a command without anything else said: it reads nothing, and no output is kept.
    pub fn new(command: CommandLine) -> Self {
        Self {
            command,
            directory: None,
            environment: BTreeMap::new(),
            stdin: Stdin::Null,
            time_limit: None,
            keep_stdout: 0,
            keep_stderr: 0,
            counters: false,
            leftovers: LeftoverPolicy::End,
            cpus: None,
            confinement: None,
        }
    }
}

/// The policy for processes that an execution leaves behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftoverPolicy {
    /// They are ended: they would disturb the next measurement.
    #[default]
    End,
    /// They stay until [`Executor::end_kept`], as a server does that `setup` starts.
    Keep,
}

/// What an execution reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// A file.
    File(PathBuf),
    /// These bytes, which are sent after what is said of the execution.
    Bytes(#[serde(skip)] Vec<u8>),
}

/// The result of an execution.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionResult {
    /// How it ended.
    pub end: ExecutionEnd,
    /// From just before it was started until it was gone, by the monotonic clock.
    pub wall: Duration,
    /// What the operating system counted; `None` if it never started.
    pub usage: Option<ResourceUsage>,
    /// The end of its standard output.
    pub stdout: OutputTail,
    /// The end of its standard error.
    pub stderr: OutputTail,
    /// How many processes it left behind; they were ended.
    pub left_behind: u32,
}

impl ExecutionResult {
    /// Returns the result of an execution that never began.
    pub(crate) fn without_start(end: ExecutionEnd) -> Self {
        Self {
            end,
            wall: Duration::ZERO,
            usage: None,
            stdout: OutputTail::default(),
            stderr: OutputTail::default(),
            left_behind: 0,
        }
    }
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was ended at its time limit.
    TimedOut,
    /// It was ended because the session was interrupted.
    Interrupted,
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// Resource usage of an execution, by the operating system, including the children that it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUsage {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// Largest resident set of any one process, in bytes.
    pub peak_memory: u64,
    /// Page faults served without reading from disk.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Times that it gave the processor up.
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
    /// Bytes read from block devices.
    pub block_input: u64,
    /// Bytes written to block devices.
    pub block_output: u64,
    /// Peak memory of its control group, in bytes; `None` if unavailable.
    pub cgroup_peak_memory: Option<u64>,
    /// Instructions executed; `None` if they cannot be counted.
    pub instructions: Option<u64>,
    /// Processor cycles; `None` if they cannot be counted.
    pub cycles: Option<u64>,
}

/// The end of the output of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTail {
    /// The last bytes.
    pub bytes: Vec<u8>,
    /// How many bytes there were in all.
    pub total: u64,
}

impl OutputTail {
    /// Returns the last bytes as a text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Executes commands. The runner does not know where.
pub trait Executor {
    /// Starts a command; [`Executor::finish`] waits for it. Two executors can execute at the same time.
    ///
    /// # Errors
    /// When the surroundings are broken, never because of the command.
    fn begin(&mut self, execution: &Execution) -> Result<(), ExecutorError>;

    /// Waits for the command that was started.
    ///
    /// # Errors
    /// When the surroundings are broken, never because of the command.
    fn finish(&mut self) -> Result<ExecutionResult, ExecutorError>;

    /// Executes a command once and waits for it.
    ///
    /// # Errors
    /// When the surroundings are broken, never because of the command.
    fn execute(&mut self, execution: &Execution) -> Result<ExecutionResult, ExecutorError> {
        self.begin(execution)?;
        self.finish()
    }

    /// Ends what executions with [`LeftoverPolicy::Keep`] left behind.
    ///
    /// # Errors
    /// When the surroundings are broken.
    fn end_kept(&mut self) -> Result<(), ExecutorError>;
}

/// The surroundings in which commands are executed are broken.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// The helper process that starts commands is gone or cannot be started.
    #[error("cannot start commands: {doing}")]
    Launcher {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Commits would be installed into a Python environment that another search has in use.
    #[error("cannot install commits: {0}")]
    EnvironmentInUse(#[source] std::io::Error),
    /// The processors to run on are wrongly stated or not there.
    #[error(transparent)]
    Cpus(#[from] super::super::local::CpusError),
}

/// What time it is. The measuring clock of an execution belongs to its executor.
pub trait Clock {
    /// Returns the wall-clock time, for records.
    fn now(&self) -> jiff::Timestamp;
    /// Returns the time since some fixed moment, for intervals.
    fn elapsed(&self) -> Duration;
}
