//! Rows of a table as columns of a side file.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::packed::compact;

/// Columns of fewer rows are plain lists, which people can read.
const FEW: usize = 50;

/// Returns the rows in columns, by name; of many rows each in its smallest form (`show/packed.rs`).
pub(in crate::report) fn columns(rows: &[impl Serialize]) -> BTreeMap<String, Value> {
    let columns = plain_columns(rows).into_iter();
    columns
        .map(|(name, column)| {
            let is_short = column.len() < FEW;
            (
                name,
                if is_short {
                    Value::Array(column)
                } else {
                    compact(column)
                },
            )
        })
        .collect()
}

/// Returns the rows in columns, each a plain list.
fn plain_columns(rows: &[impl Serialize]) -> BTreeMap<String, Vec<Value>> {
    let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows {
        // A struct of numbers and texts always becomes an object.
        if let Ok(Value::Object(fields)) = serde_json::to_value(row) {
            for (name, value) in fields {
                columns.entry(name).or_default().push(value);
            }
        }
    }
    columns
}

/// The benchmark that a row is about, and its page.
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct BenchmarkLink {
    pub(in crate::report) suite: String,
    pub(in crate::report) id: String,
    /// The name of its page; empty where the report has none.
    pub(in crate::report) slug: String,
    pub(in crate::report) tags: Vec<String>,
}
