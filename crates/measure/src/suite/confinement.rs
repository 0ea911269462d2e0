//! Limits on what the timed command of a benchmark may use and see.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};

/// Limits for a command that is not trusted: a cleared environment and a limit of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The names of the variables that the command inherits; all others are cleared. Their values are those of the
    /// moment, and are never written down.
    #[serde(default, deserialize_with = "names")]
    pub variables: BTreeSet<String>,
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

/// Plans of older programs have the values, too.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredVariables {
    Names(BTreeSet<String>),
    Values(BTreeMap<String, String>),
}

fn names<'de, D: Deserializer<'de>>(plan: D) -> Result<BTreeSet<String>, D::Error> {
    Ok(match StoredVariables::deserialize(plan)? {
        StoredVariables::Names(names) => names,
        StoredVariables::Values(values) => values.into_keys().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_variables_are_kept() {
        let old = r#"{"variables": {"TOKEN": "abc"}, "memory": 1}"#;
        let confinement: Confinement = serde_json::from_str(old).unwrap();
        let now = serde_json::to_string(&confinement).unwrap();
        assert_eq!(now, r#"{"variables":["TOKEN"],"memory":1}"#);
        assert_eq!(
            serde_json::from_str::<Confinement>(&now).unwrap(),
            confinement
        );
    }
}
