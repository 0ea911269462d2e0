use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Id, MetricName, Object, Outcome};

/// One timed execution: the smallest thing with values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The instance that it belongs to.
    pub instance: Id,
    /// Its number within the instance, from 0, burn-in included.
    pub index: u32,
    /// Seconds from the start of the instance to its own start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<f64>,
    /// Whether the runner planned it as burn-in; judging may choose another start.
    #[serde(default)]
    pub burn_in: bool,
    /// How many executions its values are the mean of.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub loops: u64,
    /// How it ended.
    #[serde(default)]
    pub outcome: Outcome,
    /// Why, where it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The values; a metric that could not be had is absent, never zero.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<MetricName, f64>,
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

impl Iteration {
    /// The attribute that has the document of an indicator.
    pub const DOCUMENT: &'static str = "document";
}

fn one() -> u64 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(loops: &u64) -> bool {
    *loops == 1
}
