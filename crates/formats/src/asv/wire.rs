//! asv's files, as they stand there, in the shapes of both versions of its format.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::BadLine;
use crate::shared::others::Entries;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::since_epoch;
use crate::shared::reading::number::{Number, column, is_no_number_word, known, plain_column};
use lapwing_model::Object;

/// A file of results: one commit in one environment on one machine.
#[derive(Deserialize)]
pub(super) struct AsvDocument<'d> {
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
    #[serde(borrow)]
    pub(super) results: Entries<'d>,
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

/// The results of one benchmark, for every combination of its parameters.
#[derive(Debug, Default)]
pub(super) struct AsvRow {
    /// The results; `None` when there is none for any combination.
    pub(super) results: Option<Vec<AsvMeasured>>,
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

impl AsvRow {
    /// Returns whether there are statistics of the combination at that place.
    pub(super) fn has_statistics(&self, place: usize) -> bool {
        let mut columns = self.stats.values();
        columns.any(|column| column.get(place).is_some_and(Option::is_some))
    }
}

/// The result for one combination of parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AsvMeasured {
    Value(f64),
    /// `null`.
    Failed,
    /// `NaN`.
    Skipped,
}

/// Samples with gaps, which take the slow way.
#[derive(Deserialize)]
#[serde(transparent)]
struct AsvColumn(#[serde(deserialize_with = "column")] Vec<f64>);

/// Returns when the first of the benchmarks began. What is no time is passed over; reading
/// its row says so.
pub(super) fn first_start(document: &Document, wire: &AsvDocument<'_>) -> Option<f64> {
    let old = wire.started_at.iter().flat_map(BTreeMap::values);
    let place = wire.result_columns.iter().position(|it| it == "started_at");
    let new = wire.results.0.iter().filter_map(|(_, raw)| {
        let place = place.filter(|_| is_list(raw))?;
        let cells: Vec<&RawValue> = document.element(raw).ok()?;
        document.element(cells.get(place)?).ok()
    });
    old.copied()
        .chain(new)
        .filter_map(Number::known)
        .filter(|time| possible(*time).is_some())
        .min_by(f64::total_cmp)
}

/// Returns the time so many milliseconds after the epoch; `None` where there is no such time,
/// or where it is before 2000 and stands for none: asv is of 2011.
pub(super) fn possible(milliseconds: f64) -> Option<Timestamp> {
    const YEAR_2000: i64 = 946_684_800;
    since_epoch(milliseconds).filter(|time| time.as_second() >= YEAR_2000)
}

/// Returns the row that an entry of the results stands for; why not, if it is none.
pub(super) fn row(
    document: &Document,
    wire: &AsvDocument<'_>,
    name: &str,
    raw: &RawValue,
) -> Result<AsvRow, BadLine> {
    let made = if is_list(raw) && !wire.result_columns.is_empty() {
        from_columns(document, &wire.result_columns, raw)
    } else {
        old_row(document, wire, name, raw)
    };
    made.map_err(|bad| BadLine {
        reason: format!("`{name}`: {}", bad.reason),
        ..bad.of(name)
    })
}

fn from_columns(
    document: &Document,
    columns: &[String],
    raw: &RawValue,
) -> Result<AsvRow, BadLine> {
    let cells: Vec<&RawValue> = document.element(raw)?;
    if cells.len() > columns.len() {
        let reason = format!(
            "the row has {} values, `result_columns` has {}",
            cells.len(),
            columns.len()
        );
        return Err(document.wrong(raw, reason));
    }
    let mut row = AsvRow::default();
    for (column, cell) in columns.iter().zip(cells) {
        match column.as_str() {
            "result" => row.results = results(document, cell)?,
            "params" => row.params = params(document, cell)?,
            "version" => {
                let version: Value = document.value(column, cell)?;
                row.version = version.as_str().map(str::to_owned);
            }
            "started_at" => row.started_at = number(document, column, cell)?,
            "duration" => row.duration = number(document, column, cell)?,
            "samples" => row.samples = samples(document, cell)?,
            "profile" => row.has_profile = !is_null(cell),
            other => match other.strip_prefix("stats_") {
                Some(statistic) => {
                    let values = figures(document, column, cell)?;
                    row.stats.insert(statistic.to_owned(), values);
                }
                None if is_null(cell) => {}
                None => {
                    let value = document.value(column, cell)?;
                    row.others.insert(other.to_owned(), value);
                }
            },
        }
    }
    Ok(row)
}

fn old_row(
    document: &Document,
    wire: &AsvDocument<'_>,
    name: &str,
    raw: &RawValue,
) -> Result<AsvRow, BadLine> {
    let of = |column: &Option<BTreeMap<String, Number>>| {
        let number = column.as_ref()?.get(name)?;
        number.known()
    };
    let mut row = AsvRow {
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
        ..AsvRow::default()
    };
    if !raw.get().starts_with('{') {
        row.results = results(document, raw)?;
        return Ok(row);
    }
    let entries: Entries<'_> = document.element(raw)?;
    for (key, cell) in entries.0 {
        match &*key {
            "result" => row.results = results(document, cell)?,
            "params" => row.params = params(document, cell)?,
            "samples" => row.samples = samples(document, cell)?,
            "stats" => {
                row.stats = old_stats(&list(document.value("stats", cell)?))
                    .map_err(|reason| document.wrong(cell, reason))?;
            }
            other => {
                let value = document.value(other, cell)?;
                row.others.insert(other.to_owned(), value);
            }
        }
    }
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
                return Err("`stats` is not a list of objects".to_owned());
            }
        };
        let mut put = |key: &str, value: &Value| -> Result<(), String> {
            let column = stats
                .entry(key.to_owned())
                .or_insert_with(|| vec![None; list.len()]);
            column[place] = Number::deserialize(value)
                .map(Number::known)
                .map_err(|error: serde_json::Error| format!("`{key}`: {error}"))?;
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

fn is_null(cell: &RawValue) -> bool {
    cell.get() == "null"
}

fn is_list(cell: &RawValue) -> bool {
    cell.get().starts_with('[')
}

fn list(cell: Value) -> Vec<Value> {
    match cell {
        Value::Null => Vec::new(),
        Value::Array(list) => list,
        one => vec![one],
    }
}

fn results(document: &Document, cell: &RawValue) -> Result<Option<Vec<AsvMeasured>>, BadLine> {
    if is_null(cell) {
        return Ok(None);
    }
    if let Some(values) = plain_column(cell) {
        return Ok(Some(values.into_iter().map(AsvMeasured::Value).collect()));
    }
    let measured = |value: Value| match &value {
        Value::Null => Ok(AsvMeasured::Failed),
        Value::Number(number) => Ok(number
            .as_f64()
            .map_or(AsvMeasured::Skipped, AsvMeasured::Value)),
        Value::String(word) if is_no_number_word(word) => Ok(if word.eq_ignore_ascii_case("nan") {
            AsvMeasured::Skipped
        } else {
            AsvMeasured::Value(f64::INFINITY)
        }),
        Value::String(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(document.wrong(cell, format!("`result` is {value}, expected a number")))
        }
    };
    list(document.value("result", cell)?)
        .into_iter()
        .map(measured)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn params(document: &Document, cell: &RawValue) -> Result<Vec<Vec<Value>>, BadLine> {
    let params: Option<_> = document.value("params", cell)?;
    Ok(params.unwrap_or_default())
}

fn samples(document: &Document, cell: &RawValue) -> Result<Vec<Option<Vec<f64>>>, BadLine> {
    let one = |list: &RawValue| {
        if is_null(list) {
            return Ok(None);
        }
        if !is_list(list) {
            return Err(document.wrong(list, "`samples` is not a list of lists"));
        }
        match plain_column(list) {
            Some(values) => Ok(Some(values)),
            None => {
                let AsvColumn(values) = document.value("samples", list)?;
                Ok(Some(values))
            }
        }
    };
    if is_null(cell) {
        return Ok(Vec::new());
    }
    if !is_list(cell) {
        return Err(document.wrong(cell, "`samples` is not a list of lists"));
    }
    let lists: Vec<&RawValue> = document.value("samples", cell)?;
    lists.into_iter().map(one).collect()
}

fn figures(
    document: &Document,
    column: &str,
    cell: &RawValue,
) -> Result<Vec<Option<f64>>, BadLine> {
    if is_null(cell) {
        return Ok(Vec::new());
    }
    if !is_list(cell) {
        return Ok(vec![number(document, column, cell)?]);
    }
    let numbers: Vec<Number> = document.value(column, cell)?;
    Ok(numbers.into_iter().map(Number::known).collect())
}

fn number(document: &Document, column: &str, cell: &RawValue) -> Result<Option<f64>, BadLine> {
    document.value(column, cell).map(Number::known)
}

/// A benchmark's entry in `benchmarks.json`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct About {
    pub(super) unit: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) param_names: Vec<String>,
}

/// Returns what `benchmarks.json` says, by the benchmarks' names.
pub(super) fn about(document: &Document) -> Result<BTreeMap<String, About>, crate::ImportError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn document(results: &str) -> Document {
        let text = format!(
            r#"{{"result_columns": ["result", "params", "started_at", "samples"],
"results": {results}}}"#
        );
        let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
        Document::of(&source).expect("text")
    }

    fn rows(document: &Document) -> Vec<Result<AsvRow, String>> {
        let wire: AsvDocument<'_> = document.parse().expect("JSON");
        let entries = wire.results.0.iter();
        entries
            .map(|(name, raw)| row(document, &wire, name, raw))
            .map(|row| row.map_err(|bad| format!("{}: {}", bad.line, bad.reason)))
            .collect()
    }

    #[test]
    fn samples_are_columns_with_gaps_or_without() {
        let document = document(
            r#"{"time_a": [[1.5, null], [["1", "2"]], 1.7e12, [[1, 2e-3], null]],
                "time_b": [[NaN, 2], [["1", "2"]], 1.6e12, [[1, null], []]],
                "time_c": [[0.5], [], 5]}"#,
        );
        let [Ok(first), Ok(second), Ok(_)] = &rows(&document)[..] else {
            unreachable!("three good rows");
        };
        assert_eq!(first.samples, [Some(vec![1.0, 2e-3]), None]);
        assert_eq!(
            first.results.as_deref(),
            Some(&[AsvMeasured::Value(1.5), AsvMeasured::Failed][..])
        );
        let gap = second.samples[0].as_deref().expect("a list");
        assert_eq!(gap[0].to_bits(), 1.0_f64.to_bits());
        assert!(gap[1].is_nan(), "{gap:?}");
        assert_eq!(
            second.results.as_deref(),
            Some(&[AsvMeasured::Skipped, AsvMeasured::Value(2.0)][..])
        );
        let wire: AsvDocument<'_> = document.parse().expect("JSON");
        assert_eq!(first_start(&document, &wire), Some(1.6e12));
    }

    #[test]
    fn a_bad_cell_is_named_with_its_row_and_its_line() {
        let document = document(
            r#"{
"time_a": [[1], [], 7, [[1, "x"]]],
"time_b": [[1], [], "soon"],
"time_c": [[1], [], 7,
 [1]],
"time_d": [[1], [], 7, [[1]], 5]}"#,
        );
        let errors: Vec<String> = rows(&document)
            .into_iter()
            .map(|row| row.expect_err("bad on purpose"))
            .collect();
        assert_eq!(
            errors,
            [
                "3: `time_a`: `samples[1]`: invalid type: string \"x\", expected a number",
                "4: `time_b`: `started_at`: invalid type: string \"soon\", expected a number",
                "6: `time_c`: `samples` is not a list of lists",
                "7: `time_d`: the row has 5 values, `result_columns` has 4",
            ]
        );
    }
}
