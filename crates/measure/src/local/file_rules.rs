//! The rules about files of an isolated command: what it reads and where it writes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use super::super::Execution;
use super::abilities::Ability;
use super::own_root;
use crate::suite::CommandLine;

/// The parts of the system that programs need to start and to know the machine.
const SYSTEM: [&str; 33] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/python3",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/timezone",
];
/// Devices without content of the machine.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Memory that processes share; it is the command's own where it has its own mounts.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// The version that files need: without it, files can be truncated.
const NEEDED: ABI = ABI::V3;
const KNOWN: ABI = ABI::V6;

/// The files that a command may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileRules {
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    /// The folder for what it writes.
    scratch: PathBuf,
}

/// Returns whether there are rules about files here.
pub(super) fn ability() -> Ability {
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .and_then(Ruleset::create);
    match needed {
        Ok(_ruleset) => Ability::Available("Landlock".to_owned()),
        Err(_error) => Ability::Unavailable("the kernel has no Landlock of version 3".to_owned()),
    }
}

impl FileRules {
    /// Returns the rules of an execution that writes to a folder.
    pub(super) fn of(
        execution: &Execution,
        variables: &BTreeMap<String, String>,
        scratch: &Path,
        has_own_mounts: bool,
    ) -> Self {
        let mut readable: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        // The root is no folder of its own.
        let folder = execution.directory.as_deref();
        let folder = folder.filter(|it| it.parent().is_some());
        readable.extend(folder.map(Path::to_owned));
        let variable = |name: &str| {
            let own = execution.environment.get(name);
            own.or_else(|| variables.get(name))
        };
        if let Some(folder) = variable("VIRTUAL_ENV") {
            readable.extend(of_virtual_environment(Path::new(folder)));
        }
        let folders: Vec<PathBuf> = variable("PATH")
            .into_iter()
            .flat_map(std::env::split_paths)
            .collect();
        for folder in &folders {
            readable.extend(of_programs(folder));
        }
        if let CommandLine::Words(words) = &execution.command {
            // A script and its files, and where the interpreter really is. A folder could hold anything.
            let named = words.iter().map(PathBuf::from);
            readable.extend(named.filter(|it| it.is_absolute() && it.is_file()));
            let program = words.first().map(Path::new).unwrap_or(Path::new(""));
            let found = folders.iter().map(|folder| folder.join(program));
            let real = found.filter_map(|it| it.canonicalize().ok()).next();
            if let Some(folder) = real.as_deref().and_then(Path::parent) {
                readable.extend(of_programs(folder));
            }
        }
        let mut writable = vec![scratch.to_owned()];
        if has_own_mounts {
            writable.push(SHARED_MEMORY.into());
        }
        Self {
            readable,
            writable,
            scratch: scratch.to_owned(),
        }
    }

    /// Returns whether a folder is in what is read; what is written to it would be written there.
    pub(super) fn shows(&self, folder: &Path) -> bool {
        let folder = folder
            .canonicalize()
            .unwrap_or_else(|_gone| folder.to_owned());
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_gone| path.clone());
        self.readable
            .iter()
            .any(|path| folder.starts_with(real(path)))
    }

    /// Returns the rules of a command that needs no more than the system.
    pub(super) fn of_system(scratch: &Path) -> Self {
        Self {
            readable: SYSTEM.iter().map(PathBuf::from).collect(),
            writable: Vec::new(),
            scratch: scratch.to_owned(),
        }
    }

    /// Moves this process to a root directory that has what is readable and the scratch folder only.
    pub(super) fn enter_root(&self) -> io::Result<()> {
        let devices = DEVICES.iter().map(PathBuf::from);
        let paths: Vec<PathBuf> = self.readable.iter().cloned().chain(devices).collect();
        own_root::enter(&paths, &self.scratch)
    }

    /// Keeps this process to the rules, for good.
    pub(super) fn restrict(&self) -> Result<(), RulesetError> {
        self.ruleset()?.restrict_self()?;
        Ok(())
    }

    fn ruleset(&self) -> Result<RulesetCreated, RulesetError> {
        let read = AccessFs::from_read(KNOWN);
        Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules(
                DEVICES,
                AccessFs::ReadFile | AccessFs::WriteFile,
            ))?
            .add_rules(path_beneath_rules(
                &self.writable,
                AccessFs::from_all(KNOWN),
            ))
    }
}

/// Returns a virtual environment, and the installation that it is of.
fn of_virtual_environment(folder: &Path) -> Vec<PathBuf> {
    let configuration = fs::read_to_string(folder.join("pyvenv.cfg")).unwrap_or_default();
    let home = configuration.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    });
    let mut found = vec![folder.to_owned()];
    for home in home
        .into_iter()
        .flat_map(|it| [it.canonicalize().ok(), Some(it)])
    {
        found.extend(home.iter().flat_map(|it| of_programs(it)));
    }
    found
}

/// Returns a folder of programs, and the libraries that belong to them. The folder above may hold anything else: that
/// of `~/.local/bin` has keys.
fn of_programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    if let Some(above) = folder.parent() {
        if folder.ends_with("shims") {
            // Small scripts that look for the programs of several versions.
            found.push(above.to_owned());
        } else {
            let siblings = ["lib", "lib64", "libexec", "include"];
            found.extend(siblings.map(|name| above.join(name)));
        }
    }
    found
}
