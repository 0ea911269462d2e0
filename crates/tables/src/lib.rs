//! What the store holds as tables of Arrow and Parquet, whose columns are a contract (`docs/tables.md`).
//!
//! Every table has the same form whatever the store holds: the columns of [`TableName::columns`], in that order, and for a
//! study its factors after them. Names are dictionary-encoded, and each field says its unit.

mod batch;
mod columns;
mod measured;
mod parquet_file;
mod points;
mod sink;
mod spans;
mod study;

use std::io;

pub use columns::{ColumnKind, TABLE_VERSION, TableColumn, TableName};
pub use measured::write_measured;
pub use points::write_points;
pub use sink::{Partition, TableForm, TableSink};
pub use spans::write_spans;
pub use study::write_study;

/// Reason why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The output cannot be written to.
    #[error("cannot write the table")]
    Output(#[from] io::Error),
    /// Arrow refuses a batch.
    #[error("cannot write the table")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// Parquet refuses a batch.
    #[error("cannot write the table")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] lapwing_record::StoreError),
}
