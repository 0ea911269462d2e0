//! Subjects of comparisons.

use super::Setting;
use lapwing_model::MetricName;

/// A metric of a benchmark in a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The benchmark's suite.
    pub suite: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The other distinguishing properties: the variant, if versions are compared, and levels of factors, if a side
    /// has several.
    pub setting: Setting,
    /// The metric.
    pub metric: MetricName,
}
