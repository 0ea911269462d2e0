//! The counters available on this machine besides those available everywhere.

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
