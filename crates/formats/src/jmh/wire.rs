//! JMH's document, as it stands there.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::BadLine;
use crate::shared::others::others;
use crate::shared::reading::document::Document;
use crate::shared::reading::number::Number;
use lapwing_model::Object;

/// Distinguishes the results of one document from each other.
#[derive(Deserialize)]
pub(super) struct JmhTitle {
    pub(super) benchmark: String,
    pub(super) mode: Option<String>,
    pub(super) threads: Option<u64>,
    pub(super) params: Option<Object>,
}

/// Keys of the virtual machine that ran it.
pub(super) const MACHINE: [&str; 6] = [
    "jmhVersion",
    "jvm",
    "jvmArgs",
    "jdkVersion",
    "vmName",
    "vmVersion",
];

/// Keys of the settings of the run.
pub(super) const SETTINGS: [&str; 9] = [
    "mode",
    "threads",
    "forks",
    "warmupIterations",
    "warmupTime",
    "warmupBatchSize",
    "measurementIterations",
    "measurementTime",
    "measurementBatchSize",
];

/// The result of one benchmark with one set of parameters.
pub(super) struct JmhResult {
    /// The keys of [`MACHINE`].
    pub(super) machine: Object,
    /// The keys of [`SETTINGS`].
    pub(super) settings: Object,
    /// Unknown keys.
    pub(super) unknown: Object,
    pub(super) metrics: Metrics,
}

/// The measurements.
#[derive(Deserialize)]
pub(super) struct Metrics {
    #[serde(rename = "primaryMetric")]
    pub(super) primary: JmhMetric,
    #[serde(default, rename = "secondaryMetrics")]
    pub(super) secondary: BTreeMap<String, JmhMetric>,
}

/// One measured quantity.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JmhMetric {
    #[serde(default)]
    pub(super) score: Number,
    #[serde(default)]
    pub(super) score_error: Number,
    #[serde(default)]
    pub(super) score_percentiles: BTreeMap<String, Number>,
    pub(super) score_unit: String,
    /// Values by fork and iteration.
    #[serde(default)]
    pub(super) raw_data: Vec<Vec<Number>>,
    /// Values and how often they came, by fork and iteration.
    #[serde(default)]
    pub(super) raw_data_histogram: Vec<Vec<Vec<(Number, u64)>>>,
    #[serde(default, rename = "scoreConfidence")]
    _score_confidence: IgnoredAny,
    /// Unknown keys.
    #[serde(flatten)]
    pub(super) unknown: Object,
}

/// Reads one result.
pub(super) fn read_result(document: &Document, raw: &RawValue) -> Result<JmhResult, BadLine> {
    let metrics = document.element(raw)?;
    let mut unknown = others(
        document,
        raw,
        &["benchmark", "params", "primaryMetric", "secondaryMetrics"],
    )?;
    let mut taken = |keys: &[&str]| -> Object {
        keys.iter()
            .filter_map(|&key| Some((key.to_owned(), unknown.remove(key)?)))
            .filter(|(_, value)| *value != Value::Null)
            .collect()
    };
    Ok(JmhResult {
        machine: taken(&MACHINE),
        settings: taken(&SETTINGS),
        unknown,
        metrics,
    })
}
