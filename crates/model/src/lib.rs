//! The words of the field as types: what is measured, when, on what, and how it went.
//!
//! Record v1 is this model written down, key for key. That is why the types here
//! derive their own JSON form instead of having a second set of wire structs
//! beside them that could only drift apart. Keys that this version does not know
//! are kept in `extra`, so that they survive a round trip.

mod benchmark;
pub mod document;
mod each_run;
pub mod indicator;
mod instance;
mod iteration;
mod judging;
mod limits;
mod line;
mod look;
mod metrics;
mod named;
mod names;
mod outcome;
mod record;
mod run;
mod session;
mod span;
mod summary;
pub mod text;

pub use benchmark::Benchmark;
pub use each_run::EachRun;
pub use instance::{DUET, Instance, InstanceEnd};
pub use iteration::Iteration;
pub use judging::{
    BenchmarkLimits, GateCondition, GateRule, JudgeLimits, JudgeSettings, JudgedFrom, MetricLimits,
};
pub use limits::{
    DEEPEST, LONGEST_LINE, MOST_METRICS, NEVER_NEGATIVE, fail, impossible, is_deep, refusal,
    settled, too_long, too_many_metrics,
};
pub use line::{LineError, RECORD_VERSION, parse_line, write_line};
pub use look::Look;
pub use metrics::local_metrics::{
    COUNTED, comes_of_wall_time, local_metrics, rate_name, rate_unit, time_name, unit_of_work,
};
pub use metrics::metric::{Better, Metric, MetricName};
pub use metrics::unit::Conversion;
pub use names::id::{Id, IdError};
pub use names::name::{bare_name, matches_name, matches_pattern};
pub use names::natural::natural_order;
pub use outcome::{InstanceOutcome, Outcome};
pub use record::{Annotation, Record, RecordKind};
pub use run::{Level, Levels, Run, Version};
pub use session::{Session, StartedFrom};
pub use span::Span;
pub use summary::Summary;

/// A JSON object with its keys in order.
pub type Object = serde_json::Map<String, serde_json::Value>;
