//! The columns of Coiled's tables, and what they are here.

/// Columns with numbers, the metrics that they are, and the units. Less is better of all.
pub(super) const METRICS: [(&str, &str, &str); 11] = [
    ("duration", "wall_time", "s"),
    ("average_memory", "average_memory", "B"),
    ("peak_memory", "peak_memory", "B"),
    ("compute_time", "compute_time", "s"),
    ("disk_spill_time", "disk_spill_time", "s"),
    ("serializing_time", "serializing_time", "s"),
    ("transfer_time", "transfer_time", "s"),
    ("scheduler_cpu_avg", "scheduler_cpu_avg", "1"),
    ("scheduler_memory_max", "scheduler_memory_max", "B"),
    ("worker_max_tick", "worker_max_tick", "s"),
    ("scheduler_max_tick", "scheduler_max_tick", "s"),
];

/// Columns with addresses, and what these are called as artifacts.
pub(super) const LINKS: [(&str, &str); 6] = [
    ("ci_run_url", "ci_run"),
    ("cluster_details_url", "cluster_details"),
    ("performance_report_url", "performance_report"),
    ("cluster_dump_url", "cluster_dump"),
    ("memray_profiles_url", "memray_profiles"),
    ("py_spy_profiles_url", "py_spy_profiles"),
];

/// Columns of TPC-H that say what is measured.
pub(super) const PARAMS: [&str; 4] = ["scale", "query", "compression", "partition_size"];

/// Those of them that are in the names of tests.
pub(super) const TOLD_APART: [&str; 2] = ["scale", "local"];

/// Columns that only the table of all tests has.
pub(super) const ONLY_IN_TESTS: [&str; 10] = [
    "coiled_runtime_version",
    "coiled_software_name",
    "compute_time",
    "disk_spill_time",
    "serializing_time",
    "transfer_time",
    "scheduler_cpu_avg",
    "scheduler_memory_max",
    "worker_max_tick",
    "scheduler_max_tick",
];

/// Columns of TPC-H that say on what.
pub(super) const CLUSTER: [&str; 3] = ["n_workers", "worker_vm_type", "cluster_disk_size"];

/// Columns that are kept as they are.
pub(super) const KEPT: [&str; 4] = [
    "originalname",
    "setup_outcome",
    "call_outcome",
    "teardown_outcome",
];

/// Returns the metric that a column has.
pub(super) fn metric_of(column: &str) -> Option<&'static str> {
    let mut metrics = METRICS.into_iter();
    metrics.find_map(|(known, metric, _)| (known == column).then_some(metric))
}

/// Returns the column of a metric.
pub(super) fn column_of(metric: &str) -> Option<&'static str> {
    let mut metrics = METRICS.into_iter();
    metrics.find_map(|(column, known, _)| (known == metric).then_some(column))
}

/// Returns the column of an artifact.
pub(super) fn column_of_artifact(artifact: &str) -> Option<&'static str> {
    let mut links = LINKS.into_iter();
    links.find_map(|(column, known)| (known == artifact).then_some(column))
}
