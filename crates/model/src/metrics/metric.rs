use serde::{Deserialize, Serialize};

/// The name of a metric, such as `wall_time`.
pub type MetricName = String;

/// What a measured quantity is counted in, and which way is better.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The unit in base units: `s`, `B`, `1`, `1/s`, `B/s`; empty where unknown.
    #[serde(default)]
    pub unit: String,
    /// The direction; `None` where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
}

/// The direction in which a metric gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better: times, memory.
    Lower,
    /// More is better: rates, throughput.
    Higher,
}

impl Metric {
    /// Returns a metric of `unit` of which less is better.
    pub fn lower(unit: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            better: Some(Better::Lower),
        }
    }

    /// Returns a metric of `unit` of which more is better.
    pub fn higher(unit: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            better: Some(Better::Higher),
        }
    }

    /// Returns a metric of `unit` without a direction.
    pub fn undirected(unit: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            better: None,
        }
    }
}
