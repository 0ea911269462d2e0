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
    #[serde(default)]
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
    #[serde(default)]
    pub(super) display_info: Option<String>,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    #[serde(default, rename = "Type")]
    pub(super) class: Option<String>,
    pub(super) method: String,
    #[serde(default)]
    pub(super) parameters: Option<String>,
    #[serde(default)]
    pub(super) full_name: Option<String>,
    /// The job, as old versions wrote it.
    #[serde(default)]
    pub(super) properties: Option<Object>,
    #[serde(default)]
    pub(super) hardware_intrinsics: Option<String>,
    #[serde(default)]
    pub(super) statistics: Option<Statistics>,
    #[serde(default)]
    pub(super) memory: Option<Memory>,
    #[serde(default)]
    pub(super) measurements: Option<Vec<Measurement>>,
    #[serde(default)]
    pub(super) metrics: Option<Vec<MeasuredMetric>>,
}

/// Figures of the samples, in nanoseconds.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Statistics {
    #[serde(default, deserialize_with = "column")]
    pub(super) original_values: Vec<f64>,
    #[serde(default)]
    pub(super) n: Option<u64>,
    #[serde(default)]
    pub(super) mean: Number,
    #[serde(default)]
    pub(super) standard_deviation: Number,
    #[serde(default)]
    pub(super) min: Number,
    #[serde(default)]
    pub(super) q1: Number,
    #[serde(default)]
    pub(super) median: Number,
    #[serde(default)]
    pub(super) q3: Number,
    #[serde(default)]
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
        unknown.retain(|key, value| !FIGURES.contains(&key.as_str()) && !value.is_null());
        for (part, is_known) in [
            ("ConfidenceInterval", is_of_interval as fn(&str) -> bool),
            ("Percentiles", is_percentile),
        ] {
            match unknown.get_mut(part) {
                Some(Value::Object(figures)) => figures.retain(|key, _| !is_known(key)),
                Some(_) | None => continue,
            }
            if unknown[part].as_object().is_some_and(Object::is_empty) {
                unknown.remove(part);
            }
        }
        unknown
    }
}

fn is_of_interval(key: &str) -> bool {
    INTERVAL.contains(&key)
}

fn is_percentile(key: &str) -> bool {
    let percent = key.strip_prefix('P');
    percent.is_some_and(|it| it.parse::<f64>().is_ok())
}

/// What was allocated.
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
    #[serde(default)]
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

/// What a diagnoser measured.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct MeasuredMetric {
    #[serde(default)]
    pub(super) value: Number,
    pub(super) descriptor: Descriptor,
    #[serde(flatten)]
    pub(super) unknown: Object,
}

/// What a metric is.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Descriptor {
    pub(super) id: String,
    #[serde(default)]
    pub(super) unit: Option<String>,
    #[serde(default)]
    pub(super) the_greater_the_better: Option<bool>,
    #[serde(flatten)]
    others: Object,
}

/// How to show a metric.
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
        let mut all = self.unknown.clone();
        let others = self.descriptor.others.iter();
        all.extend(
            others
                .filter(|(key, _)| !LOOKS.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        all
    }
}

/// What a measurement is good for.
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
