//! BenchmarkDotNet's document, as it stands there.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::others::UnknownKeys;
use crate::shared::reading::number::{Number, column};
use lapwing_model::Object;

/// The whole document.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Report<'d> {
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) host_environment_info: Object,
    #[serde(borrow)]
    pub(super) benchmarks: Vec<&'d RawValue>,
    #[serde(flatten)]
    pub(super) unknown: Object,
}

/// The keys of [`Case`].
pub(super) const KNOWN: [&str; 13] = [
    "DisplayInfo",
    "ShortInfo",
    "Namespace",
    "Type",
    "Method",
    "MethodTitle",
    "Parameters",
    "FullName",
    "Properties",
    "Statistics",
    "Measurements",
    "Metrics",
    "HardwareIntrinsics",
];

/// One benchmark under one job.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Case {
    pub(super) display_info: Option<String>,
    pub(super) namespace: Option<String>,
    #[serde(rename = "Type")]
    pub(super) class: Option<String>,
    pub(super) method: String,
    pub(super) parameters: Option<String>,
    pub(super) full_name: Option<String>,
    /// The job, as old versions wrote it.
    pub(super) properties: Option<Object>,
    pub(super) hardware_intrinsics: Option<String>,
    pub(super) statistics: Option<Statistics>,
    pub(super) memory: Option<Memory>,
    pub(super) measurements: Option<Vec<Measurement>>,
    pub(super) metrics: Option<Vec<MeasuredMetric>>,
}

/// Figures of the samples, in nanoseconds.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Statistics {
    #[serde(deserialize_with = "column")]
    pub(super) original_values: Vec<f64>,
    pub(super) n: Option<u64>,
    pub(super) mean: Number,
    pub(super) standard_deviation: Number,
    pub(super) min: Number,
    pub(super) q1: Number,
    pub(super) median: Number,
    pub(super) q3: Number,
    pub(super) max: Number,
    /// The other figures, and unknown keys.
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Other figures of the samples.
const FIGURES: [&str; 10] = [
    "LowerFence",
    "UpperFence",
    "InterquartileRange",
    "LowerOutliers",
    "UpperOutliers",
    "AllOutliers",
    "StandardError",
    "Variance",
    "Skewness",
    "Kurtosis",
];

/// The keys of `ConfidenceInterval`.
const INTERVAL: [&str; 7] = [
    "N",
    "Mean",
    "StandardError",
    "Level",
    "Margin",
    "Lower",
    "Upper",
];

impl Statistics {
    /// Returns what is no figure of the samples.
    pub(super) fn unknown(&self) -> Object {
        let mut unknown = self.others.clone();
        unknown.retain(|key, value| match (key.as_str(), value) {
            (_, Value::Null) => false,
            ("ConfidenceInterval", Value::Object(figures)) => {
                figures.retain(|key, _| !INTERVAL.contains(&key.as_str()));
                !figures.is_empty()
            }
            ("Percentiles", Value::Object(figures)) => {
                figures.retain(|key, _| !is_percentile(key));
                !figures.is_empty()
            }
            (key, _) => !FIGURES.contains(&key),
        });
        unknown
    }
}

fn is_percentile(key: &str) -> bool {
    let percent = key.strip_prefix('P');
    percent.is_some_and(|it| it.parse::<f64>().is_ok())
}

/// The memory that was allocated.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Memory {
    #[serde(default)]
    pub(super) bytes_allocated_per_operation: Number,
}

/// So many operations took so long.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Measurement {
    pub(super) iteration_mode: String,
    pub(super) iteration_stage: Option<String>,
    #[serde(default = "first")]
    pub(super) launch_index: u64,
    pub(super) operations: u64,
    pub(super) nanoseconds: Number,
    #[serde(default, rename = "IterationIndex")]
    _iteration_index: IgnoredAny,
    #[serde(flatten)]
    pub(super) unknown: UnknownKeys,
}

fn first() -> u64 {
    1
}

/// A metric that a diagnoser measured.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct MeasuredMetric {
    #[serde(default)]
    pub(super) value: Number,
    pub(super) descriptor: Descriptor,
    #[serde(flatten)]
    pub(super) unknown: Object,
}

/// The description of a metric.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Descriptor {
    pub(super) id: String,
    pub(super) unit: Option<String>,
    pub(super) the_greater_the_better: Option<bool>,
    #[serde(flatten)]
    others: Object,
}

/// Keys for the display of a metric.
const LOOKS: [&str; 5] = [
    "DisplayName",
    "Legend",
    "NumberFormat",
    "UnitType",
    "PriorityInCategory",
];

impl MeasuredMetric {
    /// Returns the unknown keys, those of the descriptor too.
    pub(super) fn all_unknown(&self) -> Object {
        let mut of_descriptor = self.descriptor.others.clone();
        of_descriptor.retain(|key, _| !LOOKS.contains(&key.as_str()));
        let mut all = self.unknown.clone();
        all.append(&mut of_descriptor);
        all
    }
}

/// The purpose of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The benchmark, warming up.
    Warmup,
    /// The benchmark.
    Actual,
    /// The benchmark less the overhead, without outliers: follows from the others.
    Result,
    /// Anything else: the empty loop, just-in-time compilation, the search for a number
    /// of operations.
    Preparation,
}

impl Measurement {
    /// Returns the stage by the names of today's and of old versions.
    pub(super) fn stage(&self) -> Stage {
        let stage = self.iteration_stage.as_deref().unwrap_or("");
        match (self.iteration_mode.as_str(), stage) {
            ("Workload", "Warmup") | ("MainWarmup", _) => Stage::Warmup,
            ("Workload", "Actual") | ("MainTarget", _) => Stage::Actual,
            ("Workload", "Result") | ("Result", _) => Stage::Result,
            (_mode, _stage) => Stage::Preparation,
        }
    }

    /// Returns what BenchmarkDotNet calls it.
    pub(super) fn name(&self) -> String {
        match &self.iteration_stage {
            Some(stage) => format!("{} {stage}", self.iteration_mode),
            None => self.iteration_mode.clone(),
        }
    }
}
