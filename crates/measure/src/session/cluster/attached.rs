//! Jobs that are child processes: their scripts go to a program such as `ssh`, whose standard input stays open until the
//! job is to end, and closes when this process dies.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a job may take to end when its connection is closed.
const LEAVE_TAKING: Duration = Duration::from_secs(20);

/// A job that ends with this process.
pub struct AttachedJob {
    child: Child,
    /// Keeps the standard input open.
    connection: Option<Sender<()>>,
    closed: Option<Instant>,
}

impl AttachedJob {
    /// Starts a program that gets a script, and writes what it prints to files.
    pub fn start(
        command: &mut Command,
        script: Vec<u8>,
        output: &Path,
        log: &Path,
    ) -> io::Result<Self> {
        // In a process group of its own: Ctrl-C is for the client.
        command.process_group(0).stdin(Stdio::piped());
        command.stdout(created(output)?).stderr(created(log)?);
        let mut child = command.spawn()?;
        let (connection, is_closed) = channel();
        if let Some(input) = child.stdin.take() {
            thread::spawn(move || send(input, &script, &is_closed));
        }
        Ok(Self {
            child,
            connection: Some(connection),
            closed: None,
        })
    }

    /// Closes the connection, which ends the job.
    pub fn close(&mut self) {
        self.connection = None;
        self.closed.get_or_insert_with(Instant::now);
    }

    /// Returns whether it was told to end.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Returns how the program ended; `None` if it runs. One that does not end when its connection is closed is killed.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        let is_late = self.closed.is_some_and(|it| it.elapsed() > LEAVE_TAKING);
        if status.is_none() && is_late {
            self.child.kill()?;
        }
        Ok(status)
    }
}

impl Drop for AttachedJob {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Sends the script, and keeps the connection open until it is to be closed.
fn send(mut input: ChildStdin, script: &[u8], is_closed: &Receiver<()>) {
    // If that fails, the program says why.
    let _sent = input.write_all(script).and_then(|()| input.flush());
    let _disconnected = is_closed.recv();
}

fn created(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}
