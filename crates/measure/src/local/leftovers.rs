//! Ends the processes that an execution left behind.
//!
//! The launcher is their reaper: whoever loses its parent becomes the launcher's
//! child, also daemons that took a session of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process};

use super::GRACE;

/// Processes that are about to end by themselves get this long to do so.
const LINGER: Duration = Duration::from_millis(100);
/// Whoever is still there this long after SIGKILL hangs in the kernel and is left alone.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether they are gone.
const PAUSE: Duration = Duration::from_millis(1);

/// How gently leftovers are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndingManner {
    /// They may linger, are then asked to end, and killed after a grace.
    Gentle,
    /// They are killed at once.
    Killing,
}

/// Descendants that were left running on purpose, such as a server that `setup` starts.
#[derive(Debug, Default)]
pub(super) struct KeptProcesses {
    processes: BTreeSet<i32>,
}

impl KeptProcesses {
    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// Keeps every descendant that runs now.
    pub(super) fn keep(&mut self) {
        if !no_children_left() {
            let running = descendants(&BTreeSet::new());
            self.processes
                .extend(running.iter().map(|it| it.as_raw_nonzero().get()));
        }
    }

    /// Ends those that were kept, and everybody else.
    pub(super) fn end(&mut self) {
        self.processes.clear();
        self.end_others(EndingManner::Gentle, || {});
    }

    /// Ends every descendant of this process that is not kept, and returns how many had
    /// to be ended.
    ///
    /// `meanwhile` is called while waiting, to take in what they print.
    pub(super) fn end_others(&self, manner: EndingManner, mut meanwhile: impl FnMut()) -> u32 {
        // The usual case costs this one system call.
        if no_children_left() || self.nobody_else() {
            return 0;
        }
        let mut ended = BTreeSet::new();
        match manner {
            EndingManner::Gentle => {
                if self.gone_within(LINGER, &mut meanwhile, || {}) {
                    return 0;
                }
                self.signal_others(Signal::TERM, &mut ended);
                self.gone_within(GRACE, &mut meanwhile, || {});
            }
            EndingManner::Killing => {}
        }
        // Children of the killed become our children, and they may fork meanwhile.
        self.gone_within(PATIENCE, &mut meanwhile, || {
            self.signal_others(Signal::KILL, &mut ended);
        });
        u32::try_from(ended.len()).unwrap_or(u32::MAX)
    }

    fn nobody_else(&self) -> bool {
        !self.processes.is_empty() && descendants(&self.processes).is_empty()
    }

    fn gone_within(
        &self,
        time: Duration,
        meanwhile: &mut impl FnMut(),
        mut each: impl FnMut(),
    ) -> bool {
        let start = Instant::now();
        loop {
            if no_children_left() || self.nobody_else() {
                return true;
            }
            if start.elapsed() > time {
                return false;
            }
            each();
            meanwhile();
            thread::sleep(PAUSE);
        }
    }

    fn signal_others(&self, signal: Signal, signalled: &mut BTreeSet<i32>) {
        for process in descendants(&self.processes) {
            if kill_process(process, signal).is_ok() {
                signalled.insert(process.as_raw_nonzero().get());
                // A stopped process would not hear of it.
                let _gone = kill_process(process, Signal::CONT);
            }
        }
    }
}

/// Reaps the dead and returns whether there is no child left.
fn no_children_left() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_dead)) => {}
            Ok(None) => return false,
            Err(Errno::INTR) => {}
            Err(_no_child) => return true,
        }
    }
}

/// Returns the living descendants of this process, without those in `apart` and theirs.
fn descendants(apart: &BTreeSet<i32>) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    for entry in entries.flatten() {
        let process = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(process) = process
            && let Some(parent) = living_parent(process)
        {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if !apart.contains(&child) {
                found.extend(Pid::from_raw(child));
                parents.push(child);
            }
        }
    }
    found
}

/// Returns the parent of a process, unless that process is dead.
fn living_parent(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let (_name, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}
