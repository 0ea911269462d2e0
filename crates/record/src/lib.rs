//! Keeps measurements: record lines, other tools' files, the store.

mod annotations;
pub mod atomic;
mod column;
mod data;
pub mod export;
pub mod files;
pub mod inbox;
mod iterations;
mod memory;
pub mod packed;
pub mod private;
mod record_file;
mod refusals;
pub mod sharing;
pub mod store;

pub use annotations::NameHistory;
pub use annotations::{AnnotationCounts, Change, Remark, Retirement, Triage, TriageState};
pub use column::{Column, ColumnEntry};
pub use data::{
    Definition, Filter, FirstInstance, InstanceData, RecordedBenchmark, Retired, RunHead,
    SessionHead,
};
pub use iterations::{IterationColumns, IterationDetail, Iterations, Mark};
pub use lapwing_model::{LineError, NEVER_NEGATIVE, RECORD_VERSION, parse_line, write_line};
pub use memory::RecordMemory;
pub use record_file::RecordFile;
pub use refusals::{LineEnd, Refusals, read_line};
pub use store::{
    AppendCounts, BenchmarkPoints, BenchmarkRow, CheckReport, HistoryPoint, HistoryPoints,
    InstanceState, LeftOut, MetricRow, NO_POINTS, OpenedSession, PointRun, PurgeCounts,
    RecordCount, RescueReport, RunRow, SessionRow, SessionState, Store, StoreError, StoreInfo,
    TouchedCounts, TraceHead, Writer, rescue,
};
