//! Keeps what was measured: record lines, other tools' files, the store.

mod line;

pub use line::{LineError, RECORD_VERSION, parse_line, write_line};
