//! What a column can mean, and the names by which that is known.

use std::fmt;

use crate::shared::reading::notation::{DateOrder, DecimalMark};

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// When the run was measured.
    Date,
    /// The name of the version.
    Version,
    /// The commit.
    Commit,
    /// The branch.
    Branch,
    /// The occasion on which the row was measured.
    Session,
    /// What was measured.
    Benchmark,
    /// A parameter of the benchmark.
    Parameter,
    /// The name of the metric that the row has a value of.
    Metric,
    /// A measured value; several of them are several metrics.
    Value,
    /// The unit of the value.
    Unit,
    /// Another figure of the value, such as its standard deviation.
    Statistic,
    /// The number of samples that the value comes from.
    Count,
    /// The machine.
    Host,
    /// The setting that was varied.
    Variant,
    /// The number of the instance, or a part of it.
    Instance,
    /// The number of the iteration.
    Iteration,
    /// Whether it is burn-in.
    BurnIn,
    /// Anything else: kept as an attribute.
    Attribute,
}

/// The roles with their names in `--columns`, in the order in which they are shown.
const NAMES: [(Role, &str); 18] = [
    (Role::Date, "date"),
    (Role::Version, "version"),
    (Role::Commit, "commit"),
    (Role::Branch, "branch"),
    (Role::Session, "session"),
    (Role::Benchmark, "benchmark"),
    (Role::Parameter, "parameter"),
    (Role::Metric, "metric"),
    (Role::Value, "value"),
    (Role::Unit, "unit"),
    (Role::Statistic, "statistic"),
    (Role::Count, "count"),
    (Role::Host, "host"),
    (Role::Variant, "variant"),
    (Role::Instance, "instance"),
    (Role::Iteration, "iteration"),
    (Role::BurnIn, "burn_in"),
    (Role::Attribute, "attribute"),
];

/// The name of a column of levels in runs of a study.
pub(super) const FACTOR: &str = "factor";

impl Role {
    /// Returns the names of all roles.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// Returns the role of that name in `--columns`; that of dates also with their order, and of values with their
    /// decimal mark.
    pub(super) fn named(name: &str) -> Option<Self> {
        if DateOrder::named(name).is_some() {
            return Some(Self::Date);
        }
        if DecimalMark::named(name).is_some() {
            return Some(Self::Value);
        }
        if name == FACTOR {
            return Some(Self::Parameter);
        }
        let found = NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(role, _)| *role)
    }

    /// Returns whether several columns can have it.
    pub(super) fn is_shared(self) -> bool {
        match self {
            Self::Parameter
            | Self::Value
            | Self::Statistic
            | Self::Instance
            | Self::Iteration
            | Self::Attribute => true,
            Self::Date
            | Self::Version
            | Self::Commit
            | Self::Branch
            | Self::Session
            | Self::Benchmark
            | Self::Metric
            | Self::Unit
            | Self::Count
            | Self::Host
            | Self::Variant
            | Self::BurnIn => false,
        }
    }
}

impl Role {
    /// Returns whether rows with other cells there are not measurements of the same.
    pub(super) fn tells_apart(self) -> bool {
        match self {
            Self::Value | Self::Statistic | Self::Count | Self::Attribute | Self::Unit => false,
            Self::Date
            | Self::Version
            | Self::Commit
            | Self::Branch
            | Self::Session
            | Self::Benchmark
            | Self::Parameter
            | Self::Metric
            | Self::Host
            | Self::Variant
            | Self::Instance
            | Self::Iteration
            | Self::BurnIn => true,
        }
    }
}

impl Role {
    /// Returns whether it says which run a row is of, and not what was measured.
    pub(super) fn is_of_run(self) -> bool {
        match self {
            Self::Date | Self::Version | Self::Commit | Self::Branch | Self::Session => true,
            Self::Benchmark
            | Self::Parameter
            | Self::Metric
            | Self::Value
            | Self::Unit
            | Self::Statistic
            | Self::Count
            | Self::Host
            | Self::Variant
            | Self::Instance
            | Self::Iteration
            | Self::BurnIn
            | Self::Attribute => false,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = NAMES.iter().find(|(role, _)| role == self);
        f.write_str(found.map_or("", |(_, name)| name))
    }
}

/// Names of columns that hold no measurements, by role; those that come first are taken first.
pub(super) const KNOWN: [(Role, &[&str]); 14] = [
    (
        Role::Date,
        &[
            "date",
            "time",
            "timestamp",
            "datetime",
            "date_time",
            "unix_time",
            "run_date",
            "start",
            "started",
            "start_time",
            "measured",
            "measured_at",
            "created",
            "created_at",
            "day",
            "night",
            "commit_date",
            "commit_time",
            "date_ms",
            "time_ms",
            "datum",
            "zeit",
            "zeitpunkt",
            "zeitstempel",
            "messzeit",
            "temps",
            "heure",
            "jour",
            "horodatage",
            "fecha",
            "hora",
            "tiempo",
        ],
    ),
    (
        Role::Commit,
        &[
            "commit",
            "commit_hash",
            "commit_id",
            "commit_sha",
            "sha",
            "git_sha",
            "git_commit",
            "git_hash",
            "hash",
            "revision",
            "rev",
        ],
    ),
    (
        Role::Version,
        &[
            "version",
            "release",
            "tag",
            "build",
            "build_number",
            "build_id",
            "versi\u{f3}n",
        ],
    ),
    (Role::Branch, &["branch", "git_branch"]),
    (Role::Session, &["session", "session_id"]),
    (
        Role::Benchmark,
        &[
            "benchmark",
            "benchmark_name",
            "benchmark_id",
            "bench",
            "bench_name",
            "test",
            "test_name",
            "testname",
            "fullname",
            "full_name",
            "name",
            "case",
            "test_case",
            "scenario",
            "workload",
            "item",
            "query",
            "command",
            "program",
            "function",
            "testfall",
            "bezeichnung",
            "messung",
            "nom",
            "essai",
            "nombre",
            "prueba",
            "caso",
        ],
    ),
    (
        Role::Metric,
        &[
            "metric",
            "metric_name",
            "measure",
            "measurement",
            "counter",
            "indicator",
        ],
    ),
    (
        Role::Unit,
        &[
            "unit",
            "units",
            "metric_unit",
            "time_unit",
            "einheit",
            "unit\u{e9}",
            "unidad",
        ],
    ),
    (
        Role::Host,
        &[
            "host",
            "hostname",
            "machine",
            "machine_name",
            "node",
            "runner",
        ],
    ),
    (Role::Variant, &["variant", "configuration", "config"]),
    (
        Role::Instance,
        &[
            "instance",
            "trial",
            "fork",
            "process",
            "process_exec_idx",
            "invocation",
            "run",
            "run_number",
            "run_id",
            "repetition",
            "rep",
            "repeat",
        ],
    ),
    (
        Role::Iteration,
        &[
            "iteration",
            "iter",
            "round",
            "iteration_number",
            "index",
            "idx",
        ],
    ),
    (
        Role::BurnIn,
        &["burn_in", "is_burn_in", "warmup", "is_warmup", "warm_up"],
    ),
    (
        Role::Parameter,
        &[
            "params",
            "parameters",
            "param",
            "parameter",
            "args",
            "arguments",
        ],
    ),
];

/// Names of the value where a row has one.
pub(super) const VALUES: [&str; 12] = [
    "value",
    "val",
    "score",
    "result",
    "measurement",
    "wert",
    "messwert",
    "ergebnis",
    "valeur",
    "r\u{e9}sultat",
    "valor",
    "resultado",
];

/// Names of the value where a row has the figures of many, which it stands for.
pub(super) const CENTRES: [&str; 9] = [
    "mean",
    "average",
    "avg",
    "median",
    "mittelwert",
    "moyenne",
    "m\u{e9}diane",
    "media",
    "mediana",
];

/// Names of other figures of a value.
pub(super) const STATISTICS: [&str; 24] = [
    "mean",
    "average",
    "avg",
    "median",
    "min",
    "minimum",
    "max",
    "maximum",
    "stddev",
    "std_dev",
    "std",
    "sd",
    "stdev",
    "standard_deviation",
    "stderr",
    "error",
    "score_error_99_9",
    "mad",
    "iqr",
    "q1",
    "q3",
    "cv",
    "p95",
    "p99",
];

/// Names of standard deviations.
pub(super) const DEVIATIONS: [&str; 6] = [
    "stddev",
    "std_dev",
    "std",
    "sd",
    "stdev",
    "standard_deviation",
];

/// Names of the number of samples of such a value.
pub(super) const COUNTS: [&str; 7] = [
    "n",
    "samples",
    "count",
    "rounds",
    "runs",
    "n_samples",
    "iterations",
];

/// Names of numbers that are chosen and not measured.
pub(super) const SETTINGS: [&str; 26] = [
    "threads",
    "thread",
    "workers",
    "clients",
    "users",
    "connections",
    "concurrency",
    "cores",
    "cpus",
    "nodes",
    "procs",
    "processes",
    "ranks",
    "size",
    "input_size",
    "problem_size",
    "batch",
    "batch_size",
    "length",
    "depth",
    "level",
    "scale",
    "rows",
    "elements",
    "dim",
    "payload",
];

/// Names of numbers that only tell rows apart.
pub(super) const NUMBERS: [&str; 11] = [
    "id",
    "row",
    "line",
    "seed",
    "pid",
    "port",
    "key",
    "no",
    "instances",
    "forks",
    "trials",
];
