//! asv's files, as they stand there, in the shapes of both versions of its format.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::document::Document;
use super::number::{Number, is_no_number_word, known};
use crate::model::Object;

/// A file of results: one commit in one environment on one machine.
#[derive(Deserialize)]
pub(super) struct Wire<'d> {
    pub(super) commit_hash: Option<String>,
    #[serde(default, deserialize_with = "known")]
    pub(super) date: Option<f64>,
    pub(super) env_name: Option<String>,
    pub(super) params: Option<Object>,
    pub(super) python: Option<Value>,
    pub(super) requirements: Option<Value>,
    pub(super) env_vars: Option<Object>,
    #[serde(default)]
    pub(super) result_columns: Vec<String>,
    #[serde(borrow, deserialize_with = "in_order")]
    pub(super) results: Vec<(Cow<'d, str>, &'d RawValue)>,
    pub(super) durations: Option<Object>,
    pub(super) version: Option<u64>,
    /// Columns of version 1.
    pub(super) started_at: Option<BTreeMap<String, Number>>,
    pub(super) ended_at: Option<BTreeMap<String, Number>>,
    pub(super) duration: Option<BTreeMap<String, Number>>,
    pub(super) benchmark_version: Option<BTreeMap<String, Option<String>>>,
    pub(super) profiles: Option<Object>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Reads an object as a list of its entries.
fn in_order<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(Cow<'de, str>, &'de RawValue)>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries)
}

/// What one benchmark gave, for every combination of its parameters.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The results; `None` when there is none for any combination.
    pub(super) results: Option<Vec<Measured>>,
    /// The values of each parameter.
    pub(super) params: Vec<Vec<Value>>,
    pub(super) version: Option<String>,
    /// Milliseconds since the epoch.
    pub(super) started_at: Option<f64>,
    pub(super) ended_at: Option<f64>,
    /// Seconds, for all combinations together.
    pub(super) duration: Option<f64>,
    /// Statistics by name, for each combination.
    pub(super) stats: BTreeMap<String, Vec<Option<f64>>>,
    /// The samples of each combination.
    pub(super) samples: Vec<Option<Vec<f64>>>,
    pub(super) has_profile: bool,
    /// Columns that are not understood.
    pub(super) others: Object,
}

/// The result for one combination of parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Measured {
    Value(f64),
    /// `null`.
    Failed,
    /// `NaN`.
    Skipped,
}

/// An entry of version 1 that is no plain number.
#[derive(Deserialize)]
struct OldRow {
    result: Option<Value>,
    samples: Option<Value>,
    stats: Option<Value>,
    params: Option<Vec<Vec<Value>>>,
    #[serde(flatten)]
    others: Object,
}

/// Returns the row that an entry of the results stands for; why not, if it is none.
pub(super) fn row(
    document: &Document,
    wire: &Wire<'_>,
    name: &str,
    raw: &RawValue,
) -> Result<Row, super::BadLine> {
    let entry: Value = document.element(raw)?;
    let made = match entry {
        Value::Array(cells) if !wire.result_columns.is_empty() => {
            from_columns(&wire.result_columns, cells)
        }
        entry => old_row(wire, name, entry),
    };
    made.map_err(|reason| document.wrong(raw, format!("`{name}`: {reason}")))
}

fn from_columns(columns: &[String], cells: Vec<Value>) -> Result<Row, String> {
    let mut row = Row::default();
    if cells.len() > columns.len() {
        return Err(format!(
            "the row has {} values, `result_columns` has {}",
            cells.len(),
            columns.len()
        ));
    }
    for (column, cell) in columns.iter().zip(cells) {
        match column.as_str() {
            "result" => row.results = results(cell)?,
            "params" => {
                row.params = match cell {
                    Value::Null => Vec::new(),
                    cell => serde_json::from_value(cell)
                        .map_err(|error| format!("`params`: {error}"))?,
                }
            }
            "version" => row.version = cell.as_str().map(str::to_owned),
            "started_at" => row.started_at = number(column, &cell)?,
            "duration" => row.duration = number(column, &cell)?,
            "samples" => row.samples = samples(cell)?,
            "profile" => row.has_profile = !cell.is_null(),
            other => match other.strip_prefix("stats_") {
                Some(statistic) => {
                    let values = list(cell)
                        .iter()
                        .map(|value| number(column, value))
                        .collect::<Result<_, _>>()?;
                    row.stats.insert(statistic.to_owned(), values);
                }
                None if cell.is_null() => {}
                None => {
                    row.others.insert(other.to_owned(), cell);
                }
            },
        }
    }
    Ok(row)
}

fn old_row(wire: &Wire<'_>, name: &str, entry: Value) -> Result<Row, String> {
    let of = |column: &Option<BTreeMap<String, Number>>| {
        let number = column.as_ref()?.get(name)?;
        number.known()
    };
    let mut row = Row {
        version: wire
            .benchmark_version
            .as_ref()
            .and_then(|it| it.get(name).cloned().flatten()),
        started_at: of(&wire.started_at),
        ended_at: of(&wire.ended_at),
        duration: of(&wire.duration),
        has_profile: wire
            .profiles
            .as_ref()
            .is_some_and(|it| it.contains_key(name)),
        ..Row::default()
    };
    if !entry.is_object() {
        row.results = results(entry)?;
        return Ok(row);
    }
    let old: OldRow = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    row.results = results(old.result.unwrap_or(Value::Null))?;
    row.params = old.params.unwrap_or_default();
    row.samples = samples(old.samples.unwrap_or(Value::Null))?;
    row.stats = old_stats(&list(old.stats.unwrap_or(Value::Null)))?;
    row.others = old.others;
    Ok(row)
}

/// Version 1 has an object of statistics for each combination.
fn old_stats(list: &[Value]) -> Result<BTreeMap<String, Vec<Option<f64>>>, String> {
    let mut stats: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for (place, value) in list.iter().enumerate() {
        let object = match value {
            Value::Null => continue,
            Value::Object(object) => object,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err("`stats` is no list of objects".to_owned());
            }
        };
        let mut put = |key: &str, value: &Value| -> Result<(), String> {
            let column = stats
                .entry(key.to_owned())
                .or_insert_with(|| vec![None; list.len()]);
            column[place] = number(key, value)?;
            Ok(())
        };
        for (key, value) in object {
            match value {
                Value::Array(both) if key == "ci_99" && both.len() == 2 => {
                    put("ci_99_a", &both[0])?;
                    put("ci_99_b", &both[1])?;
                }
                value => put(key, value)?,
            }
        }
    }
    Ok(stats)
}

fn list(cell: Value) -> Vec<Value> {
    match cell {
        Value::Null => Vec::new(),
        Value::Array(list) => list,
        one => vec![one],
    }
}

fn results(cell: Value) -> Result<Option<Vec<Measured>>, String> {
    if cell.is_null() {
        return Ok(None);
    }
    let measured = |value: Value| match &value {
        Value::Null => Ok(Measured::Failed),
        Value::Number(number) => Ok(number.as_f64().map_or(Measured::Skipped, Measured::Value)),
        Value::String(word) if is_no_number_word(word) => Ok(if word.eq_ignore_ascii_case("nan") {
            Measured::Skipped
        } else {
            Measured::Value(f64::INFINITY)
        }),
        Value::String(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(format!("`result` is {value}, expected a number"))
        }
    };
    list(cell)
        .into_iter()
        .map(measured)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn samples(cell: Value) -> Result<Vec<Option<Vec<f64>>>, String> {
    let one = |value: Value| match value {
        Value::Null => Ok(None),
        Value::Array(values) => values
            .iter()
            .map(|value| Ok(number("samples", value)?.unwrap_or(f64::NAN)))
            .collect::<Result<_, String>>()
            .map(Some),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err("`samples` is no list of lists".to_owned())
        }
    };
    list(cell).into_iter().map(one).collect()
}

fn number(column: &str, value: &Value) -> Result<Option<f64>, String> {
    Number::deserialize(value)
        .map(Number::known)
        .map_err(|error: serde_json::Error| format!("`{column}`: {error}"))
}

/// What `benchmarks.json` says of a benchmark.
#[derive(Debug, Default, Deserialize)]
pub(super) struct About {
    pub(super) unit: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) param_names: Vec<String>,
}

/// Returns what `benchmarks.json` says, by the benchmarks' names.
pub(super) fn about(document: &Document) -> Result<BTreeMap<String, About>, super::ImportError> {
    let entries: BTreeMap<String, Value> = document.parse()?;
    // Besides the benchmarks it has the format's version.
    let entries = entries.into_iter().filter(|(_, value)| value.is_object());
    entries
        .map(|(name, value)| {
            let about = serde_json::from_value(value)
                .map_err(|error| document.wrong_document(format!("`{name}`: {error}")))?;
            Ok((name, about))
        })
        .collect()
}
