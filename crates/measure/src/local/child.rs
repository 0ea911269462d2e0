//! Starts one command, watches it until it is gone, and ends it where it must be ended.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group};

use super::super::{Execution, ExecutionEnd, ResourceUsage};
use super::GRACE;
use super::capture::OutputCapture;
use super::confine::confine;
use super::counters::peak_memory_floor;
use super::isolator::CommandIsolation;
use super::sys;
use crate::suite::CommandLine;
use crate::suite::Confinement;

/// The result of one child.
#[derive(Debug)]
pub(super) struct ChildEnding {
    pub(super) end: ExecutionEnd,
    pub(super) wall: Duration,
    pub(super) usage: Option<ResourceUsage>,
}

impl ChildEnding {
    /// Returns the result of an execution that never began.
    pub(super) fn not_started(reason: String) -> Self {
        Self {
            end: ExecutionEnd::NotStarted(reason),
            wall: Duration::ZERO,
            usage: None,
        }
    }
}

/// Everything but the command that a child needs.
#[derive(Debug)]
pub(super) struct ChildStreams<'a> {
    /// The connection to the program, which closes its side to end the execution.
    pub(super) control: BorrowedFd<'a>,
    /// The launcher's guard, without which nothing is executed.
    pub(super) guard: BorrowedFd<'a>,
    pub(super) stdout: &'a mut OutputCapture,
    pub(super) stderr: &'a mut OutputCapture,
}

/// Returns the command that an execution asks for, or why there is none.
pub(super) fn command(
    execution: &Execution,
    isolation: Option<CommandIsolation>,
    inherited: &BTreeMap<String, String>,
) -> Result<Command, String> {
    if execution.command == CommandLine::Words(Vec::new()) {
        return Err("the command is empty".to_owned());
    }
    let mut command = execution.command.process("/bin/sh");
    if let Some(directory) = &execution.directory {
        if !directory.is_dir() {
            return Err(format!("no such directory: {}", directory.display()));
        }
        command.current_dir(directory);
    }
    if let Some(confinement) = &execution.confinement {
        command
            .env_clear()
            .envs(inherited_variables(confinement, inherited));
    }
    command.envs(&execution.environment);
    if let Some(isolation) = &isolation {
        let scratch = isolation.scratch.path();
        command.env("TMPDIR", scratch).env("HOME", scratch);
    }
    command.process_group(0);
    if let Some(confinement) = &execution.confinement {
        confine(&mut command, confinement, isolation);
    }
    Ok(command)
}

/// Returns those variables that a confined command inherits.
pub(super) fn inherited_variables(
    confinement: &Confinement,
    inherited: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let all = inherited.iter();
    all.filter(|(name, _)| confinement.variables.contains(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Executes a command and waits until it is gone.
///
/// The standard library starts it by `posix_spawn`, which shares this small process's memory until exec. A real fork
/// would allow a smaller [`peak_memory_floor`], 1 MB, and add 0.1 ms to every wall time (of 0.65 ms for `/bin/true`):
/// the copied page tables are the more harmful disturbance.
///
/// # Errors
/// When the operating system refuses what has nothing to do with the command.
pub(super) fn execute(
    mut command: Command,
    time_limit: Option<Duration>,
    streams: &mut ChildStreams<'_>,
) -> io::Result<ChildEnding> {
    let started = Instant::now();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(ChildEnding::not_started(reason(&command, &error))),
    };
    let mut watch = ChildWatch::new(&child, started, time_limit)?;
    let (status, mut usage) = watch.wait(streams)?;
    let wall = started.elapsed();
    usage.peak_memory = usage.peak_memory.max(peak_memory_floor());
    Ok(ChildEnding {
        end: watch.end(status),
        wall,
        usage: Some(usage),
    })
}

/// Says why a command could not be started.
fn reason(command: &Command, error: &io::Error) -> String {
    let program = command.get_program();
    let name = Path::new(program).display();
    match error.kind() {
        io::ErrorKind::NotFound if is_there(program, command.get_current_dir()) => {
            format!("the interpreter that `{name}` names in its first line is missing")
        }
        io::ErrorKind::NotFound => format!("no such command: `{name}`"),
        io::ErrorKind::PermissionDenied => {
            format!("`{name}` is not executable, or not for this user")
        }
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            format!("`{name}` is not a program; a script needs a first line such as `#!/bin/sh`")
        }
        _ => format!("`{name}` cannot be started: {error}"),
    }
}

fn is_there(program: &OsStr, directory: Option<&Path>) -> bool {
    let path = Path::new(program);
    let is_path = path.components().count() > 1 || path.is_absolute();
    is_path && directory.unwrap_or(Path::new(".")).join(path).exists()
}

/// Why a child is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndingCause {
    TimeLimit,
    Interruption,
}

/// How far the ending of a child has come.
#[derive(Debug, Clone, Copy)]
enum EndingStage {
    Running,
    /// It got SIGTERM and has until then.
    Asked(EndingCause, Instant),
    /// It got SIGKILL.
    Killed(EndingCause),
}

/// Watches one child.
#[derive(Debug)]
struct ChildWatch {
    group: Pid,
    handle: OwnedFd,
    /// When the time limit is reached.
    limit: Option<Instant>,
    stage: EndingStage,
}

impl ChildWatch {
    fn new(child: &Child, started: Instant, time_limit: Option<Duration>) -> io::Result<Self> {
        let group = Pid::from_child(child);
        Ok(Self {
            group,
            handle: rustix::process::pidfd_open(group, PidfdFlags::empty())?,
            limit: time_limit.and_then(|limit| started.checked_add(limit)),
            stage: EndingStage::Running,
        })
    }

    /// Waits until the child is gone, taking in what it prints and ending it where needed.
    fn wait(&mut self, streams: &mut ChildStreams<'_>) -> io::Result<(ExitStatus, ResourceUsage)> {
        loop {
            let ready = self.poll(streams)?;
            if ready.child {
                return sys::wait(self.group);
            }
            if ready.output {
                streams.stdout.take_in()?;
                streams.stderr.take_in()?;
            }
            self.advance(ready.control, Instant::now());
        }
    }

    fn poll(&self, streams: &ChildStreams<'_>) -> io::Result<ReadyStreams> {
        // Once asked to stop, only the disappearance of the program is news.
        let control = match self.stage {
            EndingStage::Running => PollFlags::IN,
            EndingStage::Asked(..) | EndingStage::Killed(_) => PollFlags::empty(),
        };
        let mut descriptors = Vec::with_capacity(5);
        descriptors.push(PollFd::new(&self.handle, PollFlags::IN));
        descriptors.push(PollFd::from_borrowed_fd(streams.control, control));
        descriptors.push(PollFd::from_borrowed_fd(streams.guard, PollFlags::IN));
        for capture in [&*streams.stdout, &*streams.stderr] {
            if let Some(descriptor) = capture.descriptor() {
                descriptors.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
            }
        }
        let timeout = self.next_deadline().map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match rustix::event::poll(&mut descriptors, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(ReadyStreams::default()),
            Err(error) => return Err(error.into()),
        }
        let control = descriptors[1].revents();
        let is_unguarded = !descriptors[2].revents().is_empty();
        Ok(ReadyStreams {
            child: !descriptors[0].revents().is_empty(),
            control: if is_unguarded || control.contains(PollFlags::HUP) {
                ChildControl::ProgramGone
            } else if control.is_empty() {
                ChildControl::Quiet
            } else {
                ChildControl::Stop
            },
            output: descriptors[3..]
                .iter()
                .any(|descriptor| !descriptor.revents().is_empty()),
        })
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self.stage {
            EndingStage::Running => self.limit,
            EndingStage::Asked(_, until) => Some(until),
            EndingStage::Killed(_) => None,
        }
    }

    /// Takes the next step in ending the child, if one is due.
    fn advance(&mut self, control: ChildControl, now: Instant) {
        match (self.stage, control) {
            (EndingStage::Killed(_), _) => {}
            (EndingStage::Running | EndingStage::Asked(..), ChildControl::ProgramGone) => {
                self.kill(EndingCause::Interruption);
            }
            (EndingStage::Running, ChildControl::Stop) => self.ask(EndingCause::Interruption, now),
            (EndingStage::Running, ChildControl::Quiet) => {
                if self.limit.is_some_and(|limit| now >= limit) {
                    self.ask(EndingCause::TimeLimit, now);
                }
            }
            (EndingStage::Asked(cause, until), ChildControl::Stop | ChildControl::Quiet) => {
                if now >= until {
                    self.kill(cause);
                }
            }
        }
    }

    fn ask(&mut self, cause: EndingCause, now: Instant) {
        self.signal(Signal::TERM);
        // A stopped process would not hear of it.
        self.signal(Signal::CONT);
        self.stage = EndingStage::Asked(cause, now + GRACE);
    }

    fn kill(&mut self, cause: EndingCause) {
        self.signal(Signal::KILL);
        self.stage = EndingStage::Killed(cause);
    }

    fn signal(&self, signal: Signal) {
        // The child is not yet reaped, so its group cannot be somebody else's.
        let _gone = kill_process_group(self.group, signal);
    }

    fn end(&self, status: ExitStatus) -> ExecutionEnd {
        match self.stage {
            EndingStage::Asked(cause, _) | EndingStage::Killed(cause) => match cause {
                EndingCause::TimeLimit => ExecutionEnd::TimedOut,
                EndingCause::Interruption => ExecutionEnd::Interrupted,
            },
            EndingStage::Running => match status.code() {
                Some(code) => ExecutionEnd::Exited(code),
                None => ExecutionEnd::Signalled(status.signal().unwrap_or(0)),
            },
        }
    }
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, Default)]
struct ReadyStreams {
    child: bool,
    control: ChildControl,
    output: bool,
}

/// What the program has to say while a child runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ChildControl {
    /// Nothing.
    #[default]
    Quiet,
    /// It closed its side: nothing more is wanted.
    Stop,
    /// It is gone, or the guard.
    ProgramGone,
}
