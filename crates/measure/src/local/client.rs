//! The program's side of the connection to the launcher.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::{
    Execution, ExecutionEnd, ExecutionResult, Executor, ExecutorError, OutputTail, Stdin,
};
use super::GRACE;
use super::abilities::Abilities;
use super::cpus::available_cpus;
use super::launcher::LAUNCHER_ARGUMENT;
use super::protocol::{LauncherReply, LauncherRequest, TailSize, append_header, receive};
use super::secrecy::variables_text;

/// How the launcher is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LauncherOptions {
    /// The program that becomes the launcher: one that calls
    /// [`super::serve_as_launcher`] when its argument is [`LAUNCHER_ARGUMENT`].
    pub program: PathBuf,
    /// The processors that commands may run on, such as `0-1,3`; `None` for all.
    pub cpus: Option<String>,
    /// The environment variables that commands inherit.
    pub environment: Vec<(OsString, OsString)>,
}

/// The variables that the launcher itself starts with: where its libraries are, and where coverage is written.
const OWN_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"];

/// Executes commands on this machine, one after another.
#[derive(Debug)]
pub struct LocalExecutor {
    launcher: Child,
    connection: BufReader<UnixStream>,
    interrupter: Interrupter,
    /// Whether the launcher has a command that nobody has waited for.
    is_executing: bool,
    /// Reused for every request.
    request: Vec<u8>,
}

const EXECUTING: &str = "executing a command";

/// Ends what an executor is executing, from any thread.
#[derive(Debug, Clone)]
pub struct Interrupter {
    interrupted: Arc<AtomicBool>,
    connection: Arc<UnixStream>,
}

impl Interrupter {
    /// Ends the execution under way, which comes back as [`ExecutionEnd::Interrupted`], and
    /// keeps every later one from starting.
    ///
    /// The command's process group gets SIGTERM, and SIGKILL after [`GRACE`].
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::SeqCst);
        // The launcher takes the end of requests for the wish to stop. When it is
        // gone already there is nothing to stop.
        let _gone = self.connection.shutdown(Shutdown::Write);
    }

    /// Returns whether somebody interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

impl LocalExecutor {
    /// Starts the launcher.
    ///
    /// # Errors
    /// When the list of processors is wrong or the launcher cannot be started.
    pub fn start(options: &LauncherOptions) -> Result<Self, ExecutorError> {
        let cpus = options.cpus.as_deref().map(available_cpus).transpose()?;
        let starting = |source| ExecutorError::Launcher {
            doing: format!("starting the launcher {}", options.program.display()),
            source,
        };
        let (ours, theirs) = UnixStream::pair().map_err(starting)?;
        let mut command = Command::new(&options.program);
        command
            .arg0("lapwing")
            .args([LAUNCHER_ARGUMENT, env!("CARGO_PKG_VERSION")])
            // What a process starts with can be read in `/proc`; the rest is sent to it.
            .env_clear()
            .envs(own_variables(&options.environment))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // A Ctrl-C at the terminal is for the program, which decides what to do.
            .process_group(0);
        let launcher = command.spawn().map_err(starting)?;
        // The command holds our copy of the launcher's end: only without it do we
        // notice when the launcher is gone.
        drop(command);
        let connection = Arc::new(ours.try_clone().map_err(starting)?);
        let mut executor = Self {
            launcher,
            connection: BufReader::new(ours),
            interrupter: Interrupter {
                interrupted: Arc::new(AtomicBool::new(false)),
                connection,
            },
            is_executing: false,
            request: Vec::new(),
        };
        executor.send_environment(&options.environment)?;
        if let Some(cpus) = cpus {
            executor.demand("pinning to CPUs", &LauncherRequest::Pin(cpus))?;
        }
        Ok(executor)
    }

    fn send_environment(
        &mut self,
        variables: &[(OsString, OsString)],
    ) -> Result<(), ExecutorError> {
        let text = variables_text(variables);
        let request = LauncherRequest::Environment {
            length: text.len() as u64,
        };
        self.request.clear();
        let exchanged = append_header(&mut self.request, &request).and_then(|()| {
            self.request.extend_from_slice(&text);
            self.connection.get_ref().write_all(&self.request)?;
            self.receive()
        });
        working(exchanged.map_err(|source| failed("passing on the environment", source))?)?;
        Ok(())
    }

    /// Returns a handle that ends executions from any thread.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Returns what can be counted here besides what can be counted everywhere.
    ///
    /// # Errors
    /// When the launcher is gone.
    pub fn abilities(&mut self) -> Result<Abilities, ExecutorError> {
        let doing = "asking what can be counted";
        match self.demand(doing, &LauncherRequest::Abilities)? {
            LauncherReply::Abilities(abilities) => Ok(abilities),
            LauncherReply::Done | LauncherReply::Executed { .. } | LauncherReply::Broken { .. } => {
                Err(failed(doing, out_of_step()))
            }
        }
    }

    /// Sends a request without bytes and returns the reply, unless that says that
    /// the surroundings are broken.
    fn demand(
        &mut self,
        doing: &str,
        request: &LauncherRequest<'_>,
    ) -> Result<LauncherReply, ExecutorError> {
        self.request.clear();
        let exchanged = append_header(&mut self.request, request)
            .and_then(|()| self.connection.get_ref().write_all(&self.request))
            .and_then(|()| self.receive());
        working(exchanged.map_err(|source| failed(doing, source))?)
    }

    fn receive(&mut self) -> io::Result<LauncherReply> {
        receive(&mut self.connection)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the launcher is gone"))
    }

    fn send(&mut self, execution: &Execution) -> io::Result<()> {
        let bytes = match &execution.stdin {
            Stdin::Bytes(bytes) => Some(bytes),
            Stdin::Null | Stdin::File(_) => None,
        };
        let request = LauncherRequest::Execute {
            execution: Cow::Borrowed(execution),
            stdin: bytes.map(|bytes| bytes.len() as u64),
        };
        self.request.clear();
        append_header(&mut self.request, &request)?;
        let mut connection = self.connection.get_ref();
        connection.write_all(&self.request)?;
        if let Some(bytes) = bytes {
            connection.write_all(bytes)?;
        }
        Ok(())
    }

    fn receive_tail(&mut self, size: TailSize) -> io::Result<OutputTail> {
        let mut bytes = vec![0; size.kept];
        self.connection.read_exact(&mut bytes)?;
        Ok(OutputTail {
            bytes,
            total: size.total,
        })
    }
}

impl Executor for LocalExecutor {
    fn begin(&mut self, execution: &Execution) -> Result<(), ExecutorError> {
        if self.interrupter.is_interrupted() {
            return Ok(());
        }
        match self.send(execution) {
            Ok(()) => self.is_executing = true,
            // The launcher may have hung up before it took the request.
            Err(_) if self.interrupter.is_interrupted() => {}
            Err(source) => return Err(failed(EXECUTING, source)),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ExecutionResult, ExecutorError> {
        if !std::mem::take(&mut self.is_executing) {
            return Ok(interrupted());
        }
        let doing = EXECUTING;
        let reply = match self.receive() {
            Ok(reply) => working(reply)?,
            Err(_) if self.interrupter.is_interrupted() => return Ok(interrupted()),
            Err(source) => return Err(failed(doing, source)),
        };
        match reply {
            LauncherReply::Executed {
                end,
                wall,
                usage,
                left_behind,
                stdout,
                stderr,
            } => Ok(ExecutionResult {
                end,
                wall,
                usage,
                stdout: self.receive_tail(stdout).map_err(|it| failed(doing, it))?,
                stderr: self.receive_tail(stderr).map_err(|it| failed(doing, it))?,
                left_behind,
            }),
            LauncherReply::Done | LauncherReply::Abilities(_) | LauncherReply::Broken { .. } => {
                Err(failed(doing, out_of_step()))
            }
        }
    }

    fn end_kept(&mut self) -> Result<(), ExecutorError> {
        if self.interrupter.is_interrupted() {
            // The launcher ends everything when it goes.
            return Ok(());
        }
        self.demand("ending what setup left running", &LauncherRequest::EndKept)?;
        Ok(())
    }
}

impl Drop for LocalExecutor {
    /// Hangs up and waits until the launcher has cleared away and is gone.
    fn drop(&mut self) {
        let _gone = self.connection.get_ref().shutdown(Shutdown::Both);
        let start = Instant::now();
        while start.elapsed() < 2 * GRACE {
            if !matches!(self.launcher.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let _gone = self.launcher.kill();
        let _gone = self.launcher.wait();
    }
}

fn own_variables(variables: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let own = variables.iter();
    own.filter(|(name, _)| OWN_VARIABLES.iter().any(|own| name == own))
        .cloned()
        .collect()
}

fn interrupted() -> ExecutionResult {
    ExecutionResult::without_start(ExecutionEnd::Interrupted)
}

/// Returns the reply unless it says that the surroundings are broken.
fn working(reply: LauncherReply) -> Result<LauncherReply, ExecutorError> {
    match reply {
        LauncherReply::Broken { doing, reason } => Err(ExecutorError::Launcher {
            doing,
            source: io::Error::other(reason),
        }),
        reply @ (LauncherReply::Done
        | LauncherReply::Abilities(_)
        | LauncherReply::Executed { .. }) => Ok(reply),
    }
}

fn failed(doing: &str, source: io::Error) -> ExecutorError {
    ExecutorError::Launcher {
        doing: doing.to_owned(),
        source,
    }
}

fn out_of_step() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the launcher gave an answer to something else",
    )
}
