//! The guard of the launcher: a process above it that ends what the launcher cannot end because it was killed.
//!
//! A command may kill the launcher, which is its parent. Whatever it started then belongs to the guard, which kills
//! it. If the guard is killed instead, the launcher notices.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{
    Pid, PidfdFlags, WaitOptions, getpid, pidfd_open, set_child_subreaper, waitpid,
};

use super::leftovers::{EndingManner, KeptProcesses};
use super::sys;

/// The two sides of a process that was split.
pub(super) enum GuardedSide {
    /// The launcher, with a handle of its guard.
    Launcher(OwnedFd),
    /// The guard, after the launcher has ended.
    Guard,
}

/// Makes this process the guard of a new one, which is to be the launcher. In the guard it returns when all is over.
pub(super) fn guard_launcher() -> io::Result<GuardedSide> {
    // Processes that lose the launcher come here.
    set_child_subreaper(Some(getpid()))?;
    let guard = pidfd_open(getpid(), PidfdFlags::empty())?;
    match sys::fork()? {
        None => Ok(GuardedSide::Launcher(guard)),
        Some(launcher) => {
            drop(guard);
            watch(launcher)?;
            Ok(GuardedSide::Guard)
        }
    }
}

fn watch(launcher: Pid) -> io::Result<()> {
    // The program notices the end of the launcher by the connection, which only the launcher may have.
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    while let Err(error) = waitpid(Some(launcher), WaitOptions::empty()) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    KeptProcesses::default().end_others(EndingManner::Killing, || {});
    Ok(())
}
