//! Answers for programs: JSON, and rows as CSV.

use std::io::Write;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{Extent, WriteError};

/// Writes an answer as JSON, with its keys in alphabetical order.
///
/// # Errors
///
/// Returns the error of the output.
pub fn write_json(answer: &impl Serialize, out: &mut dyn Write) -> Result<(), WriteError> {
    serde_json::to_writer_pretty(&mut *out, &serde_json::to_value(answer)?)?;
    writeln!(out)?;
    Ok(())
}

/// Rows of an answer, as text.
#[derive(Debug, Clone, Default)]
pub struct CsvRows {
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Returns rows with a column per field: the cell of a list has its entries or their `text`, the
/// cell of an object its `count` or `text`.
///
/// # Errors
///
/// Returns the error of a row that is no object.
pub fn csv_rows<R: Serialize + Default>(rows: &[R]) -> Result<CsvRows, WriteError> {
    let titles = match rows.first() {
        Some(row) => Fields::from_row(row)?,
        None => Fields::from_row(&R::default())?,
    };
    let rows = rows.iter().map(|row| {
        let fields = Fields::from_row(row)?;
        Ok(fields.0.iter().map(|(_, value)| cell(value)).collect())
    });
    Ok(CsvRows {
        rows: rows.collect::<Result<_, WriteError>>()?,
        titles: titles.0.into_iter().map(|(name, _)| name).collect(),
    })
}

impl CsvRows {
    /// Returns rows with a cell for each title.
    pub fn new(titles: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        Self { titles, rows }
    }

    /// Returns the titles of the columns.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Returns no more rows and columns than are wanted.
    #[must_use]
    pub fn within(mut self, extent: &Extent) -> Self {
        self.rows.truncate(extent.limit.unwrap_or(usize::MAX));
        if !extent.fields.is_empty() {
            let titles = self.titles.iter();
            let kept: Vec<bool> = titles.map(|it| extent.fields.contains(it)).collect();
            let cells = |cells: &mut Vec<String>| {
                let mut kept = kept.iter();
                cells.retain(|_| kept.next().is_none_or(|it| *it));
            };
            cells(&mut self.titles);
            self.rows.iter_mut().for_each(cells);
        }
        self
    }

    /// Writes a line of titles, and one per row.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(&self.titles)?;
        for row in &self.rows {
            csv.write_record(row)?;
        }
        csv.flush()?;
        Ok(())
    }
}

/// Writes rows as CSV: see [`csv_rows`].
///
/// # Errors
///
/// Returns the error of the output.
pub fn write_csv<R: Serialize + Default>(
    rows: &[R],
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    csv_rows(rows)?.write(out)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => {
            let texts = entries.iter().map(cell);
            texts.collect::<Vec<_>>().join("; ")
        }
        Value::Object(fields) => {
            let text = fields.get("count").or_else(|| fields.get("text"));
            text.map_or_else(String::new, cell)
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The fields of a row, in the order of their declaration.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn from_row(row: &impl Serialize) -> Result<Self, WriteError> {
        Ok(serde_json::from_str(&serde_json::to_string(row)?)?)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("a row with named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            match value {
                // An effect has a column for each of its numbers.
                Value::Object(own) if own.contains_key("effect") => {
                    let own = own.into_iter();
                    fields.extend(own.map(|(key, value)| (format!("{name}_{key}"), value)));
                }
                value => fields.push((name, value)),
            }
        }
        Ok(Fields(fields))
    }
}
