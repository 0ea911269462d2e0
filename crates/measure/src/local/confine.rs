//! The limits of a confined command. Its own process sets them before exec, so that nothing of it runs without them.

use std::io;
use std::process::Command;

use landlock::{
    AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, getrlimit, set_parent_process_death_signal,
    setrlimit,
};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities, set_no_new_privs};

use super::file_rules::FileRules;
use super::isolation::join;
use super::isolator::CommandIsolation;
use super::sys;
use crate::suite::Confinement;

/// The privileges of root that would lift limits, or show the memory of other processes.
const FORBIDDEN: CapabilitySet = CapabilitySet::SYS_RESOURCE
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_ADMIN)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::CHECKPOINT_RESTORE)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::BPF);

/// Lets the process of a command limit and isolate itself before exec.
pub(super) fn confine(
    command: &mut Command,
    confinement: &Confinement,
    isolation: Option<CommandIsolation>,
) {
    let memory = confinement.memory;
    let launcher = getpid();
    sys::before_exec(command, move || {
        die_with(launcher)?;
        let mut forbidden = FORBIDDEN;
        let mut rules = None;
        if let Some(isolation) = &isolation {
            join(&isolation.groups)?;
            rules = isolation.files.as_ref();
            isolation.namespaces.enter(rules)?;
            forbidden = CapabilitySet::all();
        }
        set_no_new_privs(true)?;
        drop_privileges(forbidden)?;
        let ruled = rules.map_or_else(keep_from_other_processes, FileRules::restrict);
        ruled.map_err(|_refused| io::Error::from(Errno::PERM))?;
        memory.map_or(Ok(()), limit_memory)
    });
}

/// Lets this process be killed as soon as its parent is gone.
pub(super) fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    match getppid() {
        Some(now) if now == parent => Ok(()),
        Some(_) | None => Err(Errno::SRCH.into()),
    }
}

/// Gives up the privileges of root that a confined command must not have; exec does not bring them back.
fn drop_privileges(forbidden: CapabilitySet) -> io::Result<()> {
    let mut own = capabilities(None)?;
    own.effective.remove(forbidden);
    own.permitted.remove(forbidden);
    own.inheritable.remove(forbidden);
    Ok(set_capabilities(None, own)?)
}

/// Keeps this process from reading the memory and environment of processes that are not its own, and from signalling
/// them where the kernel can (Linux 6.12). Without Landlock nothing happens.
fn keep_from_other_processes() -> Result<(), RulesetError> {
    signals_ruleset()
        .or_else(|_older| memory_ruleset())?
        .restrict_self()?;
    Ok(())
}

/// Returns whether the kernel can keep signals of confined commands from other processes.
pub fn signals_can_be_kept() -> bool {
    signals_ruleset().is_ok()
}

fn signals_ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)?
        .create()
}

/// Every ruleset protects the memory of other processes; this one allows all else.
fn memory_ruleset() -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .create()?;
    match PathFd::new("/") {
        Ok(root) => ruleset.add_rule(PathBeneath::new(root, AccessFs::Refer)),
        Err(_unreadable) => Ok(ruleset),
    }
}

/// Limits the address space of this process and of those that it starts, for good.
fn limit_memory(memory: u64) -> io::Result<()> {
    let most = getrlimit(Resource::As).maximum;
    let limit = most.map_or(memory, |most| most.min(memory));
    let limit = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    Ok(setrlimit(Resource::As, limit)?)
}
