//! Limits on what the timed command of a benchmark may use and see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Limits for a command that is not trusted: a cleared environment and a limit of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The variables that the command has besides those of its benchmark and variant; all others are cleared.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The largest address space of each of its processes, in bytes.
    pub memory: Option<u64>,
}
