//! hyperfine's document, as it stands there.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shared::reading::number::{column, known};
use lapwing_model::Object;

/// The whole document.
#[derive(Deserialize)]
pub(super) struct HyperfineDocument<'d> {
    #[serde(borrow)]
    pub(super) results: Vec<&'d RawValue>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Distinguishes the results of one document from each other.
#[derive(Deserialize, PartialEq)]
pub(super) struct HyperfineTitle {
    pub(super) command: String,
    pub(super) parameters: Option<Object>,
}

/// The result of one command.
#[derive(Deserialize)]
pub(super) struct CommandResult {
    pub(super) command: String,
    #[serde(default, deserialize_with = "column")]
    pub(super) times: Vec<f64>,
    #[serde(default, deserialize_with = "known")]
    pub(super) user: Option<f64>,
    #[serde(default, deserialize_with = "known")]
    pub(super) system: Option<f64>,
    #[serde(default, deserialize_with = "column")]
    pub(super) memory_usage_byte: Vec<f64>,
    pub(super) exit_codes: Option<Vec<Option<i32>>>,
    pub(super) parameters: Option<Object>,
    /// How many of the times each instance has, in files of `lapwing`.
    pub(super) lapwing_instances: Option<Vec<usize>>,
    #[serde(flatten)]
    pub(super) others: Object,
}

impl CommandResult {
    /// Returns what was measured of each run, by key.
    pub(super) fn measured(&self) -> [(&'static str, &Vec<f64>); 2] {
        [
            ("times", &self.times),
            ("memory_usage_byte", &self.memory_usage_byte),
        ]
    }
}
