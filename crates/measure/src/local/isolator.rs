//! What the launcher has for the isolation of commands, and what it gives to each of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::super::Execution;
use super::abilities::{Ability, IsolationPart};
use super::cgroup_limits::ProcessGroup;
use super::counters::HardwareCounters;
use super::file_rules::FileRules;
use super::isolation::{self, Namespaces};
use crate::suite::{Confinement, Isolation};

/// The memory of all processes together, where a command has no limit.
const MEMORY: u64 = 64 << 30;

/// Folders for temporary files, besides `$TMPDIR`.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The means of isolation on this machine.
pub(super) struct Isolator {
    abilities: BTreeMap<IsolationPart, Ability>,
    processes: Option<ProcessGroup>,
}

/// The isolation of one command.
pub(super) struct CommandIsolation {
    pub(super) namespaces: Namespaces,
    pub(super) files: Option<FileRules>,
    /// The files by which its process enters control groups.
    pub(super) groups: Vec<File>,
    /// The folder that it may write to, which is gone after it.
    pub(super) scratch: TempDir,
}

impl Isolator {
    /// Tries what there is.
    pub(super) fn set_up(counters: &HardwareCounters) -> Self {
        let mut abilities = isolation::abilities();
        let memory = counters.memory_group();
        let ability = match &memory {
            Ok(group) => Ability::Available(group.means().to_owned()),
            Err(reason) => Ability::Unavailable((*reason).to_owned()),
        };
        abilities.insert(IsolationPart::Memory, ability);
        let limited = memory.is_ok_and(|group| group.limits_processes());
        let made = (!limited).then(ProcessGroup::make);
        let (processes, ability) = match made {
            None => (
                None,
                Ability::Available("control group version 2".to_owned()),
            ),
            Some(Ok(group)) => (
                Some(group),
                Ability::Available("control group version 1".to_owned()),
            ),
            Some(Err(error)) => (None, Ability::Unavailable(error.to_string())),
        };
        abilities.insert(IsolationPart::ProcessCount, ability);
        Self {
            abilities,
            processes,
        }
    }

    /// Returns what can be isolated.
    pub(super) fn abilities(&self) -> &BTreeMap<IsolationPart, Ability> {
        &self.abilities
    }

    fn has(&self, part: IsolationPart) -> bool {
        matches!(self.abilities.get(&part), Some(Ability::Available(_)))
    }

    /// Returns the isolation of a command, or why it must not be executed.
    pub(super) fn of(
        &self,
        execution: &Execution,
        confinement: &Confinement,
        variables: &BTreeMap<String, String>,
    ) -> io::Result<Result<CommandIsolation, String>> {
        if confinement.isolation == Isolation::Complete {
            let missing = self.abilities.iter().find_map(|(part, it)| match it {
                Ability::Available(_) => None,
                Ability::Unavailable(reason) => Some(format!("{}: {reason}", part.text())),
            });
            if let Some(missing) = missing {
                return Ok(Err(format!("it cannot be isolated: {missing}")));
            }
        }
        let namespaces = Namespaces {
            processes: self.has(IsolationPart::Processes),
            network: self.has(IsolationPart::Network),
        };
        let rules =
            |scratch: &Path| FileRules::of(execution, variables, scratch, namespaces.processes);
        let known = rules(Path::new(""));
        let places = variables.get("TMPDIR").map(Path::new);
        let mut places = places.into_iter().chain(TEMPORARY.map(Path::new));
        let Some(place) = places.find(|it| it.is_dir() && !known.shows(it)) else {
            return Ok(Err(
                "it cannot be isolated: the command reads all folders for temporary files; \
                 start it in another working directory"
                    .to_owned(),
            ));
        };
        let scratch = tempfile::Builder::new()
            .prefix("lapwing-scratch-")
            .tempdir_in(place)?;
        let files = self
            .has(IsolationPart::Files)
            .then(|| rules(scratch.path()));
        let groups = self.processes.iter().map(ProcessGroup::entrance);
        Ok(Ok(CommandIsolation {
            namespaces,
            files,
            groups: groups.collect::<Result<_, _>>()?,
            scratch,
        }))
    }

    /// Limits the memory of all processes of the next command together.
    pub(super) fn limit_memory(
        counters: &HardwareCounters,
        confinement: &Confinement,
    ) -> io::Result<()> {
        match counters.memory_group() {
            Ok(group) => group.limit(Some(confinement.memory.unwrap_or(MEMORY))),
            Err(_reason) => Ok(()),
        }
    }

    /// Lifts that limit.
    pub(super) fn lift_memory(counters: &HardwareCounters) -> io::Result<()> {
        match counters.memory_group() {
            Ok(group) => group.limit(None),
            Err(_reason) => Ok(()),
        }
    }
}
