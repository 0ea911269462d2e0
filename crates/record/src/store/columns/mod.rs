//! Columns of iterations and spans, which are written and read as chunks.

pub(super) mod chunk;
pub(super) mod iterations;
pub(super) mod numbers;
pub(super) mod span_columns;
pub(super) mod spans;
