use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Benchmark, Id, InstanceOutcome, Object};

/// The attribute of an instance that was measured at the same time as another one, its `partner`: each on its
/// own `cpus`.
pub const DUET: &str = "duet";

/// One visit to a benchmark in the randomised order: the unit of replication.
///
/// A fresh process, job or VM that runs its iterations one after another; for a
/// command, which is a fresh process each time, the block of executions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Identifies the instance.
    pub id: Id,
    /// The run that it belongs to.
    pub run: Id,
    /// What was measured.
    pub benchmark: Benchmark,
    /// The block of instances that share the machine's weather, from 0.
    #[serde(default)]
    pub block: u32,
    /// Its place in the order of the whole session, from 0.
    #[serde(default)]
    pub position: u32,
    /// How often it had been tried and lost before.
    #[serde(default)]
    pub attempt: u32,
    /// The machine that it ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When it began; `None` where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// What was observed and not chosen.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub environment: Object,
    /// The scheduler's names for it.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub job: Object,
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

/// How and when an instance ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceEnd {
    /// The instance that ended.
    pub instance: Id,
    /// When; `None` where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// How.
    #[serde(default)]
    pub outcome: InstanceOutcome,
    /// Why, where it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The machine's load, pressure and stolen time around it.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub observed: Object,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

impl InstanceEnd {
    /// Returns the end of an instance of which nothing else is known.
    pub fn new(instance: Id, ended: Option<Timestamp>, outcome: InstanceOutcome) -> Self {
        Self {
            instance,
            ended,
            outcome,
            message: None,
            observed: Object::new(),
            extra: Object::new(),
        }
    }
}
