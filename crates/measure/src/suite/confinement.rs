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
    /// Whether it is kept from the rest of the machine.
    #[serde(default, skip_serializing_if = "Isolation::is_off")]
    pub isolation: Isolation,
}

/// Whether a command is kept from the files, processes and network of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// It is not.
    #[default]
    Off,
    /// As far as the kernel can.
    Possible,
    /// Completely, or it is not executed.
    Complete,
}

impl Isolation {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
