//! Keeps what was measured: record lines, other tools' files, the store.

mod data;
mod line;

pub use data::{BenchmarkData, Filter, InstanceData, Iterations};
pub use line::{LineError, RECORD_VERSION, parse_line, write_line};
