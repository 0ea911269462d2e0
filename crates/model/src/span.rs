use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Id, Object};

/// A timed piece of an instance's task graph: a task, a transfer, a controller phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The instance that it belongs to.
    pub instance: Id,
    /// The iteration that it belongs to, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// Its number within the instance, from 0.
    pub index: u32,
    /// The kind of piece, such as `task`.
    #[serde(default)]
    pub category: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Where it ran, such as `h0:w1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The names of the spans that it waited for: none, if the list is empty; unknown, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// The clock that its events were read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Event name to integer nanoseconds of that clock.
    #[serde(default)]
    pub events: BTreeMap<String, i64>,
    /// Whatever else is known of it.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub attributes: Object,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}
