use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Id, Object};

/// One invocation of `lapwing run` or of pytest, or one imported file; holds runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Identifies the session.
    pub id: Id,
    /// The suite that its benchmarks belong to.
    pub suite: String,
    /// When it began.
    pub started: Timestamp,
    /// The seed of its random order, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The program that measured, with its version.
    pub tool: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whatever else is known of it.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub attributes: Object,
    /// Files that belong to it: name to path or URL.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub artifacts: Object,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

impl Session {
    /// Returns its name, or else its id.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}
