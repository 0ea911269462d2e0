//! Subjects: what an answer is about.

use super::Setting;
use crate::model::MetricName;

/// A metric of a benchmark in a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The suite of the benchmark.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// What else tells it from others of that name: the variant, where versions are compared, and levels
    /// of factors, where a side has several.
    pub setting: Setting,
    /// The metric.
    pub metric: MetricName,
}
