//! The data of a chart, in columns.

use serde_json::{Map, Value, json};

use super::super::six_digits;

/// A table whose columns have names; every row is one thing drawn, or a gap between lines.
#[derive(Debug, Clone)]
pub struct ChartColumns {
    names: Vec<&'static str>,
    columns: Vec<Vec<Value>>,
}

impl ChartColumns {
    /// Returns a table without rows.
    pub fn new(names: &[&'static str]) -> Self {
        Self {
            names: names.to_vec(),
            columns: vec![Vec::new(); names.len()],
        }
    }

    /// Adds a row; a number that is none becomes `null`.
    pub fn push(&mut self, row: &[f64]) {
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column.push(number(value));
        }
    }

    /// Adds a row of nulls, which interrupts a line.
    pub fn push_gap(&mut self) {
        for column in &mut self.columns {
            column.push(Value::Null);
        }
    }

    /// Returns how many rows there are.
    pub(in crate::chart) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Returns the table as an entry of an option's `dataset`.
    pub fn into_dataset(self) -> Value {
        let source: Map<String, Value> = self
            .names
            .iter()
            .zip(self.columns)
            .map(|(name, column)| ((*name).to_owned(), Value::Array(column)))
            .collect();
        json!({"dimensions": self.names, "source": source})
    }
}

/// Returns the number with six digits, without a fraction where it has none.
pub(crate) fn number(value: f64) -> Value {
    let value = six_digits(value);
    if value.fract() == 0.0 && value.abs() < 1e9 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number below a billion"
        )]
        let whole = value as i64;
        return Value::from(whole);
    }
    // NaN has no JSON form; `null` is drawn as a gap.
    json!(value)
}
