use serde::{Deserialize, Serialize};

use super::{Id, MetricName, Object};

/// What a source that kept no samples says of an instance's metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The instance that it speaks of.
    pub instance: Id,
    /// The metric that it speaks of.
    pub metric: MetricName,
    /// How many samples it was made from; `None` where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The centre.
    pub centre: f64,
    /// The spread; `None` where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Which centre and spread, such as `median/iqr`.
    pub statistic: String,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}
