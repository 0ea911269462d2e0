//! The isolation of a command: namespaces of its own, rules about files, and limits of a control group.
//!
//! The process of the command splits three times before exec: the first process stays in the launcher's namespaces
//! and ends as the command ends, the second is the first one of the new process namespace, the third becomes the
//! command. When the second ends, the kernel kills whatever is left in its namespace.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions, getgid, getpid, getuid,
    kill_process, set_dumpable_behavior, set_parent_process_death_signal, setrlimit, wait, waitpid,
};
use rustix::thread::UnshareFlags;

use super::abilities::{Ability, IsolationPart};
use super::file_rules::{self, FileRules};
use super::own_root;
use super::sys::{self, SignalReaction};

/// The signals that ask a process group to end; only the command is to hear them.
const REQUESTS: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];

/// The namespaces that a command gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Namespaces {
    /// Processes, mounts and what processes share.
    pub(super) processes: bool,
    pub(super) network: bool,
}

/// Finds out which namespaces and rules a command can have here, by trying.
pub(super) fn abilities() -> BTreeMap<IsolationPart, Ability> {
    let means = |tried: io::Result<()>, means: &str| match tried {
        Ok(()) => Ability::Available(means.to_owned()),
        Err(error) => Ability::Unavailable(format!("the kernel refuses namespaces: {error}")),
    };
    let processes = Namespaces {
        processes: true,
        network: false,
    };
    let scratch = tempfile::tempdir_in("/tmp");
    let files = file_rules::ability();
    let rules = match (&scratch, &files) {
        (Ok(scratch), Ability::Available(_)) => Some(FileRules::of_system(scratch.path())),
        (_, _) => None,
    };
    let processes = trial(processes, rules.as_ref());
    let network = Namespaces {
        processes: false,
        network: true,
    };
    let network = trial(network, None);
    BTreeMap::from([
        (IsolationPart::Files, files),
        (
            IsolationPart::Processes,
            means(processes, "namespaces of processes and mounts"),
        ),
        (
            IsolationPart::Network,
            means(network, "a namespace without network"),
        ),
    ])
}

/// Tries to enter namespaces in a process that ends at once.
fn trial(namespaces: Namespaces, files: Option<&FileRules>) -> io::Result<()> {
    let Some(child) = sys::fork()? else {
        let code = match namespaces.enter(files) {
            Ok(()) => 0,
            Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
        };
        sys::exit(code);
    };
    let (_, status) = waitpid(Some(child), WaitOptions::empty())?.ok_or(io::ErrorKind::Other)?;
    match status.exit_status() {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code)),
        None => Err(io::ErrorKind::Other.into()),
    }
}

impl Namespaces {
    /// Moves this process into the namespaces; with those of processes, another process returns from this, in a root
    /// directory of its own if there are rules about files.
    pub(super) fn enter(self, files: Option<&FileRules>) -> io::Result<()> {
        if self == Self::default() {
            return Ok(());
        }
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        let mut flags = UnshareFlags::NEWUSER;
        if self.processes {
            flags |= UnshareFlags::NEWPID | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
        }
        if self.network {
            flags |= UnshareFlags::NEWNET;
        }
        // The files of `/proc/self` belong to root while the process hides its memory.
        set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        sys::unshare(flags)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        if self.network {
            // Programs talk to themselves by it.
            sys::raise_loopback()?;
        }
        if self.processes {
            enter_processes(files)
        } else {
            Ok(())
        }
    }
}

/// Splits this process; the one that returns is in the new namespace of processes, and has mounts of its own.
fn enter_processes(files: Option<&FileRules>) -> io::Result<()> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    for signal in REQUESTS {
        sys::react(signal, SignalReaction::Ignored);
    }
    if let Some(first) = sys::fork()? {
        end_like_command(first, read);
    }
    drop(read);
    set_parent_process_death_signal(Some(Signal::KILL))?;
    own_root::make_private()?;
    match files {
        Some(files) => files.enter_root()?,
        None => own_root::mount_processes(Path::new("/proc"))?,
    }
    if let Some(command) = sys::fork()? {
        reap_until_end(command, write);
    }
    for signal in REQUESTS {
        sys::react(signal, SignalReaction::Usual);
    }
    Ok(())
}

/// Is the first process of the namespace: takes in orphans until the command ends, and says how.
fn reap_until_end(command: Pid, status: OwnedFd) -> ! {
    if rustix::stdio::dup2_stdin(&status).is_err() {
        sys::exit(1);
    }
    sys::close_from(3);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == command => {
                let bytes = status.as_raw().to_ne_bytes();
                let _gone = rustix::io::write(rustix::stdio::stdin(), &bytes);
                sys::exit(0);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_nobody) => sys::exit(1),
        }
    }
}

/// Waits for the first process of the namespace, and ends as the command ended.
fn end_like_command(first: Pid, status: OwnedFd) -> ! {
    if rustix::stdio::dup2_stdin(&status).is_err() {
        sys::exit(1);
    }
    sys::close_from(3);
    let mut bytes = [0; 4];
    let read = io::stdin().read_exact(&mut bytes);
    // Its usage counts for this process only once it was waited for.
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(first), WaitOptions::empty()) {}
    if read.is_err() {
        sys::exit(1);
    }
    let status = ExitStatus::from_raw(i32::from_ne_bytes(bytes));
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _unlimited = setrlimit(Resource::Core, none);
        sys::react(signal, SignalReaction::Usual);
        let _gone = kill_process(getpid(), signal);
    }
    sys::exit(status.code().unwrap_or(1))
}

/// Moves this process into control groups, by the files that list their processes.
pub(super) fn join(groups: &[fs::File]) -> io::Result<()> {
    groups
        .iter()
        .try_for_each(|mut group| group.write_all(b"0"))
}
