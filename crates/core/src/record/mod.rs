//! Keeps what was measured: record lines, other tools' files, the store.

mod annotations;
mod columns;
mod data;
pub mod export;
pub mod import;
pub mod inbox;
mod memory;
mod record_file;
pub mod sharing;
pub mod store;

pub(crate) use crate::model::NEVER_NEGATIVE;
pub use crate::model::{LineError, RECORD_VERSION, parse_line, write_line};
pub(crate) use annotations::Names;
pub use annotations::{Change, Remark, Retirement};
pub(crate) use columns::{IterationColumns, Mark};
pub use data::{
    Definition, Filter, InstanceData, Iterations, RecordedBenchmark, Retired, RunHead, SessionHead,
};
pub(crate) use memory::Memory;
pub use record_file::RecordFile;
pub use store::{
    Appended, BenchmarkRow, CheckReport, Count, InstanceState, LeftOut, MetricRow, Purged, RunRow,
    SessionRow, SessionState, Store, StoreError, StoreInfo, Touched, Writer,
};
