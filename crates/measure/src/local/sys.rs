//! The calls of the operating system that no safe wrapper offers.
//!
//! Every `unsafe` block of the crate is in this file.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;

use super::super::ResourceUsage;

/// The kernel counts `ru_inblock` and `ru_oublock` in units of 512 bytes, whatever the device.
const BLOCK_UNIT: u64 = 512;
/// The kernel counts `ru_maxrss` in KiB.
const MEMORY_UNIT: u64 = 1024;

/// Waits for a child and returns how it ended and what it used.
#[expect(unsafe_code, reason = "only wait4 gives the usage of one child")]
pub(super) fn wait(child: Pid) -> io::Result<(ExitStatus, ResourceUsage)> {
    let mut status = 0;
    loop {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both pointers are to live variables of the types that wait4 writes.
        let result = unsafe {
            libc::wait4(
                child.as_raw_nonzero().get(),
                &raw mut status,
                0,
                usage.as_mut_ptr(),
            )
        };
        if result >= 0 {
            // SAFETY: an rusage is plain numbers, zeroed above, filled by the kernel since.
            let usage = unsafe { usage.assume_init() };
            return Ok((ExitStatus::from_raw(status), readable(&usage)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn readable(usage: &libc::rusage) -> ResourceUsage {
    ResourceUsage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        peak_memory: count(usage.ru_maxrss) * MEMORY_UNIT,
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        block_input: count(usage.ru_inblock) * BLOCK_UNIT,
        block_output: count(usage.ru_oublock) * BLOCK_UNIT,
        cgroup_peak_memory: None,
        instructions: None,
        cycles: None,
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(count(time.tv_sec)) + Duration::from_micros(count(time.tv_usec))
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The part of the kernel's `perf_event_attr` that its first version had.
#[repr(C)]
struct CounterAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

const COUNTER_ATTRIBUTES_SIZE: u32 = 64;
const READ_TOTAL_TIME_ENABLED: u64 = 1;
const READ_TOTAL_TIME_RUNNING: u64 = 2;
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// Opens a counter on this process that does not count this process, which never
/// calls exec, but each child from its exec on, with all its descendants.
///
/// A read gives three numbers: count, time enabled and time running.
#[expect(unsafe_code, reason = "there is no wrapper of perf_event_open")]
pub(super) fn open_counter(kind: u32, config: u64) -> io::Result<OwnedFd> {
    let attributes = CounterAttributes {
        kind,
        size: COUNTER_ATTRIBUTES_SIZE,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING,
        flags: DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | ENABLE_ON_EXEC,
        wakeup_events: 0,
        breakpoint_type: 0,
        breakpoint_address: 0,
    };
    let this_process: libc::pid_t = 0;
    let any_cpu: libc::c_int = -1;
    let no_group: libc::c_int = -1;
    // SAFETY: the attributes are as long as their size says and outlive the call,
    // which only reads them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_process,
            any_cpu,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    let descriptor = i32::try_from(result).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Splits this process in two; returns the child in the parent, and `None` in the child.
///
/// Only the launcher calls this, which has no other thread.
#[expect(unsafe_code, reason = "there is no safe fork")]
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: without other threads, no lock is held and no memory half written in the child.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(child))
}

/// Lets the process of a command call this before exec.
///
/// Only the launcher calls this, which has no other thread.
#[expect(
    unsafe_code,
    reason = "between fork and exec, most things are forbidden"
)]
pub(super) fn before_exec(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: what is forbidden there is what other threads may be in the middle of, and there are none.
    unsafe { command.pre_exec(prepare) };
}

/// Sets an environment variable of this process.
///
/// Only the launcher and a program that has just started call this, which have no other thread.
#[expect(unsafe_code, reason = "other threads could be reading")]
pub(super) fn set_variable(name: &OsStr, value: &OsStr) {
    // SAFETY: there is no other thread.
    unsafe { std::env::set_var(name, value) };
}

/// Overwrites the memory in which the kernel gave this process its environment, and which `/proc` shows.
///
/// No variable may still be there: each has to be set anew before.
#[expect(
    unsafe_code,
    reason = "the memory belongs to the kernel's start of this process"
)]
pub(super) fn overwrite_memory(start: usize, end: usize) {
    let length = end.saturating_sub(start);
    if start == 0 || length == 0 {
        return;
    }
    // SAFETY: the kernel says that the environment was put there, on the stack of the main thread, which stays
    // and can be written to. The variables themselves were copied elsewhere.
    unsafe {
        std::ptr::write_bytes(
            std::ptr::with_exposed_provenance_mut::<u8>(start),
            0,
            length,
        )
    };
}

/// Moves this process into new namespaces.
#[expect(unsafe_code, reason = "threads could see descriptors of others")]
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: descriptors stay as they are, and there is no other thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// The reaction of this process to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalReaction {
    Usual,
    Ignored,
}

/// Sets the reaction of this process to a signal.
#[expect(
    unsafe_code,
    reason = "a handler could do anything; there is none here"
)]
pub(super) fn react(signal: Signal, reaction: SignalReaction) {
    let handler = match reaction {
        SignalReaction::Usual => libc::SIG_DFL,
        SignalReaction::Ignored => libc::SIG_IGN,
    };
    // SAFETY: no code is called when the signal comes.
    unsafe { libc::signal(signal.as_raw(), handler) };
}

/// Closes all descriptors from this one on.
#[expect(unsafe_code, reason = "descriptors are closed that have owners")]
pub(super) fn close_from(first: u32) {
    // SAFETY: only processes call this that do nothing more with theirs than to wait and to end by `exit`.
    unsafe { libc::close_range(first, u32::MAX, 0) };
}

/// Returns the size of a page of memory in bytes.
#[expect(unsafe_code, reason = "there is no wrapper without another feature")]
pub(super) fn page_size() -> u64 {
    // SAFETY: it only returns a number.
    count(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
}

/// Ends this process at once.
#[expect(unsafe_code, reason = "nothing is dropped")]
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: a process that was split off leaves to the other what is to be done at the end.
    unsafe { libc::_exit(code) }
}

/// Switches on the loopback interface of this process's network namespace.
#[expect(unsafe_code, reason = "there is no wrapper of this ioctl")]
pub(super) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: an ifreq is plain numbers, for which zero is fine.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP).unwrap_or(1);
    // SAFETY: the request has the type that this ioctl reads, and outlives the call.
    let result = unsafe {
        libc::ioctl(
            std::os::fd::AsRawFd::as_raw_fd(&socket),
            libc::SIOCSIFFLAGS,
            &raw const request,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
