//! Options of change detection.

use super::threshold::ThresholdRule;

/// Options of the search for changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectOptions {
    /// The share of findings that may be false, and the share of suites without any change that may have a finding.
    pub false_discovery_rate: f64,
    /// The fewest runs between two changes; by default 3, and more in long histories.
    pub minimum_runs: Option<usize>,
    /// The smallest change to report, such as 0.03; `None` for all.
    pub smallest_effect: Option<f64>,
    /// Only changes that may have happened at this moment or later are reported; `None` for all.
    pub changed_since: Option<usize>,
    /// The rule by which changes are found.
    pub rule: DetectRule,
}

/// The rule by which changes are found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum DetectRule {
    /// By tests of all places of a series, with the share of false findings controlled over all series.
    #[default]
    ChangePoint,
    /// By a threshold for the newest runs, one series at a time.
    Threshold(ThresholdRule),
}

impl DetectRule {
    /// Returns the name of the rule, as in options and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChangePoint => "changepoint",
            Self::Threshold(_) => "threshold",
        }
    }
}

impl Default for DetectOptions {
    fn default() -> Self {
        Self {
            false_discovery_rate: 0.05,
            minimum_runs: None,
            smallest_effect: None,
            changed_since: None,
            rule: DetectRule::ChangePoint,
        }
    }
}

/// The order of the runs of a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HistoryOrder {
    /// By date of the version, and runs of one version by time.
    #[default]
    Version,
    /// By time of measurement.
    Time,
}
