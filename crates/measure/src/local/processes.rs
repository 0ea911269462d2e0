//! Looks at what the processes of a command do while it runs: on a core, waiting for one, or neither.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::sys;
use crate::session::Interrupts;

/// The time between two looks at the processes.
const INTERVAL: Duration = Duration::from_millis(20);
/// Memory and name of a process are looked at once in so many looks, and at first in each.
const RARE: u32 = 5;
/// The longest time between two records of a process that only sleeps, in ns.
const LONGEST: i64 = 1_000_000_000;

/// A process between two looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Its number.
    pub process: i32,
    /// The number of the process that started it.
    pub parent: i32,
    /// The name of its program.
    pub name: String,
    /// When the first look was, in ns.
    pub start: i64,
    /// When the second one was.
    pub end: i64,
    /// The time of its threads on a core, in ns.
    pub cpu: u64,
    /// The time that its threads waited for a core, in ns.
    pub run_delay: u64,
    /// Its resident memory, in bytes.
    pub memory: u64,
}

impl ProcessUsage {
    fn is_idle(&self) -> bool {
        self.cpu == 0 && self.run_delay == 0
    }
}

/// Runs a command with the streams of this process, and passes on what its processes do, 50 times a second, with the times
/// of `now`; returns how it ended.
///
/// Signals to stop are counted by `interrupts`. They are passed on to the command, but for the first one if `hears_signals`:
/// then the terminal has sent it to the command too.
///
/// # Errors
/// If the command cannot be started or watched, or `each` fails. A command that runs then is ended.
pub fn watch_processes(
    command: &mut Command,
    interrupts: &Interrupts,
    hears_signals: bool,
    now: impl Fn() -> i64,
    mut each: impl FnMut(ProcessUsage) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    // Processes that lose their parent become children of this one.
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own))?;
    let begin = now();
    let mut child = command.spawn()?;
    let watched = watch(
        &mut child,
        interrupts,
        hears_signals,
        &now,
        begin,
        &mut each,
    );
    if watched.is_err() {
        child.kill()?;
        child.wait()?;
    }
    watched
}

fn watch(
    child: &mut Child,
    interrupts: &Interrupts,
    hears_signals: bool,
    now: &impl Fn() -> i64,
    begin: i64,
    each: &mut impl FnMut(ProcessUsage) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    let process = Pid::from_child(child);
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let mut looks = ProcessLooks::from(begin);
    let mut passed = usize::from(hears_signals);
    let mut next = Instant::now();
    loop {
        next = (next + INTERVAL).max(Instant::now());
        let pause = next.saturating_duration_since(Instant::now());
        let pause = Timespec::try_from(pause).ok();
        // A signal that interrupts it is dealt with below.
        let _ready = poll(&mut [PollFd::new(&handle, PollFlags::IN)], pause.as_ref());
        if let Some(status) = child.try_wait()? {
            looks.rest(each)?;
            return Ok(status);
        }
        looks.look(now(), each)?;
        if interrupts.count() > passed {
            passed = interrupts.count();
            let _gone = kill_process(process, Signal::TERM);
        }
    }
}

/// The descendants of this process, as they were at the last look.
struct ProcessLooks {
    processes: BTreeMap<i32, WatchedProcess>,
    /// The newest process or thread of the machine: without another one, there is none among the descendants.
    newest: Vec<u8>,
    newest_file: Option<File>,
    looked: i64,
}

/// A process whose files are open.
struct WatchedProcess {
    parent: i32,
    files: ProcessFiles,
    name: String,
    memory: u64,
    /// The number of looks at it.
    looks: u32,
    threads: BTreeMap<i32, WatchedThread>,
    /// What it has done since it was last told of.
    untold: Option<ProcessUsage>,
    since: i64,
}

struct ProcessFiles {
    name: File,
    memory: File,
}

struct WatchedThread {
    usage: File,
    cpu: u64,
    run_delay: u64,
}

impl ProcessLooks {
    fn from(begin: i64) -> Self {
        Self {
            processes: BTreeMap::new(),
            newest: Vec::new(),
            newest_file: File::open("/proc/loadavg").ok(),
            looked: begin,
        }
    }

    /// Looks at all processes, and tells of those that did something.
    fn look(
        &mut self,
        now: i64,
        each: &mut impl FnMut(ProcessUsage) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.has_new() {
            self.find();
        }
        self.looked = now;
        let mut ended = Vec::new();
        for (number, process) in &mut self.processes {
            match process.look(*number, now) {
                Some(usage) => process.tell(usage, each)?,
                None => ended.push(*number),
            }
        }
        for number in ended {
            if let Some(usage) = self.processes.remove(&number).and_then(|it| it.untold) {
                each(usage)?;
            }
        }
        Ok(())
    }

    /// Tells of what was not told yet.
    fn rest(self, each: &mut impl FnMut(ProcessUsage) -> io::Result<()>) -> io::Result<()> {
        let untold = self.processes.into_values().filter_map(|it| it.untold);
        untold.into_iter().try_for_each(each)
    }

    fn has_new(&mut self) -> bool {
        let mut buffer = [0; 128];
        let Some(line) = self
            .newest_file
            .as_ref()
            .and_then(|it| text(it, &mut buffer))
        else {
            return true;
        };
        let newest = line.rsplit(' ').next().unwrap_or_default().as_bytes();
        let is_new = newest != self.newest;
        self.newest = newest.to_vec();
        is_new
    }

    /// Finds new descendants and new threads.
    fn find(&mut self) {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut found = vec![own];
        while let Some(parent) = found.pop() {
            for thread in numbers(&format!("/proc/{parent}/task")) {
                if let Some(process) = self.processes.get_mut(&parent)
                    && !process.threads.contains_key(&thread)
                    && let Ok(usage) = File::open(format!("/proc/{parent}/task/{thread}/schedstat"))
                {
                    let usage = WatchedThread {
                        usage,
                        cpu: 0,
                        run_delay: 0,
                    };
                    process.threads.insert(thread, usage);
                }
                let children = format!("/proc/{parent}/task/{thread}/children");
                let children = fs::read_to_string(children).unwrap_or_default();
                for child in children.split_ascii_whitespace() {
                    let Ok(child) = child.parse() else { continue };
                    if !self.processes.contains_key(&child)
                        && let Ok(process) = WatchedProcess::open(child, parent, self.looked)
                    {
                        self.processes.insert(child, process);
                    }
                    found.push(child);
                }
            }
        }
    }
}

impl WatchedProcess {
    fn open(number: i32, parent: i32, since: i64) -> io::Result<Self> {
        let file = |name: &str| File::open(format!("/proc/{number}/{name}"));
        Ok(Self {
            parent,
            files: ProcessFiles {
                name: file("comm")?,
                memory: file("statm")?,
            },
            name: String::new(),
            memory: 0,
            looks: 0,
            threads: BTreeMap::new(),
            untold: None,
            since,
        })
    }

    /// Returns what it did since the last look; `None` if it has ended.
    fn look(&mut self, number: i32, now: i64) -> Option<ProcessUsage> {
        let mut buffer = [0; 128];
        if self.looks < RARE || self.looks.is_multiple_of(RARE) {
            let memory = text(&self.files.memory, &mut buffer)?;
            let pages: u64 = memory.split(' ').nth(1)?.parse().ok()?;
            // One that its parent has not noticed yet has none.
            if pages == 0 {
                return None;
            }
            self.memory = pages * sys::page_size();
            self.name = text(&self.files.name, &mut buffer)?.to_owned();
        }
        self.looks = self.looks.wrapping_add(1);
        let (mut cpu, mut run_delay) = (0, 0);
        self.threads.retain(|_, thread| {
            let Some(line) = text(&thread.usage, &mut buffer) else {
                return false;
            };
            let mut numbers = line.split(' ').map_while(|it| it.parse().ok());
            if let (Some(on_core), Some(waited)) = (numbers.next(), numbers.next()) {
                cpu += on_core - thread.cpu.min(on_core);
                run_delay += waited - thread.run_delay.min(waited);
                (thread.cpu, thread.run_delay) = (on_core, waited);
            }
            true
        });
        if self.threads.is_empty() {
            return None;
        }
        let usage = ProcessUsage {
            process: number,
            parent: self.parent,
            name: self.name.clone(),
            start: self.since,
            end: now,
            cpu,
            run_delay,
            memory: self.memory,
        };
        self.since = now;
        Some(usage)
    }

    /// Tells of a look; of those at a process that only sleeps together.
    fn tell(
        &mut self,
        usage: ProcessUsage,
        each: &mut impl FnMut(ProcessUsage) -> io::Result<()>,
    ) -> io::Result<()> {
        if usage.start >= usage.end {
            return Ok(());
        }
        let Some(untold) = &mut self.untold else {
            self.untold = Some(usage);
            return Ok(());
        };
        let is_same = untold.is_idle()
            && usage.is_idle()
            && untold.memory == usage.memory
            && untold.name == usage.name
            && usage.end - untold.start <= LONGEST;
        if is_same {
            untold.end = usage.end;
            return Ok(());
        }
        each(std::mem::replace(untold, usage))
    }
}

/// Returns the numbers that entries of a folder have as names.
fn numbers(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.collect()
}

/// Returns the text of a file of the kernel; `None` if what it is about is gone.
fn text<'b>(file: &File, buffer: &'b mut [u8]) -> Option<&'b str> {
    let length = file.read_at(buffer, 0).ok().filter(|it| *it > 0)?;
    std::str::from_utf8(&buffer[..length])
        .ok()
        .map(str::trim_end)
}
