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

/// Columns of TPC-H that say on what.
pub(super) const CLUSTER: [&str; 3] = ["n_workers", "worker_vm_type", "cluster_disk_size"];

/// Columns that are kept as they are.
pub(super) const KEPT: [&str; 4] = [
    "originalname",
    "setup_outcome",
    "call_outcome",
    "teardown_outcome",
];
