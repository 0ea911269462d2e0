//! Keeps what was measured: record lines, other tools' files, the store.

mod columns;
mod data;
pub mod export;
pub mod import;
pub mod inbox;
mod memory;
mod order;
mod record_file;
pub mod store;

pub(crate) use crate::model::NEVER_NEGATIVE;
pub use crate::model::{LineError, RECORD_VERSION, parse_line, write_line};
pub(crate) use columns::{IterationColumns, Mark};
pub use data::{BenchmarkData, Filter, InstanceData, Iterations};
pub(crate) use memory::Memory;
pub(crate) use order::{Order, version_date};
pub use record_file::RecordFile;
pub use store::{
    Appended, BenchmarkRow, CheckReport, Count, InstanceState, MetricRow, Purged, RunRow,
    SessionRow, SessionState, Store, StoreError, StoreInfo, Writer,
};
