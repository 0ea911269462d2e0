//! Rows of answers that are a few named values, for CSV.

use serde::Serialize;
use serde_json::Value;

/// A value and its name.
#[derive(Debug, Default, Serialize)]
pub struct NamedValue {
    name: String,
    value: Value,
}

impl NamedValue {
    /// Returns a value with its name.
    pub fn new(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// Returns counts as rows.
pub fn named_values(counts: &[(&'static str, u64)]) -> Vec<NamedValue> {
    let counts = counts.iter();
    counts
        .map(|(name, count)| NamedValue::new(*name, *count))
        .collect()
}

/// Returns the leaves of an object as rows, named by their paths: `pushed_sessions`.
pub fn leaves(object: &Value) -> Vec<NamedValue> {
    let Value::Object(map) = object else {
        return vec![NamedValue::new("", object.clone())];
    };
    let leaves = map.iter().flat_map(|(name, value)| {
        leaves(value).into_iter().map(move |leaf| NamedValue {
            name: format!("{name}_{}", leaf.name)
                .trim_end_matches('_')
                .to_owned(),
            ..leaf
        })
    });
    leaves.collect()
}
