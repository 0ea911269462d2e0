//! The counters available on this machine besides those available everywhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The optional measures, and whether they can be had here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// The `peak_memory` that is reported for commands that need less, in bytes.
    pub peak_memory_floor: u64,
    /// Peak memory of all processes of an execution together.
    pub cgroup_peak_memory: Ability,
    /// Instructions in user mode.
    pub instructions: Ability,
    /// Processor cycles in user mode.
    pub cycles: Ability,
    /// The parts of isolation.
    pub isolation: BTreeMap<IsolationPart, Ability>,
}

impl Abilities {
    /// Returns the parts of isolation that this machine does not have, with the reasons.
    pub fn missing_isolation(&self) -> Vec<(IsolationPart, &str)> {
        let parts = self.isolation.iter();
        let missing = parts.filter_map(|(part, ability)| match ability {
            Ability::Available(_) => None,
            Ability::Unavailable(reason) => Some((*part, reason.as_str())),
        });
        missing.collect()
    }
}

/// A part of the isolation of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolationPart {
    /// It reads its environment and its folder, and writes to a scratch folder.
    Files,
    /// It neither sees nor signals other processes.
    Processes,
    /// It has no network.
    Network,
    /// All of its processes together have a limit of memory.
    Memory,
    /// The number of its processes has a limit.
    ProcessCount,
}

impl IsolationPart {
    /// Returns it as text for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Processes => "other processes",
            Self::Network => "network",
            Self::Memory => "memory of all processes together",
            Self::ProcessCount => "number of processes",
        }
    }
}

/// Whether something can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// It can, by these means.
    Available(String),
    /// It cannot, for this reason.
    Unavailable(String),
}
