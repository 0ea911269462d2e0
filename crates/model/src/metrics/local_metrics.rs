//! The metrics that every local run has, and those that come of an amount of work.

use std::collections::BTreeMap;

use crate::{Metric, MetricName};

/// Returns the metrics that every local run has, with units and directions.
pub fn local_metrics() -> BTreeMap<MetricName, Metric> {
    [
        ("wall_time", Metric::lower("s")),
        ("user_time", Metric::lower("s")),
        ("system_time", Metric::lower("s")),
        ("peak_memory", Metric::lower("B")),
        ("minor_faults", Metric::lower("1")),
        ("major_faults", Metric::lower("1")),
        ("voluntary_switches", Metric::lower("1")),
        ("involuntary_switches", Metric::lower("1")),
        ("block_input", Metric::lower("B")),
        ("block_output", Metric::lower("B")),
        ("cgroup_peak_memory", Metric::lower("B")),
        ("instructions", Metric::lower("1")),
        ("cycles", Metric::lower("1")),
    ]
    .into_iter()
    .map(|(name, metric)| (name.to_owned(), metric))
    .collect()
}

/// Metrics that the operating system counts beside the wall time and the peak memory, which do
/// not answer "how fast is it"; `process_time` is that of pytest's benchmarks.
pub const COUNTED: [&str; 12] = [
    "process_time",
    "user_time",
    "system_time",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "block_input",
    "block_output",
    "cgroup_peak_memory",
    "instructions",
    "cycles",
];

/// Returns whether a metric says the same as the wall time in another way, because it comes of
/// it and an amount of work: `bytes_per_second` beside `seconds_per_byte`.
pub fn comes_of_wall_time(name: &str, declared: &BTreeMap<MetricName, Metric>) -> bool {
    let is_pair = |work: &str| {
        declared.contains_key(&rate_name(work)) && declared.contains_key(&time_name(work))
    };
    if let Some(work) = name.strip_suffix("_per_second") {
        return is_pair(work);
    }
    name.strip_prefix("seconds_per_")
        .is_some_and(|one| is_pair(one) || is_pair(&format!("{one}s")))
}

/// Returns the name of the rate of an amount of work.
pub fn rate_name(work: &str) -> MetricName {
    format!("{work}_per_second")
}

/// Returns the name of the time per unit of work.
pub fn time_name(work: &str) -> MetricName {
    format!("seconds_per_{}", work.strip_suffix('s').unwrap_or(work))
}

/// Returns the unit of an amount of work.
pub fn unit_of_work(work: &str) -> &'static str {
    if work == "bytes" { "B" } else { "1" }
}

/// Returns the unit of the rate of an amount of work.
pub fn rate_unit(work: &str) -> String {
    format!("{}/s", unit_of_work(work))
}
