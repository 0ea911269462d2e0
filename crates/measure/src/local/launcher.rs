//! The helper process: takes requests from its standard input, a socket, until
//! the program closes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::thread::CpuSet;

use super::super::{Execution, ExecutionEnd, LeftoverPolicy, Stdin};
use super::capture::OutputCapture;
use super::child::{self, ChildEnding, ChildStreams, inherited_variables};
use super::counters::HardwareCounters;
use super::guard::{GuardedSide, guard_launcher};
use super::isolator::{CommandIsolation, Isolator};
use super::leftovers::{EndingManner, KeptProcesses};
use super::protocol::{LauncherReply, LauncherRequest, append_header, receive};
use super::secrecy;
use crate::suite::Isolation;
use lapwing_record::files::open_named;

/// The argument by which a program recognises that it is to be the launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launcher";

/// Serves the program on the other end of standard input until it hangs up.
///
/// A program that gives its own path to [`super::LocalExecutor::start`] calls this
/// first of all when its only argument is [`LAUNCHER_ARGUMENT`], before it
/// allocates anything, and ends with the code.
///
/// `version` is the argument after it: the two sides are of one version or do not
/// understand each other.
pub fn serve_as_launcher(version: Option<&str>) -> ExitCode {
    if version != Some(env!("CARGO_PKG_VERSION")) {
        return ExitCode::FAILURE;
    }
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to tell: the program finds the connection closed.
        Err(_gone) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    secrecy::hide_memory()?;
    match guard_launcher()? {
        GuardedSide::Launcher(guard) => LauncherProcess::new(guard)?.serve(),
        GuardedSide::Guard => Ok(()),
    }
}

struct LauncherProcess {
    guard: OwnedFd,
    control: BufReader<UnixStream>,
    null: File,
    stdout: OutputCapture,
    stderr: OutputCapture,
    counters: Option<HardwareCounters>,
    isolator: Option<Isolator>,
    /// The variables that commands inherit.
    variables: BTreeMap<String, String>,
    /// What `setup` left running on purpose.
    kept: KeptProcesses,
    /// Reused for every answer.
    answer: Vec<u8>,
}

impl LauncherProcess {
    fn new(guard: OwnedFd) -> io::Result<Self> {
        let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Whoever loses its parent among our descendants becomes our child.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(Self {
            guard,
            control: BufReader::new(control),
            null: File::options().read(true).write(true).open("/dev/null")?,
            stdout: OutputCapture::new(),
            stderr: OutputCapture::new(),
            counters: None,
            isolator: None,
            variables: BTreeMap::new(),
            kept: KeptProcesses::default(),
            answer: Vec::new(),
        })
    }

    fn serve(&mut self) -> io::Result<()> {
        while let Some(request) = receive::<LauncherRequest<'_>>(&mut self.control)? {
            self.answer.clear();
            match request {
                LauncherRequest::Pin(cpus) => {
                    let reply = match pin(&cpus) {
                        Ok(()) => LauncherReply::Done,
                        Err(error) => broken("pinning to CPUs", &error),
                    };
                    append_header(&mut self.answer, &reply)?;
                }
                LauncherRequest::Environment { length } => {
                    let mut variables = Vec::new();
                    let mut bytes = (&mut self.control).take(length);
                    bytes.read_to_end(&mut variables)?;
                    self.variables = secrecy::set_variables(&variables);
                    append_header(&mut self.answer, &LauncherReply::Done)?;
                }
                LauncherRequest::Abilities => {
                    let isolation = self.isolator().abilities().clone();
                    let abilities = self.counters().abilities(isolation);
                    let reply = LauncherReply::Abilities(abilities);
                    append_header(&mut self.answer, &reply)?;
                }
                LauncherRequest::EndKept => {
                    self.kept.end();
                    append_header(&mut self.answer, &LauncherReply::Done)?;
                }
                LauncherRequest::Execute { execution, stdin } => {
                    // Bytes that follow the header must be taken from the connection
                    // whatever else goes wrong.
                    let stdin = stdin.map(|length| self.receive_bytes(length)).transpose()?;
                    self.execute(&execution, stdin)?;
                    if self.is_unguarded()? {
                        break;
                    }
                }
            }
            self.control.get_ref().write_all(&self.answer)?;
        }
        self.kept.end();
        Ok(())
    }

    /// Puts the bytes that follow a header into a file in memory.
    ///
    /// A child can read such a file at its own speed, or not at all, without
    /// anybody feeding it.
    fn receive_bytes(&mut self, length: u64) -> io::Result<File> {
        let memory = rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?;
        let mut file = File::from(memory);
        let copied = io::copy(&mut (&mut self.control).take(length), &mut file)?;
        if copied < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.rewind()?;
        Ok(file)
    }

    /// Returns whether the guard is gone; then nothing more is executed.
    fn is_unguarded(&self) -> io::Result<bool> {
        let mut guard = [PollFd::new(&self.guard, PollFlags::IN)];
        let ready = rustix::event::poll(&mut guard, Some(&Timespec::default()));
        Ok(ready? > 0)
    }

    /// Returns the isolation of an execution, if it has one, or why it must not begin.
    fn isolation(
        &mut self,
        execution: &Execution,
    ) -> io::Result<Result<Option<CommandIsolation>, String>> {
        match &execution.confinement {
            Some(confinement) if confinement.isolation != Isolation::Off => {
                let variables = inherited_variables(confinement, &self.variables);
                let isolated = self.isolator().of(execution, confinement, &variables)?;
                Ok(isolated.map(Some))
            }
            Some(_) | None => Ok(Ok(None)),
        }
    }

    fn isolator(&mut self) -> &Isolator {
        let counters = self.counters.get_or_insert_with(HardwareCounters::set_up);
        self.isolator
            .get_or_insert_with(|| Isolator::set_up(counters))
    }

    fn counters(&mut self) -> &mut HardwareCounters {
        self.counters.get_or_insert_with(HardwareCounters::set_up)
    }

    /// Executes and leaves the answer in `self.answer`.
    fn execute(&mut self, execution: &Execution, stdin: Option<File>) -> io::Result<()> {
        let (ended, left_behind) = match self.run(execution, stdin) {
            Ok(done) => done,
            Err(error) => {
                // Half-begun things must not disturb the next execution.
                self.kept.end_others(EndingManner::Killing, || {});
                self.stdout.give_up_pipe();
                self.stderr.give_up_pipe();
                return append_header(&mut self.answer, &broken("starting a command", &error));
            }
        };
        let reply = LauncherReply::Executed {
            end: ended.end,
            wall: ended.wall,
            usage: ended.usage,
            left_behind,
            stdout: self.stdout.size(),
            stderr: self.stderr.size(),
        };
        append_header(&mut self.answer, &reply)?;
        self.stdout.append_to(&mut self.answer);
        self.stderr.append_to(&mut self.answer);
        Ok(())
    }

    fn run(
        &mut self,
        execution: &Execution,
        stdin: Option<File>,
    ) -> io::Result<(ChildEnding, u32)> {
        let stdout = self.stdout.prepare(execution.keep_stdout, &self.null)?;
        let stderr = self.stderr.prepare(execution.keep_stderr, &self.null)?;
        let stdin = match (stdin, &execution.stdin) {
            (Some(bytes), _) => bytes,
            (None, Stdin::Null | Stdin::Bytes(_)) => self.null.try_clone()?,
            (None, Stdin::File(path)) => match open_input(path) {
                Ok(file) => file,
                Err(error) => {
                    let reason = format!("standard input {}: {error}", path.display());
                    return Ok((ChildEnding::not_started(reason), 0));
                }
            },
        };
        let isolation = match self.isolation(execution)? {
            Ok(isolation) => isolation,
            Err(reason) => return Ok((ChildEnding::not_started(reason), 0)),
        };
        let isolated = execution.confinement.as_ref();
        let isolated = isolated.filter(|_| isolation.is_some());
        let mut command = match child::command(execution, isolation, &self.variables) {
            Ok(command) => command,
            Err(reason) => return Ok((ChildEnding::not_started(reason), 0)),
        };
        command.stdin(Stdio::from(stdin));
        command.stdout(stdout).stderr(stderr);
        // The child inherits what this process may use.
        let usual = rustix::thread::sched_getaffinity(None)?;
        if let Some(cpus) = &execution.cpus
            && let Err(error) = pin(cpus)
        {
            let reason = format!("pinning to CPUs: {error}");
            return Ok((ChildEnding::not_started(reason), 0));
        }
        if execution.counters {
            self.counters().reset();
        }
        if let Some(confinement) = isolated {
            Isolator::limit_memory(self.counters(), confinement)?;
        }
        let mut streams = ChildStreams {
            control: self.control.get_ref().as_fd(),
            guard: self.guard.as_fd(),
            stdout: &mut self.stdout,
            stderr: &mut self.stderr,
        };
        let ended = child::execute(command, execution.time_limit, &mut streams);
        if execution.cpus.is_some() {
            rustix::thread::sched_setaffinity(None, &usual)?;
        }
        if isolated.is_some() {
            Isolator::lift_memory(self.counters())?;
        }
        let mut ended = ended?;
        if execution.counters
            && let (Some(counters), Some(usage)) = (&mut self.counters, &mut ended.usage)
        {
            counters.read_into(usage);
        }
        let left_behind = self.clear_away(&ended, execution.leftovers)?;
        Ok((ended, left_behind))
    }

    /// Ends what a child left behind and takes in the rest of what was printed.
    fn clear_away(&mut self, ended: &ChildEnding, leftovers: LeftoverPolicy) -> io::Result<u32> {
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        let manner = match ended.end {
            ExecutionEnd::Interrupted => EndingManner::Killing,
            ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::TimedOut
            | ExecutionEnd::NotStarted(_) => EndingManner::Gentle,
        };
        let before = self.kept.len();
        if leftovers == LeftoverPolicy::Keep && ended.end == ExecutionEnd::Exited(0) {
            self.kept.keep();
        }
        let left_behind = self.kept.end_others(manner, || {
            // What cannot be read now is reported by the last read below.
            let _later = stdout.take_in();
            let _later = stderr.take_in();
        });
        // A process in its last moments may hold the other end a little longer than its
        // parent waits for it; a pipe that nobody else could hold is read until it is empty.
        self.stdout.take_rest()?;
        self.stderr.take_rest()?;
        if left_behind > 0 || self.kept.len() > before {
            self.stdout.give_up_pipe();
            self.stderr.give_up_pipe();
        }
        Ok(left_behind)
    }
}

fn pin(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("CPU {cpu} is beyond the largest that can be pinned to"),
            ));
        }
        set.set(*cpu);
    }
    rustix::thread::sched_setaffinity(None, &set)?;
    Ok(())
}

fn broken(doing: &str, error: &io::Error) -> LauncherReply {
    LauncherReply::Broken {
        doing: doing.to_owned(),
        reason: error.to_string(),
    }
}

/// Opens a file for the standard input of commands. A pipe would wait for its writer, and be empty for the next command.
fn open_input(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.file_type().is_fifo() {
        return Err(io::Error::other("it is a pipe"));
    }
    open_named(path)
}
