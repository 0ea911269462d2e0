//! Answers in the formats of `--format`, the same for all commands.

use std::io::{self, Write};

use lapwing_show::RowSubject;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{CliError, ExitStatus};
use crate::fit::wrap;
use crate::options::{Context, Format};
use crate::table::{Table, markdown_text};

/// An answer for people: a sentence, a table, and notes.
pub struct TextAnswer {
    pub headline: String,
    pub table: Table,
    pub notes: Vec<String>,
}

impl TextAnswer {
    /// Returns the answer with its notes wrapped: no wider than the terminal and than is readable.
    pub fn wrapped(mut self, room: Option<usize>) -> Self {
        const WIDTH: usize = 80;
        let width = room.map_or(WIDTH, |room| room.min(WIDTH));
        for note in &mut self.notes {
            *note = wrap(note, width);
        }
        self
    }

    /// Writes the answer in a format: as JSON, with a row per line as CSV, else for people.
    pub fn write<R: Serialize + Default>(
        self,
        json: &Value,
        rows: &[R],
        format: Format,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let mut out = context.terminal.out_as(format);
        let written = match format {
            Format::Json => write_json(json, &mut out),
            Format::Csv => write_csv(rows, &mut out),
            Format::Markdown => self.markdown(&mut out).map_err(CliError::from),
            Format::Text => {
                let width = context.terminal.width();
                let written = self.wrapped(width).text(width, &mut out);
                written.map_err(CliError::from)
            }
        };
        CliError::unless_reader_left(written)?;
        Ok(ExitStatus::Fine)
    }

    /// Writes the answer for a terminal of this width; programs that read the first line get all
    /// of it.
    pub fn text(&self, room: Option<usize>, out: &mut impl Write) -> io::Result<()> {
        let headline = room.map(|room| wrap(&self.headline, room));
        writeln!(out, "{}\n", headline.as_ref().unwrap_or(&self.headline))?;
        self.table.text_within(room, out)?;
        if !self.notes.is_empty() {
            writeln!(out, "\n{}", self.notes.join("\n"))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown.
    pub fn markdown(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}\n", markdown_text(&self.headline))?;
        self.table.markdown(out)?;
        for note in &self.notes {
            writeln!(out, "\n{}", markdown_text(note))?;
        }
        Ok(())
    }
}

/// Fields of rows about a metric of a benchmark.
#[derive(Debug, Default, Serialize)]
pub struct MetricFields<'a> {
    pub suite: &'a str,
    pub benchmark: &'a str,
    pub metric: &'a str,
}

/// Fields of rows about a variant, version or session.
#[derive(Debug, Default, Serialize)]
pub struct SettingFields<'a> {
    pub variant: Option<String>,
    pub version: Option<&'a str>,
    pub session: Option<&'a str>,
}

/// Returns the fields that identify a row.
pub fn identity(row: RowSubject<'_>) -> (MetricFields<'_>, SettingFields<'_>) {
    let metric = MetricFields {
        suite: row.suite,
        benchmark: row.benchmark,
        metric: row.metric,
    };
    let setting = SettingFields {
        variant: row.setting.variant_name(),
        version: row.setting.version.as_deref(),
        session: row.setting.session.as_deref(),
    };
    (metric, setting)
}

/// Writes an answer as JSON, with its keys in alphabetical order.
pub fn write_json(answer: &impl Serialize, out: &mut impl Write) -> Result<(), CliError> {
    serde_json::to_writer_pretty(&mut *out, &serde_json::to_value(answer)?)?;
    writeln!(out)?;
    Ok(())
}

/// Writes rows as CSV, with a column per field: the cell of a list has its entries or their
/// `text`, the cell of an object its `count` or `text`.
pub fn write_csv<R: Serialize + Default>(rows: &[R], out: &mut impl Write) -> Result<(), CliError> {
    let mut csv = csv::Writer::from_writer(out);
    let titles = match rows.first() {
        Some(row) => Fields::of(row)?,
        None => Fields::of(&R::default())?,
    };
    csv.write_record(titles.0.iter().map(|(name, _)| name))?;
    for row in rows {
        csv.write_record(Fields::of(row)?.0.iter().map(|(_, value)| cell(value)))?;
    }
    csv.flush()?;
    Ok(())
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
            let told = fields.get("count").or_else(|| fields.get("text"));
            told.map_or_else(String::new, cell)
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The fields of a row, in the order of their declaration.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn of(row: &impl Serialize) -> Result<Self, CliError> {
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
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}
